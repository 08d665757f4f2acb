"""How many labels of each class should be which other one."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.suspects.label_doubt import label_doubt
from cartograph.suspects.wrong_pairs import MOST, wrong_pairs
from tests.made_noise import EVEN, ONE_WAY, noisy_with_truth


@pytest.mark.slow
@pytest.mark.parametrize("transition", [ONE_WAY, EVEN], ids=["one way", "even"])
def test_the_interval_of_each_pair_of_classes_holds_how_many_are_wrong(transition: np.ndarray) -> None:
    held, pairs = 0, 0
    for seed in range(11, 16):
        probabilities, given, truth = noisy_with_truth(transition, 6000, 4.0, seed=seed)
        found = label_doubt(probabilities, given)
        assert found.wrong is not None
        assert sum(pair.expected for pair in found.pairs) == pytest.approx(found.wrong.expected, abs=3)
        for pair in found.pairs:
            number = np.count_nonzero((given == pair.given) & (truth == pair.true))
            held += pair.low <= number <= pair.high <= pair.most
            pairs += 1
    assert held >= 0.9 * pairs >= 5


def test_errors_that_go_one_way_are_one_pair() -> None:
    probabilities, given, truth = noisy_with_truth(ONE_WAY, 6000, 4.0, seed=11)
    first, *others = label_doubt(probabilities, given).pairs
    assert (first.given, first.true) == (0, 1)
    assert first.expected == pytest.approx(np.count_nonzero((given == 0) & (truth == 1)), rel=0.25)
    assert all(pair.expected < 0.1 * first.expected for pair in others)


def test_where_the_number_cannot_be_estimated_no_pair_is_either() -> None:
    probabilities, given, _ = noisy_with_truth(EVEN, 200, 4.0, seed=3)
    assert label_doubt(probabilities, given).pairs == ()


def test_where_no_sure_row_is_counted_an_interval_ends_near_what_the_models_take_for_the_class() -> None:
    # Of 300 rows labelled 1 the models take two for class 0, of which the surest four rows show nothing.
    given = np.repeat([0, 1], [50, 300])
    taken = np.repeat([[0.95, 0.05], [0.98, 0.02], [0.001, 0.999]], [50, 2, 298], axis=0)
    transition, anchors = np.array([[0.97, 0.03], [0.01, 0.99]]), np.array([[4.0, 0.0], [0.0, 200.0]])
    found = {(pair.given, pair.true): pair for pair in wrong_pairs(taken, taken, given, transition, anchors, (0.5, 1.5))}
    assert 2 <= found[1, 0].high <= 6 and found[1, 0].low == 0


def test_as_many_pairs_as_a_page_can_show() -> None:
    n_classes = 30
    rng = np.random.default_rng(1)
    probabilities = np.full((6000, n_classes), 0.5 / (n_classes - 1))
    given = rng.integers(0, n_classes, 6000)
    probabilities[np.arange(6000), rng.integers(0, n_classes, 6000)] = 0.5
    transition = np.full((n_classes, n_classes), 1 / n_classes)
    found = wrong_pairs(probabilities, probabilities, given, transition, np.ones((n_classes, n_classes)), (0.5, 1.5))
    assert len(found) == MOST
    own = max(pair.high for pair in found)
    capped = wrong_pairs(
        probabilities, probabilities, given, transition, np.ones((n_classes, n_classes)), (0.5, 1.5), at_most=(own - 1.0, own)
    )
    assert max(pair.high for pair in capped) == own - 1.0 and max(pair.most for pair in capped) <= own, "no more than of all"
    assert sorted((pair.expected for pair in found), reverse=True) == [pair.expected for pair in found]
