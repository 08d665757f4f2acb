"""Labels that stand a row off: found where they do, and not where neighbours are alike for other reasons."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.suspects.shifted import Shift, shifted


@pytest.mark.parametrize("offset", [1, -1])
@pytest.mark.parametrize("classes", [5, 30])
def test_a_block_of_labels_that_is_a_row_off_is_found_among_other_errors(offset: int, classes: int) -> None:
    rng = np.random.default_rng(classes)
    true = rng.integers(0, classes, 2000)
    given = true.copy()
    given[400:600] = np.roll(true, offset)[400:600]
    others = rng.choice(2000, 60, replace=False)
    given[others] = rng.integers(0, classes, 60)
    found = shifted(given, given != true, true)
    assert found is not None and found.offset == offset
    assert found.suspects > 0.8 * np.count_nonzero(given[400:600] != true[400:600])
    assert len(found.blocks) == 1
    [(first, last)] = found.blocks
    assert abs(first - 400) <= 20 and abs(last - 599) <= 20


@pytest.mark.parametrize("arranged", ["random", "sorted", "in turn"])
@pytest.mark.parametrize("classes", [2, 10])
def test_errors_of_their_own_are_no_shift_however_rows_are_arranged(arranged: str, classes: int) -> None:
    rng = np.random.default_rng(5)
    true = rng.integers(0, classes, 2000)
    true = np.sort(true) if arranged == "sorted" else np.arange(2000) % classes if arranged == "in turn" else true
    given = true.copy()
    rows = rng.choice(2000, 200, replace=False)
    given[rows] = (true[rows] + rng.integers(1, classes, 200)) % classes
    assert shifted(given, given != true, true) is None
    alike = np.where(given != true, np.roll(given, 1), true)
    assert arranged != "sorted" or shifted(given, given != true, alike) is None, "rows further off have the neighbours' label, too"


def test_two_stretches_are_told_apart_and_a_few_suspects_tell_nothing() -> None:
    true = np.random.default_rng(6).integers(0, 9, 3000)
    given = true.copy()
    for first in (500, 2000):
        given[first : first + 100] = np.roll(true, -1)[first : first + 100]
    found = shifted(given, given != true, true)
    assert isinstance(found, Shift) and [start // 100 for start, _ in found.blocks] == [5, 20]
    few = np.flatnonzero(given != true)[:9]
    assert shifted(given, np.isin(np.arange(3000), few), true) is None
