"""A round's pairs as a sheet for people to answer, and their answers read back."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Integers8
from cartograph.data.spreadsheet import Record, read_sheet, shortened, write_sheet
from cartograph.errors import InputError, WaitingError
from cartograph.pairs.label_words import meaning
from cartograph.pairs.pair_space import Keys
from cartograph.pairs.tables import SKIPPED
from cartograph.pairs.task import Task

COLUMNS = ("pair", "check", "left", "right", "label", "comment")
REQUIRED = ("pair", "label")
"""Those that a sheet cannot do without."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_PAIR = re.compile(r"p(\d{1,18})")
WORDS = {1: "yes", 0: "no", SKIPPED: "skip"}
"""Answer -> the word that sheets have for it."""

_NAMED = 20
SECONDS_A_PAIR = 20
"""How long a person takes to compare two texts."""


def time_to_answer(pairs: int) -> str:
    """Return how long a person takes to compare so many pairs, at 20 seconds each, in words.

    >>> time_to_answer(60), time_to_answer(2), time_to_answer(4670)
    ('20 minutes', '1 minute', '26 hours')
    """
    minutes = max(1, round(pairs * SECONDS_A_PAIR / 60))
    if minutes >= 120:
        return f"{round(minutes / 60)} hours"
    return "1 minute" if minutes == 1 else f"{minutes} minutes"


def answer_sheet(task: Task, keys: Keys, known: Mapping[int, int] | None = None, why: Mapping[int, str] | None = None) -> bytes:
    """Return a CSV sheet with a row per pair; its column ``label`` takes yes, no, or skip, and is filled in where the answer is known.

    The column ``check`` is made of both texts: while it fits, the row is about its pair even if somebody edited a text.

    Args:
        task: whose pairs.
        keys: (n,) of the pairs.
        known: key -> 1, 0 or −1, of those that were answered before.
        why: key -> a comment on its row, such as why it is asked again.
    """
    width, words = len(task.right), {key: WORDS[answer] for key, answer in (known or {}).items()}
    rows = (
        (
            f"p{key}",
            check_of(task, key),
            task.left[key // width],
            task.right[key % width],
            words.get(key, ""),
            (why or {}).get(key, ""),
        )
        for key in keys.tolist()
    )
    return write_sheet(COLUMNS, rows)


def check_of(task: Task, key: int) -> str:
    """Return six letters that another pair of texts has not, but once in 300 million."""
    digest = hashlib.sha256("\0".join((task.left[key // len(task.right)], task.right[key % len(task.right)])).encode()).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:6])


@dataclass(frozen=True)
class Sheet:
    """What a filled sheet says.

    Attributes:
        answers: key -> 1, 0 or −1, of the pairs that are answered.
        listed: keys of all pairs on it that the task has.
        edited: where a text was edited, such as ``line 3 (the right text of p2)``.
    """

    answers: Mapping[int, int]
    listed: frozenset[int]
    edited: tuple[str, ...]


def read_answers(content: bytes, name: str, task: Task, keys: Keys, tell: Callable[[str], None] = lambda _: None) -> Integers8:
    """Return the answer to each pair: 1, 0, or −1 where somebody wrote ``skip``.

    A pair may be on several rows as long as they agree; rows of other pairs are ignored.

    Args:
        content: of the sheet.
        name: what messages call it.
        task: whose pairs.
        keys: (n,) the pairs of the round.
        tell: called with a sentence where somebody edited texts of the sheet.

    Raises:
        InputError: as ``answers_in``, or the sheet has none of the pairs.
        WaitingError: a pair has no answer yet.
    """
    sheet = answers_in(content, name, task)
    answers = sheet.answers
    missing = [key for key in keys.tolist() if key not in sheet.listed]
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
    if sheet.edited:
        more = f" and {len(sheet.edited) - _NAMED:,} more" if len(sheet.edited) > _NAMED else ""
        tell(
            f"{name}: texts were edited in {', '.join(sheet.edited[:_NAMED])}{more}. The answers count for the pairs as the data has "
            "them; to change a text, change the data."
        )
    return np.array([answers[key] for key in keys.tolist()], np.int8)


def before_of(name: str) -> str:
    """Return the name under which a sheet that no longer fits is kept, for the answers in it.

    >>> before_of("review/round-02.csv")
    'review/round-02-before.csv'
    """
    return f"{name.removesuffix('.csv')}-before.csv"


def answers_in(content: bytes, name: str, task: Task) -> Sheet:
    """Return the answers of a sheet, the pairs on it, and where a text was edited.

    Args:
        content: of the sheet.
        name: what messages call it.
        task: whose pairs.

    Raises:
        InputError: it has words that are not answers, which are all named, answers one pair in two ways, or shows other texts than the task
            has on a row whose ``check`` does not fit either.
    """
    answers: dict[int, tuple[int, Record]] = {}
    listed: set[int] = set()
    unknown: list[str] = []
    edited: list[str] = []
    for record in read_sheet(content, name, REQUIRED):
        pair = _PAIR.fullmatch(record.cells["pair"].strip())
        word = record.cells["label"].strip()
        if pair is None:
            continue
        key = int(pair[1])
        if key >= len(task.left) * len(task.right):
            continue
        edited += [f"{record.place} (the {side} text of p{key})" for side in _other_texts(record, name, task, key)]
        listed.add(key)
        if not word:
            continue
        answer = meaning(word)
        if answer is None:
            unknown.append(f"{record.place}: `{word[:40]}`")
            continue
        before = answers.setdefault(key, (answer, record))
        if before[0] != answer:
            raise InputError(f"{name} {record.place} answers pair {record.cells['pair']} differently from {before[1].place}; correct one.")
    if unknown:
        more = f", and {len(unknown) - _NAMED:,} more" if len(unknown) > _NAMED else ""
        is_none = "is no answer" if len(unknown) == 1 else "are no answers"
        raise InputError(f"{name} {', '.join(unknown[:_NAMED])}{more} {is_none}; write yes, no, or skip.")
    return Sheet({key: answer for key, (answer, _) in answers.items()}, frozenset(listed), tuple(edited))


def _other_texts(record: Record, name: str, task: Task, key: int) -> list[str]:
    """Return the sides of which a row shows another text than its pair has.

    Raises:
        InputError: its ``check`` does not fit either: a pair's number means another pair once the data has changed.
    """
    width = len(task.right)
    texts = {"left": task.left[key // width], "right": task.right[key % width]}
    check = record.cells.get("check", "").strip().casefold()
    other = [side for side, text in texts.items() if side in record.cells and not _alike(record.cells[side], shortened(text))]
    if check == check_of(task, key):
        return other
    if other:
        raise InputError(
            f"{name} {record.place} shows another {other[0]} text for pair p{key} than the data has now (“{texts[other[0]][:60]}”), and "
            "its `check` does not fit: the data changed since the sheet was written. Move the sheet away and run again."
        )
    if check and not texts.keys() <= record.cells.keys():
        raise InputError(
            f"{name} {record.place}: the `check` of pair p{key} is `{check[:20]}`, but is {check_of(task, key)} by the data as it is now: "
            "it changed since the sheet was written. Move the sheet away and run again."
        )
    return []


def _alike(shown: str, text: str) -> bool:
    """Return whether two texts have the same letters and digits, except where a spreadsheet has put a question mark."""
    if _letters(shown) == _letters(text):
        return True
    return "?" in shown and _letters(shown.encode("ascii", "ignore").decode()) == _letters(text.encode("ascii", "ignore").decode())


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))
