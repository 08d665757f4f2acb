"""Labels that stand on the row before or after their own: what a join that went wrong by a row leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cartograph.data.arrays import Bools, Integers

FEWEST, MORE, SPREAD, OFFSETS = 10, 0.25, 4.0, (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)
"""Fewest suspects whose expected label stands on a neighbouring row; by what share of the suspects, and by how many standard errors, these
must be more than those whose label stands on any other row near."""

_GAP, _ROWS, _BLOCK = 5.0, 20.0, 5
"""How many times the median distance of such suspects, and how many rows at least, end a stretch of them; and how many make one."""


@dataclass(frozen=True)
class Shift:
    """Where labels stand a row off.

    Attributes:
        offset: 1 where the label that a row should have stands on the next row, −1 where it stands on the one before.
        suspects: how many suspects that is so of.
        beyond_chance: by how many more that is than the label of any other row near would explain, less ``SPREAD`` standard errors.
        blocks: first and last place of each stretch of them, in the order of the rows.
    """

    offset: int
    suspects: int
    beyond_chance: float
    blocks: tuple[tuple[int, int], ...]


def shifted(labels: Integers, suspect: Bools, suggested: Integers) -> Shift | None:
    """Return by which row labels are shifted; None where they do not look so.

    Labels of neighbouring rows are alike where rows are sorted, and in a few classes often by chance: that is so of rows two to five off,
    too, which is what the neighbours are compared with.

    Args:
        labels: (n_examples,) given label ids, in the order of the rows.
        suspect: (n_examples,) which labels look wrong.
        suggested: (n_examples,) the label that each should be; negative where none is suggested.

    >>> true = np.random.default_rng(1).integers(0, 6, 40)
    >>> shifted(np.roll(true, 1), np.roll(true, 1) != true, true)
    Shift(offset=1, suspects=34, beyond_chance=17.5, blocks=((0, 38),))
    """
    number = int(np.count_nonzero(suspect))
    if number < FEWEST:
        return None
    there = {offset: _standing(labels, suspect, suggested, offset) for offset in OFFSETS}
    counts = {offset: int(np.count_nonzero(rows)) for offset, rows in there.items()}
    offset = max((1, -1), key=lambda one: counts[one])
    chance = max(count for other, count in counts.items() if other != offset) / number
    spread = SPREAD * float(np.sqrt(chance * (1.0 - chance) / number))
    if counts[offset] < FEWEST or counts[offset] < (chance + max(MORE, spread)) * number:
        return None
    beyond = round(counts[offset] - (chance + spread) * number, 1)
    return Shift(offset, counts[offset], beyond, _blocks(np.flatnonzero(there[offset])))


def _standing(labels: Integers, suspect: Bools, suggested: Integers, offset: int) -> Bools:
    """Return of which suspects the suggested label stands so many rows further on."""
    rows = np.arange(len(labels)) + offset
    inside = (rows >= 0) & (rows < len(labels))
    found: Bools = suspect & inside & (suggested == labels[np.clip(rows, 0, len(labels) - 1)])
    return found


def _blocks(places: Integers) -> tuple[tuple[int, int], ...]:
    """Return the stretches in which such suspects stand close together, those of a few left out; all of them as one where none is left."""
    gaps = np.diff(places)
    ends = np.flatnonzero(gaps > max(_GAP * float(np.median(gaps)), _ROWS)) + 1
    blocks = [(int(part[0]), int(part[-1])) for part in np.split(places, ends) if len(part) >= _BLOCK]
    return tuple(blocks) or ((int(places[0]), int(places[-1])),)
