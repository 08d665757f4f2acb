"""The bag of words on texts that share hardly a word."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cartograph.models.base import Side
from cartograph.models.bow import Bow
from cartograph.schema import Task, dataset_info
from cartograph.train.fit import fit
from cartograph.train.k_fold import fit_folds
from cartograph.train.recipe import Recipe
from tests.training_sets import info_of, names_set, small_set

RECIPE = Recipe(epochs=8, batch_size=8, learning_rate=0.01, seed=5, threads=1, device="cpu")


@pytest.mark.slow
@pytest.mark.parametrize("task", ["single", "pair"])
def test_names_that_share_no_word_are_learnt_by_their_characters(task: Task, tmp_path: Path) -> None:
    by = {kept: fit(RECIPE, names_set(task, characters=kept), {}, tmp_path / str(kept)) for kept in (True, False)}
    assert by[True].metrics["train.accuracy"] > 0.9
    assert by[False].metrics["train.accuracy"] < 0.75


@pytest.mark.slow
def test_models_of_a_fold_read_what_the_whole_set_says(tmp_path: Path) -> None:
    table = names_set(characters=True)
    pq.write_table(table, tmp_path / "rows.parquet")
    fit_folds(replace(RECIPE, epochs=2), tmp_path / "rows.parquet", tmp_path / "folds", folds=4)
    fold = pq.read_table(tmp_path / "folds" / "fold-0" / "train.parquet")
    assert fold.num_rows < table.num_rows and dataset_info(fold.schema).characters


def test_what_was_saved_reads_characters_as_before(tmp_path: Path) -> None:
    model = Bow.create(dataset_info(names_set(characters=True).schema), names_set(characters=True))
    model.save(tmp_path)
    loaded, unseen = Bow.load(tmp_path), [Side("Kowrenska")]
    assert loaded.characters and len(loaded.read(unseen)["first"].values)
    np.testing.assert_array_equal(loaded.read(unseen)["first"].values, model.read(unseen)["first"].values)
    other = tmp_path / "words"
    other.mkdir()
    Bow.create(info_of("single"), small_set()).save(other)
    assert "characters" not in json.loads((other / "config.json").read_text()) and not Bow.load(other).characters
