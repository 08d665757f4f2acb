"""The steps features and aflite, on small sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.config import Settings, load_settings
from cartograph.errors import InputError
from cartograph.features.vectors import write_features
from cartograph.models.registry import MODELS
from cartograph.schema import AFLITE, AFLITE_HISTORY, dataset_info
from tasks.audit import aflite, bias, features
from tasks.audit.embed import STEP as EMBED
from tasks.audit.embed import Embed
from tasks.audit.parameters.aflite import Aflite
from tasks.audit.parameters.bias import Bias
from tasks.audit.parameters.features import Features
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.parameters.train import Train
from tasks.engine.step import Inputs, Out
from tasks.engine.workspace import CODE, Workspace
from tests.training_sets import small_set
from tests.workspaces import with_sections

TRAIN, HELD = "data/ingest/train.parquet", "data/ingest/held.parquet"


def ingest_of(*evaluation: str) -> Ingest:
    sets = {name: {"files": [f"{name}.csv"]} for name in evaluation}
    return Ingest.model_validate({"source": "files", "train": "train.csv", "text": ["premise", "hypothesis"], "evaluation": sets})


def settings_of(**sections: Any) -> Settings:
    first = Settings({"ingest": ingest_of("held"), "embed": Embed(), "train": Train(epochs=2)})
    return first | {"features": Features(), "aflite": Aflite(), "bias": Bias()} | sections


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    (tmp_path / "data/ingest").mkdir(parents=True)
    pq.write_table(small_set("pair", rows=120), tmp_path / TRAIN)
    pq.write_table(small_set("pair", rows=40, seed=9, name="held", domain="id"), tmp_path / HELD)
    return Workspace(tmp_path, settings_of())


def run(step: Any, space: Workspace) -> str:
    """Run a step in place: what it writes stands where later steps look for it."""
    names = step.outputs_of(space.settings)
    staged = {name: space.resolve(name) for name in names}
    for name, path in staged.items():
        (path.parent if Path(name).suffix else path).mkdir(parents=True, exist_ok=True)
    out = Out(space, staged, space.path / "checkpoints" / step.name, space.path / "reports", space.path / "failed")
    return str(step.run(space.settings[step.name], Inputs(space, step.inputs_of(space.settings)), out))


def test_from_texts_to_a_filtered_version(space: Workspace) -> None:
    assert run(features.STEP, space) == "bow, 119 numbers a row"
    told = run(aflite.STEP, space)
    folder = space.path / "data/aflite"
    rows, history = pq.read_table(folder / "aflite.parquet"), pq.read_table(folder / "history.parquet")
    filtered, record = pq.read_table(folder / "filtered.parquet"), json.loads((folder / "aflite.json").read_text())
    assert rows.schema.equals(AFLITE) and history.schema.equals(AFLITE_HISTORY)
    assert rows["uid"].to_pylist() == sorted(small_set("pair", rows=120)["uid"].to_pylist())
    kept = rows.filter(rows["kept"])
    assert sorted(filtered["uid"].to_pylist()) == kept["uid"].to_pylist()
    assert kept["removed_in_round"].null_count == kept.num_rows == record["kept"]
    assert dataset_info(filtered.schema) == dataset_info(small_set("pair").schema)
    assert record["train_size"] == 12 and record["target_size"] == 40 and record["slice_size"] == 2
    assert told.startswith(f"120 to {record['kept']} rows in {record['rounds']} rounds, R .")
    metrics = json.loads((space.path / aflite.METRICS).read_text())
    assert metrics["aflite.bias_before"] > metrics["aflite.bias_after"]
    assert metrics["aflite.kept.share"] == record["kept"] / 120
    held = pq.read_table(folder / "evaluation/held.parquet")
    assert held.num_rows == 40 and record["evaluation"]["held"] == {"rows": 40, "kept": sum(held["kept"].to_pylist())}
    assert all((space.path / name).stat().st_size > 1000 for name in aflite.FIGURES)


def test_same_parameters_same_bytes(space: Workspace) -> None:
    run(features.STEP, space)
    found = []
    for _ in range(2):
        run(aflite.STEP, space)
        found.append([path.read_bytes() for path in sorted((space.path / "data/aflite").rglob("*.*"))])
        found[-1] += [(space.path / name).read_bytes() for name in aflite.FIGURES]
        (space.path / "data/aflite/evaluation/held.parquet").unlink()
        (space.path / "data/aflite/evaluation").rmdir()
    assert found[0] == found[1]


def test_rows_that_the_model_learnt_from_leave_the_pool(space: Workspace) -> None:
    space = with_sections(space, features=Features(source="finetuned", held_back=0.25))
    assert run(features.STEP, space) == "finetuned, 64 numbers a row, 30 rows held back"
    run(aflite.STEP, space)
    assert pq.read_table(space.path / "data/aflite/aflite.parquet").num_rows == 90
    assert pq.read_table(space.path / "data/features/held.parquet").num_rows == 40


def test_a_users_features_count_and_evaluation_sets_without_any_are_left_out(space: Workspace) -> None:
    rows = small_set("pair", rows=120)
    label = rows["label"].to_numpy()
    vectors = np.random.default_rng(0).normal(label[:, None], 0.5, (120, 3)).astype(np.float32)
    order = np.random.default_rng(1).permutation(120)
    write_features(rows["uid"].take(pa.array(order)), vectors[order], space.path / "mine.parquet")
    space = with_sections(space, features=Features(source="file", file=str(space.path / "mine.parquet")))
    # The held-out set's uids begin with the same letters: rows of one name would be taken for each other.
    pq.write_table(_renamed(small_set("pair", rows=40, seed=9, name="held", domain="id")), space.path / HELD)
    assert run(features.STEP, space) == "file, 3 numbers a row"
    run(aflite.STEP, space)
    record = json.loads((space.path / "data/aflite/aflite.json").read_text())
    assert record["evaluation"] == {}
    assert record["bias_before"] > 0.75


def _renamed(table: pa.Table) -> pa.Table:
    return table.set_column(0, table.schema.field(0), pa.array([f"h{row}" for row in range(table.num_rows)]))


def test_features_missing_for_some_rows_are_named(space: Workspace) -> None:
    uids = small_set("pair", rows=120)["uid"].slice(1)
    write_features(uids, np.ones((119, 2), np.float32), space.path / "mine.parquet")
    space = with_sections(space, features=Features(source="file", file=str(space.path / "mine.parquet")))
    with pytest.raises(InputError, match=r"mine\.parquet has no features of uid 'u0000' \(1 of 120 rows have none\)"):
        run(features.STEP, space)


def test_rows_that_share_a_text_stay_together(space: Workspace) -> None:
    run(features.STEP, space)
    space = with_sections(space, aflite=Aflite(group_by="premise", train_size=20))
    run(aflite.STEP, space)
    rows = pq.read_table(space.path / TRAIN)
    rows = rows.set_column(1, "premise", pa.array([f"premise {row // 3}" for row in range(120)]))
    assert aflite._groups("premise", rows).tolist() == [row // 3 for row in range(120)]
    assert json.loads((space.path / "data/aflite/aflite.json").read_text())["group_by"] == "premise"
    space = with_sections(space, aflite=Aflite(group_by="topic"))
    with pytest.raises(InputError, match=r"`aflite.group_by` is 'topic', which is no text column of the set; .*premise, hypothesis"):
        run(aflite.STEP, space)


def test_a_greedy_filter_takes_one_row_a_round() -> None:
    assert aflite._sizes(Aflite(variant="greedy", slice_size=9), 120) == {"train_size": 12, "target_size": 40, "slice_size": 1}


def test_before_and_after_by_quick_and_by_trained_models(space: Workspace) -> None:
    run(features.STEP, space)
    run(aflite.STEP, space)
    space = with_sections(space, bias=Bias(models=("linear", "bow"), partial=("linear", "bow"), seeds=(1,), words=3))
    told = run(bias.STEP, space)
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
    assert told.startswith("linear on held: ") and f"of 120 rows, random {kept}" in told
    words = pq.read_table(folder / "words.parquet")
    assert set(words["listed"].to_pylist()) <= {"before", "after"} and words.num_rows
    neighbours = pq.read_table(folder / "neighbours.parquet").to_pylist()
    assert {(row["version"], row["set"]) for row in neighbours} == {("before", "held"), ("after", "held")}
    assert all(row["distance"] is None or 0 <= row["distance"] <= 2 * row["top"] for row in neighbours)


def test_data_without_evaluation_sets_are_compared_on_a_part_held_out(space: Workspace) -> None:
    space = with_sections(space, ingest=ingest_of())
    for step in (features.STEP, aflite.STEP, bias.STEP):
        run(step, space)
    accuracies = pq.read_table(space.path / "data/bias/accuracies.parquet").to_pylist()
    assert {row["set"] for row in accuracies} == {"held out"}
    assert {row["train_rows"] for row in accuracies if row["trained_on"] == "full"} == {96}
    assert {row["test_rows"] for row in accuracies if row["tested_on"] == "full"} == {24}


def test_bias_reads_what_its_models_need() -> None:
    named = settings_of(bias=Bias(models=("probe",)))
    assert "data/embed" in bias.STEP.inputs_of(named) and EMBED.when(named)
    assert "data/embed" not in bias.STEP.inputs_of(settings_of())
    assert not bias.STEP.when(settings_of(aflite=Aflite(enabled=False)))
    assert not bias.STEP.when(settings_of(bias=Bias(enabled=False)))


def test_frozen_features_need_an_encoder_and_its_step() -> None:
    frozen = settings_of(features=Features(source="frozen"))
    assert EMBED.when(frozen)
    assert not EMBED.when(settings_of())
    assert features.STEP.inputs_of(frozen) == (TRAIN, HELD, "data/embed")
    with pytest.raises(InputError, match=r"features of a frozen encoder need `embed.pretrained`"):
        EMBED.inputs_of(frozen)
    off = settings_of(features=Features(source="frozen"), aflite=Aflite(enabled=False))
    assert not EMBED.when(off) and not features.STEP.when(off) and not aflite.STEP.when(off)


@pytest.mark.parametrize(
    ("trained", "asked", "start"),
    [
        ({"model": "bow"}, {"model": "probe"}, "data/embed"),
        ({"model": "probe"}, {}, "data/embed"),
        ({"model": "probe"}, {"model": "bow"}, None),
        ({"model": "probe"}, {"model": "transformer"}, InputError),
        ({"model": "bow", "pretrained": "./mine"}, {"model": "transformer"}, "mine"),
        ({"model": "transformer", "pretrained": "./mine"}, {"model": "transformer", "pretrained": "./other"}, "other"),
        ({"model": "transformer", "pretrained": "owner/name"}, {}, "owner/name"),
    ],
)
def test_what_a_fine_tuned_model_starts_from_is_an_input(space: Workspace, trained: Any, asked: Any, start: Any) -> None:
    space = with_sections(space, train=Train(**trained), features=Features(source="finetuned", **asked))
    out = Out(space, {}, space.path, space.path, space.path)
    params = space.settings["features"]
    if start is InputError:
        with pytest.raises(InputError, match=r"features of a fine-tuned `transformer` need `features\.pretrained`"):
            features._recipe(params, out)
        return
    path = {"data/embed": space.path / "data/embed", "mine": CODE / "mine", "other": CODE / "other"}.get(start, start)
    assert features._recipe(params, out).pretrained == (path and str(path))
    name = {"mine": "file:./mine", "other": "file:./other", "data/embed": "data/embed"}.get(start)
    assert features.STEP.inputs_of(space.settings) == (TRAIN, HELD, *([name] if name else []))


def test_a_model_that_saw_one_class_names_it(space: Workspace) -> None:
    predict = bias._Predictor(Bias(models=("bow",)), Out(space, {}, space.path, space.path, space.path))
    rows = small_set("pair", rows=40)
    one = rows.filter(pa.array(rows["label"].to_numpy() == 1))
    assert predict("bow", "whole input", 1, one, {"held": rows})["held"].tolist() == [1] * 40
    assert (predict("linear", "whole input", 1, one, {"held": rows})["held"].argmax(axis=1) == 1).all()


def test_bias_starts_a_model_from_the_projects_own_folder(space: Workspace) -> None:
    """Wherever the command is called from; and the folder is an input, whatever the audit's own model is."""
    settings = settings_of(train=Train(pretrained="./mine"), bias=Bias(models=("transformer",)))
    space = with_sections(space, **settings)
    out = Out(space, {}, space.path, space.path, space.path)
    assert bias._recipe("transformer", out, 1).pretrained == str(CODE / "mine")
    assert "file:./mine" in bias.STEP.inputs_of(settings)
    both = settings_of(train=Train(model="probe"), bias=Bias(models=("probe", "linear")))
    assert bias.STEP.inputs_of(both).count("data/embed") == 1


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("features: {source: file}", "`features`: source `file` needs `file`"),
        ("features: {source: finetuned, model: big}", f"model should be one of {', '.join(MODELS)}, but is 'big'"),
        ("aflite: {threshold: 2}", "`aflite.threshold`"),
        ("aflite: {variant: slow}", "`aflite.variant`"),
        ("bias: {models: [big]}", f"models should be of linear, max-pmi, {', '.join(MODELS)}, but one is 'big'"),
        ("bias: {partial: [probe]}", "partial inputs of `probe` would need vectors of their own"),
    ],
)
def test_wrong_parameters(tmp_path: Path, section: str, message: str) -> None:
    (tmp_path / "params.yaml").write_text(section)
    with pytest.raises(InputError) as raised:
        load_settings(tmp_path / "params.yaml", {"features": Features, "aflite": Aflite, "bias": Bias})
    assert message in str(raised.value)
