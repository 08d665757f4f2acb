"""Tables and curves of models trained on selections, from predictions made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.compare.selections import NO_VALIDATION, TrainedSelections, curves, mark, markdown, mixing_curves, sets_of, table_lines
from cartograph.compare.versions import PAIRS, Comparison, EvaluationSet, compare_versions

NAMED = {
    "random-0.17": ("random", 0.17),
    "ambiguous-0.17": ("ambiguous", 0.17),
    "mix-0.2-0.17": ("mix-0.2", 0.17),
    "random-0.5": ("random", 0.5),
    "ambiguous-0.5": ("ambiguous", 0.5),
}
RIGHT = {"original": 90, "random-0.17": 60, "ambiguous-0.17": 75, "mix-0.2-0.17": 55, "random-0.5": 70, "ambiguous-0.5": 71}
CHOSEN = TrainedSelections(NAMED, dict.fromkeys(RIGHT, 10))


def compared(failed: tuple[str, ...] = ()) -> Comparison:
    """Of 100 rows a model gets the first ``RIGHT`` right, whatever its seed."""
    gold = np.arange(100) % 2
    runs = [(name, seed) for name in RIGHT for seed in (1, 2)]
    predicted = {run: np.where(np.arange(100) < RIGHT[run[0]], gold, 1 - gold) for run in runs}
    sets = [EvaluationSet("far", "ood", gold, predicted), EvaluationSet("near", "id", gold, predicted)]
    return compare_versions(
        sets, {run: run[0] in failed for run in runs}, ["accuracy"], resamples=400, seed=1, pairs=(*PAIRS, *CHOSEN.pairs())
    )


def test_lines_are_in_the_papers_order() -> None:
    lines = table_lines(compared(), CHOSEN, "accuracy")
    assert [line.title for line in lines] == ["100 % train", "random", "ambiguous", "random", "ambiguous", "mix-0.2"]
    assert [line.fraction for line in lines] == [1.0, 0.5, 0.5, 0.17, 0.17, 0.17]
    assert sets_of(lines) == [("near", "id"), ("far", "ood")]


def test_marks_say_what_a_paired_test_says() -> None:
    lines = {line.name: line for line in table_lines(compared(), CHOSEN, "accuracy")}
    assert mark(lines["ambiguous-0.17"], "far") == "▲"
    assert mark(lines["mix-0.2-0.17"], "far") == "▼"
    assert mark(lines["ambiguous-0.5"], "far") == "", "one row of a hundred is no difference"
    assert mark(lines["random-0.5"], "far") == ""
    assert lines["random-0.5"].against_whole["far"]["difference"] == pytest.approx(-0.2)


def test_curves_end_at_the_whole_train_set() -> None:
    lines = table_lines(compared(), CHOSEN, "accuracy")
    assert {curve.name: (curve.x, curve.mean) for curve in curves(lines, "far")} == {
        "random": ((0.17, 0.5, 1.0), (0.6, 0.7, 0.9)),
        "ambiguous": ((0.17, 0.5, 1.0), (0.75, 0.71, 0.9)),
    }
    [mixed] = mixing_curves(lines, "far")
    assert (mixed.name, mixed.x, mixed.mean) == ("17 %", (0.0, 0.2), (0.75, 0.55))


def test_a_failed_training_has_no_point_and_is_named() -> None:
    found = compared(("ambiguous-0.17",))
    lines = table_lines(found, CHOSEN, "accuracy")
    assert [curve.x for curve in curves(lines, "far") if curve.name == "ambiguous"] == [(0.5, 1.0)]
    assert "| ambiguous | 10 | failed | failed |" in markdown(found, CHOSEN, ["accuracy"])


def test_the_best_of_the_seeds_is_a_table_of_its_own() -> None:
    gold = np.arange(100) % 2
    right = {("original", 1): 90, ("original", 2): 80, ("random-0.5", 1): 60, ("random-0.5", 2): 64, ("random-0.5", 3): 99}
    predicted = {run: np.where(np.arange(100) < number, gold, 1 - gold) for run, number in right.items()}
    failed = {run: run == ("random-0.5", 3) for run in right}
    chosen = TrainedSelections({"random-0.5": ("random", 0.5)}, {"original": 200, "random-0.5": 100})
    reverse = {run: np.where(np.arange(100) < 150 - number, gold, 1 - gold) for run, number in right.items()}
    sets = [EvaluationSet("dev", "id", gold, predicted), EvaluationSet("test", "id", gold, reverse)]
    found = compare_versions(sets, failed, ["accuracy"], resamples=100, seed=1, pairs=chosen.pairs())
    text = markdown(found, chosen, ["accuracy"])
    best = text[text.index("## The best of 2 seeds, accuracy in per cent") : text.index("## Differences")]
    assert "| original | 200 | 1 | 90.0 | 60.0 |" in best, "the best on dev, which is the worst on test"
    assert "| random-0.5 | 100 | 2 | 64.0 | 86.0 |" in best, "a failed training is no best one"
    assert "Of each line the model that is best on dev, " in best
    untold = compare_versions(sets[1:], failed, ["accuracy"], resamples=100, seed=1, pairs=chosen.pairs())
    assert NO_VALIDATION in markdown(untold, chosen, ["accuracy"]) and "| 2 | 64.0" not in markdown(untold, chosen, ["accuracy"])
    one = {run: ids for run, ids in predicted.items() if run[1] == 1}
    alone = compare_versions([EvaluationSet("near", "id", gold, one)], failed, ["accuracy"], resamples=100, seed=1, pairs=chosen.pairs())
    assert "The best of" not in markdown(alone, chosen, ["accuracy"])
