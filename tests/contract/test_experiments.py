"""What every listed experiment must do, on a small real map."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

from cartograph.errors import InputError
from cartograph.experiments.experiment import Experiment, Material
from cartograph.experiments.registry import EXPERIMENTS
from tasks.audit.ablate import STEP, run_beside
from tasks.engine.running import run_step
from tests import training_sets
from tests.experiment_material import RECIPE, make_material
from tests.training_sets import info_of
from tests.workspaces import ingest_of, make_workspace, save, settings_of


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    return make_material(tmp_path_factory.mktemp("material"))


LONG = {"fractions", "order"}
"""Those that train a model many times over."""


@pytest.fixture(
    params=[pytest.param(one, id=one.name, marks=[pytest.mark.slow] if one.name in LONG else []) for one in EXPERIMENTS.values()]
)
def experiment(request: pytest.FixtureRequest) -> Experiment:
    return request.param


@pytest.mark.slow
def test_an_experiment_has_a_question_and_an_answer_with_tables_a_figure_and_numbers(
    experiment: Experiment, material: Material, tmp_path: Path
) -> None:
    assert EXPERIMENTS[experiment.name] is experiment
    assert experiment.meaning.endswith("?")
    progress: list[tuple[int, int]] = []
    found = experiment.run(replace(material, folder=tmp_path / "first", progress=lambda done, total: progress.append((done, total))))
    assert found.answer
    assert isinstance(found.figure, Figure)
    assert found.tables
    assert all(table.num_rows for table in found.tables.values())
    assert found.numbers
    assert all(np.isfinite(value) for value in found.numbers.values())
    assert all(0 < done <= total for done, total in progress)
    again = experiment.run(replace(material, folder=tmp_path / "second"))
    assert (again.answer, dict(again.numbers)) == (found.answer, dict(found.numbers))


@pytest.mark.slow
def test_a_class_that_the_most_ambiguous_rows_lack_breaks_nothing_off(material: Material, tmp_path: Path) -> None:
    labels = ("quiet", "loud", "silent")
    info = replace(info_of("single"), labels=labels)
    given = [2 if row < 3 else label for row, label in enumerate(material.examples["label"].to_pylist())]
    rows = training_sets.table(info, {"text": material.examples["text"].to_pylist()}, given)
    held = training_sets.table(replace(info, name="held", domain="id"), {"text": rows["text"].to_pylist()[:20]}, given[:20])
    place = material.measures.schema.get_field_index("variability")
    steady = material.measures.set_column(place, material.measures.schema.field(place), pa.array([0.0] * 3 + [0.1] * 61))
    options = {**material.options, "fractions": (0.1,), "mixed_fraction": 0.1, "mixed_shares": ()}
    known = replace(material, examples=rows, evaluation={"held": held}, measures=steady, options=options, folder=tmp_path)
    found = EXPERIMENTS["fractions"].run(replace(known, recipe=replace(RECIPE, epochs=1)))
    assert {(row["strategy"], row["rows"]) for row in found.tables["means"].to_pylist()} >= {("ambiguous", 6), ("all", 64)}


def test_what_an_experiment_lacks_is_named(material: Material) -> None:
    with pytest.raises(InputError, match=r"`burn-out` needs dynamics per epoch, but only coordinates were imported"):
        EXPERIMENTS["burn-out"].run(replace(material, dynamics=None))
    with pytest.raises(InputError, match=r"`dropout` needs an evaluation set of the train set's distribution"):
        EXPERIMENTS["dropout"].run(replace(material, evaluation={}))
    with pytest.raises(InputError, match=r"`agreement` needs the annotators' labels; name their column in `ingest.annotators`"):
        EXPERIMENTS["agreement"].run(replace(material, examples=material.examples.drop(["annotator_labels"])))
    few = material.examples.set_column(
        material.examples.schema.get_field_index("annotator_labels"), "annotator_labels", pa.array([["quiet"]] * 64)
    )
    with pytest.raises(InputError, match="needs 30 rows or more with two annotators' labels, and the train set has 0"):
        EXPERIMENTS["agreement"].run(replace(material, examples=few))
    with pytest.raises(InputError, match=r"`steps` reads every 1,000 optimiser steps, and a training on 64 rows has 24 in all; lower `abl"):
        EXPERIMENTS["steps"].run(replace(material, options={**material.options, "every": 1000}))


@pytest.mark.parametrize(
    ("confidence", "message"),
    [
        ([0.5] * 64, r"has nothing to correlate: confidence is 0.5 on each of the 64 rows"),
        ([0.2, 0.8] * 32, r"cannot separate confidence from variability on the 64 rows .*: a term is a sum of the other ones"),
    ],
)
def test_measures_that_say_too_little_are_refused(material: Material, confidence: list[float], message: str) -> None:
    place = material.measures.schema.get_field_index("confidence")
    flat = material.measures.set_column(place, material.measures.schema.field(place), pa.array(confidence))
    with pytest.raises(InputError, match=message):
        EXPERIMENTS["agreement"].run(replace(material, measures=flat))


def test_the_second_models_folder_is_an_input_of_the_experiment_that_reads_it(tmp_path: Path) -> None:
    (tmp_path / "{mine}").mkdir()
    named = {"other_model": "transformer", "other_pretrained": str(tmp_path / "{mine}")}
    for experiments, wanted in ((("models",), True), (("seeds",), False)):
        settings = settings_of(ingest=ingest_of(training_sets.small_set()), train={}, ablate={"experiments": experiments, **named})
        [cell] = STEP.expand(settings)
        found = cell.inputs_of(settings)
        assert (f"file:{tmp_path}/{{mine}}" in found) == wanted


def test_the_step_writes_them_a_cell_each(material: Material, tmp_path: Path) -> None:
    save(material.measures, tmp_path / "data/measure/measures.parquet")
    shutil.copytree(material.dynamics, tmp_path / "data/train/dynamics")  # type: ignore[arg-type]
    space = make_workspace(
        tmp_path,
        material.examples,
        train={"epochs": 3, "device": "cpu", "threads": 1},
        measure={},
        ablate={"experiments": ("burn-out", "agreement", "nothing")},
    )
    cells = {step.name: step for step in STEP.expand(space.settings)}
    assert list(cells) == ["ablate@burn-out", "ablate@agreement", "ablate@nothing"]
    done = run_step(cells["ablate@burn-out"], space)
    folder = tmp_path / "data/ablate/burn-out"
    assert {path.name for path in folder.iterdir()} == {
        "burn-out.png",
        "burn-out.svg",
        "curve.parquet",
        "finding.json",
        "finding.md",
        "numbers.json",
    }
    assert json.loads((folder / "numbers.json").read_text())["burn_out.confidence.epoch_3"] == pytest.approx(1.0)
    page = (folder / "finding.md").read_text()
    assert page.startswith("# burn-out: how many epochs until the map no longer changes?")
    assert done.receipt.summary[1:] in page
    said = json.loads((folder / "finding.json").read_text())
    assert (said["name"], said["answer"], said["tables"]) == ("burn-out", done.receipt.summary, ["curve"])
    by_hand = tmp_path / "by-hand"
    by_hand.mkdir()
    with space.lock("an audit"), pytest.raises(InputError, match=r"is busy: `an audit`.* holds it"):
        run_beside("burn-out", space, by_hand)
    assert run_beside("burn-out", space, by_hand) == done.receipt.summary
    with pytest.raises(InputError, match=r"experiment `burn-out` is about an audit, and .* is a collection of pairs"):
        run_beside("burn-out", make_workspace(tmp_path), by_hand)
    with pytest.raises(
        InputError, match=r"`ablate.experiments` names `nothing`; there are burn-out, seeds, steps, dropout, agreement, models"
    ):
        run_step(cells["ablate@nothing"], space)
