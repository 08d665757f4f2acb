"""The choice of raw columns for texts, options, label and uid, by one name or several alternatives."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

import pyarrow as pa
import pyarrow.compute as pc

from cartograph.errors import InputError, NoColumnError
from cartograph.ingest.headers import names_by_position
from cartograph.ingest.nested import column_at
from cartograph.ingest.values import table_columns
from cartograph.read.source import Batch
from cartograph.schema import ANNOTATOR_LABELS, FEATURES, GROUPS, LABEL, LINKED, RESERVED, ROW, SOURCE, UID, Feature, Task
from cartograph.wording import cut

Alternatives = tuple[str, ...]

ALL = ("*",)
"""The features of a table that has no list of them: every other column."""

NO_MAJORITY = "-"
"""The label of a row whose several labels have no majority; SNLI's."""


@dataclass(frozen=True)
class Columns:
    """The columns of a data set; each entry lists the names it may have, and the first that a file has is taken.

    Attributes:
        text: one entry for single texts and multiple choice, two for pairs, none for images.
        options: at least two entries for multiple choice, else none.
        label: the gold label; empty for rows without labels. ``a+b+c`` is the majority of several columns.
        uid: what identifies a row; empty where uids are to be made from the content.
        annotators: the annotators' labels, a list or text; ``a+b+c`` joins several columns. Empty for a set without annotators.
        image: the images; empty for texts.
        features: of a table of features, its columns; ``ALL``: every other column that can be one. Empty for texts and images.
        categories: those of them whose numbers are names, such as codes.
        kinds: the columns of the table once it was looked at (``ingest.features``).
        left_out: the other columns, which say nothing or are of other use.
        groups: columns that part an evaluation set's rows: a row is in the group of that name where the cell is not blank. A file may lack
            any of them.
        linked: what rows have in common that are linked, such as a patient or a speaker; of the train set alone. Empty where none are.
        labelled_by: who gave the label, of the train set alone; empty where nobody knows.
    """

    text: tuple[Alternatives, ...]
    options: tuple[Alternatives, ...]
    label: Alternatives
    uid: Alternatives = ()
    annotators: Alternatives = ()
    groups: tuple[str, ...] = ()
    image: Alternatives = ()
    features: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    kinds: tuple[Feature, ...] = ()
    left_out: tuple[str, ...] = ()
    linked: Alternatives = ()
    labelled_by: Alternatives = ()

    @property
    def task(self) -> Task:
        """What kind of task the columns make."""
        if self.image:
            return "image"
        if self.features:
            return "table"
        if self.options:
            return "choice"
        return "pair" if len(self.text) == 2 else "single"

    @property
    def text_names(self) -> tuple[str, ...]:
        """The text columns' names in the canonical tables: the first alternative of each; ``FEATURES`` of a table of features."""
        if self.features:
            return (FEATURES,)
        return tuple(_canonical(names) for names in self.text)

    @property
    def image_names(self) -> tuple[str, ...]:
        """The image columns' names in the canonical tables: one, or none."""
        return (_canonical(self.image),) if self.image else ()

    @property
    def field_names(self) -> tuple[str, ...]:
        """All of these names, as ``DatasetInfo.fields``."""
        return self.image_names + self.text_names + self.option_names

    @property
    def option_names(self) -> tuple[str, ...]:
        """The option columns' names in the canonical tables."""
        return tuple(_canonical(names) for names in self.options)

    def available(self, files: Sequence[File]) -> Columns:
        """Return an evaluation set's columns: nothing links its rows or says who labelled them; uid and annotators if a file has them."""

        def kept(alternatives: Alternatives) -> Alternatives:
            there = {column for file in files for column in file.batch.table.column_names}
            return alternatives if any(there.issuperset((name,)) or there.issuperset(name.split("+")) for name in alternatives) else ()

        return replace(self, uid=kept(self.uid), annotators=kept(self.annotators), linked=(), labelled_by=())


def _canonical(names: Alternatives) -> str:
    return f"{names[0]}_text" if names[0] in RESERVED else names[0]


@dataclass(frozen=True)
class File:
    """A source as it was read, and its name in tables and messages."""

    name: str
    batch: Batch


def select(files: Sequence[File], columns: Columns) -> pa.Table:
    """Return the chosen columns of all files, one under the other, under their canonical names.

    The result has the text and option columns, ``label``, ``uid`` and ``annotator_labels`` where asked for, ``groups`` where a file has
    any, ``linked`` (its texts) where asked for, ``source`` and ``row``; texts and labels are as in the file, and may be null.

    Raises:
        InputError: a file lacks a column; the message names those it has and the nearest.
    """
    return pa.concat_tables([_select(file, columns) for file in files], promote_options="default")


def _select(file: File, columns: Columns) -> pa.Table:
    chosen = {name: _images(file, columns.image) for name in columns.image_names}
    if columns.kinds:
        chosen |= table_columns([texts_of(file, (feature.name,)) for feature in columns.kinds], columns.kinds)
    texts = () if columns.features else columns.text_names
    entries = [*zip(texts, columns.text, strict=True), *zip(columns.option_names, columns.options, strict=True)]
    for name, alternatives in entries:
        chosen[name] = texts_of(file, alternatives)
    if columns.label:
        chosen[LABEL] = _labels(file, columns.label)
    if columns.uid:
        chosen[UID] = texts_of(file, columns.uid)
    if columns.annotators:
        chosen[ANNOTATOR_LABELS] = _annotators(file, columns.annotators)
    if there := [name for name in columns.groups if name in file.batch.table.column_names]:
        chosen[GROUPS] = _groups(file, there)
    if columns.linked:
        chosen[LINKED] = texts_of(file, columns.linked)
    if columns.labelled_by:
        _found(file, columns.labelled_by)  # It is read later, when models have been trained.
    chosen[SOURCE] = pa.chunked_array([pa.repeat(pa.scalar(file.name), len(file.batch.table))])
    chosen[ROW] = pa.chunked_array([file.batch.rows])
    return pa.table(chosen)


def _labels(file: File, alternatives: Alternatives) -> pa.ChunkedArray:
    """Return the label column; of several that are joined (``a+b+c``) the label of most of them, ``NO_MAJORITY`` where none has most."""
    parts = label_columns(file, alternatives)
    if len(parts) == 1:
        return texts_of(file, alternatives)
    rows = zip(*(texts_of(file, (part,)).to_pylist() for part in parts), strict=True)
    return pa.chunked_array([pa.array([_most(row) for row in rows], pa.string())])


def label_columns(file: File, alternatives: Alternatives) -> list[str]:
    """Return the columns that hold a file's labels: one, or several whose majority is the label."""
    there = file.batch.table.column_names
    for name in alternatives:
        if len(parts := parts_of(name, there)) > 1:
            return parts
    return [next((name for name in alternatives if name in there), alternatives[0])]


def parts_of(label: str, there: Iterable[object]) -> list[str]:
    """Return the columns whose majority a label is (``a+b+c``), or its own."""
    parts = label.split("+")
    return parts if label not in there and len(parts) > 1 and set(parts) <= set(there) else [label]


def _most(row: Sequence[str | None]) -> str | None:
    counts = Counter(label.strip() for label in row if label and label.strip()).most_common(2)
    if not counts:
        return None
    return counts[0][0] if len(counts) == 1 or counts[0][1] > counts[1][1] else NO_MAJORITY


def texts_of(file: File, alternatives: Alternatives) -> pa.ChunkedArray:
    """Return a column of a file as texts; of several names, that which the file has.

    Raises:
        InputError: the file has no such column, or it holds lists or images.
    """
    table = file.batch.table
    if not set(alternatives) & set(table.column_names):
        nested = next(filter(None, (column_at(table, path) for path in alternatives)), None)
        if nested is not None:
            return nested
    name = _found(file, alternatives)
    column = table[name]
    if pa.types.is_list(column.type) or pa.types.is_binary(column.type):
        held = "images" if pa.types.is_binary(column.type) else "lists"
        way = f"name another column, or one item of it: `{name}.0`" if held == "lists" else "name another column"
        if held == "lists":
            way += f"; rows with several labels are audited by `cartograph audit FILE --text COLUMN --labels {name}`"
            way += f", in a workspace made with `init --labels {name}`"
        raise InputError(f"column `{name}` of {file.name} holds {held}, expected one text or label per row; {way}.")
    return column.cast(pa.string())


def _images(file: File, alternatives: Alternatives) -> pa.ChunkedArray:
    name = _found(file, alternatives)
    column = file.batch.table[name]
    if not pa.types.is_binary(column.type):
        raise InputError(
            f"column `{name}` of {file.name} holds no images; name a folder of images, an NPZ archive, or a Parquet file with a column of "
            "arrays or image files."
        )
    return column


def _found(file: File, alternatives: Alternatives) -> str:
    there = file.batch.table.column_names
    for name in alternatives:
        if name in there:
            return name
    # Of a majority of columns those are missing that are not there.
    parts = alternatives[0].split("+")
    missing = tuple(part for part in parts if part not in there)
    if all(parts) and 0 < len(missing) < len(parts):
        alternatives = missing
    wanted = " or ".join(f"`{name}`" for name in alternatives)
    near = [match for name in alternatives for match in get_close_matches(name.lower(), [column.lower() for column in there], n=1)]
    guess = next((f"; did you mean `{column}`?" for column in there if near and column.lower() == near[0]), ".")
    parts_of = [column for column in there if any(column.startswith(f"{name}.") for name in alternatives)]
    if parts_of:
        guess = f"; did you mean {' or '.join(f'`{column}`' for column in parts_of[:3])}?"
    numbered = [f"{name} ({number})" for name in alternatives for number in (1, 2)]
    if all(column in there for column in numbered[:2]):
        guess = f"; more than one column has that name: choose `{numbered[0]}`, `{numbered[1]}` or a later one."
    columns = f"its columns are {', '.join(there)}{guess}" if there else "none of its columns is text that can be read."
    if names := names_by_position(file.batch.table):
        raise NoColumnError(
            f"{file.name} has no column {wanted}; its first line looks like data ({', '.join(repr(cut(name, 30)) for name in there)}). "
            f"Name the columns by position: {names} in `columns`, `--columns {names}` in `init` and `cartograph audit`; an empty name "
            "leaves a column out."
        )
    if named := [name for name, what in file.batch.stated.items() if what == "class"]:
        use = f"use `--label {shlex.quote(named[0])}`"
        raise NoColumnError(f"{file.name} has no column {wanted}; its header says that `{named[0]}` is the class: {use}.")
    raise NoColumnError(f"{file.name} has no column {wanted}; {columns}{_header_below(file, alternatives)}")


def _header_below(file: File, alternatives: Alternatives) -> str:
    """Return in which of the first rows a column's name stands, as above a header there may be titles; empty where in none."""
    table = file.batch.table.slice(0, 20)
    texts = [column for column in table.columns if pa.types.is_string(column.type)]
    for place, row in enumerate(zip(*(column.to_pylist() for column in texts), strict=True)):
        if name := next((name for name in alternatives if name in [cell.strip() for cell in row if cell]), None):
            return f" `{name}` stands in record {file.batch.rows[place].as_py()}: if that is the header, delete the rows above it."
    return ""


def _annotators(file: File, alternatives: Alternatives) -> pa.ChunkedArray:
    there = file.batch.table.column_names
    for name in alternatives:
        parts = name.split("+")
        if name not in there and len(parts) > 1 and all(part in there for part in parts):
            rows = zip(*(file.batch.table[part].to_pylist() for part in parts), strict=True)
            return _lists([list(row) for row in rows])
    column = file.batch.table[_found(file, alternatives)]
    return _lists([_as_list(value) for value in column.to_pylist()])


def _as_list(value: str | list[str | None] | None) -> list[str | None]:
    if isinstance(value, list) or value is None:
        return value or []
    if value.lstrip().startswith("["):
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = None
        if isinstance(parsed, list):
            return [None if item is None else str(item) for item in parsed]
    return list(value.replace(";", ",").replace("|", ",").split(","))


def _lists(rows: list[list[str | None]]) -> pa.ChunkedArray:
    cleaned = [[item.strip() for item in row if item and item.strip()] for row in rows]
    return pa.chunked_array([pa.array([row or None for row in cleaned], pa.list_(pa.string()))])


def _groups(file: File, names: Sequence[str]) -> pa.ChunkedArray:
    members = zip(*(pc.invert(is_blank(file.batch.table[name].cast(pa.string()))).to_pylist() for name in names), strict=True)
    return _lists([[name for name, inside in zip(names, row, strict=True) if inside] for row in members])


def is_blank(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return for each text whether it is null, empty, or white space only; for each image whether it is null."""
    if pa.types.is_binary(column.type):
        return pc.is_null(column)
    return pc.equal(pc.fill_null(pc.utf8_length(pc.utf8_trim_whitespace(column)), 0), 0)
