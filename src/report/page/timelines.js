// Two timelines that share one view of time. Only what can be seen is drawn, so that 10,000 bars move smoothly.
const ROW = 16;
const AXIS = 22;

function set_up_timelines(card, figures) {
  const longest = Math.max(1, ...figures.plans.map((plan) => plan.time_ps));
  const view = { from: 0, to: longest, longest };
  const panels = [...card.querySelectorAll(".timeline")].map((element) => make_panel(element, figures, view, refresh));
  let waiting = false;

  function fit() {
    view.longest = Math.max(1, ...panels.map((panel) => panel.plan.time_ps));
    show_range(view, 0, view.longest);
  }

  function refresh() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      panels.forEach((panel) => draw_panel(panel, figures, view));
    });
  }

  const actions = { in: () => zoom(view, 0.5), out: () => zoom(view, 2), earlier: () => pan(view, -0.25),
                    later: () => pan(view, 0.25), all: () => show_range(view, 0, view.longest) };
  card.querySelectorAll("[data-do]").forEach((button) => {
    button.addEventListener("click", () => {
      actions[button.dataset.do]();
      refresh();
    });
  });
  panels.forEach((panel) => {
    panel.chooser.addEventListener("change", () => {
      choose_bars(panel, figures.plans[Number(panel.chooser.value)]);
      fit();
      refresh();
    });
  });
  document.addEventListener("colours", refresh);
  new ResizeObserver(refresh).observe(card);
  for (const name of ["beforeprint", "afterprint"]) {
    window.addEventListener(name, () => panels.forEach((panel) => draw_panel(panel, figures, view, name[0] === "b")));
  }
  fit();
  refresh();
}

function show_range(view, from, to) {
  const width = clamp(to - from, Math.max(1, view.longest * 1e-6), view.longest);
  view.from = clamp(from, 0, view.longest - width);
  view.to = view.from + width;
}

function zoom(view, factor, at = (view.from + view.to) / 2) {
  show_range(view, at - (at - view.from) * factor, at - (at - view.from) * factor + (view.to - view.from) * factor);
}

function pan(view, share) {
  const by = (view.to - view.from) * share;
  show_range(view, view.from + by, view.to + by);
}

function make_panel(element, figures, view, refresh) {
  const panel = {
    chooser: element.querySelector("select"), lanes: element.querySelector(".lanes"),
    canvas: element.querySelector("canvas"), space: element.querySelector(".space"),
    total: element.querySelector(".total"), reading: element.querySelector(".reading"),
    note: element.querySelector(".note"), row: 0, bar: -1, gutter: 92,
  };
  choose_bars(panel, figures.plans[Number(panel.chooser.value)]);
  for (const name of ["scroll", "focus", "blur"]) panel.lanes.addEventListener(name, refresh);
  follow_pointer(panel, figures, view, refresh);
  follow_keys(panel, figures, view, refresh);
  return panel;
}

// Bars with absolute times in picoseconds, per row; `reach` is the latest end so far, for finding what overlaps a view.
function choose_bars(panel, plan) {
  panel.plan = plan;
  panel.row = 0;
  panel.bar = -1;
  let count = 0;
  panel.rows = plan.bars.map((flat) => {
    const row = { begin: [], end: [], send: [], others: [], reach: [] };
    let at = 0;
    let reach = 0;
    for (let i = 0; i < flat.length; i += 4) {
      row.begin.push((at + flat[i]) * plan.unit_ps);
      at += flat[i] + flat[i + 1];
      row.end.push(at * plan.unit_ps);
      row.send.push(flat[i + 2]);
      row.others.push(flat[i + 3]);
      reach = Math.max(reach, at * plan.unit_ps);
      row.reach.push(reach);
    }
    count += row.begin.length;
    return row;
  });
  const height = AXIS + ROW * panel.rows.length + 4;
  panel.space.style.height = `${height}px`;
  panel.lanes.style.height = `min(${height + 2}px, 26rem, 70vh)`;
  panel.lanes.scrollTop = 0;
  panel.canvas.dataset.bars = count;
  panel.total.textContent = `takes ${format_time(plan.time_ps)}, ${count} bars`;
  panel.reading.textContent = "Point at a bar, or focus the timeline and press the arrow keys.";
  panel.note.textContent = plan.bars_note;
}

function bar_in_words(panel, figures) {
  const row = panel.rows[panel.row];
  const link = figures.link_name(panel.plan.rows[panel.row]);
  if (panel.bar < 0) return `Row ${panel.row + 1} of ${panel.rows.length}: ${link}, ${row.begin.length} bars`;
  const send = panel.plan.sends[row.send[panel.bar]];
  const what = send.adds ? "added up" : "copied";
  const others = row.others[panel.bar] === 0 ? "" : ` in turns with ${row.others[panel.bar]} more`;
  return `${link}: transfer of ${format_bytes(send.bytes)} from rank ${send.from} to rank ${send.to} (step ${send.step}, ` +
    `${what} on arrival)${others}, ${format_time(row.begin[panel.bar])} to ${format_time(row.end[panel.bar])}`;
}
