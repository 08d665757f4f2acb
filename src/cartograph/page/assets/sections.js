// One function per kind of block; a section is its heading, its lead and its blocks.

function regionCard(region) {
  const examples = region.examples.map((place) => row(positions.get(place)));
  return el("article", { class: "region" },
    el("h3", {}, region.name),
    el("p", { class: "amount" }, el("strong", {}, number.format(region.rows)), ` rows, ${region.share}`),
    el("p", {}, region.meaning),
    el("dl", { class: "measures" }, region.bounds.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    examples.length ? el("ol", { class: "examples" }, examples.map(exampleItem)) : null);
}

function exampleItem(item) {
  const other = item.disagrees ? [", model's label ", el("strong", {}, soft(item.predicted))] : [];
  const button = el("button", { type: "button", class: "opener", onclick: () => showOnMap(item.position, button) }, excerpt(item));
  return el("li", {}, button, el("p", { class: "note" }, "given label ", el("strong", {}, soft(item.label)), other, `, confidence ${write.probability(item.confidence)}`));
}

function checkRow(check) {
  const mark = check.passed ? "✓ passed" : check.critical ? "✕ failed, critical" : "△ failed, warning";
  const state = check.passed ? "good" : check.critical ? "bad" : "warn";
  return el("tr", {}, el("td", { class: `outcome ${state}` }, mark), el("td", {}, check.set), el("td", {}, check.check),
    el("td", {}, check.expected), el("td", {}, check.found, check.where ? el("span", { class: "note where" }, check.where) : null));
}

function checkTable(checks, caption) {
  const head = ["Outcome", "Set", "Check", "Expected", "Found"];
  return el("div", { class: "scroll", role: "region", "aria-label": `${caption}, table` }, el("table", { class: "plain checks" },
    el("caption", { class: "unseen" }, caption),
    el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, checks.map(checkRow))));
}

const draw = {
  definitions: (block) => el("dl", { class: "definitions" }, block.items.map(([term, meaning]) => el("div", {}, el("dt", {}, term), el("dd", {}, meaning)))),
  map: (block) => mapPlace(block),
  regions: (block) => el("div", { class: "regions" }, block.regions.map(regionCard)),
  rowTables: (block) => tabbed(block.lists),
  suspects: (block) => suspectTable(block),
  table: (block) => valueTable(block),
  checks: (block) => {
    const failed = block.checks.filter((check) => !check.passed);
    const passed = block.checks.filter((check) => check.passed);
    return el("div", { class: "titled" },
      failed.length ? [el("h3", {}, "Failed checks"), checkTable(failed, "Failed checks")] : null,
      passed.length ? el("details", {}, el("summary", {}, `Passed checks (${number.format(passed.length)})`), checkTable(passed, "Passed checks")) : null);
  },
  charts: (block) => el("div", { class: "titled" },
    el("div", { class: "charts" }, block.charts.map(lineChart)),
    el("details", {}, el("summary", {}, "The numbers"), el("div", { class: "charts" }, block.charts.map(numbersOf)))),
  dots: (block) => el("div", { class: "titled" }, el("div", { class: "charts" }, block.plots.map(dotPlot)), block.note ? el("p", { class: "note meanings" }, block.note) : null),
  picture: (block) => el("div", { class: "titled" },
    el("h3", {}, block.title),
    el("p", { class: "answer" }, block.text, block.note ? el("span", { class: "note" }, ` ${block.note}`) : null),
    block.source.startsWith("data:image/png;base64,") ? el("img", { class: "drawing", src: block.source, alt: block.alternative, width: block.width || null }) : null),
  planes: (block) => el("div", { class: "charts planes" }, block.planes.map(plane)),
  heat: (block) => heatMap(block),
  facts: (block) => el("dl", { class: "facts" }, block.facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, prose(value))))),
  command: (block) => el("pre", { tabindex: "0" }, el("code", {}, block.text)),
};

function sectionOf(section) {
  const heading = `${section.id}-heading`;
  return el("section", { id: section.id, "aria-labelledby": heading },
    el("h2", { id: heading }, section.title),
    section.lead ? el("p", { class: "lead" }, prose(section.lead)) : null,
    section.why ? el("p", { class: "why" }, `Not available. ${section.why}`) : null,
    section.blocks.map((block) => draw[block.kind](block)));
}
