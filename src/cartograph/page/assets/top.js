// The page: its top, its navigation, and its sections.

function figureTile(figure) {
  return el("div", { class: `tile ${figure.state}` }, el("dt", {}, figure.label), el("dd", { class: "value" }, figure.value), el("dd", { class: "note" }, figure.note));
}

function header() {
  const { sentence, lines, figures } = content.verdict;
  return el("header", { class: "top" },
    el("p", { class: "name" }, content.kind ?? "Data audit", el("span", {}, content.name)),
    el("h1", {}, sentence),
    lines.map((line) => el("p", { class: "lead" }, line)),
    el("dl", { class: "tiles" }, figures.map(figureTile)));
}

function navigation() {
  return el("nav", { "aria-label": "Sections" }, el("ul", {}, content.sections.map((section) => el("li", {}, el("a", { href: `#${section.id}` }, section.short)))));
}

// A table that is wider than the page can be scrolled by keyboard; the others are skipped.
const reach = () => document.querySelectorAll(".scroll").forEach((box) => (box.scrollWidth > box.clientWidth ? box.setAttribute("tabindex", "0") : box.removeAttribute("tabindex")));

function build() {
  const parts = [header(), navigation(), el("main", { id: "main", tabindex: "-1" }, content.sections.map(sectionOf))];
  document.getElementById("page").replaceChildren(...parts);
  new ResizeObserver(reach).observe(document.body);
}
