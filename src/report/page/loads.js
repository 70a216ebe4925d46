// The drawing with the load of every link: another plan can be chosen; pointing or arrow keys read a link out.
function set_up_loads(card, figures) {
  const svg = card.querySelector("svg.network");
  if (!svg) return;
  const reading = card.querySelector(".reading");
  const chooser = card.querySelector("select");
  const paths = [...svg.querySelectorAll(".links path")];
  let plan = figures.plans[figures.chosen];
  let current = -1;

  function read_link(id) {
    if (current >= 0) paths[current].classList.remove("current");
    current = id;
    paths[id].classList.add("current");
    reading.textContent = link_in_words(figures, plan, id);
  }

  chooser.addEventListener("change", () => {
    plan = figures.plans[Number(chooser.value)];
    paths.forEach((path, id) => {
      path.setAttribute("class", `load${load_class(plan, id)}`);
      path.querySelector("title").textContent = link_in_words(figures, plan, id);
    });
    reading.textContent = `${plan.name}: ${format_time(plan.time_ps)}`;
    current = -1;
  });
  add_hit_areas(svg, paths);
  svg.addEventListener("pointerover", (event) => {
    if (event.target.dataset.hit) read_link(Number(event.target.dataset.hit));
  });
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("role", "application");
  svg.setAttribute("aria-label", "Network; the arrow keys read one link after another");
  svg.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    read_link((Math.max(current, move > 0 ? -1 : 0) + move + paths.length) % paths.length);
  });
}

// Thin lines are hard to point at: a wide unseen one lies over each.
function add_hit_areas(svg, paths) {
  const group = document.createElementNS(svg.namespaceURI, "g");
  group.setAttribute("class", "hits");
  paths.forEach((path, id) => {
    const hit = path.cloneNode(true);
    hit.removeAttribute("class");
    hit.removeAttribute("data-link");
    hit.dataset.hit = id;
    group.append(hit);
    hit.querySelector("title").remove();
  });
  svg.querySelector(".links").after(group);
}

function load_class(plan, id) {
  if (plan.link_bytes[id] === 0) return 0;
  return 1 + clamp(Math.floor(plan.link_held_permille[id] / 200), 0, 4);
}

function link_in_words(figures, plan, id) {
  const [, , bandwidth, latency] = figures.links[id];
  const rate = `${format_rate(bandwidth)}, ${format_time(latency * 1e12)}`;
  if (plan.link_bytes[id] === 0) return `${figures.link_name(id)}: carries nothing; ${rate}`;
  const most = bandwidth * plan.time_ps * 1e-12;
  return `${figures.link_name(id)}: ${format_bytes(plan.link_bytes[id])} of at most ${format_bytes(most)}, ` +
    `in use ${(plan.link_held_permille[id] / 10).toFixed(1)} % of ${format_time(plan.time_ps)}; ${rate}`;
}
