// Tables that sort by their headings and filter by text, label and disagreement.

let serial = 0;
const fresh = (name) => `${name}-${(serial += 1)}`;

const missing = (value) => value === null || value === undefined;
const byValue = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en"));

const FIRST = 10, FEW = 20;

// columns: {title, number, value(item) -> sort key, cell(item) -> text or node}; lines(item) -> the row's <tr> elements.
// Long tables show their first rows, and the others on demand; one of few rows shows them all.
function sortable({ caption, columns: shown, items, lines, first = null, folds = false }) {
  const body = el("tbody");
  let folded = folds;
  let sorted = { column: first, descending: false };
  let order = items;
  let keep = () => true;
  const headings = shown.map((column) => {
    const arrow = el("span", { class: "arrow", "aria-hidden": "true" }, column === first ? "↑" : "");
    const button = el("button", { type: "button", onclick: () => sort(column) }, column.number ? [arrow, column.title] : [column.title, arrow]);
    return { column, arrow, cell: el("th", { scope: "col", class: column.number ? "number" : "", "aria-sort": column === first ? "ascending" : "none" }, button) };
  });

  function sort(column) {
    const repeated = sorted.column === column;
    sorted = { column, descending: repeated ? !sorted.descending : false };
    const sign = sorted.descending ? -1 : 1;
    order = [...items].sort((a, b) => {
      const [left, right] = [column.value(a), column.value(b)];
      // Missing values stay last in both directions.
      return missing(left) || missing(right) ? missing(left) - missing(right) : sign * byValue(left, right);
    });
    for (const heading of headings) {
      const active = heading.column === column;
      heading.cell.setAttribute("aria-sort", active ? (sorted.descending ? "descending" : "ascending") : "none");
      heading.arrow.textContent = active ? (sorted.descending ? "↓" : "↑") : "";
    }
    draw();
  }

  function draw(wanted = keep) {
    keep = wanted;
    const kept = order.filter(keep);
    const cut = folded && kept.length >= FEW;
    body.replaceChildren(...kept.flatMap((item, place) => lines(item, cut && place >= FIRST)));
    more.hidden = !cut;
    more.textContent = `Show ${number.format(kept.length - FIRST)} more`;
  }

  const more = el("button", { type: "button", class: "quiet", onclick: () => { folded = false; draw(); } });
  draw();
  const table = el("table", { class: "sortable" },
    el("caption", { class: "unseen" }, caption),
    el("thead", {}, el("tr", {}, headings.map((heading) => heading.cell))), body);
  return { node: el("div", {}, el("div", { class: "scroll", role: "region", "aria-label": `${caption}, table` }, table), more), draw };
}

function cells(item, shown) {
  return shown.map((column) => el("td", { class: [column.number ? "number" : "", column.class ?? ""].join(" ").trim() || null, "data-title": column.title }, column.cell(item)));
}

// The meanings of the columns, beneath their table; columns of one meaning together.
function meanings(shown) {
  const terms = new Map();
  for (const { title, meaning } of shown) if (meaning) terms.set(meaning, [...(terms.get(meaning) ?? []), title]);
  if (!terms.size) return null;
  return el("p", { class: "note meanings" }, [...terms].map(([meaning, titles]) => el("span", {}, el("strong", {}, titles.join(", ")), `: ${meaning}. `)));
}

const marked = { code: (value) => el("code", {}, write.code(value)), picture: (value) => picture(value, "") };

function valueTable(block) {
  const shown = block.columns.map((column, index) => ({
    title: column.title,
    class: column.cell === "text" && block.cells.some((item) => (item[index] ?? "").length > 48) ? "prose" : null,
    number: ["count", "probability", "share", "points"].includes(column.cell),
    value: (item) => item[index],
    cell: (item) => (marked[column.cell] ?? write[column.cell])(item[index]),
  }));
  const { node } = sortable({ caption: block.caption, columns: shown, items: block.cells, folds: !block.folded, lines: (item, beyond) => [el("tr", { class: beyond ? "beyond" : null }, cells(item, shown))] });
  const notes = meanings(block.columns);
  if (block.folded) return el("details", {}, el("summary", {}, block.caption), node, notes);
  return el("div", { class: "titled" }, el("h3", {}, block.caption), node, notes);
}

function excerpt(item) {
  return item.texts.map((_, field) => el("span", { class: "excerpt" }, named(carried.fields) ? el("span", { class: "field" }, carried.fields[field]) : null, fieldOf(item, field)));
}

function opener(item, state) {
  return el("button", { type: "button", class: "opener", "aria-expanded": String(state.open), onclick: state.toggle }, excerpt(item));
}

function rowColumns(ranks) {
  const shown = [
    { title: "Rank", number: true, value: (item) => ranks.get(item.position), cell: (item) => number.format(ranks.get(item.position)) },
    { title: contentName, class: pictured ? "pictured" : "wide", value: (item) => wordsOf(item).join(" "), cell: (item) => item.opener },
    { title: "Given label", value: (item) => item.label, cell: (item) => soft(item.label) },
    { title: "Confidence", number: true, value: (item) => item.confidence, cell: (item) => write.probability(item.confidence) },
    { title: "Variability", number: true, value: (item) => item.variability, cell: (item) => write.probability(item.variability) },
    { title: "Correctness", number: true, value: (item) => item.correctness, cell: (item) => write.probability(item.correctness) },
  ];
  const model = { title: "Model's label", value: (item) => item.predicted, cell: (item) => (item.disagrees ? el("strong", {}, soft(item.predicted)) : soft(item.predicted)) };
  if (columns.predicted) shown.splice(3, 0, model);
  return shown;
}

function filters(items, redraw, suggestions) {
  const wanted = { text: "", label: "", suggested: "", differs: false };
  const keep = (item) =>
    (!wanted.text || [item.uid, item.label, ...wordsOf(item)].some((text) => text.toLowerCase().includes(wanted.text))) &&
    (!wanted.label || item.label === wanted.label) && (!wanted.suggested || item.suggested === wanted.suggested) && (!wanted.differs || item.disagrees);
  const count = el("p", { class: "count", role: "status" });
  const apply = () => {
    count.textContent = `${number.format(items.filter(keep).length)} of ${number.format(items.length)} rows`;
    redraw(keep);
  };
  const set = (name, value) => { wanted[name] = value; apply(); };
  const labels = [...new Set(items.map((item) => item.label))].sort();
  const node = el("div", { class: "filters" },
    el("label", {}, pictured ? "Label or uid" : carried.table ? "Value, label or uid" : "Text, label or uid", el("input", { type: "search", oninput: (event) => set("text", event.target.value.toLowerCase()) })),
    el("label", {}, "Given label", el("select", { onchange: (event) => set("label", event.target.value) },
      el("option", { value: "" }, "any"), labels.map((label) => el("option", { value: label }, label)))),
    suggestions ? el("label", {}, "Suggestion", el("select", { onchange: (event) => set("suggested", event.target.value) },
      el("option", { value: "" }, "any"), suggestions.map((label) => el("option", { value: label }, label)))) : null,
    columns.predicted && !suggestions ? el("label", { class: "check" }, el("input", { type: "checkbox", onchange: (event) => set("differs", event.target.checked) }), "model prefers another label") : null,
    count);
  return { node, apply };
}

// A table of rows with filters; each row opens its card beneath it.
function openingTable({ caption, items, columns: shown, note = null, suggestions = null }) {
  for (const item of items) {
    item.open = false;
    item.opener = opener(item, { open: false, toggle: () => toggle(item) });
    item.main = el("tr", {}, cells(item, shown));
  }

  function toggle(item) {
    item.open = !item.open;
    item.opener.setAttribute("aria-expanded", String(item.open));
    if (!item.open) return item.more.remove();
    item.more ??= el("tr", { class: "more" }, el("td", { colspan: shown.length },
      card(item.position), el("button", { type: "button", class: "quiet", onclick: () => showOnMap(item.position, item.opener) }, "Show on the map")));
    item.main.after(item.more);
  }

  function rowLines(item, beyond) {
    item.main.classList.toggle("beyond", beyond);
    item.more?.classList.toggle("beyond", beyond);
    return item.open ? [item.main, item.more] : [item.main];
  }

  const table = sortable({ caption, columns: shown, items, first: shown[0], folds: true, lines: rowLines });
  const filter = filters(items, table.draw, suggestions);
  filter.apply();
  return el("div", {}, note, filter.node, table.node);
}

function rowTable(list) {
  const places = list.rows.map((place) => positions.get(place));
  const ranks = new Map(places.map((position, index) => [position, index + 1]));
  return openingTable({
    caption: `${list.name}: ${list.meaning}`, items: places.map(row), columns: rowColumns(ranks),
    note: el("p", { class: "note" }, `${list.name}, ${list.meaning}.`),
  });
}

function suspectTable(block) {
  const items = block.suspects.map((suspect) => ({ ...row(positions.get(suspect.place)), suggested: carried.labels[suspect.suggested] }));
  const shown = [
    { title: "Rank", number: true, value: (item) => item.suspicion.rank, cell: (item) => number.format(item.suspicion.rank) },
    { title: contentName, class: pictured ? "pictured" : "wide", value: (item) => wordsOf(item).join(" "), cell: (item) => item.opener },
    { title: "Label", value: (item) => item.label, cell: (item) => soft(item.label) },
    { title: "Suggestion", value: (item) => item.suggested, cell: (item) => ["→\u00a0", el("strong", {}, soft(item.suggested))] },
    { title: block.calibrated ? "Probability" : "Score", number: true, value: (item) => item.suspicion.probability, cell: (item) => write.likelihood(item.suspicion.probability) },
    { title: "Decide", value: (item) => decided.places.get(item.suspicion.place)?.what ?? null, cell: (item) => decisionButtons(item.suspicion) },
    { title: "Why", class: "why-so", value: (item) => item.suspicion.reason, cell: (item) => item.suspicion.reason },
  ];
  if (!ANSWERS) shown.splice(shown.findIndex(({ title }) => title === "Decide"), 1);
  return el("div", { class: "panel suspects-table" }, ANSWERS ? decisionBar(ANSWERS.total) : null, openingTable({ caption: block.caption, items, columns: shown, suggestions: [...new Set(items.map((item) => item.suggested))].sort() }));
}

function tabbed(lists) {
  const name = fresh("tab");
  const panels = lists.map((list, index) => el("div", { role: "tabpanel", id: `${name}-panel-${index}`, "aria-labelledby": `${name}-${index}`, class: "panel rows-table" },
    el("h3", { class: "print-only" }, list.name), rowTable(list)));
  const tabs = lists.map((list, index) => el("button", { type: "button", role: "tab", id: `${name}-${index}`, "aria-controls": `${name}-panel-${index}`, onclick: () => show(index), onkeydown: move }, list.name));

  function show(chosen) {
    tabs.forEach((tab, index) => {
      tab.setAttribute("aria-selected", String(index === chosen));
      tab.tabIndex = index === chosen ? 0 : -1;
      panels[index].classList.toggle("closed", index !== chosen);
    });
  }

  function move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (tabs.indexOf(event.currentTarget) + step + tabs.length) % tabs.length;
    show(next);
    tabs[next].focus();
  }

  show(0);
  return el("div", {}, el("div", { role: "tablist", class: "tabs", "aria-label": "Which rows" }, tabs), panels);
}
