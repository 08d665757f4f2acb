// The data map: legend, filters, the plane with keyboard and pointer, the tip, and the card of the pinned row.

const ORDERS = [
  ["hardest first", "hardest first", (position) => columns.confidence[position]],
  ["most ambiguous first", "most ambiguous first", (position) => -columns.variability[position]],
  ["easiest first", "easiest first", (position) => -columns.confidence[position]],
];
if (columns.suspect) ORDERS.unshift(["most suspect first", "most suspect first", (position) => columns.turn[position]]);
const [LEAST_HEIGHT, MOST_HEIGHT] = [290, 680];
// Where a row has several labels, each point is one of them: its class is twice the label's number, and one more for a yes.
const about = (id) => (carried.several && id >= 0 ? id >> 1 : -1);
const given = (id) => (carried.several && id >= 0 ? id % 2 : id);
const map = { points: null, pinned: null, back: null, order: 0, list: [], wanted: { about: -1, label: -1, predicted: -1, region: -1, differs: false, suspect: false } };

function legend() {
  const item = (level) => {
    const button = el("button", { type: "button", class: "level", "aria-pressed": "true", onclick: () => {
      level.shown = !level.shown;
      button.setAttribute("aria-pressed", String(level.shown));
      refilter();
    } }, glyph(level.symbol, level.color), level.name, el("span", { class: "amount" }, number.format(level.positions.length)));
    return button;
  };
  return el("div", { class: "legend", role: "group", "aria-label": "Correctness: show or hide" },
    el("span", { class: "what" }, "Correctness"), [...content.map.levels].sort((a, b) => a.rank - b.rank).map(item),
    columns.suspect ? el("span", { class: "ringed" }, svg("svg", { class: "glyph", viewBox: "-7 -7 14 14", "aria-hidden": "true" }, svg("circle", { r: 5, fill: "none", stroke: "currentColor", "stroke-width": 1.5 })), "suspect") : null);
}

function choice(title, names, key, every = "any") {
  return el("label", {}, title, el("select", { onchange: (event) => { map.wanted[key] = Number(event.target.value); refilter(); } },
    el("option", { value: -1 }, every), names.map((name, index) => el("option", { value: index }, name))));
}

function mapFilters() {
  const regions = carried.regions.map((name, index) => [name, index]).filter(([, index]) => columns.region.includes(index));
  map.status = el("span", { class: "count", role: "status" });
  return el("details", { class: "narrowing" }, el("summary", {}, "Filter the points", map.status), el("div", { class: "filters" },
    choice(carried.several ? "Given" : "Given label", carried.several ? ["no", "yes"] : carried.labels, "label"),
    columns.predicted ? choice(carried.several ? "Model's answer" : "Model's label", carried.several ? ["no", "yes"] : carried.labels, "predicted") : null,
    el("label", {}, "Region", el("select", { onchange: (event) => { map.wanted.region = Number(event.target.value); refilter(); } },
      el("option", { value: -1 }, "any"), regions.map(([name, index]) => el("option", { value: index }, name)))),
    columns.predicted ? el("label", { class: "check" }, el("input", { type: "checkbox", onchange: (event) => { map.wanted.differs = event.target.checked; refilter(); } }), "model prefers another label") : null,
    columns.suspect ? el("label", { class: "check" }, el("input", { type: "checkbox", onchange: (event) => { map.wanted.suspect = event.target.checked; refilter(); } }), "suspects only") : null));
}

function wantedRow(position) {
  const { label, predicted, region, differs, suspect } = map.wanted;
  return (map.wanted.about < 0 || about(columns.label[position]) === map.wanted.about) &&
    (label < 0 || given(columns.label[position]) === label) && (predicted < 0 || given(columns.predicted[position]) === predicted) &&
    (region < 0 || columns.region[position] === region) && (!suspect || columns.suspect[position] === 1) &&
    (!differs || (columns.predicted[position] >= 0 && columns.predicted[position] !== columns.label[position]));
}

function refilter() {
  const drawn = content.map.levels.reduce((sum, level) => sum + level.positions.length, 0);
  arrange();
  map.status.textContent = `${number.format(map.list.length)} of ${number.format(drawn)} points shown`;
  // Unfiltered, the densities are of all rows; else of the points shown.
  map.shares = densitiesOf(map.list.length === drawn ? null : map.list);
  redraw();
}

// Put the shown points into the order in which "previous" and "next" go through them.
function arrange() {
  const key = ORDERS[map.order][2];
  map.list = [...map.points.shown()].sort((a, b) => key(a) - key(b) || a - b);
  step(0);
}

function step(by) {
  const { list } = map;
  const at = list.indexOf(map.pinned);
  const next = list[Math.min(Math.max(at < 0 ? 0 : at + by, 0), list.length - 1)];
  if (by && next !== undefined) pin(next);
  const place = list.indexOf(map.pinned);
  map.rank.textContent = place < 0 ? "not among the points shown" : `${number.format(place + 1)} of ${number.format(list.length)} shown, ${ORDERS[map.order][1]}`;
  map.previous.disabled = place === 0 || !list.length;
  map.next.disabled = place === list.length - 1 || !list.length;
}

function pin(position) {
  map.pinned = position;
  map.card.replaceChildren(card(position));
  step(0);
  map.points.pinned = position;
  map.points.mark();
}

function side() {
  map.previous = el("button", { type: "button", onclick: () => step(-1) }, "← Previous");
  map.next = el("button", { type: "button", onclick: () => step(1) }, "Next →");
  map.rank = el("p", { class: "note", role: "status" });
  map.card = el("div", { class: "pinned" });
  map.return = el("button", { type: "button", class: "quiet", hidden: true, onclick: goBack }, "Back to where you were");
  const order = el("select", { onchange: (event) => { map.order = Number(event.target.value); arrange(); } }, ORDERS.map(([name], index) => el("option", { value: index }, name)));
  return el("aside", { class: "side", id: "row-card", tabindex: "-1", "aria-label": "The pinned row" },
    el("div", { class: "walk" }, el("label", {}, "Go through the rows", order), el("div", { class: "pair" }, map.previous, map.next)),
    map.rank, map.card, map.return);
}

function goBack() {
  map.back.scrollIntoView({ block: "center" });
  map.back.focus({ preventScroll: true });
}

// Pins the card of a row of a table or an example and goes there; the card's last button goes back.
function showOnMap(position, from) {
  map.back = from;
  map.return.hidden = false;
  pin(position);
  document.getElementById("map").scrollIntoView();
  document.getElementById("row-card").focus({ preventScroll: true });
}

// The first screen has the verdict and the map, whole: what stands above the plane folds where that is needed, and the plane takes the rest.
function fitMap() {
  const room = () => window.innerHeight - map.frame.getBoundingClientRect().top - window.scrollY - (map.live.lastChild.offsetHeight + 16);
  const further = document.querySelector(".further");
  if (further && !further.dataset.touched && room() < LEAST_HEIGHT) further.open = false;
  map.frame.style.height = `${Math.min(Math.max(room(), LEAST_HEIGHT), MOST_HEIGHT)}px`;
}

function zoom(factor) {
  const { view } = map.points;
  const scaled = ([low, high]) => { const [middle, half] = [(low + high) / 2, ((high - low) / 2) * factor]; return [middle - half, middle + half]; };
  look({ x: scaled(view.x), y: scaled(view.y) });
}

function look(view) {
  map.points.view = view;
  redraw();
}

function redraw() {
  if (!map.plot.clientWidth) return;
  drawFrame(map.axes, map.plot.clientWidth, map.plot.clientHeight, map.points.view, map.shares);
  map.points.draw();
}

const unzoom = () => look({ x: [...HOME.x], y: [...HOME.y] });

function zoomButtons() {
  return el("div", { class: "zoom", role: "group", "aria-label": "Zoom" },
    el("button", { type: "button", "aria-label": "Zoom in", onclick: () => zoom(0.6) }, "+"),
    el("button", { type: "button", "aria-label": "Zoom out", onclick: () => zoom(1 / 0.6) }, "−"),
    el("button", { type: "button", onclick: unzoom }, "Reset"));
}

function mapPlace(block) {
  map.axes = svg("svg", { class: "axes", "aria-hidden": "true" });
  map.band = el("div", { class: "band", hidden: true });
  map.plot = el("div", { class: "figure-box" }, map.axes, map.band);
  map.points = new Points(map.plot, wantedRow);
  map.tip = el("div", { class: "tip", role: "tooltip", hidden: true });
  map.frame = el("div", { class: "plane", id: "plane", tabindex: "0", role: "application", "aria-roledescription": "data map", "aria-label": `${block.alternative} Arrow keys move from point to point, Enter pins a row's card.` }, map.points.canvases, map.plot, map.tip);
  listen();
  const still = document.querySelector("img.still");
  if (still) still.alt = block.alternative;
  return el("div", { class: "map" },
    map.live = el("div", { class: "live" }, carried.several ? el("div", { class: "filters about" }, choice("Map of", carried.several, "about", "all labels")) : null, legend(), mapFilters(), map.frame,
      el("div", { class: "under" }, el("p", { class: "note" }, "Hover over a point to read it, click or press Enter to pin it. Drag to zoom, double-click to reset; arrow keys move from point to point."), zoomButtons())),
    el("div", { class: "for-print" }, still),
    side());
}

function tipFor(position) {
  const item = row(position);
  map.tip.replaceChildren(
    carried.table ? el("p", { class: "short" }, item.texts[0]) : texts(item), el("p", {}, "given ", el("strong", {}, item.label), item.predicted === null ? null : [", model ", el("strong", {}, item.predicted)]),
    el("p", { class: "note" }, `confidence ${write.probability(item.confidence)}, variability ${write.probability(item.variability)}, ${item.region}`));
}

function hover(position) {
  if (map.points.hovered === position) return;
  map.points.hovered = position;
  map.points.mark();
  map.tip.hidden = position === null;
  if (position === null) return;
  tipFor(position);
  const area = map.points.area;
  const [x, y] = map.points.place(position, area);
  const [left, top] = [area.left + x, area.top + y];
  const [width, height] = [map.tip.offsetWidth, map.tip.offsetHeight];
  const beside = left + width + 18 > map.frame.clientWidth ? left - width - 14 : left + 14;
  map.tip.style.left = `${Math.max(4, beside)}px`;
  map.tip.style.top = `${Math.min(Math.max(4, top - height / 2), Math.max(4, map.frame.clientHeight - height - 4))}px`;
}

function inPlane(event) {
  const box = map.plot.getBoundingClientRect();
  const area = map.points.area;
  const [x, y] = [event.clientX - box.left - area.left, event.clientY - box.top - area.top];
  return x < 0 || y < 0 || x > area.width || y > area.height ? null : [x, y];
}

function listen() {
  let pressed = null;
  const corners = (event) => {
    const [box, area] = [map.plot.getBoundingClientRect(), map.points.area];
    const within = (value, low, size) => Math.min(Math.max(value, low), low + size);
    const xs = [pressed[0], event.clientX].map((x) => within(x - box.left, area.left, area.width)).sort((a, b) => a - b);
    const ys = [pressed[1], event.clientY].map((y) => within(y - box.top, area.top, area.height)).sort((a, b) => a - b);
    return { area, xs, ys, large: xs[1] - xs[0] > 8 && ys[1] - ys[0] > 8 };
  };
  map.frame.addEventListener("dblclick", unzoom);
  map.frame.addEventListener("pointermove", (event) => {
    const at = event.buttons ? null : inPlane(event);
    if (pressed && event.buttons && event.pointerType === "mouse") {
      const { xs, ys } = corners(event);
      Object.assign(map.band.style, { left: `${xs[0]}px`, top: `${ys[0]}px`, width: `${xs[1] - xs[0]}px`, height: `${ys[1] - ys[0]}px` });
      map.band.hidden = false;
    }
    hover(at && map.points.nearest(...at, 12));
  });
  map.frame.addEventListener("pointerleave", () => hover(null));
  map.frame.addEventListener("pointerdown", (event) => { pressed = inPlane(event) ? [event.clientX, event.clientY] : null; }, true);
  window.addEventListener("pointerup", (event) => {
    if (pressed && !map.band.hidden) {
      const { area, xs, ys, large } = corners(event);
      const [x, y] = [(px) => area.x[0] + ((px - area.left) / area.width) * (area.x[1] - area.x[0]), (py) => area.y[1] - ((py - area.top) / area.height) * (area.y[1] - area.y[0])];
      if (large) look({ x: xs.map(x), y: [y(ys[1]), y(ys[0])] });
    }
    map.band.hidden = true;
    const at = pressed && Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) < 4 ? inPlane(event) : null;
    pressed = null;
    const position = at && map.points.nearest(...at, 16);
    if (position !== null) pin(position);
  }, true);
  map.frame.addEventListener("keydown", keys);
  map.frame.addEventListener("blur", () => hover(null));
}

function keys(event) {
  const direction = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (direction) {
    const from = map.points.hovered ?? map.pinned;
    const next = from === null ? null : map.points.beside(from, direction);
    if (next !== null) hover(next);
  } else if (event.key === "Enter" || event.key === " ") {
    if (map.points.hovered !== null) pin(map.points.hovered);
  } else if (event.key === "Escape") {
    hover(null);
  } else return;
  event.preventDefault();
}
