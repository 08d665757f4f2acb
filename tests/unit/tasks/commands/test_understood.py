"""What `init` says of images and of texts that would fill the screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.commands.own_file import workspace_for
from tests.ingesting import write_csv


def test_long_texts_and_what_a_terminal_would_obey_are_shown_short_and_plain(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"word{number} {'very ' * 60}long,{'good' if number % 2 else 'bad'}" for number in range(20)]
    file = write_csv(tmp_path / "long.csv", "text,label", *rows, "\x1b[2Jcleared,good")
    workspace_for(file, text=["text"], label="label")
    said = capsys.readouterr().out.splitlines()
    assert "  text  1 to 62 words, median 62" in said
    first = next(line for line in said if line.startswith("  bad: word0"))
    assert len(first) < 120 and first.endswith("…")
    assert not any("\x1b" in line for line in said)


def test_texts_without_blanks_between_words_are_counted_in_characters(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        f"この本はとても{'良かった' if number % 2 else '退屈でした'}です{number:02},{'good' if number % 2 else 'bad'}"
        for number in range(20)
    ]
    workspace_for(write_csv(tmp_path / "ja.csv", "text,label", *rows), text=["text"], label="label")
    assert "  text  15 to 16 characters, median 16" in capsys.readouterr().out.splitlines()


def test_many_classes_are_counted_and_the_largest_and_smallest_named(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"text {number} of {row},class_{number:02d}" for number in range(40) for row in range(number + 3)]
    workspace_for(write_csv(tmp_path / "many.csv", "text,label", *rows), text=["text"], label="label")
    said = capsys.readouterr().out.splitlines()
    assert "  classes  40, from class_39 42, class_38 41, class_37 40 to class_02 5, class_01 4, class_00 3" in said


def test_classes_that_may_be_one_or_none_are_named_with_what_to_set(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"text {row},{'N/A' if row < 3 else 'Good' if row == 3 else ('good', 'bad')[row % 2]}" for row in range(60)]
    workspace_for(write_csv(tmp_path / "odd.csv", "text,label", *rows), text=["text"], label="label")
    said = capsys.readouterr().out.splitlines()
    same = "Some classes may be the same under different names: `Good` 1 row, `good` 28; if they are one class, set ingest.label_names: "
    assert f'  classes  {same}{{"Good": "good"}}.' in said
    missing = "Some classes may stand for a missing label: `N/A` 3 rows; if these rows have no label, set ingest.unlabelled: "
    assert f'  classes  {missing}["-", "N/A"] and they are set aside.' in said


def test_classes_that_join_names_are_said_to_be_several_labels(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"text {row},{('a|b', 'b|c', 'c|a', 'a')[row % 4]}" for row in range(60)]
    workspace_for(write_csv(tmp_path / "odd.csv", "text,label", *rows), text=["text"], label="label")
    joined = "  classes  Some classes may be several labels in one cell, such as `c|a`: 4 classes are made of 3 names. If so, "
    assert joined in capsys.readouterr().out


def test_labels_that_are_measurements_are_said_to_be(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"text {row},{row % 30 / 8}" for row in range(90)]
    workspace_for(write_csv(tmp_path / "odd.csv", "text,label", *rows), text=["text"], label="label")
    said = "  classes  The labels look like measurements, not classes: 30 numbers from 0.0 to 3.625; here each is a class of its own, and "
    assert said in capsys.readouterr().out
