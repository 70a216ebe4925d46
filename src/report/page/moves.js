// The trees of a plan, one by one, one step at a time, on a copy of the drawing.
function set_up_moves(card, drawing, figures) {
  const chooser = card.querySelector("[data-choose=moves]");
  const share_chooser = card.querySelector("[data-choose=share]");
  const slider = card.querySelector("input");
  const reading = card.querySelector(".reading");
  const play = card.querySelector("[data-do=play]");
  const svg = copy_drawing(drawing, card.querySelector(".drawing"));
  let plan = null;
  let sends = [];
  let steps = [];
  let timer = 0;

  function show() {
    const now = steps[Number(slider.value)];
    if (svg) paint_step(svg, figures, sends, now);
    reading.textContent = step_in_words(sends, now, Number(slider.value), steps.length);
    slider.setAttribute("aria-valuetext", `step ${Number(slider.value) + 1} of ${steps.length}`);
  }

  function choose_share() {
    const index = Number(share_chooser.value);
    const all = index < 0 ? plan.shares.flatMap((share) => share.sends) : plan.shares[index].sends;
    sends = [...new Set(all)].map((id) => plan.sends[id]);
    steps = [...new Set(sends.map((send) => send.step))].sort((a, b) => a - b);
    slider.max = Math.max(0, steps.length - 1);
    slider.value = 0;
    show();
  }

  function choose_plan() {
    plan = figures.plans[Number(chooser.value)];
    share_chooser.replaceChildren(...share_options(plan));
    card.querySelector(".note").textContent = plan.shares_note;
    choose_share();
  }

  function go(action) {
    const at = Number(slider.value);
    if (action === "next") slider.value = at + 1;
    if (action === "back") slider.value = at - 1;
    if (action === "share-next" || action === "share-back") {
      const options = share_chooser.options.length;
      share_chooser.selectedIndex = (share_chooser.selectedIndex + (action === "share-next" ? 1 : options - 1)) % options;
      choose_share();
    }
    if (action === "play") toggle_play();
    else show();
  }

  function toggle_play() {
    const start = timer === 0;
    clearInterval(timer);
    timer = 0;
    if (start) {
      if (Number(slider.value) >= steps.length - 1) slider.value = 0;
      show();
      timer = setInterval(() => {
        if (Number(slider.value) >= steps.length - 1) toggle_play();
        else go("next");
      }, 800);
    }
    play.textContent = start ? "\u23f8 Pause" : "\u25b6 Play";
    play.setAttribute("aria-label", start ? "Pause" : "Play");
  }

  chooser.addEventListener("change", choose_plan);
  share_chooser.addEventListener("change", choose_share);
  slider.addEventListener("input", show);
  card.querySelectorAll("[data-do]").forEach((button) => {
    button.addEventListener("click", () => go(button.dataset.do));
  });
  if (svg) {
    svg.addEventListener("keydown", (event) => {
      const action = { ArrowRight: "next", ArrowLeft: "back", ArrowDown: "share-next", ArrowUp: "share-back",
                       " ": "play" }[event.key];
      if (!action || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      go(action);
    });
  }
  choose_plan();
}

function copy_drawing(drawing, place) {
  if (!drawing) return null;
  const svg = drawing.cloneNode(true);
  svg.querySelectorAll(".hits, title").forEach((element) => element.remove());
  svg.querySelectorAll(".links path").forEach((path) => path.setAttribute("class", "rest"));
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("role", "application");
  svg.setAttribute("aria-label", "Moves of the data; left and right change the step, up and down the share, space plays");
  place.append(svg);
  return svg;
}

function share_options(plan) {
  const options = plan.shares.map((share, index) => {
    const root = root_of(share.sends.map((id) => plan.sends[id]));
    const where = root === null ? "" : `, root ${root}`;
    if (plan.shares.length === 1) return new Option("everything", 0);
    return new Option(`${index + 1} of ${plan.shares.length}${where} (${format_bytes(share.bytes)})`, index);
  });
  return options.length > 1 ? [...options, new Option("all together", -1)] : options;
}

// Where a share is collected, or, when nothing is added up, where it comes from; null when there is no such one rank.
function root_of(sends) {
  const adding = sends.filter((send) => send.adds);
  const edges = adding.length > 0 ? adding : sends;
  const givers = new Set(edges.map((send) => send.from));
  const takers = new Set(edges.map((send) => send.to));
  const roots = adding.length > 0 ? [...takers].filter((rank) => !givers.has(rank))
                                  : [...givers].filter((rank) => !takers.has(rank));
  return roots.length === 1 ? roots[0] : null;
}

function paint_step(svg, figures, sends, now) {
  const paths = svg.querySelectorAll(".links path");
  paths.forEach((path) => path.setAttribute("class", "rest"));
  const touched = new Set();
  const paint = (send, name) => send.route.forEach((link) => paths[link].setAttribute("class", name));
  for (const send of sends) {
    if (send.step < now) paint(send, "done");
  }
  for (const send of sends) {
    if (send.step !== now) continue;
    paint(send, send.adds ? "adds" : "copies");
    touched.add(figures.ranks[send.from]).add(figures.ranks[send.to]);
  }
  const root = root_of(sends);
  svg.querySelectorAll(".vertices > g").forEach((vertex) => {
    const id = Number(vertex.dataset.vertex);
    vertex.classList.toggle("active", touched.has(id));
    vertex.classList.toggle("root", root !== null && figures.ranks[root] === id);
  });
}

function step_in_words(sends, now, index, count) {
  if (count === 0) return "Nothing has to move.";
  const active = sends.filter((send) => send.step === now);
  const pairs = active.slice(0, 8).map((send) => `${send.from}\u2192${send.to}`).join(", ");
  const more = active.length > 8 ? ` and ${active.length - 8} more` : "";
  const adding = active.filter((send) => send.adds).length;
  const what = adding === active.length ? "added up on arrival" : adding === 0 ? "copied on arrival"
    : `${adding} added up, ${active.length - adding} copied`;
  return `Step ${index + 1} of ${count}: ${pairs}${more}; ${what}, in messages of ${format_bytes(active[0].bytes)}.`;
}
