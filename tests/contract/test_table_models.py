"""What every listed model of tables of features must do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.errors import InputError
from cartograph.models.base import Classifier
from cartograph.models.registry import TABLE_MODELS, model_class
from cartograph.train.fit import fit
from cartograph.train.recipe import Recipe
from tests.training_sets import info_of, small_set, small_table

INFO = info_of("table")


@pytest.fixture(params=TABLE_MODELS)
def model(request: pytest.FixtureRequest) -> Classifier:
    torch.manual_seed(0)
    return model_class(request.param).create(INFO, small_table(), max_length=32, pretrained=None).eval()


def logits(model: Classifier, rows: list[int]) -> torch.Tensor:
    data = small_table(40, 3, "validation", "id", rest=("green",))
    with torch.no_grad():
        return model(**model.batch(model.encode(data, INFO), np.array(rows))).logits


def test_rows_do_not_depend_on_the_batch_that_they_stand_in(model: Classifier) -> None:
    together = logits(model, list(range(40)))
    assert together.shape == (40, 2) and torch.isfinite(together).all()
    assert torch.allclose(together[7:8], logits(model, [7]), atol=1e-5)


def test_a_model_is_what_it_was_once_loaded(model: Classifier, tmp_path: Path) -> None:
    model.save(tmp_path)
    again = type(model).load(tmp_path).eval()
    assert torch.equal(logits(model, [1, 2, 3]), logits(again, [1, 2, 3]))
    assert not [path for path in tmp_path.iterdir() if path.suffix not in (".json", ".safetensors")]


@pytest.mark.parametrize("name", TABLE_MODELS)
def test_it_learns_and_the_same_seed_gives_the_same_dynamics(name: str, tmp_path: Path) -> None:
    recipe = Recipe(model=name, epochs=4, batch_size=8, learning_rate=model_class(name).learning_rate, device="cpu", threads=1)
    results = [fit(recipe, small_table(), {"validation": small_table(30, 1, "validation", "id")}, tmp_path / str(at)) for at in range(2)]
    first, second = (read_dynamics(result.dynamics) for result in results)
    assert np.array_equal(first.logits, second.logits) and first.logits.shape == (60, 4, 2)
    assert results[0].metrics["train.accuracy"] > 0.85 and results[0].metrics["validation.accuracy"] > 0.75


def test_a_model_of_texts_does_not_read_tables_and_the_other_way_round(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"model `bow` reads texts, but the rows are tables; use one of {', '.join(TABLE_MODELS)}"):
        fit(Recipe(model="bow"), small_table(), {}, tmp_path)
    with pytest.raises(InputError, match="model `mlp` reads tables, but the rows are texts"):
        fit(Recipe(model="mlp"), small_set("single"), {}, tmp_path)
