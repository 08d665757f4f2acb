// The review page: one question at a time; an answer is on the disk before the next question is shown.

const TITLES = { suspects: "Suspects", blind: "Blind check", pairs: "Pairs" };
const LONGEST_PAUSE = 60;
const RECENT = 20;
const root = document.getElementById("page");
const now = { overview: null, queue: [], later: [], past: [], answers: new Map(), seconds: [], at: null, question: null, choices: [], since: 0, busy: false, settling: false, dialog: null };

async function ask(path, body) {
  const options = body ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } : {};
  let reply;
  try {
    reply = await fetch(path, { cache: "no-store", ...options });
  } catch {
    throw Object.assign(new Error("The review page's server does not answer: it was stopped, or this machine was asleep. Start it again and open the address that it prints; earlier answers are saved."), { status: 0 });
  }
  const content = await reply.json().catch(() => ({}));
  if (!reply.ok) throw Object.assign(new Error(content.error ?? `The server refused this (${reply.status}).`), { status: reply.status, now: content.now });
  return content;
}

function progressText() {
  const [done, total] = [now.answers.size, now.overview.count];
  const left = total - done;
  const recent = now.seconds.slice(-RECENT);
  if (!left || recent.length < 3) return `${number.format(done)} of ${number.format(total)}`;
  const minutes = (left * recent.reduce((sum, value) => sum + value, 0)) / recent.length / 60;
  const rounded = Math.round(minutes);
  const time = minutes < 1 ? "less than a minute" : rounded < 90 ? `about ${rounded} ${rounded === 1 ? "minute" : "minutes"}` : `about ${Math.round(minutes / 60)} hours`;
  return `${number.format(done)} of ${number.format(total)}, ${time}`;
}

function draw(...content) {
  const { overview } = now;
  const part = now.answers.size / Math.max(overview.count, 1);
  const bar = svg("svg", { class: "bar", viewBox: "0 0 100 2", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "whole", width: 100, height: 2 }), svg("rect", { class: "done", width: 100 * part, height: 2 }));
  root.replaceChildren(
    el("header", { class: "review-top" },
      el("h1", {}, `${TITLES[overview.kind]} of ${overview.name}`),
      el("p", { class: "note" }, "answered by ", el("strong", {}, overview.annotator)),
      el("p", { class: "progress", role: "status" }, progressText()), bar),
    el("main", { id: "main", tabindex: "-1" }, content));
}

function actions() {
  const item = (key, name, act, off = false) => el("button", { type: "button", "aria-keyshortcuts": key, disabled: off, onclick: act }, el("kbd", {}, key), name);
  return el("div", { class: "actions" }, item("s", "skip for now", skip, now.settling), item("u", "undo", undo, !now.past.length));
}

// Show a question; one that was answered meanwhile, in another tab, is passed over.
async function show(place, again = false) {
  now.dialog = null;
  const question = await ask(`question/${place}`);
  if (question.answer && !again && !now.settling) {
    now.answers.set(place, question.answer);
    now.queue.shift();
    return next();
  }
  Object.assign(now, { at: place, question, choices: choicesOf(now.overview, question), since: performance.now() });
  if (question.answer) now.answers.set(place, question.answer);
  const aside = el("aside", { class: "context", "aria-label": "Epochs and nearest rows" });
  const given = now.overview.kind === "suspects" ? suspicionOf(question) : question.reason ? el("p", { class: "note" }, question.reason) : null;
  draw(el("article", { class: "question", "data-place": place },
    el("div", { class: "asked" }, fieldsOf(question.fields, now.overview.kind === "pairs"), given,
      el("div", { class: "choices", role: "group", "aria-label": "Answers" }, now.choices.map((choice) => choiceButton(choice, answer))),
      now.overview.labels.length ? typedLabel(now.overview.labels, (label) => answer(now.overview.kind === "blind" ? label : `relabel ${label}`)) : null,
      actions(), el("div", { id: "said", role: "alert" })),
    aside));
  document.getElementById("main").focus({ preventScroll: true });
  ask(`context/${place}`).then((context) => { if (now.at === place) aside.replaceChildren(...contextOf(context, question.given).filter(Boolean)); }, () => {});
}

async function next() {
  if (now.queue.length) return show(now.queue[0]);
  Object.assign(now, { at: null, question: null, choices: [] });
  return now.later.length && !now.settling ? skipped() : ended();
}

function panel(title, lines, buttons) {
  now.dialog = Object.fromEntries(buttons.map(([key, , act]) => [key, act]));
  draw(el("section", { class: "panel" }, el("h2", {}, title), lines.map((line) => el("p", {}, line)),
    el("div", { class: "actions" }, buttons.map(([key, name, act]) => el("button", { type: "button", "aria-keyshortcuts": key, onclick: act }, el("kbd", {}, key), name))), el("div", { id: "said", role: "alert" })));
  document.getElementById("main").focus({ preventScroll: true });
}

const undoButton = () => (now.past.length ? [["u", "undo the last answer", undo]] : []);

function skipped() {
  panel(`${number.format(now.later.length)} skipped`, ["All others are answered."], [["r", "go through the skipped ones", () => { now.queue = now.later; now.later = []; next(); }], ...undoButton()]);
}

async function ended() {
  const { overview } = now;
  now.settling = false;
  if (!overview.count) return panel("Nothing to review", [overview.empty], []);
  const { lines, disputed } = await ask("agreement");
  const all = now.answers.size >= overview.count;
  const title = all ? { suspects: "All suspects are decided", blind: "All rows are answered", pairs: "All pairs are answered" }[overview.kind] : "That was all for now";
  const after = disputed.length ? [overview.kind === "pairs" ? `${number.format(disputed.length)} pairs are answered differently; the round waits until they are settled.` : `${number.format(disputed.length)} rows are decided differently; the next audit refuses them until they are settled.`] : overview.next ? [`Everything is saved. Then: ${overview.next}`] : ["Everything is saved."];
  const settle = disputed.length ? [["t", "settle them", () => { now.settling = true; now.queue = [...disputed]; next(); }]] : [];
  return panel(title, [...lines, ...after], [...settle, ...undoButton()]);
}

function tell(...content) {
  document.getElementById("said")?.replaceChildren(...content);
}

async function answer(wanted, before = null) {
  if (now.busy || now.at === null) return;
  const [place, settles] = [now.at, now.settling];
  const expected = before ?? (settles ? now.question.joint : now.question.answer);
  now.busy = true;
  root.classList.add("saving");
  let saved = null;
  try {
    saved = (await ask("answer", { place, answer: wanted, before: expected, settles })).answer;
  } catch (error) {
    now.busy = false;
    root.classList.remove("saving");
    if (error.status === 409) conflict(place, wanted, error.now);
    else tell(`Your answer (${shownAnswer(wanted)}) is not saved. ${error.message}`);
    return;
  }
  now.answers.set(place, saved);
  if (settles) now.past = now.past.filter((one) => one.place !== place);
  else now.past.push({ place, before: now.question.answer, after: saved });
  now.seconds.push(Math.min((performance.now() - now.since) / 1000, LONGEST_PAUSE));
  now.queue = now.queue.filter((other) => other !== place);
  now.dialog = null;
  // No key answers before the next question is drawn.
  try {
    await next();
  } finally {
    now.busy = false;
    root.classList.remove("saving");
  }
}

function conflict(place, wanted, there) {
  const keep = () => { now.answers.set(place, there); now.queue = now.queue.filter((other) => other !== place); next(); };
  const replace = () => { now.dialog = null; answer(wanted, there); };
  now.dialog = { Enter: keep, r: replace };
  tell(el("p", {}, "This row was answered in the meantime, in another tab or window: ", el("strong", {}, shownAnswer(there)), ". Yours, ", el("strong", {}, shownAnswer(wanted)), ", is not saved."),
    el("div", { class: "actions" },
      el("button", { type: "button", onclick: keep }, el("kbd", {}, "Enter"), "leave it"),
      el("button", { type: "button", onclick: replace }, el("kbd", {}, "r"), "replace it with yours")));
}

function skip() {
  if (now.busy || now.at === null || now.settling) return;
  now.later.push(now.at);
  now.queue = now.queue.filter((other) => other !== now.at);
  next();
}

async function undo() {
  const last = now.past.at(-1);
  if (now.busy || !last) return;
  now.busy = true;
  try {
    await ask("answer", { place: last.place, answer: last.before, before: last.after });
    now.past.pop();
    if (last.before) now.answers.set(last.place, last.before);
    else now.answers.delete(last.place);
    now.settling = false;
    now.queue = [last.place, ...now.queue.filter((other) => other !== last.place)];
    now.later = now.later.filter((other) => other !== last.place);
    await show(last.place, true);
  } catch (error) {
    if (error.status === 409) now.past.pop();
    tell(`Nothing was undone. ${error.message}`);
  } finally {
    now.busy = false;
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
  if (event.target instanceof HTMLInputElement) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.target instanceof HTMLButtonElement && (key === "Enter" || key === " ")) return;
  const chosen = now.choices.find((choice) => choice.key === key);
  if (now.dialog?.[key]) now.dialog[key]();
  else if (now.at === null) return;
  else if (key === "s") skip();
  else if (key === "u") undo();
  else if (key === "/") document.getElementById("typed")?.focus();
  else if (chosen) answer(chosen.answer);
  else return;
  event.preventDefault();
});

async function begin() {
  now.overview = await ask("overview");
  now.answers = new Map(Object.entries(now.overview.answers).map(([place, given]) => [Number(place), given]));
  now.queue = Array.from({ length: now.overview.count }, (_, place) => place).filter((place) => !now.answers.has(place));
  await next();
}

const failed = (error) => root.replaceChildren(el("main", { class: "panel" }, el("h1", {}, "The review cannot go on"), el("p", { role: "alert" }, error.message)));
window.addEventListener("unhandledrejection", (event) => failed(event.reason));
begin().catch(failed);
