"""Rows of files of stated pairs: the utterances and the label of each, or why it cannot be used."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from cartograph.data.spreadsheet import unguarded
from cartograph.errors import InputError
from cartograph.pairs.label_words import meaning
from cartograph.pairs.tables import SKIPPED
from cartograph.read.source import Batch


@dataclass(frozen=True)
class PairColumns:
    """Which column holds what.

    Attributes:
        left: text of the left utterance; where there are entity tables, nothing reads it.
        right: text of the right one.
        label: 1 or 0; None: all pairs are positive.
        left_id: ids of the left utterances; None: their texts are their ids.
        right_id: likewise of the right ones.
        prefix: a column to prepend to the right text where a file has it, such as a document's title.
    """

    left: str
    right: str
    label: str | None = "label"
    left_id: str | None = None
    right_id: str | None = None
    prefix: str | None = None


@dataclass(frozen=True)
class StatedFile:
    """One file of stated pairs, and the split that it belongs to (None: splits are drawn)."""

    name: str
    batch: Batch
    split: str | None


@dataclass
class Side:
    """The utterances of a side as they turn up."""

    known: dict[str, int] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    closed: str = ""

    def row(self, name: str, text: str) -> int | None:
        """Return an utterance's row; None of an id that no entity has."""
        found = self.known.get(name)
        if found is None and self.closed:
            # A sheet that people filled in has guards against what spreadsheets make of ids such as 00123.
            found = self.known.get(unguarded(name))
        if found is not None:
            return found
        if self.closed:
            return None
        self.known[name] = len(self.texts)
        self.texts.append(text)
        return len(self.texts) - 1


@dataclass(frozen=True)
class Unusable:
    """A stated pair that cannot be used, as ``schema.QUARANTINE`` has it."""

    row: int
    column: str
    value: str
    reason: str
    record: str


def entity_side(name: str, batch: Batch, id_column: str, text_columns: Sequence[str]) -> tuple[dict[str, int], list[str]]:
    """Return id -> row and the texts of an entity table; several text columns are joined by a blank.

    Raises:
        InputError: a column is missing, or an id stands there twice.
    """
    ids = column_of(batch, id_column, name)
    parts = [column_of(batch, column, name) for column in text_columns]
    known: dict[str, int] = {}
    for row, (one, number) in enumerate(zip(ids, batch.rows.to_pylist(), strict=True)):
        if one in known:
            raise InputError(f"{name} row {number}: id `{one}` is there twice; ids must be unique.")
        known[one] = row
    return known, [" ".join(part for part in texts if part) for texts in zip(*parts, strict=True)]


def unread(title: str, name: str, batch: Batch) -> list[dict[str, Any]]:
    """Return the records of a file that could not be read, as rows of ``schema.QUARANTINE``.

    Args:
        title: of the set that the file is of.
        name: of the file.
        batch: what was read of it.
    """
    return [
        {
            "set": title,
            "file": name,
            "row": record.row,
            "column": None,
            "value": record.detail,
            "reason": record.reason,
            "record": json.dumps(record.record, ensure_ascii=False),
        }
        for record in batch.rejected
    ]


def pair_rows(file: StatedFile, columns: PairColumns, left: Side, right: Side) -> Iterator[tuple[int, int, int, str] | Unusable]:
    """Yield of each pair its left and its right row, its label (``tables.SKIPPED`` without one), and where it stands; or what is wrong.

    Args:
        file: the pairs.
        columns: of the file.
        left: its utterances so far; of a side that is not closed, new ones are added.
        right: the same of the other side.

    Raises:
        InputError: a column is missing.
    """
    batch, name = file.batch, file.name
    sides = (columns.left_id or columns.left, columns.right_id or columns.right)
    left_ids, right_ids = (column_of(batch, column, name) for column in sides)
    left_texts = left_ids if left.closed else column_of(batch, columns.left, name)
    right_texts = right_ids if right.closed else column_of(batch, columns.right, name)
    has_prefix = columns.prefix is not None and columns.prefix in batch.table.column_names
    prefixes = column_of(batch, columns.prefix or "", name) if has_prefix else [""] * len(left_ids)
    labels = ["1"] * len(left_ids) if columns.label is None else column_of(batch, columns.label, name)
    rows = zip(batch.rows.to_pylist(), left_ids, right_ids, left_texts, right_texts, prefixes, labels, strict=True)
    for place, (number, one, other, text, other_text, prefix, word) in enumerate(rows):
        whole = f"{prefix} {other_text}" if prefix else other_text
        label = SKIPPED if not word else meaning(word)
        fault = _fault(sides, columns, (one, other), (text, other_text), word, label)
        if fault is None:
            left_row, right_row = left.row(one, text), right.row(whole if columns.right_id is None else other, whole)
            if left_row is not None and right_row is not None and label is not None:
                yield left_row, right_row, label, f"{name} row {number}"
                continue
            side, table = (0, left.closed) if left_row is None else (1, right.closed)
            fault = sides[side], (one, other)[side], f"not an id of {table}"
        record = json.dumps(batch.table.slice(place, 1).to_pylist()[0], ensure_ascii=False)
        yield Unusable(number, *fault, record)


def _fault(
    sides: tuple[str, str], columns: PairColumns, ids: tuple[str, str], texts: tuple[str, str], word: str, label: int | None
) -> tuple[str, str, str] | None:
    """Return the column, the value and the reason why a pair cannot be used; None where it can, but for ids that no entity has."""
    for name, called, id, text in zip(("left", "right"), sides, ids, texts, strict=True):
        if not id or not text:
            return called if not id else getattr(columns, name), "", f"no {name} utterance"
    return None if label is not None else (columns.label or "", word, "label not 1 or 0")


def column_of(batch: Batch, column: str, name: str) -> list[str]:
    """Return a column as text without blanks around it, a missing value as an empty one.

    Raises:
        InputError: there is no such column.
    """
    if column not in batch.table.column_names:
        raise InputError(f"{name} has no column `{column}`; its columns are {', '.join(batch.table.column_names)}.")
    return [(value or "").strip() if not isinstance(value, list) else " ".join(value) for value in batch.table[column].to_pylist()]
