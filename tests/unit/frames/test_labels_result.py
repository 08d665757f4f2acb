"""What an audit of several labels shows."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from cartograph.__main__ import main
from tests.label_sets import WORDS, film_frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("films")
    film_frame(600, 0.05)[0].to_csv(folder / "films.csv", index=False)
    assert main(["audit", str(folder / "films.csv"), "--text", "text", "--labels", "tags", "--out", str(folder / "out")]) == 0
    return folder


def test_the_command_writes_suspects_with_row_label_and_answer_and_cleaned_rows_in_the_files_own_form(folder: Path) -> None:
    with (folder / "out" / "suspects.csv").open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["row", "text", "label", "given", "suggested", "probability", "yes", "reason"]
    given = pd.read_csv(folder / "films.csv", keep_default_na=False)
    for row in rows:
        assert row[2] in WORDS and {row[3], row[4]} == {"yes", "no"}
        assert (row[3] == "yes") == (row[2] in given["tags"][int(row[0]) - 1].split("|"))
    cleaned = pd.read_csv(folder / "out" / "cleaned.csv", keep_default_na=False)
    assert cleaned.columns.tolist() == ["text", "tags"] and cleaned["text"].tolist() == given["text"].tolist()
    changed = (cleaned["tags"] != given["tags"]).sum()
    assert 0 < changed <= len(rows)


def test_the_page_has_a_map_of_each_label_and_takes_no_decisions_that_nothing_reads(folder: Path) -> None:
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert '"several":["love","sea","space","war"]' in page and '"answers":null' in page
    assert "love: yes" in page and "Label by label" in page


@pytest.mark.slow
def test_columns_of_0_and_1_are_named_between_commas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    frame, labels = film_frame(80)
    columns = {"sea, air": labels[:, 0], "war": labels[:, 1], "rare": [1, *[0] * 79]}
    frame[["text"]].assign(**columns).to_csv("films.csv", index=False)
    assert main(["audit", "films.csv", "--text", "text", "--labels", "sea\\, air,war,rare"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("80 rows, 2 labels\n") and "1 label cannot be audited: rare (yes in 1 row, of 5 that are needed)" in said
    assert " labels are wrong (95\u00a0% CI), and no closer number can be estimated: 80 rows are too few; " in said
    assert "80 rows, unchanged, as it is not known closely how many labels are wrong" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--label", "tags", "--labels", "tags"], "name the label column with --label, or with --labels where a row has several labels"),
        ([], "films.csv has no column `label`; its columns are text, tags. Name the texts with --text and the labels"),
        (["--labels", "tags,"], "--labels tags, has an empty name"),
        (["--labels", "tag"], "films.csv has no column `tag`, which was named as a label; its columns are text, tags."),
    ],
)
def test_labels_that_cannot_be_meant_are_refused(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    film_frame(20)[0].to_csv("films.csv", index=False)
    assert main(["audit", "films.csv", "--text", "text", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["films.csv"]
