"""What every listed model of tables of features must do, beside what every model must."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.errors import InputError
from cartograph.models.registry import TABLE_MODELS, model_class
from cartograph.train.fit import fit
from cartograph.train.recipe import Recipe
from tests.training_sets import info_of, small_set, small_table

INFO = info_of("table")


@pytest.mark.parametrize("name", TABLE_MODELS)
def test_rows_with_a_category_that_is_new_can_be_read_and_do_not_depend_on_their_neighbours(name: str) -> None:
    torch.manual_seed(0)
    model = model_class(name).create(INFO, small_table(), max_length=32, pretrained=None).eval()
    examples = model.encode(small_table(40, 3, "validation", "id", rest=("green",)), INFO)
    with torch.no_grad():
        together, alone = (model(**model.batch(examples, np.array(rows))).logits for rows in (range(40), [7]))
    assert together.shape == (40, 2) and torch.isfinite(together).all()
    assert torch.allclose(together[7:8], alone, atol=1e-5)


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
