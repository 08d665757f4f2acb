from __future__ import annotations

from pathlib import Path

import pytest

from cartograph.errors import InputError
from cartograph.experiments.trainings import ordered_history, step_dynamics
from cartograph.train.recipe import Recipe
from tests.training_sets import small_table

BOOSTING = Recipe(model="boosting", learning_rate=0.2, device="cpu")


def test_a_model_that_grows_by_stages_has_no_steps_to_experiment_with(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="an optimiser's steps, but `boosting` grows by stages"):
        ordered_history(BOOSTING, small_table(), {}, tmp_path)
    with pytest.raises(InputError, match="`boosting` grows by stages"):
        step_dynamics(BOOSTING, small_table(), small_table(10), tmp_path, every=2)
