"""Audits of rows of one class, of two rows, and of classes with a row or a few each, by the library and its command."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from cartograph.__main__ import main
from cartograph.frames.audit import audit
from tests.training_sets import ANIMALS, LOUD, PLACES, QUIET


def rows_of(number: int) -> list[tuple[str, str]]:
    return [
        (f"the {ANIMALS[row % len(ANIMALS)]} {(LOUD if row % 2 else QUIET)[row % 3]} near the {PLACES[row % len(PLACES)]} {row}", kind)
        for row, kind in enumerate(["quiet", "loud"] * (number // 2))
    ]


ODD = {
    "two rows": (rows_of(2), "how many labels are wrong cannot be estimated: 2 rows are too few"),
    "twenty singletons": (
        [*rows_of(80), *((f"strange {row}", f"single {row:02}") for row in range(20))],
        "0 to 15 labels are wrong (95\u00a0% CI; to 8 unless errors gather on hard rows), and no closer number can be estimated: "
        "100 rows are too few",
    ),
    "5,000 classes": (
        [(f"topic{kind} the {'ab'[row]} text about word{kind}", f"class {kind:04}") for kind in range(5000) for row in range(2)],
        "how many labels are wrong cannot be estimated: 10,000 rows in so many classes are too few",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two rows", "twenty singletons", "5,000 classes"])
def test_an_odd_set_ends_with_a_page_that_says_why_no_number_is_told(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, why = ODD[name]
    with (tmp_path / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *rows])
    assert main(["audit", str(tmp_path / "rows.csv"), "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert why in shown
    assert why.replace("labels are wrong", "are wrong") in (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert len(pd.read_csv(tmp_path / "out/cleaned.csv")) == len(rows)


@pytest.mark.parametrize("number", [1, 40])
def test_one_class_ends_with_a_page_that_says_that_nothing_could_be_learnt(
    number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.DataFrame({"text": [text for text, _ in rows_of(40)][:number], "label": "same"})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    assert main(["audit", str(tmp_path / "rows.csv"), "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    which, whose = ("the one row has", "its") if number == 1 else (f"all {number} rows have", "their")
    nothing = f"Nothing could be learnt: {which} the label `same`, so {whose} map says nothing. Check the label column (`label`)."
    assert nothing in shown and "training a model" not in shown and "wrong labels could not be looked for" in shown
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert nothing in page and "no label looks wrong" not in page and f"None of {number} label" in page
    assert len(pd.read_csv(tmp_path / "out/cleaned.csv")) == number

    found = audit(frame, text="text", label="label")
    assert found.wrong is None and not len(found.suspects) and found.measures["confidence"].eq(1).all()
    assert found.measures.index.equals(frame.index) and found.cleaned("drop-flagged").equals(frame)
    assert found.map().layout.meta["rows"] == number
