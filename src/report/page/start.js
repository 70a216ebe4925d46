// Without this script the page shows words, tables and the drawing; with it everything marked `scripted` appears.
document.addEventListener("DOMContentLoaded", () => {
  document.documentElement.classList.add("has-script");
  set_up_theme(document.querySelector("button.theme"));
  document.querySelectorAll("table.sortable").forEach(make_sortable);
  document.querySelectorAll("section.collective").forEach((section) => {
    const figures = read_figures(section.querySelector("script.figures"));
    set_up_loads(section.querySelector(".loads"), figures);
    set_up_moves(section.querySelector(".moves"), section.querySelector(".loads svg.network"), figures);
    set_up_timelines(section.querySelector(".timelines"), figures);
  });
});

// The embedded document, with the transfers of every plan as objects.
function read_figures(element) {
  const figures = JSON.parse(element.textContent);
  for (const plan of figures.plans) {
    const flat = plan.sends;
    plan.sends = [];
    for (let i = 0; i < flat.length; i += 6) {
      plan.sends.push({ from: flat[i], to: flat[i + 1], step: flat[i + 2], adds: flat[i + 3] === 1,
                        bytes: flat[i + 4], route: plan.routes[flat[i + 5]] });
    }
  }
  figures.link_name = (id) => {
    const [from, to] = figures.links[id];
    return `${figures.vertices[from]} \u2192 ${figures.vertices[to]}`;
  };
  return figures;
}
