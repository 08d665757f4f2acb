// The rows that the page carries: columns decoded once, and one row as an object.

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, i16: Int16Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array };

function decode(column) {
  if (!column) return null;
  const text = atob(column.data);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return new ARRAYS[column.type](bytes.buffer);
}

const carried = parse("data-rows");

const columns = {};
for (const name of ["place", "label", "predicted", "confidence", "variability", "correctness", "region", "file", "row", "suspect", "turn", "percent", "text"]) {
  columns[name] = decode(carried[name]);
}

// Entries of the suspects' table by the place of their row.
const suspicions = new Map();
for (const section of content.sections) for (const block of section.blocks) {
  if (block.kind === "suspects") for (const suspect of block.suspects) suspicions.set(suspect.place, { ...suspect, calibrated: block.calibrated });
}

const positions = new Map();
columns.place.forEach((place, position) => positions.set(place, position));

// The values of a row of a table of features as a line: the most unusual first, without those that are missing.
function inShort(position) {
  const { names, values, unusual } = carried.table;
  const order = [...unusual[position], ...names.keys()];
  return [...new Set(order)].filter((place) => values[place][position]).map((place) => `${names[place]}=${values[place][position]}`).join("; ");
}

function row(position) {
  const predicted = columns.predicted ? columns.predicted[position] : -1;
  const start = position * carried.epochs;
  return {
    position,
    uid: carried.uid[position],
    texts: carried.table ? [inShort(position)] : carried.texts.map((field) => field[columns.text ? columns.text[position] : position]),
    unusual: carried.table ? carried.table.unusual[position] : [],
    given: columns.label[position],
    label: carried.labels[columns.label[position]],
    predicted: predicted < 0 ? null : carried.labels[predicted],
    disagrees: predicted >= 0 && predicted !== columns.label[position],
    confidence: columns.confidence[position],
    variability: columns.variability[position],
    correctness: columns.correctness[position],
    suspicion: suspicions.get(columns.place[position]) ?? null,
    region: carried.regions[columns.region[position]],
    file: carried.files[columns.file[position]],
    row: columns.row[position],
    epochs: carried.epochs ? Array.from(columns.percent.subarray(start, start + carried.epochs), (value) => value / 100) : [],
    annotators: carried.annotators?.[position] ?? null,
  };
}

// The field's name stands before its text only where a row has several.
const named = (fields) => fields.length > 1;

// The content of a row's field: a text, or an image as a picture.
const pictured = carried.images.length > 0;
const contentName = pictured ? "Image" : carried.table ? "Values, unusual first" : "Text";
function fieldOf(item, field) {
  const name = carried.fields[field];
  return carried.images.includes(name) ? picture(item.texts[field], `${name} of ${item.uid}, given label ${item.label}`) : item.texts[field];
}

// What tables search and sort by: texts, or for images the uid.
const wordsOf = (item) => (pictured ? [item.uid] : item.texts);
