from __future__ import annotations

import numpy as np

from cartograph.compare.best_seeds import best_seeds
from cartograph.compare.versions import Comparison, EvaluationSet, compare_versions

# (version, seed) -> rows right of 100 on the validation set and on the test set: the best by one is the worst by the other.
RIGHT = {("a", 1): (80, 60), ("a", 2): (70, 90), ("b", 1): (50, 40), ("b", 2): (50, 95), ("c", 1): (99, 99)}


def compared(first: str, failed: tuple[tuple[str, int], ...] = (("c", 1),)) -> Comparison:
    gold = np.arange(100) % 2
    sets = []
    for place, name in enumerate((first, "test")):
        predicted = {run: np.where(np.arange(100) < right[place], gold, 1 - gold) for run, right in RIGHT.items()}
        sets.append(EvaluationSet(name, "id", gold, predicted))
    return compare_versions(sets, {run: run in failed for run in RIGHT}, ["accuracy"], resamples=100, seed=1, pairs=())


def test_the_best_seed_is_chosen_on_the_validation_set_and_never_on_the_test_set() -> None:
    best = best_seeds(compared("validation"), "accuracy")
    assert best is not None and best.chosen_on == "validation" and best.tried == 2
    assert best.seeds == {"a": 1, "b": 1}, "equally good: the lowest; failed: none"
    assert best.values == {("a", "validation"): 0.8, ("a", "test"): 0.6, ("b", "validation"): 0.5, ("b", "test"): 0.4}


def test_without_a_validation_set_nothing_is_chosen_and_one_seed_has_no_best() -> None:
    best = best_seeds(compared("held-out"), "accuracy")
    assert best is not None and (best.chosen_on, best.seeds, best.values) == ("", {}, {})
    assert best_seeds(compared("dev", failed=(("a", 2), ("b", 2), ("c", 1))), "accuracy") is None
