// The page: its top, its navigation, and its sections.

function figureTile(figure) {
  return el("div", { class: `tile ${figure.state}`, title: figure.note }, el("dt", {}, figure.label), el("dd", { class: "value" }, figure.value), el("dd", { class: "note" }, figure.note));
}

// The first line says the most important; the others open beneath it, at once where there is room for them.
function furtherLines(lines) {
  if (!lines.length) return null;
  if (lines.length === 1) return el("p", { class: "lead" }, prose(lines[0]));
  return el("details", { class: "further", open: true }, el("summary", {}, prose(lines[0]), el("span", { class: "note" }, ` (${lines.length - 1} more)`)), lines.slice(1).map((line) => el("p", { class: "lead" }, prose(line))));
}

function header() {
  const { sentence, lines, figures, numbers } = content.verdict;
  const first = numbers || sentence;
  return el("header", { class: "top" },
    el("p", { class: "name" }, content.kind, el("span", {}, content.name)),
    el("h1", {}, prose(first), el("span", { class: "then" }, prose(sentence.slice(first.length)))),
    furtherLines(lines),
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
