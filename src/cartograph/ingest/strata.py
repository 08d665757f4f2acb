"""What divides the rows of a train set beside their labels: columns with few values, the files, and the order in which rows stand."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Floats, Integers
from cartograph.ingest.canonical import IngestedSet
from cartograph.ingest.columns import Alternatives, File, label_columns, texts_of
from cartograph.ingest.missing import is_missing
from cartograph.schema import UID

COLUMN, LABELLED_BY, AGREEING, FILE, ORDER = "column ", "labelled by ", "agreeing of ", "file", "order"
"""How strata are named: a column's by this and its name, that of who labelled the rows likewise, that of how many columns of labels agree
by their names; the others so."""

MOST_VALUES, PARTS = 50, 10
"""A column of more values is divided into so many parts of equally many rows where its values are numbers or dates; else not at all."""

_LOOKED_AT = 5_000
_DATE = re.compile(r"\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}.*)?)?")


def strata_of(files: Sequence[File], item: IngestedSet, labelled_by: Alternatives = (), label: Alternatives = ()) -> pa.Table:
    """Return in which part of each stratum a row is: its uid, and a text for each stratum, null where a row is in no part.

    What models read as texts, images, numbers or dates is no stratum. Cost: linear in the number of cells of the columns that are no text
    of many values.

    Args:
        files: of the train set, in the order in which they were ingested, with all their columns.
        item: the train set.
        labelled_by: the column that says who gave the label, which is a stratum however many they are; empty without one.
        label: the label's column; of several whose majority it is, a stratum says how many agree, unless another says who labelled.

    Raises:
        InputError: a file has no such column.
    """
    rows = np.flatnonzero(item.used)
    read = {*item.info.fields, *(feature.name for feature in item.info.features if feature.kind != "category")}
    found: dict[str, pa.Array] = {}
    names = dict.fromkeys(name for file in files for name in file.batch.table.column_names)
    if labelled_by:
        given = pa.chunked_array([chunk for file in files for chunk in texts_of(file, labelled_by).chunks], pa.string())
        found[f"{LABELLED_BY}{labelled_by[0]}"] = _named(*_values(given, rows))
    several = [label_columns(file, label) for file in files] if label else []
    if min(map(len, several), default=1) > 1 and not labelled_by:
        agreeing = pa.chunked_array([_agreeing(file, columns) for file, columns in zip(files, several, strict=True)])
        found[f"{AGREEING}{'+'.join(several[0])}"] = _named(*_values(agreeing, rows))
        read |= {name for columns in several for name in columns}
    for name in names:
        if name not in (*read, *labelled_by) and (parts := _column(files, name, rows)) is not None:
            found[f"{COLUMN}{name}"] = parts
    if len(files) > 1:
        numbers = np.repeat(np.arange(len(files)), [len(file.batch.table) for file in files])[rows]
        found[FILE] = _named(numbers, [file.name for file in files])
    elif len(rows) >= PARTS * PARTS:
        record = files[0].batch.rows.to_numpy()[rows]
        part = _tenths(record.astype(np.float64))
        found[ORDER] = _named(part, [f"{record[part == one].min():,} to {record[part == one].max():,}" for one in range(PARTS)])
    return pa.table({UID: item.examples[UID], **found})


def labellers_of(strata: pa.Table) -> Integers | None:
    """Return the number of who gave each row's label, or of how many agree, -1 where that is missing; None where no stratum says it."""
    names = [name for name in strata.column_names if name.startswith((LABELLED_BY, AGREEING))]
    if not names:
        return None
    numbers: Integers = strata[names[0]].combine_chunks().indices.fill_null(-1).to_numpy().astype(np.int64)
    return numbers


def _agreeing(file: File, columns: Sequence[str]) -> pa.Array:
    """Return how many of a row's labels are the one that most are, such as ``2 of 3``; null for a row without any."""
    parts: list[str | None] = []
    for row in zip(*(texts_of(file, (name,)).to_pylist() for name in columns), strict=True):
        given = [label.strip() for label in row if label and label.strip()]
        parts.append(f"{max(map(given.count, given))} of {len(given)}" if given else None)
    return pa.array(parts, pa.string())


def _column(files: Sequence[File], name: str, rows: Integers) -> pa.Array | None:
    """Return the part that each row is in by a column's values; None where they make no parts."""
    chunks: list[pa.Array] = []
    for file in files:
        table = file.batch.table
        if name not in table.column_names:
            chunks.append(pa.nulls(len(table), pa.string()))
        elif table.schema.field(name).type != pa.string():
            return None
        else:
            chunks += table[name].chunks
    texts = pa.chunked_array(chunks, pa.string())
    beginning = texts.slice(0, _LOOKED_AT).drop_null()
    many = pc.count_distinct(beginning).as_py() > MOST_VALUES
    if many and not _are_ordered(beginning.unique().to_pylist()):
        return None
    of_row, distinct = _values(texts, rows)
    kinds = len(np.unique(of_row[of_row >= 0]))
    if kinds < 2:
        return None
    if kinds <= MOST_VALUES:
        return _named(of_row, distinct)
    present = [distinct[number] for number in np.unique(of_row[of_row >= 0])]
    return _parts(of_row, distinct) if _are_ordered(present) else None


def _values(texts: pa.ChunkedArray, rows: Integers) -> tuple[Integers, list[str]]:
    """Return the number of each row's value, -1 where it is missing, and the values."""
    values = pc.utf8_trim_whitespace(texts.take(pa.array(rows))).combine_chunks().dictionary_encode()
    distinct = values.dictionary.to_pylist()
    missing = np.array([*map(is_missing, distinct), True])
    of_row = values.indices.fill_null(-1).to_numpy()
    return np.where(missing[of_row], -1, of_row), distinct


def _parts(of_row: Integers, distinct: Sequence[str]) -> pa.Array:
    """Return tenths of the rows by the order of their values, numbers or dates; rows without one are in none."""
    place = _ranks(distinct)
    there = of_row >= 0
    part = np.full(len(of_row), -1)
    part[there] = _tenths(place[of_row[there]])
    names = []
    for one in range(PARTS):
        own = of_row[part == one]
        ends = (own[np.argmin(place[own])], own[np.argmax(place[own])]) if len(own) else ()
        names.append(" to ".join(distinct[end] for end in ends))
    return _named(part, names)


def _ranks(distinct: Sequence[str]) -> Floats:
    """Return where each value stands among the others: a number by its size, a date by its time."""
    if all(_DATE.fullmatch(text) for text in distinct if not is_missing(text)):
        return np.unique(np.asarray(distinct, dtype=str), return_inverse=True)[1].astype(np.float64)
    return np.array([np.nan if is_missing(text) else float(text) for text in distinct])


def _tenths(values: Floats) -> Integers:
    """Return the part, from 0 on, of each value; equal ones are in one part, so that some may be empty."""
    ends = np.quantile(values, np.arange(1, PARTS) / PARTS, method="inverted_cdf")
    return np.searchsorted(ends, values, side="left")


def _are_ordered(values: Sequence[str]) -> bool:
    """Return whether all values are numbers, or all dates as ISO 8601 writes them; missing ones aside."""
    there = [text.strip() for text in values if not is_missing(text)]
    if not there:
        return False
    return all(_DATE.fullmatch(text) for text in there) or all(map(_is_number, there))


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _named(numbers: Integers, names: Sequence[str]) -> pa.Array:
    """Return the name of each row's part, null for a negative number."""
    chosen = pa.array(numbers, pa.int32(), mask=np.asarray(numbers) < 0)
    return pa.DictionaryArray.from_arrays(chosen, pa.array(names, pa.string()))
