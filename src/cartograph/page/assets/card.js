// The card of one row: its texts, its label and the model's, the probability of its label per epoch, and its source.

function labelLine(item) {
  return el("dl", { class: "labels" },
    el("div", {}, el("dt", {}, "Given label"), el("dd", {}, item.label)),
    item.predicted === null ? null : el("div", { class: item.disagrees ? "differs" : "" }, el("dt", {}, "Model's label"), el("dd", {}, item.predicted)));
}

function suspectLine(item) {
  if (!item.suspicion) return null;
  const { rank, probability, calibrated, suggested, reason } = item.suspicion;
  const doubted = calibrated ? "probability that its label is wrong:" : "score, which only ranks:";
  return el("div", { class: "suspicion" }, el("p", {}, `Suspect ${number.format(rank)}: ${calibrated ? "probably" : "perhaps"} `, el("strong", {}, carried.labels[suggested]), `; ${doubted} ${write.likelihood(probability)}`), el("p", { class: "note" }, reason));
}

// A row of a table of features: what is unusual for its label first, beside what is usual there.
function values(item) {
  const { names, values: held, usual } = carried.table;
  const order = [...new Set([...item.unusual, ...names.keys()])];
  const rows = order.map((place) => el("tr", { class: item.unusual.includes(place) ? "unusual" : "" },
    el("th", { scope: "row" }, names[place]),
    el("td", {}, held[place][item.position] || el("span", { class: "note" }, "missing")),
    el("td", {}, usual[place][item.given])));
  return el("div", { class: "values", tabindex: "0", role: "group", "aria-label": "Values of the row" }, el("table", {},
    el("thead", {}, el("tr", {}, ["Column", "Value", `Usual of ${item.label}`].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, rows)));
}

function texts(item) {
  if (carried.table) return values(item);
  return el("dl", { class: "texts" }, item.texts.map((_, field) => el("div", {},
    el("dt", { class: named(carried.fields) ? "" : "unseen" }, carried.fields[field]), el("dd", {}, fieldOf(item, field)))));
}

function rightIn(item) {
  if (!carried.epochs) return write.probability(item.correctness);
  const used = carried.used[1] - carried.used[0];
  return `right in ${Math.round(item.correctness * used)} of ${used} epochs`;
}

function measured(item) {
  const facts = [["Confidence", write.probability(item.confidence)], ["Variability", write.probability(item.variability)], ["Correctness", rightIn(item)]];
  return el("dl", { class: "measures" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function epochsOf(item) {
  if (!item.epochs.length) return el("p", { class: "note" }, "Probability per epoch: not recorded with this map.");
  const [first, last] = [carried.used[0] + 1, carried.used[1]];
  const all = first === 1 && last === carried.epochs;
  const caption = `Probability of the given label, epoch by epoch${all ? "" : `; the measures use epochs ${first} to ${last}`}`;
  return el("figure", { class: "epochs" }, el("figcaption", {}, caption), epochLine(item.epochs));
}

function card(position) {
  const item = row(position);
  return el("article", { class: "card" },
    texts(item),
    labelLine(item),
    suspectLine(item),
    item.annotators ? el("p", { class: "note" }, `Annotators: ${item.annotators}`) : null,
    epochsOf(item),
    measured(item),
    el("p", { class: "note source" }, el("span", { class: "chip" }, item.region), ` ${item.file}, row ${number.format(item.row)}, uid `, el("code", {}, item.uid)));
}
