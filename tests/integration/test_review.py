"""Suspects go out to a person and decisions come back: what runs again, under both drivers, and that nothing a person wrote is lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.project import Project

UP_TO_DATE = "Data and pipelines are up to date."
BEFORE = {"ingest", "train", "measure", "noise"}


def fill(sheet: Path, decision: str) -> str:
    """Decide about the first suspect on a sheet, in place; return its uid."""
    header, first, *rest = sheet.read_text(encoding="utf-8-sig").splitlines()
    sheet.write_text("\n".join([header, f"{first[:-4]},{decision},,,", *rest]) + "\n", encoding="utf-8")
    return first.split(",")[1]


@pytest.mark.slow
def test_decisions_take_part_from_the_day_they_are_there(make_project: Callable[[], Project], tmp_path: Path) -> None:
    project = make_project()
    project.run("flows.audit")
    version = json.loads((project.path / "data/clean/version.json").read_text())
    sheet = project.path / "reports" / "review.csv"
    assert version["dropped"] == 0, "240 rows are too few to drop without a person"

    uid = fill(sheet, "drop")
    lost = project.run("dvc", "repro", code=None)
    assert lost.returncode != 0
    assert "reports/review.csv holds decisions about 1 rows that were not taken in" in " ".join((lost.stdout + lost.stderr).split())
    assert ",drop,,," in sheet.read_text()

    said = project.run("tasks", "review", "--import", "reports/review.csv", "--by", "Ann").stdout
    assert "review/decisions.csv: 1 rows decided (1 drop)" in said
    executed = project.executed_by(lambda: project.run("flows.audit"))
    assert "clean" in executed
    assert not executed & BEFORE
    after = json.loads((project.path / "data/clean/version.json").read_text())
    assert (after["dropped"], after["parent"]) == (1, version["parent"])
    assert uid not in sheet.read_text(encoding="utf-8-sig")
    assert UP_TO_DATE in project.run("dvc", "status").stdout
    assert project.executed_by(lambda: project.run("dvc", "repro")) == set()

    (project.path / "review/decisions.csv").write_text(f"uid,decision,new_label,by\n{uid},keep,,Ann\n")
    executed = project.executed_by(lambda: project.run("dvc", "repro"))
    assert "clean" in executed
    assert json.loads((project.path / "data/clean/version.json").read_text())["version"] == version["version"]
    assert project.executed_by(lambda: project.run("flows.audit")) == set()
