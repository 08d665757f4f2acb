"""A round's pairs as a sheet for people to answer, and their answers read back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np

from cartograph.data.arrays import Integers8
from cartograph.data.spreadsheet import Record, read_sheet, shortened, write_sheet
from cartograph.errors import InputError, WaitingError
from cartograph.pairs.closure import components
from cartograph.pairs.pair_space import Keys
from cartograph.pairs.tables import SKIPPED
from cartograph.pairs.task import Task

COLUMNS = ("pair", "left", "right", "label", "comment")
_PAIR = re.compile(r"p(\d{1,18})")
_MEANINGS = {"yes": 1, "1": 1, "y": 1, "true": 1, "no": 0, "0": 0, "n": 0, "false": 0, "skip": SKIPPED, "?": SKIPPED}
_WORDS = {1: "yes", 0: "no", SKIPPED: "skip"}


def answer_sheet(task: Task, keys: Keys, known: Mapping[int, int] | None = None) -> bytes:
    """Return a CSV sheet with a row per pair; its column ``label`` takes yes, no, or skip, and is filled in where the answer is known.

    Args:
        task: whose pairs.
        keys: (n,) of the pairs.
        known: key -> 1, 0 or −1, of those that were answered before.
    """
    width, words = len(task.right), {key: _WORDS[answer] for key, answer in (known or {}).items()}
    rows = ((f"p{key}", task.left[key // width], task.right[key % width], words.get(key, ""), "") for key in keys.tolist())
    return write_sheet(COLUMNS, rows)


def read_answers(content: bytes, name: str, task: Task, keys: Keys) -> Integers8:
    """Return the answer to each pair: 1, 0, or −1 where somebody wrote ``skip``.

    A pair may be on several rows as long as they agree; rows of other pairs are ignored.

    Args:
        content: of the sheet.
        name: what messages call it.
        task: whose pairs.
        keys: (n,) the pairs of the round.

    Raises:
        InputError: as ``answers_in``, or the sheet lacks a pair.
        WaitingError: a pair has no answer yet.
    """
    answers, listed = answers_in(content, name, task)
    missing = [key for key in keys.tolist() if key not in listed]
    if missing:
        raise InputError(
            f"{name} lacks {len(missing):,} of the {len(keys):,} pairs that this round asks about, such as p{missing[0]}: parameters or "
            f"earlier answers changed since it was written, or rows were deleted. Rename it {before_of(name)} and run again: it is written "
            "again, with the answers that still fit."
        )
    open_ = sum(key not in answers for key in keys.tolist())
    if open_:
        raise WaitingError(f"{name}: {open_:,} of the {len(keys):,} pairs have no answer yet; write yes, no, or skip, and run again.")
    return np.array([answers[key] for key in keys.tolist()], np.int8)


def before_of(name: str) -> str:
    """Return the name under which a sheet that no longer fits is kept, for the answers in it.

    >>> before_of("review/round-02.csv")
    'review/round-02-before.csv'
    """
    return f"{name.removesuffix('.csv')}-before.csv"


def answers_in(content: bytes, name: str, task: Task) -> tuple[dict[int, int], set[int]]:
    """Return the answers of a sheet, key -> 1, 0 or −1, and the keys of all pairs on it that the task has.

    Args:
        content: of the sheet.
        name: what messages call it.
        task: whose pairs.

    Raises:
        InputError: it has a word that is not an answer, answers one pair in two ways, or shows other texts than the task has.
    """
    answers: dict[int, tuple[int, Record]] = {}
    listed: set[int] = set()
    for record in read_sheet(content, name, COLUMNS[:1] + COLUMNS[3:4]):
        pair = _PAIR.fullmatch(record.cells["pair"].strip())
        word = record.cells["label"].strip().lower()
        if pair is None:
            continue
        key = int(pair[1])
        if key >= len(task.left) * len(task.right):
            continue
        _require_same_texts(record, name, task, key)
        listed.add(key)
        if not word:
            continue
        if word not in _MEANINGS:
            raise InputError(f"{name} {record.place}: `{word[:40]}` is no answer; write yes, no, or skip.")
        before = answers.setdefault(key, (_MEANINGS[word], record))
        if before[0] != _MEANINGS[word]:
            raise InputError(f"{name} {record.place} answers pair {record.cells['pair']} otherwise than {before[1].place}; correct one.")
    return {key: answer for key, (answer, _) in answers.items()}, listed


def _require_same_texts(record: Record, name: str, task: Task, key: int) -> None:
    """Check that a row shows the texts that its pair has now: a pair's number means another pair once the data has changed."""
    for side, texts, row in (("left", task.left, key // len(task.right)), ("right", task.right, key % len(task.right))):
        shown = record.cells.get(side)
        if shown is not None and not _alike(shown, shortened(texts[row])):
            raise InputError(
                f"{name} {record.place} shows another {side} text for pair p{key} than the data has now (“{texts[row][:60]}”): the data "
                "changed since the sheet was written, or the cell was edited. Correct the cell, or move the sheet away and run again."
            )


def _alike(shown: str, text: str) -> bool:
    """Return whether two texts have the same letters and digits, except where a spreadsheet has put a question mark."""
    if _letters(shown) == _letters(text):
        return True
    return "?" in shown and _letters(shown.encode("ascii", "ignore").decode()) == _letters(text.encode("ascii", "ignore").decode())


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def require_consistent(task: Task, keys: Keys, labels: Integers8, names: Sequence[str]) -> None:
    """Check that no pair is said to differ whose two sides other answers make the same; a task that is not transitive cannot have one.

    Args:
        task: whose pairs.
        keys: (n,) all pairs that were answered.
        labels: (n,) 1, 0 or −1.
        names: (n,) what messages call the sheet of each.

    Raises:
        InputError: one is.
    """
    if not task.transitive:
        return
    width = len(task.right)
    positive = keys[labels == 1]
    component = components(positive // width, positive % width, len(task.left))
    negative = np.flatnonzero(labels == 0)
    wrong = negative[component[keys[negative] // width] == component[keys[negative] % width]]
    if len(wrong):
        key = int(keys[wrong[0]])
        raise InputError(
            f"{names[int(wrong[0])]}: pair p{key} (“{task.left[key // width][:60]}”, “{task.right[key % width][:60]}”) is answered no, but "
            f"other answers make the two the same ({len(wrong):,} such pairs); correct one of them, or set `pairs.transitive: false`."
        )
