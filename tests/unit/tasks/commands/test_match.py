"""The command `match` as it is typed: from a collection's matcher to a table of matches."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cartograph.data.spreadsheet import read_sheet
from cartograph.pairs.tables import load_task
from tasks.__main__ import main
from tasks.collection import publish
from tasks.engine.running import run_step
from tasks.engine.step import Inputs, Out
from tasks.engine.workspace import CODE, Workspace
from tasks.pipelines import steps_of
from tests.workspaces import open_new, use_project

WORDS = [f"word{number}" for number in range(80)]


def table(path: Path, rows: list[tuple[str, str, str]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("id", "name", "price"), *rows])
    return path


def shops(rng: np.random.Generator, number: int) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]:
    left = [(f"a{row}", " ".join(rng.choice(WORDS, 5)), f"{rng.uniform(5, 500):.2f}") for row in range(number)]
    return left, [(f"b{row}", f"{' '.join(name.split()[::-1])} =new", price) for row, (_, name, price) in enumerate(left)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("project")
    (path / "src").symlink_to(CODE / "src")
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_project(path, monkeypatch)
        monkeypatch.chdir(path)
        yield path


@pytest.fixture(scope="module")
def space(project: Path) -> Workspace:
    """A collection about two shops of 60 products, whose two rounds are done."""
    left, right = shops(np.random.default_rng(1), 60)
    table(project / "a.csv", left)
    table(project / "b.csv", right)
    stated = [(one[0], other[0], int(row == place)) for row, one in enumerate(left) for place, other in enumerate(right) if place - row < 3]
    lines = "".join(f"{one},{other},{label}\n" for one, other, label in stated)
    (project / "pairs.csv").write_text(f"ltable_id,rtable_id,label\n{lines}")
    sides = {f"{side}_table": {"path": f"{name}.csv", "text": ["name", "price"]} for side, name in (("left", "a"), ("right", "b"))}
    given = {"source": "files", "train": ["pairs.csv"], "symmetric": False, "left_id": "ltable_id", "right_id": "rtable_id", **sides}
    space = open_new(
        project / "workspaces/shops",
        pairs=given,
        encode={"model": "matcher", "neighbours": 10, "random_negatives": 200},
        collect={"methods": ["uncertainty"], "first_round": 60, "rounds": 2, "resamples": 20, "seed_set": "spread"},
        publish={"enabled": False},
    )
    for step in steps_of(space.settings):
        if step.name != "report":
            run_step(step, space)
    return space


def match(*arguments: str, code: int = 0) -> None:
    assert main(["match", "-w", "workspaces/shops", *arguments]) == code


def test_the_collections_own_records_are_matched(space: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    match("--one-to-one", "--clusters")
    path = space.path / "reports/matches.csv"
    rows = [row.cells for row in read_sheet(path.read_bytes(), path.name, ("left_id", "right_id", "probability", "alike", "cluster"))]
    right = [row["left_id"][1:] == row["right_id"][1:] for row in rows]
    assert len(rows) > 40
    assert np.mean(right) > 0.95
    assert {len({row[name] for row in rows}) for name in ("left_id", "right_id", "cluster")} == {len(rows)}
    assert all(float(row["probability"]) >= 0.5 for row in rows)
    said = " ".join(capsys.readouterr().out.split())
    assert f"{len(rows)} matches among 60 × 60 records, with a probability of 0.500 or more." in said
    unstated = "where pairs that nobody has stated count as wrong"
    assert re.search(rf"at this probability, at least \d+\.\d % of the matches are right, {unstated}, and \d", said)
    assert "; with one partner each, more are right" in said


def test_new_tables_are_matched_at_a_precision(space: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left, right = shops(np.random.default_rng(7), 30)
    a, b, out = table(tmp_path / "left.csv", left), table(tmp_path / "right.csv", right), tmp_path / "found.parquet"
    match("--left", str(a), "--right", str(b), "--precision", "0.9", "--out", str(out))
    found = pq.read_table(out).to_pylist()
    assert list(found[0]) == ["left_id", "right_id", "left", "right", "probability", "alike"]
    assert len(found) >= 15
    assert np.mean([row["left_id"][1:] == row["right_id"][1:] for row in found]) > 0.9
    assert found[0]["alike"].endswith("price 1.00")
    assert "among 30 × 30 records" in capsys.readouterr().out
    match("--left", str(a), "--right", str(b), "--out", str(out), code=2)
    assert "exists already; name another file" in capsys.readouterr().err


@pytest.mark.slow
def test_the_matcher_is_loaded_from_mlflow_and_says_what_match_says(
    space: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    import mlflow
    import pandas as pd

    match("--threshold", "0.001", "--out", str(tmp_path / "every.parquet"))
    # What was set in this process goes before the environment.
    monkeypatch.setattr("mlflow.tracking._tracking_service.utils._tracking_uri", None)
    publish_to(tmp_path, space, monkeypatch)
    [run] = mlflow.search_runs(experiment_names=["shops"], filter_string="tags.`cartograph.kind` = 'collection'", output_format="list")
    assert run.info.run_name.startswith("collection 2")
    [model] = mlflow.search_logged_models([run.info.experiment_id], output_format="list")
    assert (model.name, model.model_type, str(model.status)) == ("matcher", "matcher", "READY")
    beneath = mlflow.get_run(model.source_run_id)
    assert beneath.data.tags["mlflow.parentRunId"] == run.info.run_id
    assert {metric.key: metric.dataset_name for metric in model.metrics}["test.average_precision"] == "shops"
    kept = [path.suffix for path in Path(model.artifact_location.removeprefix("file://")).rglob("*") if path.is_file()]
    assert set(kept) == {"", ".yaml", ".txt", ".py", ".json", ".parquet", *([".npz"] if ".npz" in kept else [])}, "nothing is pickled"
    matcher = mlflow.pyfunc.load_model(f"models:/{model.model_id}")
    assert matcher.metadata.get_input_schema().input_names() == ["left_name", "left_price", "right_name", "right_price"]
    assert matcher.metadata.get_output_schema().input_names() == ["probability"]
    sides = {side: pd.read_csv(space.path.parent.parent / f"{name}.csv", dtype=str) for side, name in (("left", "a"), ("right", "b"))}
    found = pd.read_parquet(tmp_path / "every.parquet")
    for side, rows in sides.items():
        found = found.merge(rows.rename(columns={"id": f"{side}_id", "name": f"{side}_name", "price": f"{side}_price"}), on=f"{side}_id")
    assert len(found) > 60
    assert matcher.predict(found[["left_name", "left_price", "right_name", "right_price"]]).to_numpy() == pytest.approx(
        found["probability"].to_numpy(), abs=1e-6
    )
    new = pd.DataFrame({"left_name": ["word3 word9 word70 word5"] * 2, "left_price": ["12.50"] * 2})
    new = new.assign(right_name=["word5 word70 word9 word3 =new", "word1 word2"], right_price=["12.50", None])
    same, other = matcher.predict(new)
    assert same > 0.5 > other
    assert not [warned for warned in recwarn if "Add type hints" in str(warned.message)]


def publish_to(folder: Path, space: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the step `publish` of a collection on a store in a folder."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{folder}/mlflow.db")
    inputs = Inputs(space, publish.STEP.inputs_of(space.settings))
    page = inputs["reports/report.html"]
    if not page.exists():
        page.write_text("<p>report</p>")
    staged = folder / "staged"
    staged.mkdir()
    publish.run(publish.Publish(), inputs, Out(space, {"data/publish": staged}, staged, staged, staged))


def test_the_same_run_gives_the_same_bytes(space: Workspace) -> None:
    path = space.path / "reports/matches.csv"
    match("--threshold", "0.2")
    first = path.read_bytes()
    match("--threshold", "0.2")
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "found.xlsx"], "--out found.xlsx: matches are written as .csv or .parquet"),
        (["--left", "b-without.csv"], "b-without.csv has no column `name`"),
        (["--left", "nowhere.csv"], "nowhere.csv"),
        (["--right", "b-without.csv"], "--right needs --left: the table that it is matched with."),
        (["--precision", "0.9", "--threshold", "0.4"], "--precision and --threshold both say where matches end; give one of them."),
    ],
)
def test_what_does_not_fit_is_said(
    space: Workspace, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(project)
    (project / "b-without.csv").write_text("id,price\nx,1\n")
    match(*arguments, code=2)
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_collection_without_a_round_says_what_to_run(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    open_new(project / "workspaces/new", pairs={}, collect={}, encode={"model": "matcher"})
    assert main(["match", "-w", "workspaces/new"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "no round is done yet; run `python -m flows.collect --workspace workspaces/new` first." in said
    open_new(project / "workspaces/cosine", pairs={}, collect={})
    assert main(["match", "-w", "workspaces/cosine"]) == 2
    assert "this collection's model is `cosine-bow`" in capsys.readouterr().err


@pytest.mark.slow
def test_texts_that_learnt_vectors_are_matched_with_theirs(project: Path, tmp_path: Path) -> None:
    space = open_new(
        project / "workspaces/questions",
        pairs={"rows": 300},
        encode={"model": "matcher", "neighbours": 8, "random_negatives": 300},
        collect={"methods": ["stated"], "first_round": 100, "rounds": 1, "resamples": 20},
        publish={"enabled": False},
    )
    for step in steps_of(space.settings):
        if step.name not in ("compare", "report"):
            run_step(step, space)
    task = load_task(space.path / "data/pairs")
    path = tmp_path / "texts.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("left",), *((text,) for text in task.left[:120])])
    assert main(["match", "-w", "workspaces/questions", "--left", str(path), "--threshold", "0.01", "--out", str(tmp_path / "m.csv")]) == 0
    rows = [row.cells for row in read_sheet((tmp_path / "m.csv").read_bytes(), "m.csv", ("left_id", "right_id"))]
    assert rows
    assert all(int(row["left_id"]) < int(row["right_id"]) <= 120 for row in rows), "rows of the table name its records, each pair once"
