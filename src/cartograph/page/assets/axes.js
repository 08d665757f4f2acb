// The frame of the map: axes, grid, region lines and names, and the densities beside the plane. The points lie on canvases beneath.

const { layout: LAYOUT, data: TRACES } = content.map;
const MARGIN = { ...LAYOUT.margin, t: 8 };
const BARS = TRACES.filter((trace) => trace.type === "bar");
const bars = (axis) => BARS.find((trace) => (trace.xaxis ?? "x") === axis[0] && (trace.yaxis ?? "y") === axis[1]);
const DENSITIES = { variability: bars(["x", "y2"]), confidence: bars(["x2", "y"]), correctness: bars(["x3", "y3"]) };
const HOME = { x: [...LAYOUT.xaxis.range], y: [...LAYOUT.yaxis.range] };

// Where the plane lies in a frame of this size, in CSS pixels, and the values at its edges.
function areaOf(width, height, view) {
  const [wide, high] = [width - MARGIN.l - MARGIN.r, height - MARGIN.t - MARGIN.b];
  const [x, y] = [LAYOUT.xaxis.domain, LAYOUT.yaxis.domain];
  return { left: MARGIN.l + x[0] * wide, top: MARGIN.t + (1 - y[1]) * high, width: (x[1] - x[0]) * wide, height: (y[1] - y[0]) * high, x: view.x, y: view.y };
}

// The shares of some rows in the bars of each density; of all rows as the audit counted them where no rows are given.
function densitiesOf(positions) {
  if (!positions) return { variability: DENSITIES.variability.y, confidence: DENSITIES.confidence.x, correctness: DENSITIES.correctness.y };
  const binned = (middles, width, values) => {
    const counts = new Array(middles.length).fill(0);
    const low = middles[0] - width / 2;
    for (const position of positions) counts[Math.min(Math.max(Math.floor((values[position] - low) / width), 0), counts.length - 1)] += 1;
    return counts.map((count) => count / Math.max(positions.length, 1));
  };
  const chosen = new Set(positions);
  const levels = [...content.map.levels].sort((a, b) => a.rank - b.rank);
  return {
    variability: binned(DENSITIES.variability.x, DENSITIES.variability.width, columns.variability),
    confidence: binned(DENSITIES.confidence.y, DENSITIES.confidence.width, columns.confidence),
    correctness: levels.map((level) => level.positions.reduce((sum, position) => sum + chosen.has(position), 0) / Math.max(positions.length, 1)),
  };
}

function densityBars(area, height, width, shares) {
  const group = svg("g", { class: "density" });
  const bar = (x, y, w, h, color, said) => w > 0 && h > 0 && group.append(svg("rect", { x, y, width: w, height: h, fill: color }, svg("title", {}, said)));
  const most = (values) => Math.max(...values, 1e-9);
  const [above, beside] = [area.top - 6 - MARGIN.t, width - MARGIN.r - area.left - area.width - 6];
  const across = (value) => area.left + ((value - area.x[0]) / (area.x[1] - area.x[0])) * area.width;
  const up = (value) => area.top + ((area.y[1] - value) / (area.y[1] - area.y[0])) * area.height;
  const inside = (value, [low, high]) => value >= low && value <= high;
  DENSITIES.variability.x.forEach((middle, place) => {
    if (!inside(middle, area.x)) return;
    const [half, share] = [DENSITIES.variability.width / 2, shares.variability[place]];
    const high = (above * share) / most(shares.variability);
    bar(across(middle - half), area.top - 4 - high, across(middle + half) - across(middle - half) - 0.5, high, DENSITIES.variability.marker.color, `variability ${write.probability(middle)}: ${write.share(share)} of rows`);
  });
  DENSITIES.confidence.y.forEach((middle, place) => {
    if (!inside(middle, area.y)) return;
    const [half, share] = [DENSITIES.confidence.width / 2, shares.confidence[place]];
    bar(area.left + area.width + 4, up(middle + half), (beside * share) / most(shares.confidence), up(middle - half) - up(middle + half) - 0.5, DENSITIES.confidence.marker.color, `confidence ${write.probability(middle)}: ${write.share(share)} of rows`);
  });
  const wide = beside / DENSITIES.correctness.x.length;
  DENSITIES.correctness.x.forEach((level, place) => {
    const high = (above * shares.correctness[place]) / most(shares.correctness);
    bar(area.left + area.width + 4 + place * wide, area.top - 4 - high, wide - 0.5, high, DENSITIES.correctness.marker.color[place], `correctness ${level}: ${write.share(shares.correctness[place])} of rows`);
  });
  return group;
}

function drawFrame(node, width, height, view, shares) {
  const area = areaOf(width, height, view);
  const across = (value) => area.left + ((value - view.x[0]) / (view.x[1] - view.x[0])) * area.width;
  const up = (value) => area.top + ((view.y[1] - value) / (view.y[1] - view.y[0])) * area.height;
  const [right, bottom] = [area.left + area.width, area.top + area.height];
  const lines = svg("g", { class: "frame" });
  for (const value of ticks(...view.x, width < 500 ? 4 : 8)) {
    lines.append(svg("line", { class: "grid", x1: across(value), x2: across(value), y1: area.top, y2: bottom }));
    lines.append(svg("g", { class: "xtick" }, svg("text", { class: "tick", x: across(value), y: bottom + 18, "text-anchor": "middle" }, tickText(value))));
  }
  for (const value of ticks(...view.y, 6).filter((value) => value <= 1)) {
    lines.append(svg("line", { class: "grid", x1: area.left, x2: right, y1: up(value), y2: up(value) }));
    lines.append(svg("text", { class: "tick", x: area.left - 7, y: up(value) + 4, "text-anchor": "end" }, tickText(value)));
  }
  lines.append(svg("path", { class: "axis", d: `M${area.left},${area.top}V${bottom}H${right}` }));
  lines.append(svg("text", { class: "title", x: area.left + area.width / 2, y: height - 6, "text-anchor": "middle" }, LAYOUT.xaxis.title.text));
  lines.append(svg("text", { class: "title", transform: `translate(13 ${area.top + area.height / 2}) rotate(-90)`, "text-anchor": "middle" }, LAYOUT.yaxis.title.text));
  const names = svg("svg", { x: area.left, y: area.top, width: area.width, height: area.height, class: "regions-named" });
  for (const shape of LAYOUT.shapes ?? []) {
    const points = shape.path.match(/-?[\d.]+(?:e-?\d+)?/g).map(Number);
    const placed = points.map((value, place) => (place % 2 ? up(value) - area.top : across(value) - area.left));
    names.append(svg("path", { class: "region-line", d: path(placed.flatMap((x, place) => (place % 2 ? [] : [[x, placed[place + 1]]]))) }));
  }
  for (const note of LAYOUT.annotations ?? []) {
    const anchor = note.xanchor === "right" ? "end" : "start";
    // On a narrow plane the names at the top would meet: the right one goes a line down.
    const lower = anchor === "end" && area.width < 330 ? 17 : 0;
    names.append(svg("text", { class: "annotation-text", x: across(note.x) - area.left + (anchor === "end" ? -4 : 4), y: up(note.y) - area.top + 5 + lower, "text-anchor": anchor }, note.text));
  }
  node.setAttribute("viewBox", `0 0 ${width} ${height}`);
  node.replaceChildren(lines, densityBars(area, height, width, shares), names);
}
