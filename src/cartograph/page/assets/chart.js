// Small still charts: lines over epochs or rows, and small maps. Each has a description in words.

const DASHES = ["", "6 3", "2 3", "8 3 2 3", "4 2", "10 4", "1 4"];
const COLORS = 7;

function ticks(low, high, most) {
  const span = high - low || 1;
  const raw = span / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-6; value += step) found.push(Number(value.toPrecision(12)));
  return found;
}

const tickText = (value) => (Math.abs(value) >= 1000 ? number.format(value) : String(Number(value.toFixed(3))));

function frame({ width, height, left, right, top, bottom, x, y, xTicks, yTicks, xTitle, yTitle, label }) {
  const across = (value) => left + ((value - x[0]) / (x[1] - x[0] || 1)) * (width - left - right);
  const up = (value) => height - bottom - ((value - y[0]) / (y[1] - y[0] || 1)) * (height - top - bottom);
  const node = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
  for (const value of yTicks) {
    node.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: up(value), y2: up(value) }));
    node.append(svg("text", { class: "tick", x: left - 6, y: up(value) + 4, "text-anchor": "end" }, tickText(value)));
  }
  for (const value of xTicks) node.append(svg("text", { class: "tick", x: across(value), y: height - bottom + 17, "text-anchor": "middle" }, tickText(value)));
  if (xTitle) node.append(svg("text", { class: "tick", x: width - right, y: height - 3, "text-anchor": "end" }, xTitle));
  if (yTitle) node.append(svg("text", { class: "tick", x: 0, y: 10 }, yTitle));
  return { node, across, up };
}

const path = (points) => points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");

function spread(wanted, gap, low, high) {
  const order = wanted.map((at, index) => ({ at, index })).sort((a, b) => a.at - b.at);
  order.forEach((item, place) => (item.at = Math.max(item.at, place ? order[place - 1].at + gap : low)));
  for (let place = order.length - 1; place >= 0; place -= 1) {
    order[place].at = Math.min(order[place].at, place + 1 < order.length ? order[place + 1].at - gap : high);
  }
  const placed = [];
  order.forEach((item) => (placed[item.index] = item.at));
  return placed;
}

function lineChart(chart) {
  const values = chart.series.flatMap((series) => [...series.values, ...series.ends.flat()]).filter((value) => value !== null);
  const top = Math.max(...values);
  const y = chart.y_range ?? [Math.min(0, ...values), top > 0.5 && top <= 1 ? 1 : top * 1.05];
  const x = [chart.x[0], chart.x.at(-1)];
  const xTicks = ticks(...x, 6).filter((value) => !chart.whole_x || Number.isInteger(value));
  const said = chart.series.map((series) => `${series.name} ends at ${tickText(series.values.findLast((value) => value !== null) ?? 0)}`);
  const size = { width: 520, height: 280, left: 44, right: 128, top: 14, bottom: 38 };
  const { node, across, up } = frame({ ...size, x, y, xTicks, yTicks: ticks(...y, 5), xTitle: chart.x_title, label: `${chart.title}: ${said.join("; ")}` });
  const ends = chart.series.map((series) => up(series.values.findLast((value) => value !== null) ?? 0));
  const labels = spread(ends, 17, size.top + 4, size.height - size.bottom);
  chart.series.forEach((series, index) => {
    const points = series.values.map((value, place) => (value === null ? null : [across(chart.x[place]), up(value)])).filter(Boolean);
    const color = `var(--series-${(index % COLORS) + 1})`;
    node.append(svg("path", { class: "line", d: path(points), stroke: color, "stroke-dasharray": DASHES[index % DASHES.length] }));
    // Side by side, so that the intervals of several lines at one x do not overlap.
    const aside = (index - (chart.series.length - 1) / 2) * 4;
    series.ends.forEach((ends, place) => {
      if (!ends) return;
      const at = across(chart.x[place]) + aside;
      node.append(svg("line", { class: "interval", x1: at, x2: at, y1: up(ends[0]), y2: up(ends[1]), stroke: color }));
    });
    if (points.length) node.append(svg("circle", { cx: points.at(-1)[0], cy: points.at(-1)[1], r: 3.5, fill: color }));
    node.append(svg("text", { class: "name", x: size.width - size.right + 12, y: labels[index] + 4, fill: color }, series.name));
  });
  return el("figure", { class: "figure" }, el("figcaption", {}, el("strong", {}, chart.title), `, ${chart.meaning}`), node);
}

function numbersOf(chart) {
  const head = [chart.x_title, ...chart.series.map((series) => series.name)];
  const kind = chart.series.every((series) => series.values.every((value) => value === null || value === Math.round(value))) ? "count" : "probability";
  const lines = chart.x.map((x, place) => [write.count(x), ...chart.series.map((series) => write[kind](series.values[place]))]);
  const table = el("table", { class: "plain" },
    el("caption", {}, chart.title),
    el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col", class: "number" }, name)))),
    el("tbody", {}, lines.map((line) => el("tr", {}, line.map((value) => el("td", { class: "number" }, value))))));
  return el("div", { class: "scroll", role: "region", "aria-label": `${chart.title}, table` }, table);
}

const DOT_SHAPES = ["circle", "diamond", "square", "triangle-up"];

function dotPlot(plot) {
  const size = { width: 480, left: 138, right: 54, top: 6, bottom: 36 };
  const headings = plot.dots.map((dot, index) => dot.group && dot.group !== plot.dots[index - 1]?.group);
  const heights = plot.dots.map((dot, index) => 26 + (headings[index] ? 24 : 0));
  const height = size.top + size.bottom + heights.reduce((sum, value) => sum + value, 0);
  const said = plot.dots.map((dot) => `${dot.group ? `${dot.group}, ` : ""}${dot.name} ${dot.text}, interval ${tickText(Number(dot.low.toFixed(2)))} to ${tickText(Number(dot.high.toFixed(2)))}`);
  const { node, across } = frame({ ...size, height, x: plot.x_range, y: [0, 1], xTicks: ticks(...plot.x_range, 6), yTicks: [], xTitle: plot.x_title, label: `${plot.title}: ${said.join("; ")}` });
  const upright = (value, kind) => svg("line", { class: kind, x1: across(value), x2: across(value), y1: size.top, y2: height - size.bottom });
  ticks(...plot.x_range, 6).forEach((value) => node.append(upright(value, "grid")));
  if (plot.zero) node.append(upright(0, "zero"));
  let top = size.top;
  plot.dots.forEach((dot, index) => {
    const y = top + heights[index] - 13;
    const color = dot.style === null ? "var(--ink)" : `var(--series-${(dot.style % COLORS) + 1})`;
    if (headings[index]) node.append(svg("text", { class: "tick", x: 0, y: y - 20 }, dot.group));
    node.append(svg("text", { class: "name", x: 0, y: y + 4, fill: color }, dot.name));
    for (const mark of dot.marks) node.append(svg("line", { class: "mark", x1: across(mark), x2: across(mark), y1: y - 6, y2: y + 6, stroke: color }));
    node.append(svg("line", { class: "line", x1: across(dot.low), x2: across(dot.high), y1: y, y2: y, stroke: color }));
    const shape = dot.style === null ? "circle" : DOT_SHAPES[dot.style % DOT_SHAPES.length];
    node.append(svg("path", { d: SHAPES[shape], transform: `translate(${across(dot.value).toFixed(1)} ${y})`, fill: color }));
    node.append(svg("text", { class: "name", x: size.width, y: y + 4, "text-anchor": "end", fill: color }, dot.text));
    top += heights[index];
  });
  return el("figure", { class: "figure" }, el("figcaption", {}, el("strong", {}, plot.title), `, ${plot.meaning}`), node);
}

function plane(item) {
  const size = { width: 300, height: 260, left: 34, right: 8, top: 8, bottom: 36 };
  const x = [0, Math.max(0.5, ...item.variability)];
  const { node, across, up } = frame({ ...size, x, y: [0, 1], xTicks: ticks(...x, 5), yTicks: [0, 0.2, 0.4, 0.6, 0.8, 1], xTitle: "variability", label: `${item.title}, ${item.note}` });
  item.confidence.forEach((confidence, place) => {
    node.append(svg("circle", { class: "dot", cx: across(item.variability[place]).toFixed(1), cy: up(confidence).toFixed(1), r: 2.5 }));
  });
  return el("figure", { class: "figure" }, el("figcaption", {}, el("strong", {}, item.title), `, ${item.note}`), node);
}

function epochLine(epochs) {
  const said = `Probability of the given label by epoch: ${epochs.map((value) => value.toFixed(2)).join(", ")}`;
  const x = [1, Math.max(epochs.length, 2)];
  const xTicks = ticks(...x, 8).filter(Number.isInteger);
  const { node, across, up } = frame({ width: 300, height: 110, left: 28, right: 34, top: 8, bottom: 34, x, y: [0, 1], xTicks, yTicks: [0, 0.5, 1], xTitle: "epoch", label: said });
  const points = epochs.map((value, index) => [across(index + 1), up(value)]);
  node.append(svg("path", { class: "line", d: path(points), stroke: "var(--accent)" }));
  points.forEach(([cx, cy]) => node.append(svg("circle", { cx, cy, r: 2.5, fill: "var(--accent)" })));
  const [cx, cy] = points.at(-1);
  node.append(svg("text", { class: "name", x: cx + 6, y: cy + 4, fill: "var(--accent)" }, epochs.at(-1).toFixed(2)));
  return node;
}
