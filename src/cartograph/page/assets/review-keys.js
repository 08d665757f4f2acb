// What may be answered, each with its key; and a label typed, completed from the classes.

const shownAnswer = (answer) => (answer === "" ? "not answered" : answer.startsWith("relabel ") ? `label ${answer.slice(8)}` : answer);

// The choices of a question: {key, name, answer}.
function choicesOf(overview, question) {
  if (overview.kind === "pairs") return [["y", "yes, the same", "yes"], ["n", "no, not the same", "no"], ["0", "cannot tell", "skip"]].map(([key, name, answer]) => ({ key, name, answer }));
  const labels = question.keys.map((label, place) => ({ key: String(place + 1), name: label, answer: overview.kind === "blind" ? label : `relabel ${label}`, suggested: label === question.suggested, given: label === question.given }));
  if (overview.kind === "blind") return [...labels, { key: "0", name: overview.ambiguous, answer: overview.ambiguous }];
  return [{ key: "k", name: `keep ${question.given}`, answer: "keep" }, { key: "d", name: "drop the row", answer: "drop" }, ...labels];
}

function choiceButton(choice, answer) {
  return el("button", { type: "button", class: `choice${choice.suggested ? " suggested" : ""}`, "aria-keyshortcuts": choice.key, onclick: () => answer(choice.answer) },
    el("kbd", {}, choice.key), el("span", {}, choice.name), choice.suggested ? el("span", { class: "note" }, "suggested") : choice.given ? el("span", { class: "note" }, "given") : null);
}

// Labels that a typed text may mean: those that begin with it first, then those that have it anywhere.
function completions(labels, typed) {
  const wanted = typed.trim().toLowerCase();
  if (!wanted) return [];
  const found = labels.filter((label) => label.toLowerCase().includes(wanted));
  const rank = (label) => (label.toLowerCase() === wanted ? 0 : label.toLowerCase().startsWith(wanted) ? 1 : 2);
  return found.sort((a, b) => rank(a) - rank(b) || a.length - b.length || (a < b ? -1 : 1)).slice(0, 8);
}

function typedLabel(labels, answer) {
  let [shown, at] = [[], 0];
  const list = el("ul", { class: "completions", id: "completions", role: "listbox", "aria-label": "Labels", hidden: true });
  const box = el("input", { type: "search", id: "typed", role: "combobox", autocomplete: "off", spellcheck: "false", "aria-controls": "completions", "aria-expanded": "false", "aria-autocomplete": "list" });
  const draw = () => {
    list.hidden = !shown.length;
    box.setAttribute("aria-expanded", String(shown.length > 0));
    if (shown.length) box.setAttribute("aria-activedescendant", `completion-${at}`);
    else box.removeAttribute("aria-activedescendant");
    list.replaceChildren(...shown.map((label, place) => el("li", { id: `completion-${place}`, role: "option", "aria-selected": String(place === at), onpointerdown: () => answer(label) }, label)));
  };
  box.addEventListener("input", () => { [shown, at] = [completions(labels, box.value), 0]; draw(); });
  box.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && shown.length) { at = (at + by + shown.length) % shown.length; draw(); }
    else if (event.key === "Enter" && shown.length) answer(shown[at]);
    else if (event.key === "Escape") { box.value = ""; shown = []; draw(); box.blur(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return el("div", { class: "typed" }, el("label", { for: "typed" }, el("kbd", {}, "/"), " any label, typed"), box, list);
}
