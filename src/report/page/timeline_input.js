// Pointer, wheel and keys of a timeline.
function time_at(panel, view, x) {
  return view.from + (x - panel.gutter) / (panel.lanes.clientWidth - panel.gutter - 8) * (view.to - view.from);
}

// The place of an event inside the visible part of the lanes.
function place_of(panel, event) {
  const box = panel.lanes.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function point_at(panel, figures, view, place) {
  const row = Math.floor((place.y + panel.lanes.scrollTop - AXIS) / ROW);
  if (place.y < AXIS || row < 0 || row >= panel.rows.length) return;
  const bars = panel.rows[row];
  const slack = 2 * (view.to - view.from) / panel.lanes.clientWidth;
  const at = time_at(panel, view, place.x);
  const bar = first_above(bars.reach, at - slack);
  panel.row = row;
  panel.bar = bar < bars.begin.length && bars.begin[bar] <= at + slack ? bar : -1;
  panel.reading.textContent = bar_in_words(panel, figures);
}

function follow_pointer(panel, figures, view, refresh) {
  let drag = null;
  panel.lanes.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, from: view.from, width: view.to - view.from };
    panel.lanes.setPointerCapture(event.pointerId);
  });
  panel.lanes.addEventListener("pointermove", (event) => {
    if (drag) {
      const per_pixel = drag.width / (panel.lanes.clientWidth - panel.gutter - 8);
      const from = drag.from - (event.clientX - drag.x) * per_pixel;
      show_range(view, from, from + drag.width);
    } else {
      point_at(panel, figures, view, place_of(panel, event));
    }
    refresh();
  });
  for (const name of ["pointerup", "pointercancel"]) panel.lanes.addEventListener(name, () => { drag = null; });
  panel.lanes.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(view, event.deltaY > 0 ? 1.25 : 0.8, time_at(panel, view, place_of(panel, event).x));
    refresh();
  }, { passive: false });
}

function follow_keys(panel, figures, view, refresh) {
  const keys = {
    ArrowDown: () => walk_rows(panel, 1), ArrowUp: () => walk_rows(panel, -1),
    ArrowRight: (shift) => (shift ? pan(view, 0.25) : walk_bars(panel, view, 1)),
    ArrowLeft: (shift) => (shift ? pan(view, -0.25) : walk_bars(panel, view, -1)),
    "+": () => zoom_at_bar(panel, view, 0.5), "=": () => zoom_at_bar(panel, view, 0.5),
    "-": () => zoom_at_bar(panel, view, 2), 0: () => show_range(view, 0, view.longest),
    Home: () => end_of_row(panel, view, 0), End: () => end_of_row(panel, view, Infinity),
  };
  panel.lanes.addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.altKey || event.metaKey || panel.rows.length === 0) return;
    event.preventDefault();
    action(event.shiftKey);
    panel.reading.textContent = bar_in_words(panel, figures);
    refresh();
  });
}

function walk_rows(panel, by) {
  const middle = panel.bar < 0 ? 0 : panel.rows[panel.row].begin[panel.bar];
  panel.row = clamp(panel.row + by, 0, panel.rows.length - 1);
  if (panel.bar >= 0) panel.bar = clamp(first_above(panel.rows[panel.row].end, middle), 0,
                                        panel.rows[panel.row].begin.length - 1);
  const top = panel.row * ROW;
  const room = panel.lanes.clientHeight - AXIS - ROW - 4;
  panel.lanes.scrollTop = clamp(panel.lanes.scrollTop, top - room, top);
}

function walk_bars(panel, view, by) {
  const count = panel.rows[panel.row].begin.length;
  panel.bar = panel.bar < 0 && by < 0 ? count - 1 : clamp(panel.bar + by, 0, count - 1);
  show_bar(panel, view);
}

function end_of_row(panel, view, index) {
  panel.bar = Math.min(index, panel.rows[panel.row].begin.length - 1);
  show_bar(panel, view);
}

// Moves the view so that the selected bar lies in it.
function show_bar(panel, view) {
  const begin = panel.rows[panel.row].begin[panel.bar];
  const end = panel.rows[panel.row].end[panel.bar];
  const width = view.to - view.from;
  if (begin < view.from) show_range(view, begin - width * 0.1, begin + width * 0.9);
  else if (end > view.to && begin > view.from) show_range(view, Math.min(begin, end - width * 0.9),
                                                          Math.min(begin, end - width * 0.9) + width);
}

function zoom_at_bar(panel, view, factor) {
  const row = panel.rows[panel.row];
  zoom(view, factor, panel.bar < 0 ? undefined : (row.begin[panel.bar] + row.end[panel.bar]) / 2);
}
