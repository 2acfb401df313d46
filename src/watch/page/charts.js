// The elements and charts of a report's page: SVG with axes and lines.

function make(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter(child => child != null && child !== false));
  return node;
}
const html = (name, attributes = {}, ...children) => make(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) =>
  make(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
const dict = () => Object.create(null);
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
const byName = new Intl.Collator("en", { numeric: true }).compare;

function format(x, digits = 5) {
  if (typeof x === "string") return x;
  if (!Number.isFinite(x)) return x > 0 ? "inf" : x < 0 ? "-inf" : "nan";
  const size = Math.abs(x);
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) {
    const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
    return +mantissa + "e" + +exponent;
  }
  return String(Number.isInteger(x) ? x : +x.toPrecision(digits));
}
const grouped = x => Number.isFinite(x) ? x.toLocaleString("en") : String(x);
function duration(seconds) {
  if (Math.abs(seconds) < 60) return format(seconds, 3) + " s";
  const s = Math.round(seconds), pad = n => String(n).padStart(2, "0");
  const minutes = Math.floor(s / 60) % 60, hours = Math.floor(s / 3600);
  return hours ? `${hours}:${pad(minutes)}:${pad(s % 60)} h` : `${minutes}:${pad(s % 60)} min`;
}
const clock = milliseconds => new Date(milliseconds).toLocaleString();

function ticks(low, high, count, scale) {
  if (scale === "log") {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const every = Math.ceil((last - first) / count), found = [];
    for (let power = first; power <= last; power += Math.max(1, every))
      for (const factor of last - first <= 2 ? [1, 2, 5] : [1]) found.push(factor * 10 ** power);
    const inside = found.filter(tick => tick >= low && tick <= high);
    return inside.length > 1 ? inside : ticks(low, high, count);
  }
  const least = (high - low) / count, power = 10 ** Math.floor(Math.log10(least));
  const times = [5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21600, 43200, 86400];
  const step = (scale === "time" && least > 2 && times.find(time => time >= least)) ||
    [1, 2, 5, 10].find(factor => factor * power >= least * 0.999) * power;
  const found = [];
  for (let i = Math.ceil(low / step - 1e-6); i <= high / step + 1e-6; ++i) found.push(i * step);
  return found;
}
const pen = document.createElement("canvas").getContext("2d");
function textWidth(text) {
  pen.font = "12px system-ui, sans-serif";
  return pen.measureText(text).width;
}

// ---- Charts.
const path = points => {
  let d = "", isGap = true;
  for (const [x, y] of points) {
    if (Number.isNaN(y)) { isGap = true; continue; }
    d += `${isGap ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
    isGap = false;
  }
  return d;
};
function extent(lines, zoom, log, isRobust) {
  let xs = [Infinity, -Infinity], ys = [Infinity, -Infinity];
  const all = [];
  for (const line of lines)
    for (const p of line.points) {
      if (zoom && (p.x < zoom[0] || p.x > zoom[1])) continue;
      xs = [Math.min(xs[0], p.x), Math.max(xs[1], p.x)];
      if (Number.isNaN(p.y) || (log && p.y <= 0)) continue;
      all.push(p.y);
      ys = [Math.min(ys[0], log && p.low <= 0 ? p.y : p.low), Math.max(ys[1], p.high)];
    }
  if (zoom) xs = zoom;
  if (isRobust && all.length > 4) {
    all.sort((a, b) => a - b);
    ys = [all[Math.floor(0.05 * all.length)], all[Math.ceil(0.95 * (all.length - 1))]];
  }
  if (!(ys[0] <= ys[1])) ys = log ? [0.1, 1] : [0, 1];
  if (xs[0] === xs[1]) xs = [xs[0] - 0.5, xs[1] + 0.5];
  if (!(xs[0] < xs[1])) xs = [0, 1];
  if (log) return [xs, ys[0] === ys[1] ? [ys[0] / 2, ys[1] * 2] : [ys[0] / 1.1, ys[1] * 1.1]];
  const margin = ys[0] === ys[1] ? Math.abs(ys[0]) * 0.1 || 1 : (ys[1] - ys[0]) * 0.05;
  return [xs, [ys[0] - margin, ys[1] + margin]];
}
// Draws lines with axes into `plot`. Returns the scales.
function drawChart(plot, lines, { log = false, isRobust = false, xScale = "", xLabel = "", zoom = null, range = null }) {
  const width = Math.max(plot.clientWidth, 160), height = Math.round(clamp(width * 0.55, 180, 420));
  const [xs, ys] = range || extent(lines, zoom, log, isRobust);
  const yTicks = ticks(ys[0], ys[1], Math.floor(height / 36), log ? "log" : "");
  const left = 10 + Math.max(...yTicks.map(tick => textWidth(format(tick))));
  const right = width - 12, top = 10, bottom = height - 36;
  const value = y => log ? Math.log10(y) : y;
  const x = v => left + (v - xs[0]) / (xs[1] - xs[0]) * (right - left);
  const y = v => log && v <= 0 ? NaN :
    bottom - (value(v) - value(ys[0])) / (value(ys[1]) - value(ys[0])) * (bottom - top);
  const xText = tick => xScale === "time" ? duration(tick) : format(tick);
  const clip = "clip" + (drawChart.count = (drawChart.count || 0) + 1);
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    svg("clipPath", { id: clip }, svg("rect", { x: left - 4, y: top - 4, width: right - left + 8, height: bottom - top + 8 })));
  for (const tick of yTicks)
    picture.append(svg("line", { class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }),
      svg("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, format(tick)));
  let end = -Infinity;
  for (const tick of ticks(xs[0], xs[1], Math.max(2, Math.floor((right - left) / 60)), xScale)) {
    const half = textWidth(xText(tick)) / 2, at = clamp(x(tick), half, width - half);
    picture.append(svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: bottom }));
    if (at - half < end + 8) continue;
    end = at + half;
    picture.append(svg("text", { x: at, y: bottom + 16, "text-anchor": "middle" }, xText(tick)));
  }
  picture.append(svg("text", { x: (left + right) / 2, y: height - 4, "text-anchor": "middle" }, xLabel));
  const inside = svg("g", { "clip-path": `url(#${clip})` }), drawn = new Set();
  for (const { points, raw, color, dash } of lines) {
    const d = path(points.map(p => [x(p.x), y(p.y)]));
    const band = (raw || points).filter(p => p.high > p.low && (!log || p.low > 0));
    if (band.length > 1)
      inside.append(svg("path", { class: "band", fill: color, d: path([...band.map(p => [x(p.x), y(p.high)]),
        ...band.reverse().map(p => [x(p.x), y(p.low)])]) + "Z" }));
    if (raw) inside.append(svg("path", { class: "raw", stroke: color, d: path(raw.map(p => [x(p.x), y(p.y)])) }));
    // A line that hides an earlier one is dashed.
    inside.append(svg("path", { class: "line", stroke: color, d, "stroke-dasharray": dash || (drawn.has(d) && "4 6") }));
    drawn.add(d);
    if (points.length <= 24)
      for (const p of points)
        if (!Number.isNaN(y(p.y))) inside.append(svg("circle", { cx: x(p.x), cy: y(p.y), r: 2.5, fill: color }));
    for (const p of points)
      if (p.bad) inside.append(svg("path", { class: "bad", fill: color, d: `M${x(p.x) - 5} ${top}h10l-5 9Z` },
        svg("title", {}, `step ${p.step}: ${p.bad} values that are not finite`)));
  }
  picture.append(inside);
  plot.replaceChildren(picture);
  return { x, y, xs, left, right, top, bottom, picture, value: px => xs[0] + (px - left) / (right - left) * (xs[1] - xs[0]) };
}

