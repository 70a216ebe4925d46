// Figures as text: three to four digits and the unit.
function in_unit(value, units) {
  for (const [factor, name] of units) {
    if (Math.abs(value) >= factor) return `${Number((value / factor).toPrecision(4))} ${name}`;
  }
  const [factor, name] = units[units.length - 1];
  return `${Number((value / factor).toPrecision(4))} ${name}`;
}

function format_time(ps) {
  return in_unit(ps, [[1e12, "s"], [1e9, "ms"], [1e6, "\u00b5s"], [1e3, "ns"], [1, "ps"]]);
}

function format_bytes(bytes) {
  return in_unit(bytes, [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]);
}

function format_rate(bytes_per_second) {
  return in_unit(bytes_per_second, [[1e12, "TB/s"], [1e9, "GB/s"], [1e6, "MB/s"], [1, "B/s"]]);
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
