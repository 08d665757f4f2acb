"""A collection under Prefect, then under DVC: what the one did the other knows; and a user's own file of positives."""

from __future__ import annotations

import csv
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cartograph.pairs.tables import load_task
from cartograph.planted.paraphrases import generate
from tests.chromium import chromium, violations_at_every_sight
from tests.integration.project import Project
from tests.integration.test_docs import write_shops

SMALL = """\
pairs: {rows: 400}
encode: {neighbours: 15, near: 15, random_negatives: 300}
collect: {methods: [uncertainty, random], seeds: [1], first_round: 30, rounds: 2, epochs: 2, resamples: 20}
"""


@pytest.fixture(scope="module")
def project(make_project: Callable[[], Project]) -> Project:
    project = make_project()
    space = project.path / "workspaces/paraphrases"
    space.mkdir(parents=True)
    (space / "params.yaml").write_text(SMALL, encoding="utf-8")
    return project


@pytest.mark.slow
def test_what_the_flow_did_dvc_knows_and_the_other_way_round(project: Project) -> None:
    project.run("flows.collect")
    report = project.path / "workspaces/paraphrases/reports/report.html"
    assert report.exists()
    assert curve_in_mlflow(project, "collect uncertainty seed 1", "test.average_precision") == [0, 30, 75]
    before = project.executions("workspaces/paraphrases")
    assert before["round-2@uncertainty-1"] == 1
    project.run("dvc", "repro", "workspaces/paraphrases/dvc.yaml")
    project.run("flows.collect")
    assert project.executions("workspaces/paraphrases") == before
    file = project.path / "workspaces/paraphrases/params.yaml"
    file.write_text(SMALL.replace("seeds: [1]", "seeds: [1, 2]"), encoding="utf-8")
    project.run("flows.collect")
    after = project.executions("workspaces/paraphrases")
    assert {name: number for name, number in after.items() if name.endswith("-1")} == {
        name: number for name, number in before.items() if name.endswith("-1")
    }
    assert after["round-2@random-2"] == 1
    with chromium() as browser:
        page = browser.new_page()
        page.goto(report.as_uri())
        assert violations_at_every_sight(page) == []


def curve_in_mlflow(project: Project, run: str, metric: str) -> list[int]:
    """Return the steps at which a run has a metric: the labels asked for so far."""
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{project.path / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("paraphrases")
    assert experiment is not None
    [found] = client.search_runs([experiment.experiment_id], f"tags.`mlflow.runName` = '{run}'")
    return [point.step for point in client.get_metric_history(found.info.run_id, metric)]


PEOPLE = SMALL.replace("[uncertainty, random]", "[uncertainty], oracle: people, given: none")


def answer(space: Path, number: int, *, first: int | None = None) -> None:
    """Fill in a round's sheet as somebody who knows the truth would; of the first rows alone where ``first`` is given."""
    task, sheet = load_task(space / "data/pairs"), space / f"review/round-{number:02d}.csv"
    rows = [*csv.reader(sheet.read_text(encoding="utf-8-sig").splitlines())]
    for row in rows[1:][:first]:
        row[4] = "yes" if task.labels(np.array([int(row[0][1:])]))[0] else "no"
    write(sheet, rows[0], [tuple(row) for row in rows[1:]])


@pytest.mark.slow
def test_a_collection_waits_for_people_under_the_flow_and_under_dvc(make_project: Callable[[], Project]) -> None:
    project = make_project()
    space = project.path / "workspaces/paraphrases"
    space.mkdir(parents=True)
    (space / "params.yaml").write_text(PEOPLE, encoding="utf-8")
    page = space / "reports/waiting.html"

    done = project.run("flows.collect", code=3)
    assert "waiting round 1 asks about 30 pairs" in done.stdout
    assert "Report     workspaces/paraphrases/reports/waiting.html" in done.stdout
    assert done.stderr == ""
    assert "Round 1 of 2 waits for answers to 30 pairs" in page.read_text(encoding="utf-8")

    answer(space, 1, first=10)
    assert "20 of the 30 pairs have no answer yet" in project.run("flows.collect", code=3).stdout
    assert "Round 1 of 2 waits for answers to 20 pairs" in page.read_text(encoding="utf-8")

    answer(space, 1)
    contradictory = (space / "review/round-01.csv").read_text(encoding="utf-8").replace(",yes,", ",maybe,", 1)
    (space / "review/round-01.csv").write_text(contradictory, encoding="utf-8")
    assert "`maybe` is no answer; write yes, no, or skip." in project.run("flows.collect", code=2).stderr
    assert "Round 1 of 2 could not be done" in page.read_text(encoding="utf-8")

    answer(space, 1)
    assert "exited with 3" in project.run("dvc", "repro", "workspaces/paraphrases/dvc.yaml", code=255).stderr
    assert "Round 2 of 2 waits for answers to 45 pairs" in page.read_text(encoding="utf-8")
    assert project.executions("workspaces/paraphrases")["round-1@uncertainty-1"] == 1

    answer(space, 2)
    project.run("dvc", "repro", "workspaces/paraphrases/dvc.yaml")
    assert (space / "reports/report.html").exists()
    assert not page.exists()
    before = project.executions("workspaces/paraphrases")
    project.run("flows.collect")
    assert project.executions("workspaces/paraphrases") == before
    assert before["round-1@uncertainty-1"] == before["round-2@uncertainty-1"] == 1


@pytest.mark.slow
def test_two_tables_are_matched_by_people_from_no_label_on_and_a_kill_loses_no_answer(make_project: Callable[[], Project]) -> None:
    project = make_project()
    write_shops(project.path)
    said = project.run("tasks", "first-pairs", "--left", "shop-a.csv", "--right", "shop-b.csv", "--rows", "40").stdout
    answer_by_texts(project.path / "first-pairs.csv")
    project.run("tasks", *" ".join(said.split("Then: python -m tasks ")[1].split()).split())
    space = project.path / "workspaces/matching"
    params = (space / "params.yaml").read_text(encoding="utf-8")
    (space / "params.yaml").write_text(
        params.replace("rounds: 4 ", "rounds: 2 ").replace("first_round: 60", "first_round: 20"), encoding="utf-8"
    )
    flow = ("flows.collect", "--workspace", "workspaces/matching")
    project.run(*flow, code=3)
    first = space / "review/round-01.csv"
    asked = answer_by_texts(first)
    answered = first.read_bytes()

    running = project.start(*flow)
    staged = space / ".cartograph/staging/round-1@uncertainty-1"
    while running.poll() is None and not (staged.exists() and any(staged.iterdir())):
        time.sleep(0.01)
    assert running.poll() is None, "it ended before it could be killed"
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    assert first.read_bytes() == answered

    project.run(*flow, code=3)
    assert first.read_bytes() == answered
    asked_next = answer_by_texts(space / "review/round-02.csv")
    assert len(asked) == 20 and asked_next and not asked & asked_next
    project.run(*flow)
    assert project.executions("workspaces/matching")["round-1@uncertainty-1"] == 1
    labels = pq.read_table(space / "data/round-2/uncertainty-1/collected.parquet").to_pylist()
    keys = {number: {f"p{row['left'] * 80 + row['right']}" for row in labels if row["round"] == number} for number in (1, 2)}
    assert keys == {1: asked, 2: asked_next}, "every answer of either sheet is a label"
    assert "pairs were asked about, " in (space / "reports/report.html").read_text(encoding="utf-8")
    project.run("tasks", "match", "-w", "workspaces/matching", "--one-to-one", "--out", "matches.csv")
    rows = [*csv.DictReader((project.path / "matches.csv").read_text(encoding="utf-8-sig").splitlines())]
    # Row n of the second table is row n + 20 of the first.
    right = [int(row["left_id"].strip("'")[1:]) == int(row["right_id"].strip("'")[1:]) + 20 for row in rows]
    assert len(rows) > 40 and np.mean(right) > 0.9


def answer_by_texts(path: Path) -> set[str]:
    """Fill in a sheet as people do, by what two texts say; return which pairs it asks about."""
    header, *rows = csv.reader(path.read_text(encoding="utf-8-sig").splitlines())
    columns = {name: place for place, name in enumerate(header)}
    answers = columns.get("label", columns.get("answer"))
    assert answers is not None, header
    for row in rows:
        left, right = (row[columns[side]].split()[:4] for side in ("left", "right"))
        row[answers] = "yes" if left == right else "no"
    write(path, header, [tuple(row) for row in rows])
    return {row[0] for row in rows}


@pytest.mark.slow
def test_an_audit_is_no_collection(project: Project) -> None:
    done = project.run("flows.collect", "--workspace", ".", code=2)
    assert "has no section `collect`" in done.stderr


def write(path: Path, header: list[str], rows: list[tuple[str, ...]]) -> str:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writerow(header)
        writer.writerows(rows)
    return path.name


@pytest.mark.slow
def test_presets_read_their_files(project: Project) -> None:
    stated = generate(300, 2).stated.to_pylist()
    positive = [(row["left"], row["right"]) for row in stated if row["label"] == "1"]
    qqp = [(str(n), f"l{n}", f"r{n}", f'Is it "{row["left"]}"?', row["right"], row["label"]) for n, row in enumerate(stated)]
    header = ["id", "qid1", "qid2", "question1", "question2", "is_duplicate"]
    write(project.path / "qqp.tsv", header, qqp)
    write(project.path / "tableA.csv", ["id", "name"], [(str(n), left) for n, (left, _) in enumerate(positive)])
    write(project.path / "tableB.csv", ["id", "title", "maker"], [(str(n), right, "x") for n, (_, right) in enumerate(positive)])
    links = [(str(n), str(n), "1") for n in range(len(positive))] + [(str(n), str(n + 1), "0") for n in range(len(positive) - 1)]
    write(project.path / "links.csv", ["ltable_id", "rtable_id", "label"], links)
    said = project.run("tasks", "init-pairs", "workspaces/q", "--preset", "qqp", "--train", "qqp.tsv").stdout
    assert f"{2 * len(stated)} utterances" in said
    project.run("tasks", "run", "pairs", "--workspace", "workspaces/q")
    assert 'Is it "' in pq.read_table(project.path / "workspaces/q/data/pairs/left.parquet")["text"][0].as_py()
    tables = ["--left-table", "tableA.csv", "--right-table", "tableB.csv"]
    project.run("tasks", "init-pairs", "workspaces/e", "--preset", "entities", "--train", "links.csv", *tables)
    project.run("tasks", "run", "pairs", "--workspace", "workspaces/e")
    numbers = json.loads((project.path / "workspaces/e/reports/pairs.metrics.json").read_text())
    assert numbers["utterances.left"] == numbers["utterances.right"] == len(positive)
    assert sum(numbers[f"{split}.positives"] for split in ("train", "dev", "test")) == len(positive)
    failed = project.run("tasks", "init-pairs", "workspaces/x", "--preset", "quora", "--train", "qqp.tsv", code=2)
    assert "there are positives, qqp, wikiqa, entities" in failed.stderr
