"""The step bias, on small sets of texts and of images."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.config import load_settings
from cartograph.errors import InputError
from cartograph.models.registry import MODELS
from cartograph.schema import dataset_info
from tasks.audit import aflite, bias, features
from tasks.audit.embed import STEP as EMBED
from tasks.audit.parameters.aflite import Aflite
from tasks.audit.parameters.bias import Bias
from tasks.audit.parameters.train import Train
from tasks.engine.step import Out
from tasks.engine.workspace import CODE, Workspace
from tests.filtering import filter_settings, pairs, run, workspace_of_images, workspace_of_pairs
from tests.training_sets import info_of, small_set
from tests.workspaces import ingest_of, with_sections


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    return workspace_of_pairs(tmp_path)


@pytest.fixture
def images(tmp_path: Path) -> Workspace:
    return workspace_of_images(tmp_path)


@pytest.mark.slow
def test_versions_before_and_after_are_compared_by_quick_and_by_trained_models(space: Workspace) -> None:
    run(features.STEP, space)
    run(aflite.STEP, space)
    space = with_sections(space, bias=Bias(models=("linear", "bow"), partial=("linear", "bow"), seeds=(1,), words=3))
    said = run(bias.STEP, space)
    folder = space.path / "data/bias"
    accuracies = pq.read_table(folder / "accuracies.parquet").to_pylist()
    assert {(row["model"], row["input"]) for row in accuracies} == {
        (model, given) for model in ("linear", "bow") for given in ("whole input", "premise alone", "hypothesis alone")
    }
    assert len(accuracies) == 6 * 3 * 2
    kept = pq.read_table(space.path / "data/aflite/filtered.parquet").num_rows
    assert {row["train_rows"] for row in accuracies if row["trained_on"] != "full"} == {kept}
    metrics = json.loads((space.path / bias.METRICS).read_text())
    assert metrics["bias.linear.hypothesis_alone.held.full"] > metrics["bias.linear.premise_alone.held.full"] + 0.2
    assert said.startswith("linear on held: ") and " trained on 120 rows, " in said and f" on {kept} random, " in said
    words = pq.read_table(folder / "words.parquet")
    assert set(words["listed"].to_pylist()) <= {"before", "after"} and words.num_rows
    neighbours = pq.read_table(folder / "neighbours.parquet").to_pylist()
    assert {(row["version"], row["set"]) for row in neighbours} == {("before", "held"), ("after", "held")}
    assert all(row["distance"] is None or 0 <= row["distance"] <= 2 * row["top"] for row in neighbours)


@pytest.mark.slow
def test_models_learn_from_a_sample_where_there_are_more_rows(space: Workspace) -> None:
    run(features.STEP, space)
    run(aflite.STEP, space)
    space = with_sections(space, bias=Bias(models=("linear",), partial=(), seeds=(1,), rows=100))
    said = run(bias.STEP, space)
    accuracies = pq.read_table(space.path / "data/bias/accuracies.parquet").to_pylist()
    sizes = {row["trained_on"]: row["train_rows"] for row in accuracies}
    assert sizes["full"] == 100 and 0 < sizes["random"] == sizes["filtered"] < 100 and " trained on 100 rows, " in said
    assert json.loads((space.path / "data/bias/sample.json").read_text()) == {"rows": 100, "of": 120, "neighbours_of": 1000}


@pytest.mark.slow
def test_data_without_evaluation_sets_are_compared_on_a_part_held_out(space: Workspace) -> None:
    space = with_sections(space, ingest=ingest_of(pairs()[0]))
    for step in (features.STEP, aflite.STEP, bias.STEP):
        run(step, space)
    accuracies = pq.read_table(space.path / "data/bias/accuracies.parquet").to_pylist()
    assert {row["set"] for row in accuracies} == {"held out"}
    assert {row["train_rows"] for row in accuracies if row["trained_on"] == "full"} == {96}
    assert {row["test_rows"] for row in accuracies if row["tested_on"] == "full"} == {24}


def test_bias_reads_what_its_models_need() -> None:
    named = filter_settings(bias=Bias(models=("probe",)))
    assert "data/embed" in bias.STEP.inputs_of(named) and EMBED.when(named)
    assert "data/embed" not in bias.STEP.inputs_of(filter_settings())
    assert not bias.STEP.when(filter_settings(aflite=Aflite(enabled=False)))
    assert not bias.STEP.when(filter_settings(bias=Bias(enabled=False)))


def test_a_model_that_saw_one_class_names_it(space: Workspace) -> None:
    predict = bias._Predictor(Bias(models=("bow",)), Out(space, {}, space.path, space.path, space.path))
    rows = small_set("pair", rows=40)
    one = rows.filter(pa.array(rows["label"].to_numpy() == 1))
    assert predict("bow", "whole input", 1, one, {"held": rows})["held"].tolist() == [1] * 40
    assert predict("linear", "whole input", 1, one, {"held": rows})["held"].tolist() == [1] * 40


def test_bias_starts_a_model_from_the_projects_own_folder(space: Workspace) -> None:
    """Wherever the command is called from; and the folder is an input, whatever the audit's own model is."""
    settings = filter_settings(train=Train(pretrained="./mine"), bias=Bias(models=("transformer",)))
    space = with_sections(space, **settings)
    out = Out(space, {}, space.path, space.path, space.path)
    assert bias._recipe("transformer", out, 1).pretrained == str(CODE / "mine")
    assert "file:./mine" in bias.STEP.inputs_of(settings)
    both = filter_settings(train=Train(model="probe"), bias=Bias(models=("probe", "linear")))
    assert bias.STEP.inputs_of(both).count("data/embed") == 1


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("{models: [big]}", f"models should be of linear, max-pmi, {', '.join(MODELS)}, but one is 'big'"),
        ("{partial: [probe]}", "partial inputs of `probe` would need vectors of their own"),
    ],
)
def test_wrong_parameters_of_bias_are_named(tmp_path: Path, section: str, message: str) -> None:
    (tmp_path / "params.yaml").write_text(f"bias: {section}")
    with pytest.raises(InputError) as raised:
        load_settings(tmp_path / "params.yaml", {"bias": Bias})
    assert message in str(raised.value)


def test_images_are_filtered_and_compared_by_their_pixels(images: Workspace) -> None:
    assert run(features.STEP, images) == "pixels, 8 numbers a row"
    run(aflite.STEP, images)
    filtered = pq.read_table(images.path / "data/aflite/filtered.parquet")
    assert dataset_info(filtered.schema) == info_of("image") and filtered.num_rows < 120
    images = with_sections(images, bias=Bias(seeds=(1,)))
    assert run(bias.STEP, images).startswith("linear on held: ")
    accuracies = pq.read_table(images.path / "data/bias/accuracies.parquet")
    assert set(accuracies["model"].to_pylist()) == {"linear"} and accuracies["top5"].null_count == accuracies.num_rows
    assert pq.read_table(images.path / "data/bias/words.parquet").num_rows == 0
    assert pq.read_table(images.path / "data/bias/neighbours.parquet").num_rows > 0


def test_with_models_of_words_alone_distances_are_the_summary(images: Workspace) -> None:
    run(features.STEP, images)
    run(aflite.STEP, images)
    images = with_sections(images, bias=Bias(models=("max-pmi",), seeds=(1,)))
    assert run(bias.STEP, images).endswith(" distances")
