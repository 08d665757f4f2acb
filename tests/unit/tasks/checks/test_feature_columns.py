"""The expectations about the columns of a table of features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tasks.checks.feature_columns import most_outside
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
    # 51 known values, 20 of the later set: so many lie outside the range of values drawn alike once in a thousand times.
    assert later["`hours` is within train's range"]["expected"] == "1 to 6; at most 6 others of 20"
    assert not later["categories of `job` are in train"]["passed"] and later["categories of `job` are in train"]["unexpected"] == 10
    assert all(check["severity"] == "warning" for checks in found.values() for name, check in checks.items() if "`" in name)


def test_single_values_beyond_the_train_set_of_a_small_table_are_no_finding(tmp_path: Path) -> None:
    train, other = ([f"{row // 2 + more},{row % 2}" for row in range(60)] for more in (0, 1))
    found = run_ingest(
        tmp_path,
        source="files",
        train=[write_csv(tmp_path / "t.csv", "hours,y", *train)],
        evaluation={"near": {"files": [write_csv(tmp_path / "n.csv", "hours,y", *other)]}},
        features="all",
        label="y",
    )
    [check] = [check for check in found.validation["sets"][1]["checks"] if "range" in check["check"]]
    assert check["unexpected"] == 2 and check["passed"]


@pytest.mark.parametrize(("known", "count"), [(20, 10), (140, 38), (500, 2_000), (20_000, 50)])
def test_values_drawn_alike_exceed_what_may_lie_outside_once_in_a_thousand_times(known: int, count: int) -> None:
    rng = np.random.default_rng(13)
    draws = 4_000
    # The extremes of `known` uniform draws: their minimum is beta(1, known), and their range above it likewise.
    low = rng.beta(1, known, draws)
    high = 1 - (1 - low) * rng.beta(1, known - 1, draws)
    outside = rng.binomial(count, low + 1 - high)
    exceeded = float(np.mean(outside > most_outside(known, count)))
    assert exceeded <= 0.004
    if most_outside(known, count) > 0.01 * count:
        assert float(np.mean(outside > most_outside(known, count) - 1)) > 0.0005
