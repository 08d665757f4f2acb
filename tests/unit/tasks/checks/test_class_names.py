"""The expectations about the names of classes, on files that were read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cartograph.ingest.label_forms import ONE_FORM
from cartograph.ingest.placeholders import NO_PLACEHOLDER
from tests.ingesting import Ingested, run_ingest, write_csv


def ingested(folder: Path, **params: Any) -> Ingested:
    folder.mkdir(exist_ok=True)
    lines = [
        f"text {row},{'NA' if row < 4 else 'unknown' if row == 4 else 'Good' if row == 5 else ('good', 'bad')[row % 2]}"
        for row in range(200)
    ]
    return run_ingest(folder, source="files", text="text", train=[write_csv(folder / "t.csv", "text,label", *lines)], **params)


def checks_of(done: Ingested) -> dict[str, Any]:
    return {check["check"]: check for check in done.validation["sets"][0]["checks"]}


def test_classes_that_stand_for_a_missing_label_are_a_warning_with_the_parameter_that_sets_them_aside(tmp_path: Path) -> None:
    done = ingested(tmp_path / "a")
    found = checks_of(done)[NO_PLACEHOLDER]
    assert (found["passed"], found["severity"], found["unexpected"]) == (False, "warning", 5)
    assert found["found"] == (
        '`NA` 4 rows, `unknown` 1; if these rows have no label, set ingest.unlabelled: ["-", "NA", "unknown"] and they are set aside'
    )
    assert found["examples"] == [row["uid"] for row in done.rows("train")[:5]]
    done = ingested(tmp_path / "b", unlabelled=["-", "NA", "unknown"])
    assert checks_of(done)[NO_PLACEHOLDER]["passed"]
    assert [(row["row"], row["value"], row["reason"]) for row in done.rows("quarantine")] == [
        *((row, "NA", "no label") for row in range(1, 5)),
        (5, "unknown", "no label"),
    ]


def test_a_class_that_the_user_named_is_one_whatever_its_name(tmp_path: Path) -> None:
    found = checks_of(ingested(tmp_path, labels=["good", "bad", "Good", "NA", "unknown"]))
    assert found[NO_PLACEHOLDER]["passed"] and not found[ONE_FORM]["passed"]
