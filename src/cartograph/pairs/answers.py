"""A round's pairs as a sheet for people to answer, and their answers read back."""

from __future__ import annotations

import re

import numpy as np

from cartograph.errors import InputError, WaitingError
from cartograph.pairs.closure import components
from cartograph.pairs.space import Keys
from cartograph.pairs.tables import UNTOLD
from cartograph.pairs.task import Labels, Task
from cartograph.spreadsheet import Record, read_sheet, write_sheet

COLUMNS = ("pair", "left", "right", "label", "comment")
_PAIR = re.compile(r"p(\d{1,18})")
_MEANINGS = {"yes": 1, "1": 1, "y": 1, "true": 1, "no": 0, "0": 0, "n": 0, "false": 0, "skip": UNTOLD, "?": UNTOLD}


def answer_sheet(task: Task, keys: Keys) -> bytes:
    """Return a CSV sheet with a row per pair, its column ``label`` empty: yes, no, or skip is to be put there."""
    width = len(task.right)
    rows = ((f"p{key}", task.left[key // width], task.right[key % width], "", "") for key in keys.tolist())
    return write_sheet(COLUMNS, rows)


def read_answers(content: bytes, name: str, keys: Keys) -> Labels:
    """Return the answer to each pair: 1, 0, or −1 where somebody wrote ``skip``.

    A pair may stand on several rows as long as they agree; rows of other pairs are passed over.

    Args:
        content: of the sheet.
        name: what messages call it.
        keys: (n,) the pairs of the round.

    Raises:
        InputError: the sheet lacks a pair, has a word that is no answer, or answers one pair in two ways.
        WaitingError: a pair has no answer yet.
    """
    found, listed = answers_in(content, name)
    missing = [key for key in keys.tolist() if key not in listed]
    if missing:
        raise InputError(
            f"{name} lacks {len(missing):,} of the {len(keys):,} pairs that this round asks about, such as p{missing[0]}: parameters "
            "changed since it was written, or rows were deleted. Move it away to have it written again; answers in it are then not read."
        )
    open_ = sum(key not in found for key in keys.tolist())
    if open_:
        raise WaitingError(f"{name}: {open_:,} of the {len(keys):,} pairs have no answer yet; write yes, no, or skip, and run again.")
    return np.array([found[key] for key in keys.tolist()], np.int8)


def answers_in(content: bytes, name: str) -> tuple[dict[int, int], set[int]]:
    """Return the answers of a sheet, key -> 1, 0 or −1, and the keys of all pairs on it.

    Raises:
        InputError: it has a word that is no answer, or answers one pair in two ways.
    """
    found: dict[int, tuple[int, Record]] = {}
    listed: set[int] = set()
    for record in read_sheet(content, name, COLUMNS[:1] + COLUMNS[3:4]):
        pair = _PAIR.fullmatch(record.cells["pair"].strip())
        word = record.cells["label"].strip().lower()
        if pair is None:
            continue
        key = int(pair[1])
        listed.add(key)
        if not word:
            continue
        if word not in _MEANINGS:
            raise InputError(f"{name} {record.place}: `{word[:40]}` is no answer; write yes, no, or skip.")
        before = found.setdefault(key, (_MEANINGS[word], record))
        if before[0] != _MEANINGS[word]:
            raise InputError(f"{name} {record.place} answers pair {record.cells['pair']} otherwise than {before[1].place}; correct one.")
    return {key: answer for key, (answer, _) in found.items()}, listed


def require_consistent(task: Task, keys: Keys, labels: Labels, name: str) -> None:
    """Check that no pair is said to differ whose two sides other answers make the same; a task that is not transitive cannot have one.

    Raises:
        InputError: one is.
    """
    if not task.transitive:
        return
    width = len(task.right)
    positive = keys[labels == 1]
    component = components(positive // width, positive % width, len(task.left))
    negative = keys[labels == 0]
    wrong = negative[component[negative // width] == component[negative % width]]
    if len(wrong):
        key = int(wrong[0])
        raise InputError(
            f"{name}: pair p{key} (“{task.left[key // width][:60]}”, “{task.right[key % width][:60]}”) is answered no, but other answers "
            f"make the two the same ({len(wrong):,} such pairs); correct one of them, or set `pairs.transitive: false`."
        )
