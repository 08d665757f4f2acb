from __future__ import annotations

import pytest

from cartograph.bias.guess import guess
from cartograph.schema import Task
from tests.training_sets import small_images, small_set


@pytest.mark.parametrize("task", ["single", "pair", "choice"])
@pytest.mark.parametrize("model", ["linear", "max-pmi"])
def test_quick_models_learn_a_give_away_word(task: Task, model: str) -> None:
    train, test = small_set(task, rows=200), small_set(task, rows=80, seed=9)
    predicted = guess(model, train, test, smoothing=1.0)
    predicted = predicted.argmax(axis=1) if model == "linear" else predicted
    assert (predicted == test["label"].to_numpy()).mean() > 0.95


def test_a_linear_model_reads_pixels() -> None:
    train, test = small_images(150), small_images(60, seed=9)
    assert (guess("linear", train, test, smoothing=1.0).argmax(axis=1) == test["label"].to_numpy()).mean() > 0.95
