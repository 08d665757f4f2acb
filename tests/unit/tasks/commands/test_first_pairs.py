"""From two tables without a label to matches: first pairs, answers of people round by round, and what was learnt."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cartograph.data.spreadsheet import read_sheet
from tasks.__main__ import main
from tasks.collection.pairs import Pairs
from tasks.engine.running import run_step
from tasks.engine.workspace import CODE
from tasks.pipelines import open_workspace, steps_of
from tests.unit.tasks.commands.test_match import shops, table
from tests.workspaces import use_project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "src").symlink_to(CODE / "src")
    use_project(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer(path: Path, same: object) -> int:
    """Fill in a sheet as people do: by what the two texts say."""
    rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))
    for row in rows:
        row["label"] = "ja" if same(row) else "nein"  # type: ignore[operator]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return len(rows)


def is_same(row: dict[str, str]) -> bool:
    return sorted(row["left"].split()[:5]) == sorted(row["right"].split()[:5])


@pytest.mark.slow
def test_from_two_tables_and_no_label_to_matches(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left, right = ([(f"00{name[1:]}", *rest) for name, *rest in side] for side in shops(np.random.default_rng(4), 90))
    table(project / "a.csv", left)
    table(project / "b.csv", right)
    assert main(["first-pairs", "--left", "a.csv", "--right", "b.csv", "--rows", "40"]) == 0
    said = capsys.readouterr().out
    assert "40 pairs to label, about 13 minutes of a person's time." in " ".join(said.split())
    assert answer(project / "first-pairs.csv", is_same) == 40
    again = main(["first-pairs", "--left", "a.csv", "--right", "b.csv"])
    assert again == 2
    assert "exists already, perhaps with answers in it" in " ".join(capsys.readouterr().err.split())

    command = " ".join(said.split("Then: python -m tasks ")[1].split()).split()
    assert main(command) == 0
    assert "60 at a time: about 20 minutes of a person's time each" in " ".join(capsys.readouterr().out.split())
    path = project / "workspaces/matching"
    params = (path / "params.yaml").read_text(encoding="utf-8")
    (path / "params.yaml").write_text(params.replace("rounds: 4 ", "rounds: 2 ").replace("first_round: 60", "first_round: 40"))
    space = open_workspace(path)
    for step in steps_of(space.settings):
        if step.name in ("compare", "report", "publish"):
            continue
        try:
            run_step(step, space)
        except Exception as error:
            assert "asks about 40 pairs, about 13 minutes" in str(error)
            sheet = path / f"review/round-0{step.name.split('-')[1][0]}.csv"
            answer(sheet, is_same)
            run_step(step, space)
    for step in steps_of(space.settings):
        if step.name in ("compare", "report"):
            run_step(step, space)
    chosen = json.loads((path / "data/round-2/uncertainty-1/scores.json").read_text())["chosen"]
    assert set(chosen["gain"]) == {"value", "error"}
    page = (path / "reports/report.html").read_text(encoding="utf-8")
    assert "pairs were asked about, " in page
    assert page.count("Test pairs that nobody has stated count as negatives here") >= 3, "on top, beside the methods, beside the curves"
    assert main(["match", "-w", "workspaces/matching", "--one-to-one", "--precision", "0.8"]) == 0
    assert "% of them are right; nobody has checked." in " ".join(capsys.readouterr().out.split())
    file = path / "reports/matches.csv"
    rows = [row.cells for row in read_sheet(file.read_bytes(), file.name, ("left_id", "right_id"))]
    assert len(rows) > 60
    assert np.mean([row["left_id"] == row["right_id"] for row in rows]) > 0.9


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "name\nx\n",
            "nameless.csv needs a column `id` that names each record (--id names another), and columns of text; its columns are name.",
        ),
        ("id,name\n1,x\n1,y\n", "nameless.csv row 2: id `1` is there twice"),
        ("id,name\n1,\n2,\n", "no record of nameless.csv has a word in common with one of nameless.csv"),
    ],
)
def test_what_makes_no_pairs_is_said(project: Path, capsys: pytest.CaptureFixture[str], content: str, message: str) -> None:
    (project / "nameless.csv").write_text(content)
    assert main(["first-pairs", "--left", "nameless.csv"]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (project / "first-pairs.csv").exists()


def test_tables_may_call_the_names_of_their_records_otherwise(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, side in zip("ab", shops(np.random.default_rng(4), 40), strict=True):
        path = table(project / f"{name}.csv", side)
        path.write_text(path.read_text(encoding="utf-8").replace("id,", "rec_id,", 1), encoding="utf-8")
    assert main(["first-pairs", "--left", "a.csv", "--right", "b.csv", "--rows", "20"]) == 2
    assert "needs a column `id` that names each record (--id names another)" in " ".join(capsys.readouterr().err.split())
    assert main(["first-pairs", "--left", "a.csv", "--right", "b.csv", "--rows", "20", "--id", "rec_id"]) == 0
    said = capsys.readouterr().out
    answer(project / "first-pairs.csv", is_same)
    assert main(" ".join(said.split("Then: python -m tasks ")[1].split()).split()) == 0
    params = open_workspace(project / "workspaces/matching").settings.of(Pairs)
    assert params.left_table is not None
    assert (params.left_table.id, params.left_table.text) == ("rec_id", ("name", "price"))
