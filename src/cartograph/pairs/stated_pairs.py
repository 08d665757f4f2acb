"""A pairwise task from stated pairs, and from entity tables where pairs name ids."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Integers, Integers8
from cartograph.data.spreadsheet import unguarded
from cartograph.errors import InputError
from cartograph.pairs.closure import components
from cartograph.pairs.label_words import meaning
from cartograph.pairs.splits import SPLITS, split_components
from cartograph.pairs.tables import SKIPPED
from cartograph.pairs.task import Task
from cartograph.read.source import Batch
from cartograph.schema import QUARANTINE

Contradictions = Literal["fail", "drop"]
_NONE = -1


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


@dataclass(frozen=True)
class BuiltTask:
    """A task, its ids, and the records left out.

    Attributes:
        task: the task.
        left_ids: id, or else text, of each left utterance.
        right_ids: likewise of the right ones; ``left_ids`` where symmetric.
        quarantine: rows that could not be used, ``schema.QUARANTINE``: records that could not be read, and pairs without an utterance, with
            an id that no entity has, or with a label that is neither yes nor no.
        dropped: counts of other pairs left out, by reason.
    """

    task: Task
    left_ids: Sequence[str]
    right_ids: Sequence[str]
    quarantine: pa.Table
    dropped: Mapping[str, int]


@dataclass
class _Side:
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


def build_task(
    files: Sequence[StatedFile],
    columns: PairColumns,
    *,
    symmetric: bool,
    transitive: bool,
    contradictions: Contradictions,
    rng: np.random.Generator,
    tables: Mapping[str, tuple[str, dict[str, int], list[str]]] | None = None,
    fields: Mapping[str, tuple[Sequence[str], Sequence[str]]] | None = None,
) -> BuiltTask:
    """Return the task that stated pairs make.

    Args:
        files: of stated pairs; with splits all or none.
        columns: of each of them.
        symmetric: whether both sides are one set.
        transitive: whether what equals the same is equal.
        contradictions: ``fail``, or ``drop`` pairs that are stated both positive and negative.
        rng: of the drawn splits, where files have none: half, a quarter, a quarter of the left utterances; where symmetric, by connected
            components of all stated pairs.
        tables: ``left`` and ``right`` (or ``left`` alone where symmetric) entity tables: name, id -> row, texts.
        fields: name of a column of both tables -> its left and its right values.

    Splits that files say are honoured pair by pair: where an utterance is in pairs of several of them, each split has all utterances, and
    all pairs but those of the others (``Task.stated_split``).

    Raises:
        InputError: a column is missing; a pair contradicts another, where that fails; or no pair is positive.
    """
    left, right = _sides(tables or {}, symmetric)
    stated: dict[tuple[int, int], tuple[int, str, int]] = {}
    dropped = {"the same utterance twice": 0, "contradictory": 0, "stated in several splits": 0, "without a label": 0}
    contradicted: set[tuple[int, int]] = set()
    repeated: set[tuple[int, int]] = set()
    splits_of: dict[int, set[int]] = {}
    aside: list[dict[str, Any]] = []
    for file in files:
        own = _NONE if file.split is None else SPLITS.index(file.split)
        title = file.split or "stated pairs"
        entries = unread(title, file.name, file.batch)
        for found in _pairs(file, columns, left, right):
            if isinstance(found, _Unusable):
                entries.append({"set": title, "file": file.name, **vars(found)})
                continue
            one, other, label, where = found
            if label == SKIPPED:
                dropped["without a label"] += 1
                continue
            if symmetric and one == other:
                dropped["the same utterance twice"] += 1
                continue
            pair = (min(one, other), max(one, other)) if symmetric else (one, other)
            before = stated.setdefault(pair, (label, where, own))
            if before[0] != label:
                if contradictions == "fail":
                    raise InputError(
                        f"{where} states a pair as {_named(label)}, {before[1]} the same pair as {_named(before[0])}; correct one, or set "
                        "`pairs.contradictions: drop` to leave such pairs out."
                    )
                contradicted.add(pair)
            if before[2] != own:
                # A pair that is tested is not trained on: it belongs to the last split that states it.
                repeated.add(pair)
                stated[pair] = (before[0], before[1], max(before[2], own))
            for row in pair if symmetric else pair[:1]:
                splits_of.setdefault(row, set()).add(own)
        aside += sorted(entries, key=lambda entry: entry["row"])
    dropped["contradictory"], dropped["stated in several splits"] = len(contradicted), len(repeated)
    kept = [(pair, label, own) for pair, (label, _, own) in stated.items() if pair not in contradicted]
    pairs = np.array([pair for pair, _, _ in kept], np.int64).reshape(-1, 2)
    labels = np.array([label for _, label, _ in kept], np.int8)
    if not (labels == 1).any():
        raise InputError(
            f"none of the {len(labels):,} stated pairs is positive; check `pairs.label`, or which pairs were given.{_first(aside)}"
        )
    drawn = any(file.split is None for file in files)
    split = _drawn(pairs, len(left.texts), symmetric, rng) if drawn else _given(splits_of, len(left.texts))
    by_pair = not drawn and any(len(found) > 1 for found in splits_of.values())
    task = Task(
        left.texts,
        right.texts,
        split,
        symmetric,
        symmetric and transitive,
        pairs[:, 0].copy(),
        pairs[:, 1].copy(),
        labels,
        np.array([own for _, _, own in kept], np.int8) if by_pair else None,
        dict(fields or {}),
    )
    return BuiltTask(task, list(left.known), list(right.known), pa.Table.from_pylist(aside, QUARANTINE), dropped)


def _sides(tables: Mapping[str, tuple[str, dict[str, int], list[str]]], symmetric: bool) -> tuple[_Side, _Side]:
    sides = {name: _Side(dict(known), list(texts), title) for name, (title, known, texts) in tables.items()}
    left = sides.get("left", _Side())
    return left, left if symmetric else sides.get("right", _Side())


@dataclass(frozen=True)
class _Unusable:
    """A stated pair that cannot be used, as ``schema.QUARANTINE`` has it."""

    row: int
    column: str
    value: str
    reason: str
    record: str


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


def _first(aside: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence about the rows set aside; empty where there are none."""
    if not aside:
        return ""
    first = aside[0]
    return (
        f" {len(aside):,} rows cannot be used, the first {first['file']} row {first['row']}: {first['reason']} (`{first['value'][:40]}`)."
    )


def _pairs(file: StatedFile, columns: PairColumns, left: _Side, right: _Side) -> Iterator[tuple[int, int, int, str] | _Unusable]:
    """Yield of each pair its left and its right row, its label, and where it stands; or what is wrong with it."""
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
        yield _Unusable(number, *fault, record)


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


def _named(label: int) -> str:
    return "positive" if label else "negative"


def _given(splits_of: Mapping[int, set[int]], n_left: int) -> Integers8:
    split = np.zeros(n_left, np.int8)
    split[list(splits_of)] = [max(found) for found in splits_of.values()]
    return split


def _drawn(pairs: Integers, n_left: int, symmetric: bool, rng: np.random.Generator) -> Integers8:
    if symmetric:
        return split_components(components(pairs[:, 0], pairs[:, 1], n_left), rng)
    # The right side is shared by all splits, so a stated pair is in the split of its left utterance.
    return split_components(np.arange(n_left), rng)
