from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.errors import InputError
from cartograph.models.boosting import STAGES
from cartograph.models.last_layer import penultimate_features
from cartograph.schema import LABEL, LABEL_SET, examples_schema
from cartograph.train.checkpoints import file_digests
from cartograph.train.fit import fit
from cartograph.train.inference import infer
from cartograph.train.k_fold import fit_folds
from cartograph.train.recipe import Recipe
from cartograph.train.settling import Settling
from tests.training_sets import info_of, small_table

RECIPE = Recipe(model="boosting", epochs=3, learning_rate=0.2, seed=5, device="cpu")
HELD = small_table(30, 1, "held", "id", rest=("green",))


def test_each_epoch_adds_stages_and_a_training_leaves_what_others_leave(tmp_path: Path) -> None:
    result = fit(RECIPE, small_table(), {"held": HELD}, tmp_path)
    dynamics = read_dynamics(result.dynamics)
    assert dynamics.logits.shape == (60, 3, 2) and np.isfinite(dynamics.logits).all()
    given = dynamics.logits[np.arange(60), :, dynamics.gold] - dynamics.logits[np.arange(60), :, 1 - dynamics.gold]
    assert (np.diff(given.mean(axis=0)) > 0).all()
    assert [(row["epoch"], row["set"]) for row in result.history.to_pylist()] == [
        (epoch, name) for epoch in range(3) for name in ("train", "held")
    ]
    assert result.training | {"parameters": 0} == {
        **{"model": "boosting", "record": "stages", "epochs": 3, "source": "trained", "parameters": 0, "device": "cpu"}
    }
    assert result.training["parameters"] >= 2 * 3 * STAGES
    assert result.metrics["held.accuracy"] > 0.75 and not result.metrics["train.failed"]


def test_the_saved_trees_say_what_was_recorded_and_are_no_pickle(tmp_path: Path) -> None:
    result = fit(RECIPE, small_table(), {"held": HELD}, tmp_path)
    assert sorted(path.name for path in result.model.iterdir()) == ["config.json", "model.safetensors"]
    predicted = np.array(pq.read_table(result.predictions / "held.parquet")["logits"].to_pylist())
    assert np.allclose(infer(RECIPE, result.model, HELD).logits[0], predicted, atol=1e-5)
    own = infer(RECIPE, result.model, small_table())
    assert np.allclose(own.logits[0], read_dynamics(result.dynamics).logits[:, -1], atol=1e-5)
    assert own.features.shape == (60, 3 * STAGES)


@pytest.mark.slow
def test_a_training_that_was_killed_begins_again_and_ends_in_the_same_bytes(tmp_path: Path) -> None:
    whole = fit(RECIPE, small_table(), {"held": HELD}, tmp_path / "whole")
    killed = tmp_path / "killed"
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from cartograph.train.fit import fit\n"
        "from tests.unit.train.test_stages import HELD, RECIPE, small_table\n"
        "stop = lambda done, total: done < 120 or os.kill(os.getpid(), 9)\n"
        "fit(RECIPE, small_table(), {'held': HELD}, Path(sys.argv[1]), progress=stop)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(killed)], check=False, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert ended.returncode == -signal.SIGKILL
    assert sorted(path.name for path in (killed / "dynamics").iterdir()) == ["epoch=0.parquet", "epoch=1.parquet"]
    fit(RECIPE, small_table(), {"held": HELD}, killed)
    assert file_digests(killed) == file_digests(whole.folder)


def test_the_seed_counts(tmp_path: Path) -> None:
    one, two = (fit(replace(RECIPE, seed=seed), small_table(), {}, tmp_path / str(seed)) for seed in (1, 2))
    assert file_digests(one.dynamics) != file_digests(two.dynamics)


def test_threads_change_nothing(tmp_path: Path) -> None:
    one, two = (fit(replace(RECIPE, threads=number), small_table(), {}, tmp_path / str(number)) for number in (1, 2))
    assert file_digests(one.dynamics) == file_digests(two.dynamics)


def test_a_class_that_the_rows_do_not_have_is_the_least_likely(tmp_path: Path) -> None:
    info = info_of("table")
    three = small_table().cast(examples_schema(replace(info, labels=(*info.labels, "unseen"))))
    logits = read_dynamics(fit(RECIPE, three, {}, tmp_path).dynamics).logits
    assert logits.shape == (60, 3, 3) and (logits[:, :, 2] < logits[:, :, :2].min(axis=2)).all()


def test_weights_count(tmp_path: Path) -> None:
    train = small_table()
    wrong = np.zeros(60, bool)
    wrong[::4] = True
    given = np.where(wrong, 1 - train[LABEL].to_numpy(), train[LABEL].to_numpy())
    flipped = train.set_column(train.schema.get_field_index(LABEL), train.schema.field(LABEL), pa.array(given, pa.int32()))
    weighted = flipped.append_column("weight", pa.array(np.where(wrong, 0.0, 1.0).astype(np.float32)))
    plain, fair = (fit(RECIPE, rows, {"held": HELD}, tmp_path / name) for name, rows in (("plain", flipped), ("fair", weighted)))
    assert fair.metrics["held.accuracy"] >= plain.metrics["held.accuracy"]
    own = [read_dynamics(result.dynamics).logits[wrong, -1] for result in (plain, fair)]
    of_given = [logits[np.arange(int(wrong.sum())), given[wrong]] for logits in own]
    assert of_given[1].mean() < of_given[0].mean()


def test_rows_are_scored_out_of_fold(tmp_path: Path) -> None:
    pq.write_table(small_table(), tmp_path / "train.parquet")
    folder = fit_folds(RECIPE, tmp_path / "train.parquet", tmp_path / "folds", folds=3)
    held, own = read_dynamics(folder), read_dynamics(fit(RECIPE, small_table(), {}, tmp_path / "own").dynamics)
    assert held.logits.shape == (60, 3, 2)
    right = [(dynamics.logits.argmax(axis=2) == dynamics.gold[:, None]).mean() for dynamics in (held, own)]
    assert 0.7 < right[0] < right[1]


def test_a_training_ends_where_its_map_has_settled(tmp_path: Path) -> None:
    done: list[tuple[int, int]] = []
    result = fit(
        replace(RECIPE, epochs=12),
        small_table(),
        {},
        tmp_path,
        progress=lambda *each: done.append(each),
        settling=Settling(lambda right, surest: True, bound=0.5),
    )
    assert 4 <= result.metrics["epochs"] < 12 and result.training["epochs"] == result.metrics["epochs"]
    assert done[-1] == (720, 720)


def test_rows_of_several_labels_are_refused(tmp_path: Path) -> None:
    several = small_table().append_column(LABEL_SET, pa.array([[True, False]] * 60, pa.list_(pa.bool_(), 2)))
    with pytest.raises(InputError, match="model `boosting` reads one label per row"):
        fit(RECIPE, several, {}, tmp_path)


def test_vectors_of_the_last_layer_are_what_each_tree_says(tmp_path: Path) -> None:
    result = fit(RECIPE, small_table(), {}, tmp_path)
    vectors = penultimate_features("boosting", result.model, {"train": small_table(), "held": HELD})
    assert vectors["train"].shape == (60, 3 * STAGES) and vectors["held"].shape == (30, 3 * STAGES)
    margins = np.diff(infer(RECIPE, result.model, HELD).logits[0], axis=1)[:, 0]
    assert np.corrcoef(vectors["held"].sum(axis=1), margins)[0, 1] > 0.999
