"""Stretches of a file whose labels went wrong together: shifted by a row, one label filled down, or carelessly given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cartograph.data.arrays import Bools, Integers
from cartograph.page.audit import Audit
from cartograph.page.read_verdict import GATHER
from cartograph.suspects.careless import file_order
from cartograph.suspects.label_runs import Run, label_runs
from cartograph.suspects.shifted import FEWEST, shifted
from cartograph.wording import count, counted, cut, listing

_NAMED, _LONGEST = 2, 60


class _File(NamedTuple):
    """The rows of a file in their order, with the number of each, and what its name adds to a place: empty of a single file."""

    rows: Integers
    numbers: Integers
    suspect: Bools
    named: str

    def place(self, first: int, last: int) -> str:
        return f"{count(int(self.numbers[first]))} to {count(int(self.numbers[last]))}"


def shifted_sentence(audit: Audit) -> str:
    """Return that labels look shifted by a row, and where; empty where they do not."""
    if audit.several or audit.suspects is None:
        return ""
    suggested = audit.suspects.rows["suggested"].to_numpy()
    # Among all suspects of a file, and among those of each stretch that has far more than the others, whatever errors there are besides.
    parts = [(file, file.suspect) for file in _files(audit)]
    parts += [(file, suspect & np.isin(file.rows, rows)) for file, suspect in parts for rows in _careless(audit)]
    each = ((shifted(audit.gold[file.rows], suspect, suggested[file.rows]), file) for file, suspect in parts)
    said = [(found, file) for found, file in each if found is not None]
    if not said:
        return ""
    found, file = max(said, key=lambda one: one[0].suspects)
    blocks = [file.place(first, last) for first, last in found.blocks[:_NAMED]]
    more = f" and {counted(len(found.blocks) - _NAMED, 'more stretch', 'more stretches')}" if len(found.blocks) > _NAMED else ""
    where = "next row" if found.offset > 0 else "row before"
    of = f"{count(found.suspects)} of the {counted(len(audit.flagged), 'suspect')} (rows {listing(blocks)}{more}{file.named})"
    return (
        f"Labels look shifted by one row: the label that models expect stands on the {where} of {of}: see how labels were joined to rows."
    )


def filled_down(audit: Audit) -> list[tuple[Run, str]]:
    """Return the runs of one label that look filled down, the most suspects first, and where each stands."""
    if audit.several:
        return []
    each = ((run, file) for file in _files(audit) for run in label_runs(audit.gold[file.rows], file.suspect))
    return sorted(((run, f"{file.place(run.first, run.last)}{file.named}") for run, file in each), key=lambda one: -one[0].suspects)


def filled_sentence(audit: Audit) -> str:
    """Return in which rows one label looks filled down or pasted; empty where none does."""
    if not (found := filled_down(audit)):
        return ""
    run, place = found[0]
    others = [f"{where} ({_label(audit, other)}, {count(other.suspects)})" for other, where in found[1:_NAMED]]
    more = f", and in {listing(others)}" if others else ""
    return (
        f"{GATHER} in the rows {place} ({count(run.suspects)} of the {count(len(audit.flagged))}), all {count(run.last - run.first + 1)} "
        f"of which have the label {_label(audit, run)}{more}, while labels are mixed elsewhere: so it looks where one value was filled "
        "down or pasted. See first how these rows were labelled."
    )


def careless_sentence(audit: Audit) -> str:
    """Return in which stretches of the file labels are doubted more than elsewhere; empty where they are in none."""
    if not (found := _careless(audit)):
        return ""
    number, source = audit.examples["row"].to_numpy(), audit.examples["source"]
    several = len(source.unique()) > 1

    def named(row: int) -> str:
        return count(int(number[row])) + (f" of {cut(source[row].as_py(), _LONGEST)}" if several else "")

    each = [f"{named(int(rows[0]))} to {named(int(rows[-1]))}" for rows in found[:_NAMED]]
    more = f" and {counted(len(found) - _NAMED, 'more stretch', 'more stretches')}" if len(found) > _NAMED else ""
    return (
        f"Labels in the rows {listing(each)}{more} contradict the models far more often than all others do: they are doubted more for it, "
        "and the others less."
    )


def _careless(audit: Audit) -> list[Integers]:
    """Return the rows of each stretch of the file in which labels are doubted more, in its order."""
    found = [] if audit.suspects is None else audit.suspects.record.get("stretches", [])
    places = np.argsort(file_order(audit.examples)) if found else np.empty(0, dtype=np.int64)
    return [places[first : last + 1] for first, last in found]


def _label(audit: Audit, run: Run) -> str:
    return f"`{cut(audit.info.labels[run.label], _LONGEST)}`"


def _files(audit: Audit) -> Iterator[_File]:
    if not len(audit.flagged):
        return
    number = audit.examples["row"].to_numpy()
    source = audit.examples["source"].combine_chunks().dictionary_encode()
    suspect, names, of_file = np.isin(np.arange(audit.rows), audit.flagged), source.dictionary.to_pylist(), source.indices.to_numpy()
    # Of pictures each may be a file: those without enough suspects are not looked at one by one.
    for place in np.flatnonzero(np.bincount(of_file[suspect], minlength=len(names)) >= FEWEST).tolist():
        rows = np.flatnonzero(of_file == place)
        rows = rows[np.argsort(number[rows], kind="stable")]
        yield _File(rows, number[rows], suspect[rows], f" of {cut(names[place], _LONGEST)}" if len(names) > 1 else "")
