"""A round's pairs as a sheet for people to answer, and their answers read back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

import numpy as np

from cartograph.data.arrays import Integers8
from cartograph.data.spreadsheet import Record, read_sheet, shortened, write_sheet
from cartograph.errors import InputError, WaitingError
from cartograph.pairs.label_words import meaning
from cartograph.pairs.pair_space import Keys
from cartograph.pairs.tables import SKIPPED
from cartograph.pairs.task import Task

COLUMNS = ("pair", "left", "right", "label", "comment")
_PAIR = re.compile(r"p(\d{1,18})")
_WORDS = {1: "yes", 0: "no", SKIPPED: "skip"}
_NAMED = 20
_SECONDS_A_PAIR = 20


def time_to_answer(pairs: int) -> str:
    """Return how long a person takes to compare so many pairs, at 20 seconds each, in words.

    >>> time_to_answer(60), time_to_answer(2), time_to_answer(4670)
    ('20 minutes', '1 minute', '26 hours')
    """
    minutes = max(1, round(pairs * _SECONDS_A_PAIR / 60))
    if minutes >= 120:
        return f"{round(minutes / 60)} hours"
    return "1 minute" if minutes == 1 else f"{minutes} minutes"


def answer_sheet(task: Task, keys: Keys, known: Mapping[int, int] | None = None, why: Mapping[int, str] | None = None) -> bytes:
    """Return a CSV sheet with a row per pair; its column ``label`` takes yes, no, or skip, and is filled in where the answer is known.

    Args:
        task: whose pairs.
        keys: (n,) of the pairs.
        known: key -> 1, 0 or −1, of those that were answered before.
        why: key -> a comment on its row, such as why it is asked again.
    """
    width, words = len(task.right), {key: _WORDS[answer] for key, answer in (known or {}).items()}
    rows = (
        (f"p{key}", task.left[key // width], task.right[key % width], words.get(key, ""), (why or {}).get(key, "")) for key in keys.tolist()
    )
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
        InputError: as ``answers_in``, or the sheet has none of the pairs.
        WaitingError: a pair has no answer yet.
    """
    answers, listed = answers_in(content, name, task)
    missing = [key for key in keys.tolist() if key not in listed]
    if missing and len(missing) == len(keys):
        raise InputError(
            f"{name} has none of the {len(keys):,} pairs that this round asks about, such as p{missing[0]}: parameters or earlier "
            f"answers changed since it was written. Rename it {before_of(name)} and run again: it is written again, with the answers that "
            "still fit."
        )
    open_ = sum(key not in answers for key in keys.tolist())
    if open_:
        gone = (
            f" {len(missing):,} of them are no longer on it, such as p{missing[0]}; rename it {before_of(name)} and run again to have it "
            "written again, with the answers that still fit."
            if missing
            else ""
        )
        raise WaitingError(f"{name}: {open_:,} of the {len(keys):,} pairs have no answer yet; write yes, no, or skip, and run again.{gone}")
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
    unknown: list[str] = []
    for record in read_sheet(content, name, COLUMNS[:1] + COLUMNS[3:4], western=True):
        pair = _PAIR.fullmatch(record.cells["pair"].strip())
        word = record.cells["label"].strip()
        if pair is None:
            continue
        key = int(pair[1])
        if key >= len(task.left) * len(task.right):
            continue
        _require_same_texts(record, name, task, key)
        listed.add(key)
        if not word:
            continue
        answer = meaning(word)
        if answer is None:
            unknown.append(f"{record.place}: `{word[:40]}`")
            continue
        before = answers.setdefault(key, (answer, record))
        if before[0] != answer:
            raise InputError(f"{name} {record.place} answers pair {record.cells['pair']} otherwise than {before[1].place}; correct one.")
    if unknown:
        more = f", and {len(unknown) - _NAMED:,} more" if len(unknown) > _NAMED else ""
        is_none = "is no answer" if len(unknown) == 1 else "are no answers"
        raise InputError(f"{name} {', '.join(unknown[:_NAMED])}{more} {is_none}; write yes, no, or skip.")
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
