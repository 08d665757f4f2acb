"""A whole collection in a real workspace: rounds, methods, resumption, people who answer, and its page."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from cartograph.data.spreadsheet import read_sheet, write_sheet
from cartograph.errors import InputError, WaitingError
from cartograph.page.collection.content import Collection
from cartograph.page.collection.pages import collection_page
from cartograph.page.step_results import HowMade
from cartograph.pairs.methods import METHODS
from cartograph.pairs.models.registry import load_model
from cartograph.pairs.tables import keys_of, load_task
from tasks.collection.waiting_page import leave_page
from tasks.commands import dvc_yaml
from tasks.engine.dag import upstream
from tasks.engine.digest import digest_path
from tasks.engine.receipt import fresh
from tasks.engine.running import Outcome, run_step
from tasks.engine.workspace import CODE, Workspace
from tasks.paper import pair_tables
from tasks.paper.pair_classifiers import models_table
from tasks.pipelines import COLLECTION_SECTIONS, open_workspace, pipeline, steps_of
from tests.workspaces import open_new, use_project, with_sections

SMALL: dict[str, dict[str, Any]] = {
    "pairs": {"rows": 400},
    "encode": {"neighbours": 15, "near": 15, "random_negatives": 300},
    "collect": {"first_round": 30, "rounds": 3, "epochs": 2, "resamples": 20},
    "publish": {"enabled": False},
}


def small(path: Path, **changes: dict[str, Any]) -> Workspace:
    """A workspace of the built-in pairs, few of them, and three rounds."""
    return open_new(path, **{name: {**SMALL.get(name, {}), **changes.get(name, {})} for name in COLLECTION_SECTIONS})


def run_all(workspace: Workspace) -> dict[str, Outcome]:
    return {step.name: run_step(step, workspace) for step in steps_of(workspace.settings)}


def content(space: Workspace, name: str) -> Any:
    return json.loads((space.path / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The project of every test here: the collection that they share belongs to it."""
    path = tmp_path_factory.mktemp("project")
    (path / "src").symlink_to(CODE / "src")  # the page's assets are an input of its step
    with pytest.MonkeyPatch.context() as patch:
        yield use_project(path, patch)


@pytest.fixture(scope="module")
def done(project: Path) -> Workspace:
    """A collection with every method, from its first step to its page."""
    space = small(project / "workspaces" / "done", collect={"methods": list(METHODS)})
    run_all(space)
    return space


@pytest.fixture
def empty(project: Path, request: pytest.FixtureRequest) -> Path:
    """The folder of a workspace that is to be made."""
    return project / "workspaces" / request.node.name


def rounds_of(space: Workspace, method: str) -> list[Any]:
    folders = [f"match-{number}/1" if method == "stratified-match" else f"round-{number}/{method}-1" for number in (1, 2, 3)]
    return [pq.read_table(space.path / "data" / folder / "collected.parquet") for folder in folders]


@pytest.mark.parametrize("method", METHODS)
def test_no_label_is_asked_twice_and_none_is_lost(done: Workspace, method: str) -> None:
    task = load_task(done.path / "data/pairs")
    tables = rounds_of(done, method)
    for number, table in enumerate(tables, start=1):
        keys = keys_of(table, len(task.right))
        assert len(set(keys.tolist())) == len(keys)
        assert task.space("train").contains(keys).all()
        assert table["label"].to_numpy().tolist() == task.labels(keys).tolist()
        assert table.slice(0, len(tables[number - 2])).equals(tables[number - 2]) or number == 1
        assert set(table["round"].to_pylist()) == set(range(1, number + 1))
    if method != "stated":
        assert [len(table) for table in tables] == [30, 75, 142]


def test_stratified_collections_have_the_positives_that_they_are_to_have(done: Workspace) -> None:
    def positives(method: str) -> list[int]:
        return [int((table["label"].to_numpy() == 1).sum()) for table in rounds_of(done, method)]

    assert positives("stratified-match") == positives("uncertainty")
    every = len(load_task(done.path / "data/pairs").positives("train"))
    assert positives("stratified-all-positives") == [min(size, every) for size in (30, 75, 142)]
    assert positives("random")[-1] <= 5


def test_steps_stand_after_what_they_read_and_write_where_no_other_does(done: Workspace) -> None:
    seen: set[str] = set()
    outputs: list[str] = []
    steps = steps_of(done.settings)
    for step in steps:
        assert upstream(step, steps, done.settings) <= seen, step.name
        seen.add(step.name)
        outputs += step.outputs_of(done.settings)
    assert len(outputs) == len(set(outputs))


def test_one_more_seed_collects_once_more_and_nothing_again(done: Workspace) -> None:
    more = with_sections(done, collect=done.settings["collect"].model_copy(update={"seeds": (1, 2)}))
    stale = {step.name for step in steps_of(more.settings) if fresh(step, more) is None}
    assert {name for name in stale if name.startswith(("round-", "match-")) and not name.endswith("2")} == set()
    assert "round-1@random-2" in stale
    assert "compare" in stale


def test_a_collection_that_was_stopped_ends_in_the_same_bytes(done: Workspace) -> None:
    folder, receipt = done.path / "data/round-3/uncertainty-1", done.path / "data/round-3/uncertainty-1.receipt.json"
    before = digest_path(folder)
    shutil.rmtree(folder)
    receipt.unlink()
    (done.path / "data/round-2/uncertainty-1/next.parquet").unlink()
    outcomes = run_all(done)
    assert {name for name, outcome in outcomes.items() if outcome.executed} == {"round-2@uncertainty-1", "round-3@uncertainty-1"}
    assert digest_path(folder) == before


def test_the_last_model_comes_back_with_its_calibration(done: Workspace) -> None:
    model = load_model(done.path / "data/round-3/uncertainty-1/model")
    task = load_task(done.path / "data/pairs")
    vectors = model.embedder.vectors(model.embedder.encode(task.left))
    keys = rounds_of(done, "uncertainty")[-1]
    cosine = (vectors[keys["left"].to_numpy()] * vectors[keys["right"].to_numpy()]).sum(axis=1)
    probability = model.calibration.probability(cosine)
    assert probability.sum() == pytest.approx((keys["label"].to_numpy() == 1).sum(), abs=0.05)


def test_the_comparison_says_who_is_best_and_what_was_collected(done: Workspace) -> None:
    metrics, versions = content(done, "reports/compare.metrics.json"), content(done, "data/compare/versions.json")
    for method in METHODS:
        assert 0 <= metrics[f"{method}.average_precision.low"] <= metrics[f"{method}.average_precision.high"] <= 1
        assert versions[f"{method}-1"]["rows"] == metrics[f"{method}.labels"]
    assert metrics["uncertainty.average_precision"] > metrics["random.average_precision"]
    table = pq.read_table(done.path / "data/compare/collected/uncertainty-1.parquet")
    assert table.column_names == ["left", "right", "label", "round"]
    page = (done.path / "reports/report.html").read_text(encoding="utf-8")
    assert "How the labels are chosen" in page
    assert set(re.findall(r"\w+://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}


def test_what_a_text_holds_stays_text(done: Workspace) -> None:
    hostile = "</script><script>alert(1)</script>"
    compared = done.path / "data/compare"
    mistakes = [{"left": hostile, "right": hostile, "probability": 0.5}]
    findings = {name: {**found, "mistakes": mistakes} for name, found in content(done, "data/compare/findings.json").items()}
    page = collection_page(
        Collection(
            methods=tuple(METHODS),
            summary=pq.read_table(compared / "summary.parquet").to_pylist(),
            differences=pq.read_table(compared / "differences.parquet").to_pylist(),
            metrics=content(done, "reports/compare.metrics.json"),
            task=content(done, "reports/pairs.metrics.json"),
            encoded=content(done, "reports/encode.metrics.json"),
            findings=findings,
            versions=content(done, "data/compare/versions.json"),
            hour=content(done, "data/compare/hour.json"),
            texts=160,
            how_made=HowMade(hostile, "command", {}, {}, {}),
        )
    )
    assert "alert(1)" in page
    assert "<script>alert" not in page


@pytest.mark.slow
def test_the_papers_tables_come_from_a_collection_that_is_done(done: Workspace, tmp_path: Path) -> None:
    for name in pair_tables.TABLES:
        folder = tmp_path / name
        folder.mkdir()
        pair_tables.run(name, done, folder)
        *tables, note = (folder / "table.md").read_text(encoding="utf-8").split("\n\n")
        assert note.startswith("Means over 1 seed(s), with 95 % intervals")
        for table in tables:
            header, rule, *lines = table.splitlines()
            assert header.count("|") == rule.count("|")
            assert lines
            for line in lines:
                assert line.count("|") == header.count("|")
                for value, low, high in re.findall(r"\| ([\d.]+) \(([\d.]+) to ([\d.]+)\)", line):
                    assert 0 <= float(low) <= float(high) <= 100
                    assert 0 <= float(value) <= 100
    seeds = json.loads((tmp_path / "pairs-seed-set/collections/similar/data/round-3/uncertainty-1/scores.json").read_text())
    assert seeds == content(done, "data/round-3/uncertainty-1/scores.json")
    journal = (tmp_path / "pairs-seed-set/collections/stated/.cartograph/journal.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in journal] == [f"round-{number}@uncertainty-1" for number in (1, 2, 3)]
    assert not (tmp_path / "pairs-seed-set/collections/similar/.cartograph/journal.jsonl").exists()


def test_a_classifier_of_labels_that_are_all_alike_is_refused(done: Workspace) -> None:
    folder = done.path / "data/round-3/static-retrieval-1"
    kept, table = (folder / "collected.parquet").read_bytes(), pq.read_table(folder / "collected.parquet")
    try:
        pq.write_table(table.set_column(2, table.schema.field(2), [np.zeros(len(table), np.int8)]), folder / "collected.parquet")
        with pytest.raises(InputError, match=r"^all 142 labels of `static-retrieval`, seed 1, are no: a classifier of pairs has nothing"):
            models_table(done, ["static-retrieval"])
    finally:
        (folder / "collected.parquet").write_bytes(kept)


@pytest.mark.slow
def test_judged_false_positives_correct_the_precision(done: Workspace) -> None:
    [compare] = [step for step in steps_of(done.settings) if step.name == "compare"]
    putative = content(done, "data/compare/findings.json")["uncertainty"]["putative"]
    task, sheet = load_task(done.path / "data/pairs"), done.path / "review/mistakes.csv"
    header, *lines = (done.path / "reports/mistakes.csv").read_text(encoding="utf-8-sig").splitlines()
    asked = {int(line.partition(",")[0].removeprefix("p")) for line in lines}
    assert asked >= {*putative["near"], *putative["random"]}
    assert not task.labels(np.array(sorted(asked))).any()
    sheet.parent.mkdir(exist_ok=True)
    filled = [f"{line.removesuffix(',,')},{'no' if place % 4 else 'yes'}," for place, line in enumerate(lines)]
    sheet.write_text("\n".join([header, *filled]), encoding="utf-8")
    try:
        assert run_step(compare, done).executed
        metrics = content(done, "reports/compare.metrics.json")
        real = {int(line.partition(",")[0].removeprefix("p")): ",no," in line for line in filled}
        near = [real[key] for key in putative["near"]]
        assert metrics["uncertainty.judged_near"] == len(near)
        assert metrics["uncertainty.real_near"] == pytest.approx(sum(near) / len(near))
        plain, name = metrics["uncertainty.precision_at_recall_20"], "uncertainty.precision_at_recall_20.corrected"
        assert plain < metrics[name] < 1
        assert metrics[f"{name}.low"] <= metrics[name] <= metrics[f"{name}.high"]
        run_step(steps_of(done.settings)[-1], done)
        assert "Precision as people correct it" in (done.path / "reports/report.html").read_text(encoding="utf-8")
        sheet.write_text("\n".join([header, filled[0].replace(",yes,", ",perhaps,")]), encoding="utf-8")
        with pytest.raises(InputError, match=r"^review/mistakes\.csv line 2: `perhaps` is no answer; write yes, no, or skip\.$"):
            run_step(compare, done)
    finally:
        sheet.unlink()
        run_all(done)


def test_every_round_of_every_method_has_an_interval(done: Workspace) -> None:
    rows = pq.read_table(done.path / "data/compare/summary.parquet").to_pylist()
    # Round 0 is the model before any label.
    assert len(rows) == len(METHODS) * 4 * 2
    for row in rows:
        assert 0 <= row["low"] <= row["high"] <= 1
    metrics = content(done, "reports/compare.metrics.json")
    for name in ("accuracy", "f1"):
        assert 0 <= metrics[f"uncertainty.stated.{name}.low"] <= metrics[f"uncertainty.stated.{name}.high"] <= 1


def test_a_table_of_methods_that_were_not_collected_is_refused(done: Workspace, tmp_path: Path) -> None:
    fewer = with_sections(done, collect=done.settings["collect"].model_copy(update={"methods": ("uncertainty",)}))
    with pytest.raises(
        InputError, match=r"^pairs-methods compares `random`, which `collect\.methods` of .* does not list; add it and collect\.$"
    ):
        pair_tables.run("pairs-methods", fewer, tmp_path)
    encode = done.settings["encode"].model_copy(update={"neighbours": 14})
    with pytest.raises(InputError, match=r"^the collection .* is not done with the parameters that it has now \(step `encode`\); run "):
        pair_tables.run("pairs-methods", with_sections(done, encode=encode), tmp_path)
    with pytest.raises(InputError, match=r"^pairs-methods is about a collection of pairs, and .* is an audit"):
        pair_tables.run("pairs-methods", open_new(done.path.with_name("audit"), ingest={}), tmp_path)


def answer(space: Workspace, number: int, word: str | None = None) -> None:
    """Fill a round's sheet in as somebody who knows the truth would, or with one word."""
    task, path = load_task(space.path / "data/pairs"), space.path / f"review/round-{number:02d}.csv"
    header, *lines = path.read_text(encoding="utf-8-sig").splitlines()
    keys = np.array([int(re.match(r"p(\d+),", line)[1]) for line in lines])  # type: ignore[index]
    words = [word or ("yes" if label else "no") for label in task.labels(keys)]
    filled = (f"{line.removesuffix(',,')},{one}," for line, one in zip(lines, words, strict=True))
    path.write_text("\n".join([header, *filled]), encoding="utf-8")


def test_people_answer_round_by_round(empty: Path) -> None:
    workspace = small(empty, collect={"methods": ["uncertainty"], "oracle": "people", "given": "none", "rounds": 2})
    steps = {step.name: step for step in steps_of(workspace.settings)}
    run_step(steps["pairs"], workspace)
    run_step(steps["encode"], workspace)
    first, second = steps["round-1@uncertainty-1"], steps["round-2@uncertainty-1"]
    with pytest.raises(
        WaitingError,
        match=r"^round 1 asks about 30 pairs, about 10 minutes of a person's time: answer them in .*/review/round-01\.csv",
    ):
        run_step(first, workspace)
    sheet = workspace.path / "review/round-01.csv"
    before = sheet.read_bytes()
    with pytest.raises(WaitingError, match=r"^review/round-01\.csv: 30 of the 30 pairs have no answer yet"):
        run_step(first, workspace)
    assert sheet.read_bytes() == before
    answer(workspace, 1)
    run_step(first, workspace)
    with pytest.raises(WaitingError, match=r"^round 2 asks about 45 pairs") as waits:
        run_step(second, workspace)
    assert leave_page(workspace, steps_of(workspace.settings), waits.value)
    page = (workspace.path / "reports/waiting.html").read_text(encoding="utf-8")
    assert "Round 2 of 2 waits for answers to 45 pairs" in page
    assert "Results so far" in page
    assert "review/round-02.csv" in page
    assert "review/round-02.csv" in dvc_yaml.render(workspace)
    assert waits.value.exit_code == 3
    answer(workspace, 2, word="skip")
    assert run_step(second, workspace).receipt.summary.startswith("75 labels, ")
    numbers = content(workspace, "data/round-2/uncertainty-1/scores.json")["numbers"]
    assert (numbers["labels"], numbers["answered"]) == (75, 30)
    assert not run_step(first, workspace).executed
    # Sheets that are gone, and one that was renamed because it no longer fits, are written again with what was answered.
    before = digest_path(workspace.path / "data/round-2/uncertainty-1")
    sheet.unlink()
    with pytest.raises(
        WaitingError, match=r"^round 1 asks about 30 pairs, .* 30 of them were answered before, and have that answer there\.$"
    ):
        run_step(first, workspace)
    run_step(first, workspace)
    shutil.rmtree(workspace.path / "data/round-2")
    path = workspace.path / "review/round-02.csv"
    path.rename(path.with_name("round-02-before.csv"))
    with pytest.raises(WaitingError, match=r" 45 of them were answered before") as waits:
        run_step(second, workspace)
    assert leave_page(workspace, steps_of(workspace.settings), waits.value)
    assert "Round 2 of 2 already has all its answers" in (workspace.path / "reports/waiting.html").read_text(encoding="utf-8")
    run_step(second, workspace)
    assert digest_path(workspace.path / "data/round-2/uncertainty-1") == before


def test_a_round_that_nobody_could_answer_is_named(empty: Path) -> None:
    one_round = {"methods": ["uncertainty"], "first_round": 4, "rounds": 1}
    for step in steps_of(small(empty, pairs={"rows": 200}, collect=one_round).settings)[:3]:
        run_step(step, open_workspace(empty))
    workspace = small(empty, pairs={"rows": 200}, collect={**one_round, "oracle": "people", "given": "none"})
    steps = {step.name: step for step in steps_of(workspace.settings)}
    # What the stated labels answered before, no person has.
    with pytest.raises(WaitingError, match=r"and run this again\.$"):
        run_step(steps["round-1@uncertainty-1"], workspace)
    answer(workspace, 1, word="skip")
    wanted = "all 4 pairs up to review/round-01.csv are answered `skip`, so there is nothing to train on; answer some of them yes or no."
    with pytest.raises(InputError, match=f"^{re.escape(wanted)}$"):
        run_step(steps["round-1@uncertainty-1"], workspace)


def test_a_split_that_has_no_utterances_is_left_out(empty: Path, tmp_path: Path) -> None:
    lines = [f"{question},answer {number},{int(number == place)}" for place, question in enumerate("qr") for number in range(4)]
    (tmp_path / "pairs.csv").write_text("\n".join(["left,right,label", *lines]), encoding="utf-8")
    workspace = small(
        empty, pairs={"source": "files", "train": [str(tmp_path / "pairs.csv")], "symmetric": False}, encode={"neighbours": 2}
    )
    for step in steps_of(workspace.settings)[:2]:
        run_step(step, workspace)
    assert content(workspace, "reports/pairs.metrics.json")["dev.pairs"] == 0
    assert sorted(path.name for path in (workspace.path / "data/encode").glob("sample-*")) == ["sample-test.parquet"]


def test_answers_count_from_the_moment_they_change(empty: Path) -> None:
    workspace = small(empty, collect={"methods": ["uncertainty"], "oracle": "people", "given": "none", "rounds": 1})
    steps = {step.name: step for step in steps_of(workspace.settings)}
    run_step(steps["pairs"], workspace)
    run_step(steps["encode"], workspace)
    first = steps["round-1@uncertainty-1"]
    with pytest.raises(WaitingError):
        run_step(first, workspace)
    answer(workspace, 1)
    run_step(first, workspace)
    before = content(workspace, "data/round-1/uncertainty-1/scores.json")["numbers"]["positive"]
    path = workspace.path / "review/round-01.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(",yes,", ",skip,", 1), encoding="utf-8")
    assert run_step(first, workspace).executed
    assert content(workspace, "data/round-1/uncertainty-1/scores.json")["numbers"]["positive"] == before - 1


def test_a_task_without_test_positives_is_refused(empty: Path, tmp_path: Path) -> None:
    lines = {"train": "a,b,1\nc,d,1", "dev": "e,f,1", "test": "g,h,0"}
    for name, text in lines.items():
        (tmp_path / f"{name}.csv").write_text(f"left,right,label\n{text}\n", encoding="utf-8")
    workspace = small(empty, pairs={"source": "files", **{name: [str(tmp_path / f"{name}.csv")] for name in lines}})
    [step, *_] = pipeline(workspace.settings)
    with pytest.raises(InputError, match=r"^the test split has no positive pair among its 1; give it some, or leave splits to be drawn\.$"):
        run_step(step, workspace)


@pytest.mark.slow
def test_test_pairs_too_are_put_to_people(empty: Path) -> None:
    collect = {"methods": ["uncertainty"], "oracle": "people", "given": "none", "rounds": 1}
    workspace = small(empty, encode={"test_questions": 40}, collect=collect)
    for step in steps_of(workspace.settings):
        if step.name.startswith("round-1"):
            with pytest.raises(WaitingError):
                run_step(step, workspace)
            answer(workspace, 1)
        run_step(step, workspace)
    page = workspace.path / "reports/report.html"
    assert "reports/test-pairs.csv asks about 40 test pairs, about 13 minutes" in page.read_text(encoding="utf-8")
    metrics = content(workspace, "reports/compare.metrics.json")
    assert (metrics["people.asked"], metrics["people.answered"]) == (40, 0)
    task, target = load_task(workspace.path / "data/pairs"), workspace.path / "review/test-pairs.csv"
    sheet = (workspace.path / "reports/test-pairs.csv").read_bytes()
    rows = [record.cells for record in read_sheet(sheet, "t", ("pair",))]
    keys = np.array([int(row["pair"][1:]) for row in rows])
    assert len(keys) == 40
    assert not task.labels(keys).any()
    # A person finds three of them to be matches that nobody had stated.
    words = ["yes" if place < 3 else "no" for place in np.argsort(np.argsort(keys)).tolist()]
    table = [(*row.values(),) for row in rows]
    for number in (39, 40):
        target.write_bytes(write_sheet((*rows[0],), [(*row[:4], word, "") for row, word in zip(table, words, strict=True)][:number]))
        [compare] = [step for step in steps_of(workspace.settings) if step.name == "compare"]
        assert run_step(compare, workspace).executed
        metrics = content(workspace, "reports/compare.metrics.json")
        assert metrics["people.answered"] == number
        assert ("people.last.average_precision" in metrics) == (number == 40)
    assert metrics["people.found"] == 3
    assert metrics["people.hidden"] >= 3
    for name in ("untrained", "last"):
        for measure in ("average_precision", "precision_at_recall_20"):
            low, value, high = (metrics[f"people.{name}.{measure}{end}"] for end in (".low", "", ".high"))
            assert 0 <= low <= value <= high <= 1
    run_step(next(step for step in steps_of(workspace.settings) if step.name == "report"), workspace)
    text = page.read_text(encoding="utf-8")
    assert "By people's answers to 40 test pairs, drawn from all with known chances" in text
    assert "3 of them are matches that nobody had stated" in text
    assert "one more hour of labelling (180 pairs) would bring cannot be estimated yet: a curve of 1 round says nothing" in text
    assert "review/test-pairs.csv" in dvc_yaml.render(workspace)
