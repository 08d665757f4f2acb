// A question as it is shown: texts or images, labels, reason; later its epochs and the rows nearest to it.

function fieldsOf(fields, named) {
  return el("dl", { class: "texts" }, fields.map(([name, value, image]) => el("div", {},
    el("dt", { class: named || fields.length > 1 ? "" : "unseen" }, name), el("dd", {}, image ? picture(value, name) : value))));
}

function suspicionOf(question) {
  if (question.given === undefined) return question.reason ? el("p", { class: "note" }, question.reason) : null;
  const doubted = question.calibrated ? "wrong with probability" : "by a score, which only ranks, of";
  return [
    el("dl", { class: "labels" },
      el("div", {}, el("dt", {}, "Given label"), el("dd", {}, question.given)),
      question.suggested ? el("div", {}, el("dt", {}, "Suggested"), el("dd", { class: "better" }, question.suggested)) : null),
    el("p", { class: "suspicion" }, `Suspect ${number.format(question.rank)}, ${doubted} ${write.likelihood(question.probability)}: ${question.reason}`),
    question.decisions.length ? el("p", { class: "warned" }, "Decided differently: ", question.decisions.map(([by, answer]) => `${by}: ${shownAnswer(answer)}`).join("; ")) : null,
  ];
}

function contextOf(context, given) {
  const near = context.near.map((row) => el("li", { class: row.label === given ? "" : "other" },
    el("span", { class: "chip" }, row.label), row.fields.map(([name, value, image]) => (image ? picture(value, name) : el("span", { class: "excerpt" }, value)))));
  return [
    context.epochs.length ? el("figure", { class: "epochs" }, el("figcaption", {}, "Probability of the given label, epoch by epoch"), epochLine(context.epochs)) : null,
    near.length ? el("div", { class: "nearest" }, el("h2", {}, "Nearest rows and their labels"), el("ol", {}, near)) : null,
  ];
}
