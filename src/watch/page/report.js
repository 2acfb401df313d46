// The script of ebb::watch::Report: shows the records in the page's JSON as cards, and reads newer ones.

const source = document.getElementById("data").textContent;
// An open page loads itself into a hidden frame to read newer records.
if (window.parent !== window && location.hash === "#data-only") {
  window.parent.postMessage(source, location.protocol === "file:" ? "*" : location.origin);
  return;
}
let report = JSON.parse(source);
const compared = new Map();  // other reports, by name
const hidden = new Set();    // runs
const byId = id => document.getElementById(id);

// ---- Elements, numbers and records.
function make(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  node.append(...children);
  return node;
}
const html = (name, attributes = {}, ...children) => make(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) =>
  make(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
const path = (d, attributes) => svg("path", { d, ...attributes });
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
const byName = new Intl.Collator("en", { numeric: true }).compare;
const sorted = object => Object.entries(object).sort(([a], [b]) => byName(a, b));
const sum = values => values.reduce((a, b) => a + b, 0);
const extent = values => values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
const clock = milliseconds => new Date(milliseconds).toLocaleString();
const grouped = x => x.toLocaleString("en");
const percent = (part, whole) => whole ? (100 * part / whole).toFixed(1) + " %" : "-";
function format(x) {
  if (typeof x !== "number") return String(x);
  if (!Number.isFinite(x)) return "-";
  const size = Math.abs(x), short = +x.toPrecision(5);
  return size >= 1e7 || (size > 0 && size < 1e-4) ? short.toExponential() : String(Number.isInteger(x) ? x : short);
}
const reports = () => [["", report], ...[...compared].map(([name, one]) => [name + "/", one])];
const allRuns = () => reports().flatMap(([prefix, one]) => one.runs.map(run => prefix + run));
const isShown = run => !hidden.has(run);
function style(run) {
  const index = allRuns().indexOf(run);
  return { color: `var(--run${index % 8})`, dash: ["", "6 3", "2 2", "8 3 2 3"][Math.floor(index / 8) % 4] };
}
function gathered(kind) {  // pairs of a tag and {run: items}
  const tags = Object.create(null);
  for (const [prefix, one] of reports())
    for (const [tag, runs] of Object.entries(one.series[kind] ?? {}))
      for (const [run, { items }] of Object.entries(runs)) (tags[tag] ??= Object.create(null))[prefix + run] = items;
  return sorted(tags);
}

// ---- Charts.
function ticks(low, high, count, step) {
  const least = (high - low) / count, power = 10 ** Math.floor(Math.log10(least)), found = [];
  step ??= [1, 2, 5, 10].find(factor => factor * power >= least * 0.999) * power;
  for (let i = Math.ceil(low / step - 1e-6); i <= high / step + 1e-6; ++i) found.push(+(i * step).toPrecision(12));
  return found;
}
function padded([low, high], share) {
  if (!(low <= high)) return [0, 1];
  const margin = low === high ? Math.abs(low) * 0.1 || 0.5 : (high - low) * share;
  return [low - margin, high + margin];
}
function polyline(points) {
  let pen = "M";
  return points.map(([x, y]) => {
    const part = Number.isNaN(y) ? "" : `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = part ? "L" : "M";
    return part;
  }).join("");
}
// Draws axes, and lines of points {x, y, low, high, bad}. Returns the scales.
function chart(body, lines, { log = false, xs, ys, xLabel }) {
  const width = Math.max(body.clientWidth, 160), height = Math.round(clamp(width * 0.55, 180, 420));
  const points = lines.flatMap(line => line.points), scaled = v => log ? Math.log10(v) : v;
  xs ??= padded(extent(points.map(p => p.x)), 0);
  const values = points.filter(p => p.x >= xs[0] && p.x <= xs[1]).flatMap(p => [p.y, p.low, p.high]).map(scaled);
  const [low, high] = ys ?? padded(extent(values.filter(Number.isFinite)), 0.05), count = Math.floor(height / 36);
  const yTicks = !log ? ticks(low, high, count) : high - low < 1 ? ticks(10 ** low, 10 ** high, count) :
    ticks(low, high, 1, Math.ceil((high - low) / count)).map(power => Number("1e" + power));
  const left = 12 + 7 * Math.max(...yTicks.map(tick => format(tick).length)), w = width - left - 12, h = height - 46;
  const x = v => (v - xs[0]) / (xs[1] - xs[0]) * w;
  const y = v => log && !(v > 0) ? NaN : h - (scaled(v) - low) / (high - low) * h;
  // The inner element cuts off lines outside of the axes.
  const inner = svg("svg", { x: left - 4, y: 6, width: w + 8, height: h + 8, viewBox: `-4 -4 ${w + 8} ${h + 8}` });
  const picture = svg("svg", { width, height, "aria-hidden": "true" });
  const label = (x, y, anchor, text) => picture.append(svg("text", { x, y, "text-anchor": anchor }, format(text)));
  for (const tick of yTicks) {
    inner.append(path(`M0 ${y(tick)}h${w}`, { class: "grid" }));
    label(left - 6, y(tick) + 14, "end", tick);
  }
  for (const tick of ticks(...xs, Math.max(2, Math.floor(w / 64)))) {
    const half = 3.5 * format(tick).length;
    inner.append(path(`M${x(tick)} 0v${h}`, { class: "grid" }));
    label(clamp(left + x(tick), half, width - half), h + 26, "middle", tick);
  }
  label(left + w / 2, height - 4, "middle", xLabel);
  picture.append(inner);
  const along = (points, key = "y") => points.map(p => [x(p.x), y(p[key])]);
  for (const { points, raw = points, color, dash } of lines) {
    const band = raw.filter(p => p.high > p.low && (!log || p.low > 0));
    inner.append(path(polyline([...along(band, "high"), ...along(band, "low").reverse()]), { class: "band", fill: color }));
    if (raw !== points) inner.append(path(polyline(along(raw)), { class: "raw", stroke: color }));
    inner.append(path(polyline(along(points)), { class: "line", stroke: color, "stroke-dasharray": dash }));
    for (const p of points) {
      if (points.length <= 24 && y(p.y) <= h + 4) inner.append(svg("circle", { cx: x(p.x), cy: y(p.y), r: 2.5, fill: color }));
      if (p.bad) inner.append(path(`M${x(p.x) - 5} 0h10l-5 9Z`, { class: "bad", fill: color }));
    }
  }
  body.replaceChildren(picture);
  const value = event => xs[0] + clamp((event.clientX - body.getBoundingClientRect().left - left) / w, 0, 1) * (xs[1] - xs[0]);
  return { x, y, xs, h, inner, value };
}

// ---- Curves.
// Returns a point. One that stands for several values has their mean and range.
function pointOf([step, , last, end = step, good = +(typeof last === "number"), bad = 1 - good, mean = last, low = mean, high = low]) {
  return { x: step, end, last, bad, ...good ? { y: mean, low, high } : { y: NaN, low: NaN, high: NaN } };
}
// The exponential moving average of TensorBoard, whose first values are not drawn towards zero.
function smoothed(points) {
  let total = 0, weight = 0;
  const kept = +byId("smoothing").value;
  return points.map(p => {
    if (Number.isNaN(p.y)) return p;
    total = kept * total + (1 - kept) * p.y;
    weight = kept * weight + 1 - kept;
    return { ...p, y: total / weight };
  });
}
// Returns the steps of all points that are shown.
function stepsOf({ content, range }) {
  const steps = Object.entries(content).filter(([run]) => isShown(run)).flatMap(([, items]) => items.map(([step]) => step));
  return [...new Set(steps)].filter(x => !range || (x >= range[0] && x <= range[1])).sort((a, b) => a - b);
}
// Draws the curves of all runs, and their values at a step, or the last ones.
function drawCurves(card, step) {
  const { content, body, slider, isPinned } = card, log = byId("log").checked, marks = svg("g", { class: "cursor" });
  const lines = Object.entries(content).filter(([run, items]) => isShown(run) && items.length).map(([run, items]) => {
    const raw = items.map(pointOf);
    return { run, ...style(run), raw, points: byId("smoothing").value > 0 ? smoothed(raw) : raw };
  });
  const { x, y, h, inner } = card.scales = chart(body, lines, { log, xs: card.range, xLabel: "step" });
  if (isPinned) marks.append(path(`M${x(step)} 0v${h}`));
  if (isPinned && card.from != null) marks.append(path(`M${x(card.from)} 0V${h}H${x(step)}V0Z`, { class: "selection" }));
  if (log && lines.some(line => line.points.some(p => p.y <= 0)))
    inner.append(svg("text", { x: 4, y: h - 6 }, "values up to 0 have no logarithm"));
  const texts = [], rows = lines.map(({ run, points, raw, color, dash }) => {
    const distance = p => Math.abs(p.x - step), p = isPinned ? points.reduce((best, p) => distance(p) < distance(best) ? p : best) : points.at(-1);
    const value = format(Number.isNaN(p.y) || (!isPinned && raw === points) ? p.last : p.y), at = isPinned ? p.x : p.end;
    if (isPinned && y(p.y) <= h + 4) marks.append(svg("circle", { cx: x(p.x), cy: y(p.y), r: 4, fill: color }));
    texts.push(`${run}: ${value} at step ${at}`);
    return [html("th", { scope: "row" }, svg("svg", { width: 22, height: 8, "aria-hidden": "true" },
      path("M0 4h22", { class: "line", stroke: color, "stroke-dasharray": dash })), run),
    value, at, ...extent(raw.filter(q => q.y === q.y).flatMap(q => [q.low, q.high]))];
  });
  inner.append(marks);
  slider.setAttribute("aria-valuetext", texts.join(", "));
  return [body.firstChild, table(card.tag + ": values", ["Run", "Value", "Step", "Min", "Max"], rows, "legend")];
}
// The pointer moves the slider's thumb. A drag enlarges a part; a double click, or minus at the slider, shows everything.
function listen(card) {
  const { body, slider } = card, show = values => card.draw(Object.assign(card, values));
  const move = event => {
    const x = card.scales.value(event), distances = stepsOf(card).map(step => Math.abs(step - x));
    slider.value = distances.indexOf(Math.min(...distances));
    show({ isPinned: true });
    return x;
  };
  const on = (node, name, handle) => node.addEventListener(name, handle);
  body.classList.add("chart");
  on(body, "pointermove", move);
  on(body, "pointerdown", event => { card.from = event.pointerType === "mouse" ? move(event) : null; });
  on(body, "pointerup", event => {
    const ends = [card.from ?? move(event), move(event)].sort((a, b) => a - b), { x } = card.scales;
    show({ from: null, range: x(ends[1]) - x(ends[0]) > 8 ? ends : card.range });
  });
  on(body, "pointerleave", () => show({ isPinned: false, from: null }));
  on(body, "dblclick", () => show({ range: null }));
  on(slider, "keydown", ({ key }) => {
    const [low, high] = card.scales.xs, middle = stepsOf(card)[+slider.value], quarter = (high - low) / 4;
    if (key === "+") show({ range: [Math.max(low, middle - quarter), Math.min(high, middle + quarter)], isPinned: false });
    if (key === "-" || key === "Escape") show({ range: null, isPinned: false });
  });
}

// ---- Tables.
function table(caption, headers, rows, className = "") {
  const cell = (value, i) => value instanceof Node ? value : html(i ? "td" : "th", i ? {} : { scope: "row" }, format(value ?? ""));
  const header = name => name instanceof Node ? name : html("th", { scope: "col" }, name);
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, html("table", { class: className },
    html("thead", {}, html("tr", {}, ...headers.map(header))), html("tbody", {}, ...rows.map(row => html("tr", {}, ...row.map(cell))))));
}
function drawHparams(card, content) {
  const runs = Object.entries(content).filter(([run]) => isShown(run)), { by = 0, isDown = false } = card;
  const names = part => [...new Set(runs.flatMap(([, items]) => Object.keys(items.at(-1)[part])))].sort(byName).map(name => [part, name]);
  const columns = [...names("hparams"), ...names("metrics")];
  const rows = runs.map(([run, items]) => [run, ...columns.map(([part, name]) => items.at(-1)[part][name])]);
  rows.sort(({ [by]: a }, { [by]: b }) => (isDown ? -1 : 1) * (a - b || byName(a ?? "", b ?? "")));
  const headers = ["Run", ...columns.map(([, name]) => name)].map((name, i) =>
    html("th", { scope: "col", "aria-sort": i === by && (isDown ? "descending" : "ascending") }, html("button", { type: "button", onclick: () => {
      card.draw(Object.assign(card, { by: i, isDown: i === by && !isDown }));
      card.body.querySelectorAll("button")[i].focus();
    } }, name + (i === by ? (isDown ? " \u25bc" : " \u25b2") : ""))));
  return [table("Hyper-parameters of each run", headers, rows)];
}

// ---- The nodes of one item of a series.
const views = {
  scalar: drawCurves,
  hparams: drawHparams,
  confusion(card, { classes: n, labels, cells }) {
    const name = i => labels[i] ?? String(i), truth = new Array(n).fill(0), predicted = [...truth], correct = [...truth], counts = new Map();
    for (const [row, column, count] of cells) {
      counts.set(row * n + column, count);
      truth[row] += count;
      predicted[column] += count;
      if (row === column) correct[row] = count;
    }
    const share = (r, c) => percent(counts.get(r * n + c) ?? 0, truth[r]);
    const note = html("p", { class: "note" }, `${percent(sum(correct), sum(truth))} of ${grouped(sum(truth))} are correct. ` +
      (n > 50 ? "The most frequent confusions:" : "Rows: true classes. Columns: predicted classes."));
    if (n > 50)
      return [note, table(card.tag, ["True", "Predicted", "Count", "Of the class"], cells.filter(([r, c]) => r !== c)
        .sort((a, b) => b[2] - a[2]).slice(0, 50).map(([r, c, count]) => [name(r), name(c), grouped(count), share(r, c)]))];
    const rows = truth.map((_, r) => [name(r), ...truth.map((_, c) => html("td", { class: r === c ? "right" : "wrong",
      style: `--share: ${share(r, c).replace(" ", "")}`, title: `${name(r)} as ${name(c)}: ${share(r, c)}` },
    grouped(counts.get(r * n + c) ?? 0))), share(r, r)]);
    rows.push(["Precision", ...predicted.map((all, c) => percent(correct[c], all)), ""]);
    return [note, table(card.tag, ["Class", ...truth.map((_, i) => name(i)), "Recall"], rows, "matrix")];
  },
  pr_curve(card, { step, recall, precision }) {
    const points = recall.map((x, i) => ({ x, y: precision[i] }));
    chart(card.body, [{ points, ...style(card.run) }], { xLabel: "recall (up: precision)", xs: [0, 1], ys: [0, 1.02] });
    return [...card.body.children, html("p", { class: "hidden" }, `Precision over recall of ${card.tag} at step ${step}`)];
  },
  histogram(card, item, items) {
    const full = items.filter(one => one.count), steps = full.map(one => one.step), width = (steps.at(-1) - steps[0]) / (steps.length - 1) || 1;
    const { x, y, inner } = chart(card.body, [], { xLabel: "step", xs: padded([steps[0], steps.at(-1) + width], 0),
      ys: padded(extent(full.flatMap(one => [one.min, one.max])), 0) });
    full.forEach((one, i) => one.counts.forEach((count, k) => {
      const from = y(one.limits[k - 1]), to = y(one.limits[k]), right = x(steps[i + 1] ?? one.step + width) - 1;
      if (count) inner.append(path(`M${x(one.step)} ${from}V${to}H${right}V${from}Z`, { class: one === item ? "bucket selected" : "bucket",
        "fill-opacity": (0.1 + 0.9 * count / Math.max(...one.counts)).toFixed(2) }));
    }));
    return [...card.body.children, html("p", { class: "note" }, `${grouped(item.count)} values` + (item.count ? ` from ${format(item.min)} to ` +
      `${format(item.max)}, mean ${format(item.sum / item.count)}` : "") + (item.nans ? `, ${grouped(item.nans)} NaN` : "") +
      (item.infinities ? `, ${grouped(item.infinities)} infinite` : ""))];
  },
  image: ({ tag }, { step, png, width, height }) => [html("img", { src: "data:image/png;base64," + png, width, height,
    class: width < 200 && "pixels", style: `aspect-ratio: ${width} / ${height}`, alt: `${tag} at step ${step}, ${width} times ${height} pixels` })],
  text: ({ tag }, { text }) => [html("pre", { tabindex: 0, "aria-label": tag }, text)],
  graph: (card, { nodes }) => [html("details", {}, html("summary", {}, `${nodes.length} ops`), html("pre", { tabindex: 0 }, nodes.map(node =>
    `${node.name} = ${node.op}(${node.inputs.join(", ")}) ${node.shapes.map(sizes => `[${sizes}]`).join(" ")}`).join("\n")))],
};
views.summary = views.text;

// ---- Cards. One is drawn when it comes near the screen, and when its width or the settings change.
const cards = new Map();
const resized = new ResizeObserver(entries => requestAnimationFrame(() => {
  for (const { target } of entries) if (target.clientWidth !== target.card.width) target.card.draw();
}));
const near = new IntersectionObserver(entries => entries.forEach(({ target: { card }, isIntersecting }) => {
  card.isNear = isIntersecting;
  if (isIntersecting && card.isStale) card.draw();
}), { rootMargin: "800px" });
function newCard(kind, tag, run) {
  const body = html("div", { class: "plot" }), label = html("span", { class: "note" });
  const slider = html("input", { type: "range", min: 0, "aria-label": `Step of ${tag}${run && ", " + run}`, oninput: () => {
    card.isPinned = +slider.value < +slider.max;
    card.draw();
  } });
  const node = html("figure", { class: "card " + kind }, html("figcaption", {}, html("span", {}, tag), html("span", { class: "run" }, run)),
    body, html("div", { class: "slider" }, slider, label));
  const card = body.card = node.card = { tag, run, body, slider, node };
  card.draw = () => {
    card.isStale = !card.isNear;
    if (!card.isNear) return;
    const items = kind === "scalar" ? stepsOf(card) : run ? card.content : [card.content];
    slider.max = items.length - 1;
    slider.hidden = items.length < 2;
    if (!card.isPinned) slider.value = slider.max;
    const item = items[+slider.value], key = [items.length, item?.step, item?.time, body.clientWidth].join();
    if (run && card.key === key) return;  // so that a selection of text stays
    Object.assign(card, { key, width: body.clientWidth });
    if (run) label.textContent = `step ${item.step}, ${clock(item.time)}`;
    slider.setAttribute("aria-valuetext", label.textContent);
    body.replaceChildren(...views[kind](card, item, items));
  };
  if (kind === "scalar") listen(card);
  resized.observe(body);
  near.observe(node);
  return card;
}
function update(kind, tag, run, content) {
  const key = JSON.stringify([kind, tag, run]);
  if (!cards.has(key)) cards.set(key, newCard(kind, tag, run));
  const card = cards.get(key), runs = run ? [run] : Object.keys(content);
  card.content = content;
  card.node.hidden = !tag.toLowerCase().includes(byId("filter").value.toLowerCase()) || !runs.some(isShown);
  card.draw();
  return card.node;
}

// ---- The page.
function setChildren(parent, children) {
  if (children.length !== parent.children.length || children.some((child, i) => parent.children[i] !== child)) parent.replaceChildren(...children);
}
function runBox(run) {
  return html("label", { class: "check", "data-run": run }, html("input", { type: "checkbox", checked: true, onclick: event =>
    hidden[event.target.checked ? "delete" : "add"](run) }), html("span", { class: "swatch", style: `background: ${style(run).color}` }), run);
}
function nodesOf(kind) {
  if (kind === "facts") return reports().map(([name, { facts }]) => table("Environment", ["Property", name || "This report"], facts));
  return gathered(kind).flatMap(([tag, content]) => kind === "scalar" || kind === "hparams" ? [update(kind, tag, "", content)] :
    Object.entries(content).map(([run, items]) => update(kind, tag, run, items)));
}
function refresh() {
  const { state, started, updated, interval, title } = report, isLate = state === "running" && Date.now() - updated > 1e3 * Math.max(120, 20 * interval);
  const status = byId("status"), states = { running: "Running", finished: "Finished", stopped: "Stopped by an error", late: "No news" };
  document.title = byId("title").textContent = title;
  status.dataset.state = isLate ? "late" : state;
  status.textContent = `${states[status.dataset.state]}, started ${clock(started)}, last written ${clock(updated)}`;
  const runs = allRuns(), boxes = [...byId("runs").children];
  setChildren(byId("runs"), runs.length < 2 ? [] : runs.map(run => boxes.find(box => box.dataset.run === run) ?? runBox(run)));
  for (const section of byId("main").children) {
    const nodes = nodesOf(section.id);
    section.hidden = document.querySelector(`nav [href="#${section.id}"]`).hidden = nodes.every(node => node.hidden);
    setChildren(section.lastChild, nodes);
  }
}
async function compare(files) {
  for (const file of files) {
    const other = new DOMParser().parseFromString(await file.text(), "text/html").getElementById("data");
    const data = JSON.parse(other?.textContent || "{}");
    if (data.version === report.version) compared.set(file.name.replace(/\.html$/, ""), data);
    else alert(`${file.name} is not a report of this version of ebb.`);
  }
  refresh();
}
byId("files").onchange = event => compare(event.target.files);
document.forms[0].oninput = refresh;
document.forms[0].onsubmit = event => event.preventDefault();

// ---- Newer records.
setInterval(() => {
  if (report.state !== "running" || !byId("follow").checked || document.hidden) return;
  byId("newer")?.remove();
  const url = new URL(location.href);
  url.searchParams.set("at", String(Date.now()));
  url.hash = "data-only";
  document.body.append(html("iframe", { id: "newer", src: url.href, hidden: true, title: "Newer records" }));
}, 1000 * Math.max(2, report.interval));
window.addEventListener("message", event => {
  const frame = byId("newer");
  if (!frame || event.source !== frame.contentWindow) return;
  frame.remove();
  const newer = JSON.parse(event.data);
  if (newer.started !== report.started) return location.reload();
  if (newer.updated === report.updated) return;
  report = newer;
  refresh();
});
window.addEventListener("beforeprint", () => cards.forEach(card => {
  card.isNear = true;
  card.draw();
}));
refresh();
