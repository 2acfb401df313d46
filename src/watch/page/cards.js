// The figures and tables of a report's page. A card is drawn when it comes near the screen, and when its width or
// the settings change.

const resized = new ResizeObserver(entries => requestAnimationFrame(() => {
  for (const { target } of entries)
    if (target.clientWidth !== target.card.width) target.card.redraw();
}));
const near = new IntersectionObserver(entries => entries.forEach(({ target, isIntersecting }) => {
  target.card.isNear = isIntersecting;
  if (isIntersecting && target.card.isStale) target.card.redraw();
}), { rootMargin: "800px" });
function newCard(key, tag, isWide) {
  const body = html("div", { class: "plot" });
  const title = html("figcaption", {}, html("span", {}, tag));
  const card = { key, tag, isStale: true, node: html("figure", { class: isWide ? "card wide" : "card" }, title, body), body, title };
  card.redraw = () => {
    card.isStale = !card.isNear;
    if (!card.isNear) return;
    card.width = body.clientWidth;
    card.draw();
  };
  body.card = card.node.card = card;
  resized.observe(body);
  near.observe(card.node);
  return card;
}
const announce = text => { document.getElementById("live").textContent = text; };

function scalarCard(key, tag) {
  const card = newCard(key, tag), { body } = card;
  const legend = html("tbody");
  let scales = null, lines = [], zoom = null, cursor = null;
  card.title.append(
    html("button", { type: "button", title: "Make this chart wide or narrow", "aria-label": `${tag}: wide or narrow`,
      onclick: () => { card.node.classList.toggle("wide"); } }, "\u2922"),
    html("button", { type: "button", title: "Save the values as CSV", "aria-label": `${tag}: save the values as CSV`,
      onclick: save }, "CSV"));
  card.node.append(html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${tag}: values` },
    html("table", { class: "legend" }, html("thead", {}, html("tr", {},
      ...["Run", "Value", "Step", "Min", "Max"].map(name => html("th", { scope: "col" }, name)))), legend)));
  function save() {
    const rows = lines.flatMap(line => (line.raw || line.points).map(p =>
      [JSON.stringify(line.run), p.step, p.bad ? p.last : p.y, p.low, p.high].join(",")));
    const blob = new Blob([["run,step,value,min,max", ...rows, ""].join("\n")], { type: "text/csv" });
    const link = html("a", { href: URL.createObjectURL(blob), download: tag.replace(/[^\w.-]+/g, "_") + ".csv" });
    link.click();
    URL.revokeObjectURL(link.href);
  }
  const nearest = line => line.points.reduce((best, p) =>
    Math.abs(p.x - cursor) < Math.abs(best.x - cursor) ? p : best, line.points[0]);
  function showCursor() {
    scales.picture.querySelector(".cursor")?.remove();
    const marks = svg("g", { class: "cursor" });
    if (cursor !== null) {
      const at = scales.x(cursor);
      marks.append(svg("line", { x1: at, x2: at, y1: scales.top, y2: scales.bottom }));
    }
    legend.replaceChildren(...lines.map(line => {
      const p = cursor === null ? line.points.at(-1) : nearest(line), y = scales.y(p.y);
      if (cursor !== null && y >= scales.top - 4 && y <= scales.bottom + 4)
        marks.append(svg("circle", { cx: scales.x(p.x), cy: y, r: 4, fill: line.color }));
      const finite = (line.raw || line.points).filter(q => !Number.isNaN(q.y));
      const cells = [Number.isNaN(p.y) || (cursor === null && !line.raw) ? p.last : p.y, cursor === null ? p.end : p.step,
        finite.reduce((least, q) => Math.min(least, q.low), Infinity),
        finite.reduce((most, q) => Math.max(most, q.high), -Infinity)];
      return html("tr", {}, html("th", { scope: "row" }, svg("svg", { width: 22, height: 8, "aria-hidden": "true" },
        svg("line", { x1: 0, x2: 22, y1: 4, y2: 4, class: "line", stroke: line.color, "stroke-dasharray": line.dash })),
        line.run), ...cells.map(cell => html("td", {}, Math.abs(cell) === Infinity ? "-" : format(cell))));
    }));
    scales.picture.append(marks);
  }
  card.draw = () => {
    lines = Object.entries(card.content).filter(([run, curve]) => isShown(run) && curve.points.length).map(([run, curve]) => {
      const points = pointsOf(curve), isSmooth = settings.smoothing > 0;
      return { run, ...style(run), points: isSmooth ? smoothed(points) : points, raw: isSmooth && points };
    });
    const isTime = settings.axis !== "step";
    scales = drawChart(body, lines, { log: settings.log, isRobust: settings.outliers, zoom, xScale: isTime ? "time" : "", xLabel: isTime ? "time" : "step" });
    const hidden = settings.log && lines.some(line => line.points.some(p => p.y <= 0));
    if (hidden) scales.picture.append(svg("text", { x: scales.left + 4, y: scales.bottom - 6 }, "values up to 0 have no logarithm"));
    body.setAttribute("aria-label", `${tag}, ${lines.length} ${lines.length === 1 ? "curve" : "curves"}. Arrow keys read ` +
      "values, plus enlarges, minus shows everything.");
    showCursor();
  };
  for (const [name, value] of Object.entries({ tabindex: 0, role: "application", "aria-roledescription": "chart" }))
    body.setAttribute(name, value);
  body.classList.add("chart");
  const pixel = event => event.clientX - body.getBoundingClientRect().left;
  const on = (name, handle) => body.addEventListener(name, event => {
    if (!scales) card.draw();
    handle(event);
  });
  let from = null;
  on("pointermove", event => {
    cursor = clamp(scales.value(pixel(event)), ...scales.xs);
    showCursor();
    scales.picture.querySelector(".selection")?.remove();
    const to = clamp(pixel(event), scales.left, scales.right);
    if (from !== null) scales.picture.append(svg("rect", { class: "selection", x: Math.min(from, to), y: scales.top,
      width: Math.abs(to - from), height: scales.bottom - scales.top }));
  });
  on("pointerleave", () => { cursor = from = null; card.draw(); });
  on("pointerdown", event => {
    if (event.pointerType === "mouse") from = clamp(pixel(event), scales.left, scales.right);
  });
  on("pointerup", event => {
    if (from !== null && Math.abs(pixel(event) - from) > 8)
      zoom = [from, clamp(pixel(event), scales.left, scales.right)].map(scales.value).sort((a, b) => a - b);
    from = null;
    card.draw();
  });
  on("dblclick", () => { zoom = null; card.draw(); });
  on("keydown", event => {
    const [low, high] = scales.xs, places = lines.flatMap(line => line.points.map(p => p.x))
      .filter(x => x >= low && x <= high).sort((a, b) => a - b);
    const step = event.shiftKey ? Math.max(1, Math.round(places.length / 20)) : 1;
    const at = cursor === null ? places.length - 1 : places.findLastIndex(x => x <= cursor);
    const moves = {
      ArrowLeft: () => cursor === null ? at : places.findLastIndex(x => x < cursor) - step + 1,
      ArrowRight: () => cursor === null ? at : places.findIndex(x => x > cursor) + step - 1 || at,
      Home: () => 0, End: () => places.length - 1 };
    if (moves[event.key] && places.length) {
      const to = moves[event.key]();
      cursor = places[clamp(event.key === "ArrowRight" && to < 0 ? places.length - 1 : to, 0, places.length - 1)];
      showCursor();
      announce(lines.map(line => { const p = nearest(line);
        return `${line.run}: ${format(Number.isNaN(p.y) ? p.last : p.y)} at step ${p.step}`; }).join(", "));
    } else if (event.key === "+" || event.key === "-") {
      const middle = cursor ?? (low + high) / 2, half = (high - low) / 4;
      zoom = event.key === "+" ? [Math.max(low, middle - half), Math.min(high, middle + half)] : null;
      card.draw();
    } else if (event.key === "Escape") {
      zoom = cursor = null;
      card.draw();
    } else return;
    event.preventDefault();
  });
  return card;
}

// ---- Series over the steps: one item is shown, and a slider selects it.
const views = {
  histogram(card, item, items) {
    const width = Math.max(card.body.clientWidth, 160), gap = clamp(200 / items.length, 8, 40), bins = 60;
    const full = items.filter(one => one.counts.length);
    const low = Math.min(...full.map(one => one.min)), high = Math.max(...full.map(one => one.max));
    const span = high - low || 1, height = 110 + gap * (items.length - 1), left = 8;
    const right = width - 16 - Math.max(...items.map(one => textWidth(format(one.step))));
    const shapes = items.map(one => {
      const counts = new Array(bins).fill(0);
      one.counts.forEach((count, i) => {
        const begin = Math.max(i ? one.limits[i - 1] : one.min, one.min), end = Math.min(one.limits[i], one.max);
        const a = clamp((begin - low) / span * bins, 0, bins), b = clamp((end - low) / span * bins, 0, bins);
        if (b - a < 1e-6) counts[Math.min(bins - 1, Math.floor(a))] += count / one.count;
        else for (let k = Math.floor(a); k < b; ++k) counts[k] += count / one.count * (Math.min(b, k + 1) - Math.max(a, k)) / (b - a);
      });
      return counts;
    });
    const most = Math.max(...shapes.flat(), 1e-9), x = k => left + k / bins * (right - left);
    const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label":
      `Histograms of ${card.tag} over ${items.length} steps. Step ${item.step}: ${describe(item)}` });
    items.forEach((one, i) => {
      const base = 74 + i * gap;
      const top = shapes[i].map((count, k) => [x(k + 0.5), base - count / most * 66]);
      picture.append(svg("path", { class: one === item ? "ridge selected" : "ridge", d:
        path([[x(0), base], ...top, [x(bins), base]]) + "Z" }));
      if (one === item || i === 0 || i === items.length - 1)
        picture.append(svg("text", { x: right + 8, y: base, class: one === item ? "selected" : "" }, format(one.step)));
    });
    if (full.length)
      for (const tick of ticks(low, high === low ? low + 1 : high, Math.max(2, Math.floor(width / 60))))
        picture.append(svg("text", { x: clamp(x((tick - low) / span * bins), textWidth(format(tick)) / 2, width),
          y: height - 8, "text-anchor": "middle" }, format(tick)));
    card.body.replaceChildren(picture, html("p", { class: "note" }, describe(item)));
  },
  image(card, item) {
    card.body.replaceChildren(html("img", { src: "data:image/png;base64," + item.png, width: item.width, height: item.height,
      class: item.width < 200 ? "pixels" : "", style: `aspect-ratio: ${item.width} / ${item.height}`,
      alt: `${card.tag} at step ${item.step}, ${item.width} times ${item.height} pixels` }));
  },
  text(card, item) { card.body.replaceChildren(html("pre", { tabindex: 0 }, item.text)); },
  pr_curve(card, item) {
    const points = item.recall.map((recall, i) => ({ x: recall, y: item.precision[i], low: item.precision[i],
      high: item.precision[i], step: item.step }));
    drawChart(card.body, [{ points, ...style(card.run) }], { xLabel: "recall (up: precision)", range: [[0, 1], [0, 1.02]] });
    card.body.firstChild.setAttribute("role", "img");
    card.body.firstChild.removeAttribute("aria-hidden");
    card.body.firstChild.setAttribute("aria-label", `Precision over recall of ${card.tag} at step ${item.step}`);
  },
  confusion(card, item) {
    const n = item.classes, name = i => item.labels[i] ?? String(i);
    const correct = new Array(n).fill(0), truth = new Array(n).fill(0), predicted = new Array(n).fill(0);
    for (const [row, column, count] of item.cells) {
      truth[row] += count;
      predicted[column] += count;
      if (row === column) correct[row] += count;
    }
    const sum = values => values.reduce((a, b) => a + b, 0), total = sum(truth);
    const percent = (part, whole) => whole ? (100 * part / whole).toFixed(1) + " %" : "-";
    const note = html("p", { class: "note" }, `${percent(sum(correct), total)} of ${grouped(total)} are correct. ` +
      (n > 50 ? "The most frequent confusions:" : "Rows: true classes. Columns: predicted classes."));
    if (n > 50) {
      const rows = item.cells.filter(([r, c]) => r !== c).sort((a, b) => b[2] - a[2]).slice(0, 50)
        .map(([r, c, count]) => [name(r), name(c), grouped(count), percent(count, truth[r])]);
      card.body.replaceChildren(note, table(card.tag, ["True", "Predicted", "Count", "Of the class"], rows));
      return;
    }
    const counts = Array.from({ length: n }, () => new Array(n).fill(0));
    for (const [row, column, count] of item.cells) counts[row][column] = count;
    const rows = counts.map((row, r) => [name(r), ...row.map((count, c) => {
      const share = truth[r] ? count / truth[r] : 0;
      return html("td", { class: r === c ? "right" : "wrong", style: `--share: ${(100 * share).toFixed(1)}%`,
        title: `${name(r)} as ${name(c)}: ${percent(count, truth[r])}` }, grouped(count));
    }), percent(correct[r], truth[r])]);
    rows.push(["Precision", ...predicted.map((all, c) => percent(correct[c], all)), ""]);
    card.body.replaceChildren(note, table(card.tag, ["Class", ...counts.map((_, i) => name(i)), "Recall"], rows, "matrix"));
  },
};
const describe = item => `${grouped(item.count)} values` + (item.count ? ` from ${format(item.min)} to ${format(item.max)}, ` +
  `mean ${format(item.sum / item.count)}` : "") + (item.nans ? `, ${grouped(item.nans)} NaN` : "") +
  (item.infinities ? `, ${grouped(item.infinities)} infinite` : "");
function seriesCard(key, kind, tag, run) {
  const card = newCard(key, tag, kind === "confusion" || kind === "text");
  card.node.classList.add(kind);
  card.run = run;
  card.title.append(html("span", { class: "run" }, run));
  const slider = html("input", { type: "range", min: 0, value: 0, "aria-label": `Step of ${tag}, ${run}`, oninput: () => {
    card.isPinned = +slider.value < +slider.max;
    card.draw();
  } });
  const label = html("span", { class: "note" });
  card.node.append(html("div", { class: "slider" }, slider, label));
  card.draw = () => {
    const { items } = card.content;
    slider.max = items.length - 1;
    slider.hidden = items.length < 2;
    if (!card.isPinned) slider.value = slider.max;
    const item = items[+slider.value];
    if (!item) return;
    label.textContent = `step ${item.step}, ${clock(item.time)}`;
    slider.setAttribute("aria-valuetext", `step ${item.step}`);
    views[kind](card, item, items);
  };
  return card;
}

// ---- Tables.
function table(caption, headers, rows, className = "") {
  const cell = (value, i) => value instanceof Node ? value : html(i ? "td" : "th", i ? {} : { scope: "row" }, String(value ?? ""));
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, html("table", { class: className },
    html("thead", {}, html("tr", {}, ...headers.map(header => header instanceof Node ? header : html("th", { scope: "col" }, header)))),
    html("tbody", {}, ...rows.map(row => html("tr", {}, ...row.map(cell))))));
}
const sorting = { column: 0, down: false };
function hparamsTable(all) {
  const names = part => [...new Set(all.flatMap(([, content]) => Object.keys(content[part])))].sort(byName);
  const columns = [["Run", run => run], ...["hparams", "metrics"].flatMap(part =>
    names(part).map(name => [name, (run, content) => content[part][name]]))];
  const rows = all.map(([run, content]) => columns.map(([, value]) => value(run, content)));
  const { column, down } = sorting;
  rows.sort((a, b) => (down ? -1 : 1) * (typeof a[column] === "number" && typeof b[column] === "number" ?
    a[column] - b[column] : byName(String(a[column] ?? ""), String(b[column] ?? ""))));
  const headers = columns.map(([name], i) => html("th", { scope: "col", "aria-sort": i === column && (down ? "descending" : "ascending") },
    html("button", { type: "button", id: "sort" + i, onclick: () => {
      Object.assign(sorting, { column: i, down: i === column && !down });
      refresh();
      document.getElementById("sort" + i).focus();
    } }, name + (i === column ? (down ? " \u25bc" : " \u25b2") : ""))));
  return table("Hyper-parameters of each run", headers, rows.map(row => row.map(value => typeof value === "number" ? format(value) : value)));
}
const shape = one => Array.isArray(one) ? "[" + one.join(", ") + "]" : one;
function summaryTable(name, summary) {
  if (typeof summary === "string") return html("pre", { tabindex: 0, "aria-label": name }, summary);
  const rows = (summary.rows || []).map(row => [html("th", { scope: "row", style: `padding-left: ${0.5 + (row.depth || 0)}rem` }, row.path || row.type),
    row.type, (row.outputs || []).map(shape).join(" "), grouped(row.counted_params), grouped(row.mult_adds)]);
  const totals = Object.entries(summary).filter(([, value]) => typeof value !== "object")
    .map(([key, value]) => [key.replace(/_/g, " "), typeof value === "number" ? grouped(value) : value]);
  return html("div", {}, rows.length > 0 && table(name, ["Module", "Type", "Output", "Parameters", "Multiply-adds"], rows, "numbers"),
    table(name + ": totals", ["Total", "Value"], totals, "numbers"));
}
const graphTable = (run, nodes) => html("details", {}, html("summary", {}, `Graph of ${run}, ${nodes.length} ops`),
  table(`Graph of ${run}`, ["Name", "Op", "Inputs", "Shapes"], nodes.map(node =>
    [node.name, node.op, node.inputs.join(" "), node.shapes.map(shape).join(" ")])));

