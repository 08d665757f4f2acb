"""An audit of rows in a real PostgreSQL server and in lake tables, of what changes there, and what it found back in them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.read.lakes import LakeTable, look_at, snapshot
from tasks.commands.profiles import with_keys
from tests import lakes
from tests.integration.project import Project
from tests.postgresql import PASSWORD, Server, server

QUERY = "select id, text, label from reviews order by id"
WATERMARK = "select max(updated_at), count(*) from reviews"


@pytest.fixture
def postgresql() -> Iterator[Server]:
    with server() as running:
        running.run("create table reviews (id bigint primary key, text text, label text, updated_at timestamp default now())")
        running.run(f"insert into reviews (id, text, label) values {', '.join(map(row, range(240)))}")
        yield running


def row(number: int) -> str:
    kind = "dull" if number % 2 else "great"
    return f"({number}, 'the {['film', 'book', 'play'][number % 3]} number {number} was {kind}', '{'bad' if number % 2 else 'good'}')"


@pytest.mark.slow
def test_rows_of_postgresql_are_audited_once_and_again_when_they_changed(postgresql: Server, make_project: Callable[[], Project]) -> None:
    project = make_project()
    project.environment["REVIEWS_DB"] = postgresql.address
    options = ("--database", "env:REVIEWS_DB", "--query", QUERY, "--watermark", WATERMARK, "--uid", "id", "--profile", "quick")
    made = project.run("tasks", "init", "workspaces/reviews", *options)
    assert "train: 240 rows from REVIEWS_DB.parquet" in made.stdout
    workspace = project.path / "workspaces" / "reviews"
    written_to(project, {"tables": {"database": "env:REVIEWS_DB", "into": "cartograph"}})

    def audit() -> set[str]:
        return project.executed_by(lambda: project.run("flows.audit", "--workspace", "workspaces/reviews"), "workspaces/reviews")

    assert {"fetch", "ingest", "train", "report"} <= audit()
    assert audit() <= {"fetch"}
    read = kept_digest(workspace)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "The first audit")
    postgresql.run("update reviews set label = 'good', updated_at = now() + interval '1 second' where id = 1")
    assert postgresql.ask("select number, count(*) from cartograph.suspects group by number") == []
    assert {"ingest", "train", "publish"} <= audit()
    said = project.run("flows.compare", *(f"workspaces/reviews@{digest[:8]}" for digest in (read, kept_digest(workspace)))).stdout
    assert "Suspects: 1 new (0 on added rows)" in said
    found = "select s.uid, s.label, s.suggested, r.text from cartograph.suspects s join reviews r on s.uid = r.id::text where s.number = 2"
    assert postgresql.ask(found) == [("1", "good", "bad", "the book number 1 was dull")]
    kept = (
        "select number, count(distinct r.id) from cartograph.cleaned c join reviews r on c.uid = r.id::text group by number order by number"
    )
    assert postgresql.ask(kept) == [(1, 240), (2, 240)]
    assert postgresql.ask("select count(*), min(label) from reviews where id = 1") == [(1, "good")], "the source is as it was"
    [kept_rows] = (workspace / "data" / "fetch").glob("*/REVIEWS_DB.parquet")
    assert pq.read_table(kept_rows)["label"].to_pylist()[:3] == ["good", "good", "good"]
    held = [path for path in project.path.rglob("*") if path.is_file() and PASSWORD.encode() in path.read_bytes()]
    assert [path for path in held if "tests" not in path.parts] == []
    with_nothing = dict(project.environment)
    del project.environment["REVIEWS_DB"]
    failed = project.run("flows.audit", "--workspace", "workspaces/reviews", "--force", "fetch", code=2)
    assert "the environment variable REVIEWS_DB is not set" in failed.stdout + failed.stderr
    project.environment |= with_nothing
    reproduced = project.executed_by(lambda: _repro(project, Path("workspaces/reviews/dvc.yaml")), "workspaces/reviews")
    assert reproduced <= {"fetch"}


def kept_digest(workspace: Path) -> str:
    """The SHA-256 of the rows that were kept of the query."""
    [entry] = json.loads((workspace / "data/fetch/files.json").read_text()).values()
    return str(entry["sha256"])


def written_to(project: Project, publish: dict[str, Any], **more: dict[str, Any]) -> None:
    """Have the audits of a workspace write what they find somewhere."""
    path = project.path / "workspaces" / "reviews" / "params.yaml"
    path.write_text(with_keys(path.read_text(), {"publish": publish, **more}))
    project.run("tasks", "dvc-yaml", "--workspace", "workspaces/reviews")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_what_is_found_in_a_lake_is_back_in_it_and_changed_rows_are_named(
    kind: str, make_project: Callable[[], Project], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project()
    lake = lakes.delta(tmp_path) if kind == "delta" else lakes.iceberg(tmp_path, monkeypatch)
    rows = lakes.rows(0, 240)
    lake.write(rows)
    options = ["--table", lake.entry["table"], "--uid", "id", "--profile", "quick", "--follow"]
    if kind == "iceberg":
        project.environment[lakes.VARIABLE] = os.environ[lakes.VARIABLE]
        options += ["--catalog", lake.entry["catalog"]]
    project.run("tasks", "init", "workspaces/reviews", *options)
    place = lake.entry | {"table": str(tmp_path / "found") if kind == "delta" else "shop.found"}
    written_to(project, {"enabled": False, "tables": place}, train={"epochs": 4})
    found = LakeTable(place["table"], lake.entry["format"], catalog=place.get("catalog"))

    def audit() -> list[dict[str, Any]]:
        project.run("flows.audit", "--workspace", "workspaces/reviews")
        newest = replace(found, version=look_at(found, 60).version)
        snapshot(newest, tmp_path / "found.parquet", max_bytes=10_000_000, seconds=60)
        return pq.read_table(tmp_path / "found.parquet").to_pylist()

    first = audit()
    assert {(row["number"], row["what"]) for row in first} == {(1, "cleaned")}
    assert sorted(int(row["uid"]) for row in first) == list(range(240))
    read = versions(project)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "The first audit")
    lake.replace(
        rows.set_column(2, "label", pa.array(["good" if row == 1 else label for row, label in enumerate(rows["label"].to_pylist())]))
    )
    second = audit()
    [suspect] = [row for row in second if row["what"] == "suspect"]
    assert (suspect["number"], suspect["uid"], suspect["label"], suspect["suggested"]) == (2, "1", "good", "bad")
    assert [row for row in second if row["number"] == 1] == first
    if kind == "delta":
        # Each audit by the version of the table that it read.
        said = project.run("flows.compare", *(f"workspaces/reviews@{version}" for version in (read, versions(project)))).stdout
        assert "Suspects: 1 new (0 on added rows)" in said


def versions(project: Project) -> str:
    """The version of the table that the audit read."""
    [entry] = json.loads((project.path / "workspaces/reviews/data/fetch/files.json").read_text()).values()
    return str(entry["version"])


def _repro(project: Project, stages: Path) -> None:
    project.run("dvc", "repro", str(stages))
