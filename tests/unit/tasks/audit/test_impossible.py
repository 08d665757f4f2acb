from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cartograph.schema import NOISE
from tasks.audit.impossible import KEY, leave_no_suspects, no_flips, reasons
from tests.training_sets import info_of, small_set, table


@pytest.mark.parametrize(
    ("rows", "easy", "expected"), [(5, 0, "there are 0"), (9, 3, "there are 3"), (9, 1, "there is 1"), (7, 4, "too few")]
)
def test_too_few_rows_to_flip_are_a_reason(rows: int, easy: int, expected: str) -> None:
    reason = no_flips(small_set(rows=rows), easy)
    assert reason is not None and expected in reason and reason.endswith("Add rows.")


def test_enough_rows_are_none_and_one_class_is_one() -> None:
    assert no_flips(small_set(rows=12), 4) is None
    reason = no_flips(table(info_of("single"), {"text": ["a"] * 40}, [1] * 40), 13)
    assert reason == "Wrong labels could not be looked for: all 40 rows have the same label. Add rows of other classes."


def test_what_was_not_looked_for_has_a_whole_record_without_suspects(tmp_path: Path) -> None:
    rows = small_set(rows=3).sort_by("uid")
    (tmp_path / "noise").mkdir()
    figure = tmp_path / "noise.svg"
    asked = {"asked": "auto", "threshold": 0.5}
    leave_no_suspects("Too few.", rows, asked, tmp_path / "noise", tmp_path / "noise.metrics.json", [figure])
    found = pq.read_table(tmp_path / "noise" / "noise.parquet")
    assert found.schema == NOISE and found["uid"].to_pylist() == rows["uid"].to_pylist()
    assert not any(found["flagged"].to_pylist())
    record = json.loads((tmp_path / "noise" / "noise.json").read_text())
    assert (record[KEY], record["suspects"], record["calibrated"], record["asked"]) == ("Too few.", 0, False, "auto")
    assert reasons(tmp_path / "noise" / "noise.json", tmp_path / "missing.json") == ["Too few."]
    assert json.loads((tmp_path / "noise.metrics.json").read_text())["suspects"] == 0
    assert figure.read_bytes().startswith(b"<?xml")
