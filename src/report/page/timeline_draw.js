// One frame of a timeline on its canvas.
function draw_panel(panel, figures, view, on_paper = false) {
  const width = panel.lanes.clientWidth;
  const height = panel.lanes.clientHeight;
  if (width === 0 || height === 0) return;
  const paint = prepare_canvas(panel.canvas, width, height);
  const colours = read_colours(on_paper);
  panel.gutter = gutter_of(paint, panel, figures, width);
  const scale = (width - panel.gutter - 8) / (view.to - view.from);
  const first = Math.max(0, Math.floor(panel.lanes.scrollTop / ROW));
  const last = Math.min(panel.rows.length, first + Math.ceil(height / ROW) + 1);
  let drawn = 0;
  paint.fillStyle = colours.surface;
  paint.fillRect(0, 0, width, height);
  for (let row = first; row < last; ++row) {
    const y = AXIS + row * ROW - panel.lanes.scrollTop;
    if (row === panel.row && is_active(panel)) {
      paint.fillStyle = colours.line;
      paint.fillRect(0, y, width, ROW);
    }
    drawn += draw_bars(paint, panel, { row, y, scale, width }, view, colours);
  }
  draw_names(paint, panel, figures, { first, last, height }, colours);
  draw_axis(paint, view, { scale, width, height, gutter: panel.gutter, end: panel.plan.time_ps }, colours);
  panel.canvas.dataset.drawn = drawn;
}

// The row that keys or the pointer are on stands out only while they are.
function is_active(panel) {
  return panel.bar >= 0 || document.activeElement === panel.lanes;
}

// As wide as the longest name, up to a third of the panel.
function gutter_of(paint, panel, figures, width) {
  if (panel.measured !== panel.plan) {
    panel.widest = Math.max(0, ...panel.plan.rows.map((id) => paint.measureText(figures.link_name(id)).width));
    panel.measured = panel.plan;
  }
  return clamp(panel.widest + 16, 56, width / 3);
}

function prepare_canvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const paint = canvas.getContext("2d");
  paint.setTransform(ratio, 0, 0, ratio, 0, 0);
  paint.font = "11px system-ui, sans-serif";
  return paint;
}

function read_colours(on_paper) {
  if (on_paper) return { ink: "#000", muted: "#333", line: "#ddd", surface: "#fff", adds: "#b34700", copies: "#0b62a8" };
  const style = getComputedStyle(document.documentElement);
  const colours = {};
  for (const name of ["ink", "muted", "line", "surface", "adds", "copies"]) {
    colours[name] = style.getPropertyValue(`--${name}`).trim();
  }
  return colours;
}

// Index of the first value above `limit` in an ascending list.
function first_above(values, limit) {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Bars of one row inside the view. What would end in the pixel that was painted last is left out.
function draw_bars(paint, panel, at, view, colours) {
  const bars = panel.rows[at.row];
  let painted = 0;
  let edge = -1;
  for (let i = first_above(bars.reach, view.from); i < bars.begin.length && bars.begin[i] < view.to; ++i) {
    const selected = at.row === panel.row && i === panel.bar;
    const left = Math.max(panel.gutter, panel.gutter + (bars.begin[i] - view.from) * at.scale);
    const right = Math.min(at.width, panel.gutter + (bars.end[i] - view.from) * at.scale);
    if (right < edge + 0.5 && !selected) continue;
    const send = panel.plan.sends[bars.send[i]];
    paint.fillStyle = selected ? colours.ink : send.adds ? colours.adds : colours.copies;
    const top = send.adds ? at.y + 2 : at.y + 4;
    const width = right - left > 3 ? right - left - 0.75 : Math.max(0.75, right - left);
    paint.fillRect(left, top, width, send.adds ? ROW - 4 : ROW - 8);
    edge = right;
    ++painted;
  }
  return painted;
}

function draw_names(paint, panel, figures, rows, colours) {
  paint.fillStyle = colours.surface;
  paint.fillRect(0, 0, panel.gutter - 4, rows.height);
  paint.textAlign = "right";
  for (let row = rows.first; row < rows.last; ++row) {
    const y = AXIS + row * ROW - panel.lanes.scrollTop;
    paint.fillStyle = row === panel.row ? colours.ink : colours.muted;
    paint.fillText(fit_name(paint, figures, panel.plan.rows[row], panel.gutter - 12), panel.gutter - 8, y + 12);
  }
}

// Both ends of a long name keep their tails, where names of one kind differ.
function fit_name(paint, figures, link, width) {
  const whole = figures.link_name(link);
  if (paint.measureText(whole).width <= width) return whole;
  const ends = figures.links[link].slice(0, 2).map((vertex) => figures.vertices[vertex]);
  const tail = (name, length) => (name.length > length ? `\u2026${name.slice(name.length - length)}` : name);
  for (let length = Math.max(ends[0].length, ends[1].length) - 1; length > 1; --length) {
    const text = `${tail(ends[0], length)} \u2192 ${tail(ends[1], length)}`;
    if (paint.measureText(text).width <= width) return text;
  }
  return "\u2026";
}

// Ticks at 1, 2 or 5 times a power of ten, and a line where the plan ends.
function draw_axis(paint, view, at, colours) {
  paint.fillStyle = colours.surface;
  paint.fillRect(0, 0, at.width, AXIS - 2);
  const rough = (view.to - view.from) * 90 / (at.width - at.gutter);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  paint.textAlign = "left";
  for (let tick = Math.ceil(view.from / step) * step; tick <= view.to; tick += step) {
    const x = at.gutter + (tick - view.from) * at.scale;
    paint.fillStyle = colours.line;
    paint.fillRect(x, 0, 1, at.height);
    paint.fillStyle = colours.muted;
    const text = tick === 0 ? "0" : format_time(tick);
    if (x + paint.measureText(text).width + 5 < at.width) paint.fillText(text, x + 4, 13);
  }
  const end = at.gutter + (at.end - view.from) * at.scale;
  if (end < at.gutter || end > at.width) return;
  paint.fillStyle = colours.ink;
  paint.fillRect(Math.min(end, at.width - 1.5), AXIS - 4, 1.5, at.height);
}
