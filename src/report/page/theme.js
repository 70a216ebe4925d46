// Light or dark: what the system says, until the reader chooses; the choice is kept where the browser allows.
function set_up_theme(button) {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const is_dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const show = () => {
    button.textContent = is_dark() ? "Light colours" : "Dark colours";
    document.dispatchEvent(new CustomEvent("colours"));
  };
  const kept = keep_theme();
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  button.addEventListener("click", () => {
    root.dataset.theme = is_dark() ? "light" : "dark";
    keep_theme(root.dataset.theme);
    show();
  });
  system.addEventListener("change", show);
  show();
}

// Reads the kept choice, or keeps a new one. A browser may refuse storage to local files.
function keep_theme(choice) {
  try {
    if (choice) localStorage.setItem("hocket-theme", choice);
    return localStorage.getItem("hocket-theme");
  } catch {
    return null;
  }
}
