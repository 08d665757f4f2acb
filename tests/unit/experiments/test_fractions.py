"""What the experiment `fractions` trains, and what it says it found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cartograph.data.json_files import read_json
from cartograph.experiments.experiment import Material
from cartograph.experiments.fractions import _answer, _Part, _parts, _rows, _trained


def test_a_share_at_which_trainings_failed_is_not_called_better() -> None:
    found = [
        ("random", 0.05, 0.2, 0),
        ("ambiguous", 0.05, 0.3, 4),  # of the one seed that learnt something
        ("random", 0.1, 0.2, 1),
        ("ambiguous", 0.1, 0.3, 0),
        ("random", 0.2, 0.4, 0),
        ("ambiguous", 0.2, None, 5),
    ]
    means = [
        {"strategy": strategy, "fraction": fraction, "easy": 0, "rows": 9, "set": "test", "mean": mean, "sd": None, "failed": failed}
        for strategy, fraction, mean, failed in found
    ]
    said = "on test ambiguous rows beat equally many random ones at 10\u00a0% (2 compared); 10 trainings ended at the largest class"
    assert _answer(means, ["test"]) == said


def test_a_share_of_less_than_two_rows_is_left_out() -> None:
    options = {"fractions": (0.01, 0.05), "mixed_fraction": 0.05, "mixed_shares": ()}
    fractions = {rows: {part.fraction for part in _parts(options, rows)} for rows in (40, 100, 200)}
    assert fractions == {40: {0.05, 1.0}, 100: {0.05, 1.0}, 200: {0.01, 0.05, 1.0}}


@pytest.mark.parametrize("epochs_open", [True, False])
def test_half_of_the_rows_are_trained_for_all_rows_steps_where_epochs_are_open(
    trained: Material, tmp_path: Path, epochs_open: bool
) -> None:
    own = replace(trained, epochs_open=epochs_open, folder=tmp_path)
    part = _Part("random", 0.5)
    _trained(own, part, _rows(own, part), seed=3)
    kept = read_json(tmp_path / "random-0.5-3/training.json")
    assert kept["epochs"] == own.recipe.epochs * (2 if epochs_open else 1)
