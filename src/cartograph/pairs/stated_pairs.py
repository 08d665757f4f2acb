"""A pairwise task from stated pairs, and from entity tables where pairs name ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Integers, Integers8
from cartograph.data.components import components
from cartograph.errors import InputError
from cartograph.pairs.splits import SPLITS, split_components
from cartograph.pairs.stated_rows import PairColumns, Side, StatedFile, Unusable, pair_rows, unread
from cartograph.pairs.tables import SKIPPED
from cartograph.pairs.task import Task
from cartograph.schema import QUARANTINE

Contradictions = Literal["fail", "drop"]
_NONE = -1


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
        for found in pair_rows(file, columns, left, right):
            if isinstance(found, Unusable):
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


def _sides(tables: Mapping[str, tuple[str, dict[str, int], list[str]]], symmetric: bool) -> tuple[Side, Side]:
    sides = {name: Side(dict(known), list(texts), title) for name, (title, known, texts) in tables.items()}
    left = sides.get("left", Side())
    return left, left if symmetric else sides.get("right", Side())


def _first(aside: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence about the rows set aside; empty where there are none."""
    if not aside:
        return ""
    first = aside[0]
    return (
        f" {len(aside):,} rows cannot be used, the first {first['file']} row {first['row']}: {first['reason']} (`{first['value'][:40]}`)."
    )


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
