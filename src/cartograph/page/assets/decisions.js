// What a reader decides about suspects: kept in this browser, and downloaded as the file that `review --import` takes.

const decided = { places: new Map(), listeners: [], name: "", saved: true };
const suspectBlocks = content.sections.flatMap((section) => section.blocks.filter((block) => block.kind === "suspects"));
const ANSWERS = suspectBlocks[0]?.answers ?? null;
const STORE = ANSWERS && `cartograph ${ANSWERS.version}`;

// Storage may be forbidden, full, or hold what another program wrote: then decisions last as long as the page.
function recall() {
  try {
    const kept = JSON.parse(localStorage.getItem(STORE) ?? "{}");
    decided.name = typeof kept.name === "string" ? kept.name : "";
    const known = new Set(suspectBlocks.flatMap((block) => block.suspects.map((suspect) => suspect.place)));
    for (const [place, what, label] of Array.isArray(kept.places) ? kept.places : []) {
      if (known.has(place) && (["keep", "drop"].includes(what) || (what === "relabel" && ANSWERS.labels[label] !== undefined))) decided.places.set(place, { what, label });
    }
  } catch { /* begin with none */ }
}

function keepDecisions() {
  try {
    localStorage.setItem(STORE, JSON.stringify({ name: decided.name, places: [...decided.places].map(([place, { what, label }]) => [place, what, label ?? null]) }));
    decided.saved = true;
  } catch {
    decided.saved = false;
  }
  decided.listeners.forEach((listener) => listener());
}

// The same decision again takes it back.
function decide(place, what, label = null) {
  const before = decided.places.get(place);
  if (before && before.what === what && (before.label ?? null) === label) decided.places.delete(place);
  else decided.places.set(place, { what, label });
  keepDecisions();
}

// Cells come guarded against what spreadsheets make of them, but for the name, whose first letters are made harmless here.
function decisionsFile() {
  const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const by = decided.name.trim().replace(/^[\s"'=+@＝＋－＠\t-]+/, "").replace(/[;\r\n]/g, " ") || "report page";
  const uids = new Map(suspectBlocks.flatMap((block) => block.suspects.map((suspect) => [suspect.place, suspect.uid])));
  const lines = [...decided.places].map(([place, { what, label }]) => [uids.get(place), what, what === "relabel" ? ANSWERS.labels[label] : "", by, ""]);
  return `\ufeff${[["uid", "decision", "new_label", "by", "comment"], ...lines].map((line) => line.map(quoted).join(",")).join("\r\n")}\r\n`;
}

function download() {
  const address = URL.createObjectURL(new Blob([decisionsFile()], { type: "text/csv" }));
  el("a", { href: address, download: "decisions.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

// The buttons of one suspect; its other labels open as a list when they are asked for.
function decisionButtons(suspect) {
  const { place, suggested } = suspect;
  const button = (what, label, text) => {
    const node = el("button", { type: "button", class: "decide", onclick: () => decide(place, what, label) }, soft(text));
    return { node, what, label };
  };
  const given = columns.label[positions.get(place)];
  const buttons = [button("keep", null, "Keep"), button("drop", null, "Drop"), suggested >= 0 && suggested !== given ? button("relabel", suggested, `→ ${carried.labels[suggested]}`) : null].filter(Boolean);
  const other = el("select", { class: "decide", "aria-label": "Another label", onchange: (event) => event.target.value && decide(place, "relabel", Number(event.target.value)) }, el("option", { value: "" }, "other…"));
  const filled = () => { if (other.length === 1) other.append(...carried.labels.flatMap((label, id) => (id === given ? [] : [el("option", { value: id }, label)]))); };
  for (const event of ["pointerdown", "focus"]) other.addEventListener(event, filled);
  const update = () => {
    const now = decided.places.get(place);
    for (const { node, what, label } of buttons) node.setAttribute("aria-pressed", String(now?.what === what && (now.label ?? null) === label));
    const elsewhere = now?.what === "relabel" && now.label !== suggested;
    if (elsewhere) filled();
    other.value = elsewhere ? String(now.label) : "";
  };
  decided.listeners.push(update);
  update();
  return el("div", { class: "decisions", role: "group", "aria-label": "Decision" }, buttons.map(({ node }) => node), other);
}

function decisionBar(total) {
  const status = el("span", { class: "count", role: "status" });
  const save = el("button", { type: "button", onclick: download }, "Download decisions.csv");
  const name = el("input", { type: "search", value: decided.name, autocomplete: "off", oninput: (event) => { decided.name = event.target.value; keepDecisions(); } });
  const update = () => {
    const number_ = decided.places.size;
    status.textContent = `${number.format(number_)} of ${number.format(total)} decided${decided.saved ? "" : "; this browser does not keep them, so download them before you leave"}`;
    save.disabled = !number_;
  };
  decided.listeners.push(update);
  update();
  return el("div", { class: "decision-bar" }, el("label", {}, "Your name ", name), save, status,
    el("p", { class: "note" }, "Decisions stay in this browser until you download them. Then: ", el("code", {}, ANSWERS.command)));
}

if (ANSWERS) recall();
