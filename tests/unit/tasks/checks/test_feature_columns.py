"""The expectations about the columns of a table of features."""

from __future__ import annotations

from pathlib import Path

from tests.ingesting import Ingested, run_ingest, write_csv


def table_of(folder: Path) -> Ingested:
    """A train set whose age is mostly missing and whose job is always the same; a later set that differs from it."""
    train = [f"{row % 7 or ''},{'' if row % 3 else 30},clerk,{row % 2}" for row in range(60)]
    other = [f"{row % 7 + 50},31,{'pilot' if row % 2 else 'clerk'},{row % 2}" for row in range(20)]
    return run_ingest(
        folder,
        source="files",
        train=[write_csv(folder / "t.csv", "hours,age,job,y", *train)],
        evaluation={"later": {"files": [write_csv(folder / "l.csv", "hours,age,job,y", *other)]}},
        features="all",
        label="y",
    )


def test_missing_values_constants_ranges_and_unseen_categories_are_said(tmp_path: Path) -> None:
    found = {entry["set"]: {check["check"]: check for check in entry["checks"]} for entry in table_of(tmp_path).validation["sets"]}
    train, later = found["train"], found["later"]
    assert not train["`age` is there"]["passed"] and train["`age` is there"]["unexpected"] == 40
    assert train["`hours` is there"]["passed"] and train["`hours` holds numbers"]["passed"]
    assert not train["`job` differs from row to row"]["passed"] and train["`hours` differs from row to row"]["passed"]
    assert not later["`hours` is within train's range"]["passed"]
    assert later["`hours` is within train's range"]["expected"] == "1 to 6; at most 1 % others"
    assert not later["categories of `job` are in train"]["passed"] and later["categories of `job` are in train"]["unexpected"] == 10
    assert all(check["severity"] == "warning" for checks in found.values() for name, check in checks.items() if "`" in name)
