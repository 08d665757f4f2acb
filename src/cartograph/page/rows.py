"""The rows that a page carries: as columns, and with texts no longer than its size allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Bools, Integers
from cartograph.data.images import thumbnail
from cartograph.page.audit import Audit
from cartograph.page.encode import column, script_json, whole_numbers
from cartograph.page.table_rows import table_of_rows
from cartograph.schema import ANNOTATOR_LABELS, REGIONS, ROW, SOURCE, UID
from cartograph.wording import cut

LONGEST_NAME = 80
_SHORTEST_TEXT = 20
_SIDES = (96, 64, 48, 32, 24)
_SAMPLE = 200
_QUOTED = 3


def carried_rows(audit: Audit, drawn: Integers, listed: set[int], allowance: int) -> dict[str, Any]:
    """Return the rows that are drawn or listed, by their place in the measures table, as columns.

    Args:
        audit: the audit.
        drawn: places of the drawn rows.
        listed: places of the rows that sections refer to; where not all texts fit with ``limits.text_characters`` characters,
            those of the other rows are cut first.
        allowance: bytes that the rows may take in the page.
    """
    places = np.union1d(drawn, np.fromiter(listed, dtype=np.int64, count=len(listed))).astype(np.int64)
    rows = _columns(audit, places)
    left = allowance - len(script_json(rows).encode())
    if audit.info.features:
        return rows | table_of_rows(audit.examples, places, np.isin(places, list(listed)), left)
    if audit.several:
        return rows | _shared_texts(audit, places, np.isin(places, list(listed)), left)
    contents = _pictures if audit.info.images else _texts
    rows["texts"] = contents(audit, places, np.isin(places, list(listed)), left)
    return rows


def _shared_texts(audit: Audit, places: Integers, listed: Bools, allowance: int) -> dict[str, Any]:
    """Return the texts of rows that have several labels, once each, and which of them each label's row has."""
    sources = pc.dictionary_encode(audit.examples[SOURCE]).combine_chunks().indices.to_numpy()
    of_row = np.stack([sources, audit.examples[ROW].to_numpy()], axis=1)[places]
    _, first, which = np.unique(of_row, axis=0, return_index=True, return_inverse=True)
    which = which.ravel()
    any_listed = np.zeros(len(first), dtype=bool)
    np.logical_or.at(any_listed, which, listed)
    return {"texts": _texts(audit, places[first], any_listed, allowance - 8 * len(places)), "text": whole_numbers(which)}


def _columns(audit: Audit, places: Integers) -> dict[str, Any]:
    examples = audit.examples.take(places)
    sources = pc.dictionary_encode(examples[SOURCE]).combine_chunks()
    rows: dict[str, Any] = {
        "count": len(places),
        "total": audit.rows,
        "fields": list(audit.info.fields),
        "images": list(audit.info.images),
        "labels": [cut(name, LONGEST_NAME) for name in audit.info.labels],
        "regions": list(REGIONS),
        "place": whole_numbers(places),
        "uid": [cut(uid, LONGEST_NAME) for uid in examples[UID].to_pylist()],
        "label": whole_numbers(audit.gold[places]),
        "predicted": None if audit.predicted is None else whole_numbers(audit.predicted[places]),
        "confidence": column(audit.confidence[places].astype(np.float32)),
        "variability": column(audit.variability[places].astype(np.float32)),
        "correctness": column(audit.correctness[places].astype(np.float32)),
        "region": whole_numbers(audit.region[places]),
        "files": [cut(name, LONGEST_NAME) for name in sources.dictionary.to_pylist()],
        "file": whole_numbers(sources.indices.to_numpy()),
        "row": whole_numbers(examples[ROW].to_numpy()),
        "epochs": 0,
    }
    if audit.several:
        rows["several"] = [cut(label.name, LONGEST_NAME) for label in audit.several[: audit.labels_a_row]]
    if audit.suspects is not None:
        rows["suspect"] = column(np.isin(places, audit.flagged).astype(np.uint8))
        rows["turn"] = whole_numbers(audit.most_suspect_first(places))
    if audit.probabilities is not None:
        percent = np.rint(audit.probabilities[places] * 100).astype(np.uint8)
        rows |= {"epochs": percent.shape[1], "used": list(audit.window), "percent": column(percent)}
    if ANNOTATOR_LABELS in examples.column_names:
        rows["annotators"] = [_votes(names) for names in examples[ANNOTATOR_LABELS].to_pylist()]
    return rows


def _votes(names: list[str | None] | None) -> str | None:
    given = [name for name in names or [] if name]
    return ", ".join(f"{cut(name, LONGEST_NAME)} × {number}" for name, number in Counter(given).most_common()) or None


def _pictures(audit: Audit, places: Integers, listed: Bools, allowance: int) -> list[list[str]]:
    """Return each row's image as a small picture, of the largest size at which all of them fit, by a sample.

    Where no size fits, the listed rows have theirs at the largest size at which they take half of what there is, and of the others
    as many as there is room for have theirs at the smallest size; a picture that is not carried is an empty text.
    """
    column = audit.examples[audit.info.images[0]].take(places)
    first, others = np.flatnonzero(listed), np.flatnonzero(~listed)
    every = np.arange(len(places))
    side = other_side = next((side for side in _SIDES if _estimate(column, every, side) <= allowance), 0)
    if not side:
        side, other_side = next((side for side in _SIDES if _estimate(column, first, side) <= allowance / 2), _SIDES[-1]), _SIDES[-1]
    pictures, left = [""] * len(places), allowance - _QUOTED * len(places)
    for row in (*first.tolist(), *others.tolist()):
        shown = thumbnail(column[row].as_py(), side if listed[row] else other_side)
        left -= len(shown)
        if left < 0:
            break
        pictures[row] = shown
    return [pictures]


def _estimate(column: pa.ChunkedArray, rows: Integers, side: int) -> float:
    """Return about how many bytes the pictures of some rows take: by an even sample of them, a tenth added."""
    if not len(rows):
        return 0.0
    sample = rows[np.unique(np.linspace(0, len(rows) - 1, _SAMPLE).astype(np.int64))]
    sizes = [len(thumbnail(column[row].as_py(), side)) + _QUOTED for row in sample.tolist()]
    return 1.1 * len(rows) * float(np.mean(sizes))


def _texts(audit: Audit, places: Integers, listed: Bools, allowance: int) -> list[list[str]]:
    """Return the text fields, cut to the most characters with which all of them fit: those of listed rows last."""
    fields = [audit.examples[name].take(places).to_pylist() for name in audit.info.fields]
    longest = audit.limits.text_characters
    shortest = min(_SHORTEST_TEXT, longest)

    def at(of_listed: int, of_others: int) -> list[list[str]]:
        limits = np.where(listed, of_listed, of_others).tolist()
        return [[cut(text, most) for text, most in zip(texts, limits, strict=True)] for texts in fields]

    def most(attempt: Callable[[int], list[list[str]]]) -> list[list[str]]:
        low, high = shortest, longest
        while high - low > 4:
            middle = (low + high) // 2
            low, high = (middle, high) if _size(attempt(middle)) <= allowance else (low, middle)
        return attempt(low)

    if _size(texts := at(longest, longest)) <= allowance:
        return texts
    if _size(at(longest, shortest)) <= allowance:
        return most(lambda limit: at(longest, limit))
    return most(lambda limit: at(limit, shortest))


def _size(texts: list[list[str]]) -> int:
    return len(script_json(texts).encode())
