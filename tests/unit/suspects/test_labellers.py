"""Labels of somebody who is often wrong are doubted more, of nobody where all are alike."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.errors import InputError
from cartograph.statistics.metrics import average_precision
from cartograph.suspects.label_doubt import Doubt, label_doubt
from cartograph.suspects.labellers import by_labellers, labeller_factors
from cartograph.suspects.ranking import find_suspects

ROWS = 3000
CARELESS = np.array([0.01, 0.02, 0.02, 0.03, 0.03, 0.45])


def labelled(seed: int, rates: np.ndarray = CARELESS, classes: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return class probabilities, given labels, which of them are wrong, and who gave them."""
    rng = np.random.default_rng(seed)
    true, who = rng.integers(classes, size=ROWS), rng.integers(len(rates), size=ROWS)
    wrong = rng.random(ROWS) < rates[who]
    given = np.where(wrong, (true + rng.integers(1, classes, size=ROWS)) % classes, true)
    logits = rng.normal(0.0, 1.3, (ROWS, classes))
    logits[np.arange(ROWS), true] += 3.0
    shares = np.exp(logits)
    return shares / shares.sum(axis=1, keepdims=True), given, wrong, who


def ranked(doubt: Doubt, wrong: np.ndarray) -> float:
    return float(average_precision(wrong, doubt.score))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_who_labelled_a_row_tells_more_of_a_careless_ones_errors_from_the_others_rights(seed: int) -> None:
    shares, given, wrong, who = labelled(seed)
    without, known = label_doubt(shares, given), label_doubt(shares, given, labellers=who)
    assert (without.labellers_differ, known.labellers_differ) == (None, True)
    assert ranked(known, wrong) > ranked(without, wrong) + 0.03
    mistaken = [((doubt.score >= 0.5) != wrong).sum() for doubt in (without, known)]
    assert mistaken[1] < 0.9 * mistaken[0]
    assert known.wrong is not None and known.wrong.low <= wrong.sum() <= known.wrong.scattered
    assert sum(pair.expected for pair in known.pairs) == pytest.approx(known.wrong.expected, rel=0.05)


@pytest.mark.parametrize("seeds", [8, pytest.param(40, marks=pytest.mark.slow)])
def test_where_all_are_alike_nothing_changes(seeds: int) -> None:
    used = 0
    for seed in range(seeds):
        shares, given, _, who = labelled(seed, np.full(6, 0.06))
        without, known = label_doubt(shares, given), label_doubt(shares, given, labellers=who)
        used += bool(known.labellers_differ)
        if not known.labellers_differ:
            assert known.score.tobytes() == without.score.tobytes() and known.wrong == without.wrong
    assert used <= 1


def test_somebody_who_was_given_one_class_alone_is_compared_with_that_class() -> None:
    rng = np.random.default_rng(5)
    given = rng.integers(2, size=ROWS)
    doubt = np.where(rng.random(ROWS) < np.array([0.02, 0.3])[given], 0.9, 0.03)
    assert labeller_factors(doubt, given, given) is None
    assert labeller_factors(doubt, np.zeros(ROWS, int), given) is not None


def test_one_labeller_and_many_of_one_row_each_are_not_compared() -> None:
    shares, given, _, _ = labelled(6)
    assert label_doubt(shares, given, labellers=np.zeros(ROWS, int)).labellers_differ is False
    assert label_doubt(shares, given, labellers=np.arange(ROWS)).labellers_differ is False


def test_the_odds_of_every_class_but_the_given_one_are_so_many_times_higher() -> None:
    true, given = np.array([[0.8, 0.15, 0.05], [0.2, 0.2, 0.6]]), np.array([0, 2])
    found = by_labellers(true, given, np.array([4.0, 0.5]))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    odds = [(1.0 - shares[[0, 1], given]) / shares[[0, 1], given] for shares in (true, found)]
    np.testing.assert_allclose(odds[1], odds[0] * [4.0, 0.5])
    np.testing.assert_allclose(found[0, 1] / found[0, 2], 3.0)


def test_names_of_labellers_are_taken_as_they_are_and_as_many_are_needed_as_labels() -> None:
    shares, given, wrong, who = labelled(7)
    names = [None if one == 0 else f"labeller {one}" for one in who.tolist()]
    known = find_suspects(given, shares, labelled_by=names)
    assert wrong[known.rows].mean() > wrong[find_suspects(given, shares).rows].mean()
    with pytest.raises(InputError, match="there are 2,999 names of who labelled and 3,000 labels; give one per row"):
        find_suspects(given, shares, labelled_by=names[1:])
