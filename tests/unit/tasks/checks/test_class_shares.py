"""Evaluation sets whose classes are not about as frequent as in the train set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tasks.checks.class_shares import SAME_SHARES
from tests.ingesting import run_ingest, write_csv


def found(folder: Path, shares: tuple[float, float, float], rows: int = 400, domain: str = "id") -> dict[str, Any] | None:
    """The check of a set with so large classes, beside a train set in which a tenth is rare."""
    train = [f"text {row},{'rare' if row % 10 == 0 else 'good' if row % 2 else 'bad'}" for row in range(1000)]
    labels = [name for name, share in zip(("rare", "good", "bad"), shares, strict=True) for _ in range(round(share * rows))]
    test = [f"test {row},{label}" for row, label in enumerate(labels)]
    entry = {"files": [write_csv(folder / "test.csv", "text,label", *test)], "domain": domain}
    files = [write_csv(folder / "train.csv", "text,label", *train)]
    done = run_ingest(folder, source="files", text="text", train=files, evaluation={"test": entry})
    [checks] = [one["checks"] for one in done.validation["sets"] if one["set"] == "test"]
    return next((check for check in checks if check["check"] == SAME_SHARES), None)


@pytest.mark.parametrize(
    ("shares", "passed"), [((0.1, 0.5, 0.4), True), ((0.15, 0.5, 0.35), True), ((0.3, 0.4, 0.3), False), ((0.02, 0.5, 0.48), False)]
)
def test_a_class_that_is_far_more_or_less_frequent_than_in_the_train_set_is_named(
    tmp_path: Path, shares: tuple[float, float, float], passed: bool
) -> None:
    check = found(tmp_path, shares)
    assert check is not None and check["passed"] == passed and check["severity"] == "warning"
    if not passed:
        said = check["found"].replace("\u00a0", " ")
        assert said == f"`rare` {100 * shares[0]:.0f} %, in the train set 10 %: its rows were drawn otherwise, or labelled otherwise"


def test_a_class_that_is_missing_is_named_too(tmp_path: Path) -> None:
    check = found(tmp_path, (0.0, 0.5, 0.5))
    assert check is not None and not check["passed"]
    assert check["found"].replace("\u00a0", " ").startswith("`rare` 0 %, in the train set 10 %: ")


def test_chance_in_a_handful_of_rows_and_sets_out_of_distribution_are_no_warning(tmp_path: Path) -> None:
    check = found(tmp_path, (0.3, 0.4, 0.3), rows=20)
    assert check is not None and check["passed"]
    assert found(tmp_path, (0.6, 0.2, 0.2), domain="ood") is None
