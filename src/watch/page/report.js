// The script of ebb::watch::Report: shows the records in the page's JSON as cards, and reads newer ones. It follows
// charts.js and cards.js in one function.

const source = document.getElementById("data").textContent;
// An open page loads itself into a hidden frame to read newer records.
if (window.parent !== window && location.hash === "#data-only") {
  window.parent.postMessage(source, location.protocol === "file:" ? "*" : location.origin);
  return;
}

let report = JSON.parse(source);
const compared = new Map();  // other reports, by name
const cards = new Map();     // figures on the page, by kind, tag and run
const place = "ebb.report " + location.pathname;
const settings = { smoothing: 0, log: false, axis: "step", outliers: false, filter: "", follow: true, hidden: [] };
try { Object.assign(settings, JSON.parse(sessionStorage.getItem(place))); } catch { /* storage is off */ }

// ---- The records of this report and of the compared ones.
const reports = () => [["", report], ...compared];
const renamed = (prefix, run) => prefix ? prefix + "/" + run : run;
const allRuns = () => reports().flatMap(([prefix, one]) => one.runs.map(run => renamed(prefix, run)));
const style = run => {
  const index = Math.max(0, allRuns().indexOf(run));
  return { color: `var(--run${index % 8})`, dash: ["", "6 3", "2 2", "8 3 2 3"][Math.floor(index / 8) % 4] };
};
const isShown = run => !settings.hidden.includes(run);
function gathered(part) {  // {tag: {run: content}}
  const tags = dict();
  for (const [prefix, one] of reports())
    for (const [tag, runs] of Object.entries(part(one) || {}))
      for (const [run, content] of Object.entries(runs)) (tags[tag] ??= dict())[renamed(prefix, run)] = content;
  return tags;
}
// A point of a curve; y is the mean of several values if low and high differ.
function pointsOf(curve) {
  const start = curve.points.length ? curve.points[0][1] : 0;
  return curve.points.map(p => {
    const several = p.length > 3, bad = several ? p[5] : +(typeof p[2] === "string");
    const y = several ? (p[4] ? p[6] : NaN) : typeof p[2] === "string" ? NaN : p[2];
    return { step: p[0], end: several ? p[3] : p[0], x: settings.axis === "step" ? p[0] : (p[1] - start) / 1000, y, last: p[2], bad,
             low: several ? p[7] : y, high: several ? p[8] : y };
  });
}
// The exponential moving average of TensorBoard, whose first values are not drawn towards zero.
function smoothed(points) {
  let sum = 0, weight = 0;
  const kept = settings.smoothing;
  return points.map(p => {
    if (Number.isNaN(p.y)) return p;
    sum = kept * sum + (1 - kept) * p.y;
    weight = kept * weight + (1 - kept);
    return { ...p, y: sum / weight };
  });
}

// ---- The page.
const main = html("main", { id: "main" }), nav = html("nav", { "aria-label": "Sections" }), runList = html("div", { class: "runs" });
const status = html("p", { class: "note", id: "status" });
function control(label, input) { return html("label", {}, html("span", {}, label), input); }
function changed(values) {
  Object.assign(settings, values);
  try { sessionStorage.setItem(place, JSON.stringify(settings)); } catch { /* storage is off */ }
  refresh();
}
const check = (name, label) => html("label", { class: "check" }, html("input", { type: "checkbox", checked: settings[name],
  onchange: event => changed({ [name]: event.target.checked }) }), label);
const output = html("span", {}, String(settings.smoothing));  // a label belongs to its first output or input
const heading = html("h1", {}, report.title);
document.body.append(html("a", { class: "skip", href: "#main" }, "Skip to the content"),
  html("header", {}, heading, status),
  html("aside", { "aria-label": "Settings" }, nav, html("form", { onsubmit: event => event.preventDefault() },
    control("Tags that contain", html("input", { type: "search", value: settings.filter,
      oninput: event => changed({ filter: event.target.value }) })),
    html("label", {}, html("span", {}, "Smoothing ", output), html("input", { type: "range", min: 0, max: 0.99, step: 0.01, value: settings.smoothing,
      oninput: event => { output.textContent = event.target.value; changed({ smoothing: +event.target.value }); } })),
    control("Horizontal axis", html("select", { onchange: event => changed({ axis: event.target.value }) },
      ...[["step", "Step"], ["time", "Time since the start"]].map(([value, text]) =>
        html("option", { value, selected: settings.axis === value }, text)))),
    html("div", {}, check("log", "Logarithmic"), check("outliers", "Ignore outliers"), check("follow", "Show new records")),
    runList, control("Compare with other reports", html("input", { type: "file", multiple: true, accept: ".html,text/html",
      onchange: event => compare(event.target.files) })))),
  main, html("div", { id: "live", role: "status", class: "hidden" }));

async function compare(files) {
  for (const file of files) {
    const other = new DOMParser().parseFromString(await file.text(), "text/html").getElementById("data");
    if (other) compared.set(file.name.replace(/\.html?$/, ""), JSON.parse(other.textContent));
    else announce(`${file.name} is not a report`);
  }
  refresh();
}
const sections = new Map();
function section(title) {
  const id = title.toLowerCase().replace(/\W+/g, "-");
  if (!sections.has(title)) sections.set(title, html("section", { id, "aria-label": title }, html("h2", {}, title)));
  return sections.get(title);
}
// Puts cards into the section, in groups by the part of the tag before the first slash.
function fill(title, list) {
  if (!list.length) return;
  const groups = dict();
  for (const card of list) {
    const group = card.tag.includes("/") ? card.tag.slice(0, card.tag.indexOf("/")) : "";
    (groups[group] ??= []).push(card);
  }
  const parent = section(title);
  for (const [name, members] of Object.entries(groups).sort(([a], [b]) => byName(a, b))) {
    const id = parent.id + " " + name;
    let grid = [...parent.querySelectorAll(".grid-of-cards")].find(one => one.dataset.group === id);
    if (!grid) {
      grid = html("div", { class: "grid-of-cards", "data-group": id });
      parent.append(name ? html("details", { open: true }, html("summary", {}, name), grid) : grid);
    }
    members.forEach((card, i) => { if (grid.children[i] !== card.node) grid.insertBefore(card.node, grid.children[i] ?? null); });
  }
}
function update(key, create, content) {
  if (!cards.has(key)) cards.set(key, create());
  const card = cards.get(key);
  card.content = content;
  const runs = card.run === undefined ? Object.keys(content) : [card.run];
  card.node.hidden = !card.tag.toLowerCase().includes(settings.filter.toLowerCase()) || !runs.some(isShown);
  card.redraw();
  return card;
}
const kinds = { histogram: "Histograms", image: "Images", confusion: "Confusion tables", pr_curve: "Precision and recall", text: "Texts" };
const sorted = tags => Object.entries(tags).sort(([a], [b]) => byName(a, b));

function refresh() {
  document.title = heading.textContent = report.title;
  const age = (Date.now() - report.updated) / 1000, isRunning = report.state === "running";
  const isLate = isRunning && age > Math.max(120, 20 * report.interval);
  const states = { running: "Running since", finished: "Finished at" };
  status.textContent = `${isLate ? "No news since" : states[report.state] ?? "Stopped by an error at"} ` +
    `${clock(isLate || !isRunning ? report.updated : report.started)}` +
    (isRunning && !isLate ? `, last written ${clock(report.updated)}` : `, started ${clock(report.started)}`);
  status.dataset.state = isLate ? "late" : report.state;
  const runs = allRuns();
  runList.replaceChildren(...runs.length > 1 ? [html("fieldset", {}, html("legend", {}, "Runs"), ...runs.map((run, i) =>
    html("label", { class: "check" }, html("input", { type: "checkbox", id: "run" + i, checked: isShown(run), onchange: event => {
      changed({ hidden: event.target.checked ? settings.hidden.filter(one => one !== run) : [...settings.hidden, run] });
      document.getElementById("run" + i).focus();
    } }), html("span", { class: "swatch", style: `background: ${style(run).color}` }), run)))] : []);

  fill("Curves", sorted(gathered(one => one.scalars)).map(([tag, content]) =>
    update("scalar " + tag, () => scalarCard("scalar " + tag, tag), content)));
  for (const [kind, title] of Object.entries(kinds))
    fill(title, sorted(gathered(one => one.series[kind])).flatMap(([tag, runsOfTag]) => Object.entries(runsOfTag).map(([run, series]) => {
      const key = JSON.stringify([kind, tag, run]);
      return update(key, () => seriesCard(key, kind, tag, run), series);
    })));
  const list = part => reports().flatMap(([prefix, one]) => Object.entries(one[part]).map(([run, content]) => [renamed(prefix, run), content]));
  const hparams = list("hparams"), summaries = list("summaries"), graphs = list("graphs");
  const replace = (title, ...children) => section(title).replaceChildren(html("h2", {}, title), ...children);
  if (hparams.length) replace("Hyper-parameters", hparamsTable(hparams));
  // The tables of a model do not change often, so an open graph stays open.
  const text = JSON.stringify([summaries, graphs]);
  if (summaries.length + graphs.length && refresh.model !== text)
    replace("Model", ...summaries.map(([name, summary]) => html("div", {}, html("h3", {}, name), summaryTable(name, summary))),
      ...graphs.map(([run, nodes]) => graphTable(run, nodes)));
  refresh.model = text;
  replace("Environment", ...reports().map(([prefix, one]) => table("Environment of " + (prefix || "this report"), ["Property", prefix || "This report"], one.facts)));
  const order = ["Curves", "Confusion tables", "Precision and recall", "Histograms", "Images", "Texts", "Hyper-parameters", "Model", "Environment"]
    .filter(title => sections.has(title));
  order.forEach((title, i) => { if (main.children[i] !== sections.get(title)) main.insertBefore(sections.get(title), main.children[i] ?? null); });
  nav.replaceChildren(html("ul", {}, ...order.map(title => html("li", {}, html("a", { href: "#" + sections.get(title).id }, title)))));
}

// ---- Newer records.
function follow() {
  if (report.state !== "running" || !settings.follow || document.hidden) return;
  document.getElementById("newer")?.remove();
  const url = new URL(location.href);
  url.searchParams.set("at", String(Date.now()));
  url.hash = "data-only";
  document.body.append(html("iframe", { id: "newer", src: url.href, hidden: true, title: "Newer records" }));
}
window.addEventListener("message", event => {
  const frame = document.getElementById("newer");
  if (!frame || event.source !== frame.contentWindow) return;
  frame.remove();
  const newer = JSON.parse(event.data);
  if (newer.started !== report.started) return location.reload();
  if (newer.updated === report.updated) return;
  report = newer;
  refresh();
});
window.addEventListener("beforeprint", () => cards.forEach(card => { card.isNear = true; card.redraw(); }));
refresh();
setInterval(follow, 1000 * Math.max(2, report.interval));
