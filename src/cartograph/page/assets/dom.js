// HTML and SVG elements, and numbers as text. A value only ever becomes a text node or an attribute that cannot run or load anything.

const SVG_SPACE = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG_SPACE, tag), attributes, children);

// A name that may break after its _ / . : and -, rather than within a word.
const soft = (name) => (name ?? "").split(/(?<=[_/.:-])/).flatMap((part, place) => (place ? [el("wbr"), part] : [part]));

// A sentence; what stands between backticks in it is code.
const prose = (text) => text.split(/`([^`]+)`/).map((part, place) => (place % 2 ? el("code", {}, part) : part));

const number = new Intl.NumberFormat("en-GB");

// A proportion in per cent, as `percent` in wording.py writes it.
function percent(value) {
  const shown = 100 * value;
  const rounded = Number(shown.toFixed(shown < 9.95 || shown > 99 ? 1 : 0));
  if (value > 0 && rounded === 0) return "under 0.1\u00a0%";
  if (value < 1 && rounded === 100) return "over 99.9\u00a0%";
  return `${rounded}\u00a0%`;
}

// An interval stays on one line.
const RANGE = /^[−+]?[\d.,]+ to [−+]?[\d.,]+(.%)?$/;

const write = {
  text: (value) => (RANGE.test(value ?? "") ? value.replaceAll(" ", "\u00a0") : value ?? ""),
  code: (value) => value ?? "",
  count: (value) => (value === null || value === undefined ? "" : number.format(value)),
  probability: (value) => (value === null || value === undefined ? "" : value.toFixed(2)),
  likelihood: (value) => (value > 0.995 ? "> 0.99" : value.toFixed(2)),
  points: (value) => (value === null || value === undefined ? "" : value.toFixed(1).replace(/^-(?!0\.0$)/, "\u2212").replace("-", "")),
  share: (value) => (value === null || value === undefined ? "" : percent(value)),
};

// A small PNG inside the page itself; nothing else becomes the source of a picture.
const PICTURE = /^data:image\/png;base64,[A-Za-z0-9+/]+={0,2}$/;
const picture = (value, alt) => (PICTURE.test(value) ? el("img", { class: "picture", src: value, alt, onload: (event) => event.target.classList.toggle("coarse", event.target.naturalWidth < 48) }) : el("span", { class: "note" }, "picture not carried here"));

const SHAPES = {
  circle: "M5,0A5,5 0 1,1 -5,0A5,5 0 1,1 5,0Z",
  square: "M-4.4,-4.4H4.4V4.4H-4.4Z",
  diamond: "M0,-6L6,0L0,6L-6,0Z",
  x: "M-5.4,-3.2L-3.2,-5.4L0,-2.2L3.2,-5.4L5.4,-3.2L2.2,0L5.4,3.2L3.2,5.4L0,2.2L-3.2,5.4L-5.4,3.2L-2.2,0Z",
  cross: "M-1.7,-5.6H1.7V-1.7H5.6V1.7H1.7V5.6H-1.7V1.7H-5.6V-1.7H-1.7Z",
  "triangle-up": "M0,-5.8L5.6,4.2H-5.6Z",
  "triangle-down": "M0,5.8L5.6,-4.2H-5.6Z",
  "triangle-left": "M-5.8,0L4.2,-5.6V5.6Z",
  "triangle-right": "M5.8,0L-4.2,5.6V-5.6Z",
  pentagon: "M0,-5.6L5.3,-1.7L3.3,4.5H-3.3L-5.3,-1.7Z",
  star: "M0,-6.4L1.6,-2.1L6.1,-2L2.5,0.8L3.8,5.2L0,2.6L-3.8,5.2L-2.5,0.8L-6.1,-2L-1.6,-2.1Z",
};

const glyph = (symbol, color) =>
  svg("svg", { class: "glyph", viewBox: "-7 -7 14 14", "aria-hidden": "true" }, svg("path", { d: SHAPES[symbol] ?? SHAPES.circle, fill: color }));
