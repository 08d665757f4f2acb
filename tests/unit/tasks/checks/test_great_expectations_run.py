"""What validation finds, and that its pages are safe to open."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.ingesting import Ingested, run_ingest, some_rows, write_csv

KEYS = ["check", "severity", "passed", "expected", "found", "unexpected", "share", "examples"]


def audit(folder: Path, train: list[str], dev: list[str] | None = None, **params: Any) -> Ingested:
    files = write_csv(folder / "train.csv", "text,label", *train)
    evaluation = {"dev": {"files": write_csv(folder / "dev.csv", "text,label", *dev)}} if dev else {}
    return run_ingest(folder, source="files", train=files, text="text", evaluation=evaluation, **params)


def check(done: Ingested, name: str, words: str) -> dict[str, Any]:
    entry = next(entry for entry in done.validation["sets"] if entry["set"] == name)
    return next(one for one in entry["checks"] if one["check"] == words)


def test_sound_data_passes_everything(tmp_path: Path) -> None:
    done = audit(tmp_path, some_rows(), [row.replace("sentence", "phrase") for row in some_rows(10)])
    validation = done.validation
    assert list(validation) == ["passed", "sets", "quarantine"]
    assert validation["passed"] is True
    assert [entry["set"] for entry in validation["sets"]] == ["train", "dev"]
    for entry in validation["sets"]:
        numbers = ["rows_read", "rows_used", "quarantined", "classes", "in_train", "contradicted", "left_out"]
        assert list(entry) == ["set", "domain", "files", *numbers, "checks"]
        for one in entry["checks"]:
            assert list(one) == KEYS
            assert one["passed"], one
            assert one["severity"] in ("critical", "warning")
    assert validation["sets"][0]["classes"] == {"bad": 20, "good": 20}


def test_what_each_check_finds(tmp_path: Path) -> None:
    train = [
        *some_rows(),
        "this is sentence number 0,bad",
        "This is  sentence number 1,bad",
        "rare,odd",
        f"{'long ' * 30},good",
        ",good",
        "no label,",
    ]
    dev = [*some_rows(3), "7,good", "new,good"]
    done = audit(tmp_path, train, dev, max_characters=100, quarantine_limit=0.2)
    uids = {row["row"]: row["uid"] for row in done.rows("train")}
    dev_uids = {row["row"]: row["uid"] for row in done.rows("dev")}

    repeats = check(done, "train", "rows do not repeat others")
    assert (repeats["passed"], repeats["severity"], repeats["unexpected"], repeats["examples"]) == (False, "warning", 1, [uids[41]])
    assert repeats["share"] == pytest.approx(1 / 46)
    assert repeats["found"] == "1 of 46 (2.2\u00a0%)"
    doubtful = check(done, "train", "equal texts have equal labels")
    assert (doubtful["passed"], doubtful["unexpected"], doubtful["examples"]) == (False, 2, [uids[2], uids[42]])
    small = check(done, "train", "every class has enough rows")
    assert (small["passed"], small["expected"], small["found"]) == (False, "at least 10", "`odd` has 1")
    long = check(done, "train", "`text` has at most 100 characters")
    assert (long["passed"], long["examples"]) == (False, [uids[44]])
    empty = check(done, "train", "`text` is not empty")
    assert (empty["passed"], empty["severity"], empty["unexpected"], empty["examples"]) == (True, "critical", 1, ["train.csv row 45"])
    assert check(done, "train", "labels are not null")["examples"] == ["train.csv row 46"]
    overlap = check(done, "dev", "texts are not in the train set too")
    assert (overlap["passed"], overlap["found"], overlap["examples"]) == (
        False,
        "3 of 5 (60\u00a0%)",
        [dev_uids[1], dev_uids[2], dev_uids[3]],
    )
    occurs = check(done, "dev", "every class occurs")
    assert (occurs["passed"], occurs["severity"], occurs["found"]) == (False, "warning", "none of `odd`")
    assert check(done, "dev", "`text` holds words, not numbers")["unexpected"] == 1
    assert done.validation["passed"] is True
    failed = sum(not one["passed"] for entry in done.validation["sets"] for one in entry["checks"])
    assert done.metrics["validation.failed"] == failed == 6


def test_a_column_of_numbers_is_no_text(tmp_path: Path) -> None:
    done = audit(tmp_path, [f"{index}.5,{'good' if index % 2 else 'bad'}" for index in range(30)])
    numbers = check(done, "train", "`text` holds words, not numbers")
    assert (numbers["passed"], numbers["severity"], numbers["found"]) == (False, "warning", "30 of 30 (100\u00a0%)")


def test_unknown_labels_and_repeated_uids_are_found_in_the_raw_rows(tmp_path: Path) -> None:
    lines = [f"{row},{index}" for index, row in enumerate(some_rows(60))]
    train = write_csv(tmp_path / "train.csv", "text,label,id", *lines, "again,good,59")
    dev = write_csv(tmp_path / "dev.csv", "text,label,id", "one,good,1", "two,maybe,2")
    done = run_ingest(
        tmp_path,
        source="files",
        train=train,
        text="text",
        uid="id",
        evaluation={"dev": {"files": dev, "domain": "ood"}},
        quarantine_limit=0.5,
    )
    unique = check(done, "train", "uids are unique")
    assert (unique["passed"], unique["unexpected"], unique["examples"]) == (True, 2, ["59", "train.csv row 61"])
    unknown = check(done, "dev", "labels are known")
    assert (unknown["found"], unknown["examples"]) == ("1 of 2 (50\u00a0%)", ["dev.csv row 2"])


def test_records_that_cannot_be_read_count(tmp_path: Path) -> None:
    done = audit(tmp_path, [*some_rows(), "a,b,c"])
    readable = check(done, "train", "records can be read")
    assert (readable["passed"], readable["expected"], readable["found"]) == (True, "at least 39 of 41", "40 of 41")


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.attributes: set[str] = set()
        self.targets: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.targets += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_pages_escape_everything_and_fetch_nothing(tmp_path: Path) -> None:
    title = '<object data=x onload="alert(1)">'
    values = ["<script>alert(2)</script>", "<img src=x onerror=alert(3)>", "$name ${value} {{ jinja }}"]
    lines = [f'"{values[index % 3]} {index % 50}",<b>{index % 2}</b>' for index in range(60)]
    path = write_csv(tmp_path / "train.csv", f'"{title.replace(chr(34), chr(34) * 2)}",label', *lines, '"  ",<iframe>')
    done = run_ingest(tmp_path, source="files", train=path, text=[[title]], max_characters=5, quarantine_limit=0.2)
    pages = sorted((done.folder / "reports" / "data_docs").iterdir())
    assert [page.name for page in pages] == ["index.html", "train.html"]
    for page in pages:
        content = page.read_text(encoding="utf-8")
        tags = Tags()
        tags.feed(content)
        assert not tags.found & {"script", "img", "iframe", "object", "link", "form", "b"}
        assert not [name for name in tags.attributes if name.startswith("on")]
        assert [target for target in tags.targets if not re.fullmatch(r"#[\w-]*|\w+\.html", target)] == []
        assert "default-src 'none'" in content
    assert "<script>alert(2)</script>" in tags.text
    assert "$name ${value} {{ jinja }}" in tags.text


def test_pages_of_sets_that_are_gone_go_too(tmp_path: Path) -> None:
    audit(tmp_path, some_rows(), some_rows(10))
    done = audit(tmp_path, some_rows())
    assert not (done.folder / "reports" / "data_docs" / "dev.html").exists()
