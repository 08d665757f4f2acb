"""The Winograd Schema Challenge in SuperGLUE's format (JSONL) as cloze rows: the pronoun becomes ``_``, two nouns are the options.

SuperGLUE asks of one candidate at a time whether the pronoun means it. Rows about the same pronoun of the same text are joined
here: the candidate that is meant and the first one that is not. A row without such a partner cannot be converted.

Swayamdipta et al. 2020 have 424 rows of the train and validation files, and published no converter. By this rule there are 263: the files'
658 lines are about 360 pronouns, of which 263 have a candidate that is meant and another one, 32 only one that is meant, and 65 only ones
that are not. One row per pronoun is at most 360, and one per pair of different candidates of a pronoun, meant or not, 325.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pyarrow as pa

from cartograph.read.opening import open_text
from cartograph.read.source import Batch, Rejected, Source
from cartograph.schema import BLANK


@dataclass(frozen=True)
class _Candidate:
    row: int
    line: str
    text: str
    pronoun: str
    place: int
    noun: str
    noun_place: int
    meant: bool


def read(source: Source) -> Iterator[Batch]:
    """Yield one cloze row per pronoun: ``sentence``, ``option1``, ``option2`` in the order of the text, ``answer`` 1 or 2.

    The number of a row is that of the line with the candidate that is meant. Lines that are used in no row are rejected with their
    reason.
    """
    candidates: list[_Candidate] = []
    rejected: list[Rejected] = []
    with open_text(source.path, source, newline="\n", whole=True) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                candidate = _candidate(number, line.rstrip("\r\n"))
                if isinstance(candidate, Rejected):
                    rejected.append(candidate)
                else:
                    candidates.append(candidate)
    rows: list[tuple[int, str, str, str, str]] = []
    ordered = sorted(candidates, key=lambda one: (one.text, one.place, one.row))
    for _, group in groupby(ordered, key=lambda one: (one.text, one.place)):
        row, left_over = _cloze(list(group))
        rows += row
        rejected += left_over
    rows.sort()
    names = ("sentence", "option1", "option2", "answer")
    columns = {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(names, start=1)}
    numbers = pa.array([row[0] for row in rows], pa.int64())
    yield Batch(pa.table(columns), numbers, tuple(sorted(rejected, key=lambda one: one.row)))


def _candidate(number: int, line: str) -> _Candidate | Rejected:
    try:
        record: dict[str, Any] = json.loads(line)
        target = record["target"]
        text, pronoun, noun = str(record["text"]), str(target["span2_text"]), str(target["span1_text"])
        place, noun_place, meant = int(target["span2_index"]), int(target["span1_index"]), record["label"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return Rejected(number, "not a Winograd schema in SuperGLUE's format", f"{type(error).__name__}: {error}", line)
    words = text.split()
    if BLANK in text:
        return Rejected(number, "the text has a blank of its own", repr(BLANK), line)
    if not isinstance(meant, bool):
        return Rejected(number, "no label", repr(meant), line)
    if not 0 <= place < len(words) or pronoun.casefold() not in words[place].casefold():
        return Rejected(number, "the pronoun is not where its index says", f"{pronoun!r} at word {place}", line)
    return _Candidate(number, line, text, pronoun, place, noun, noun_place, meant)


def _cloze(group: list[_Candidate]) -> tuple[list[tuple[int, str, str, str, str]], list[Rejected]]:
    """Return the row that the candidates of one pronoun make, if they make one, and the candidates that are in none."""
    meant = next((one for one in group if one.meant), None)
    other = next((one for one in group if not one.meant and meant and one.noun.casefold() != meant.noun.casefold()), None)
    if meant is None or other is None:
        lacking = "candidate that is meant" if meant is None else "candidate that is not meant"
        return [], [Rejected(one.row, f"no second row with a {lacking}", repr(one.noun), one.line) for one in group]
    first, second = sorted((meant, other), key=lambda one: (one.noun_place, one.row))
    row = (meant.row, _blanked(meant), first.noun, second.noun, "1" if first is meant else "2")
    used = (meant.row, other.row)
    return [row], [
        Rejected(one.row, "a further candidate of a pronoun that has its two", repr(one.noun), one.line)
        for one in group
        if one.row not in used
    ]


def _blanked(one: _Candidate) -> str:
    words = one.text.split()
    word = words[one.place]
    start = word.casefold().index(one.pronoun.casefold())
    words[one.place] = f"{word[:start]}{BLANK}{word[start + len(one.pronoun) :]}"
    return " ".join(words)
