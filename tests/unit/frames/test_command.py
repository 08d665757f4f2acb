"""What an audit's page says that one types to make it again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from cartograph.__main__ import _parser
from cartograph.frames.command import SEED, THRESHOLD, command_of
from cartograph.frames.opened import FileForm
from cartograph.frames.rows import read_rows

FRAME = pd.DataFrame({"the text": ["a", "b", "c"], "tag, own": ["x", "y", "x"], "n": [1, 2, 3]})


@pytest.mark.parametrize(
    ("features", "columns", "command"),
    [
        (False, ("the text",), "--text 'the text' --label 'tag, own'"),
        (True, (), "--features --label 'tag, own'"),
        (["n"], (), "--feature n --label 'tag, own'"),
    ],
)
def test_of_a_file_it_is_the_command(features: bool | list[str], columns: tuple[str, ...], command: str, tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "my rows.csv", index=False)
    rows = read_rows(tmp_path / "my rows.csv", columns, "tag, own", features)
    assert command_of(rows, columns, "tag, own", threshold=0.5, seed=13) == f"cartograph audit 'my rows.csv' {command}"


def test_options_that_are_not_as_by_default_are_named_and_parsed_as_they_were(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "rows.csv", index=False, header=False)
    form = FileForm("latin-1", ("text", "tag, own", ""))
    rows = read_rows(tmp_path / "rows.csv", "text", "tag, own", form=form)
    command = command_of(rows, ["text"], ["tag, own"], threshold=0.4, seed=7, epochs=12)
    assert command == (
        "cartograph audit rows.csv --text text --labels 'tag\\, own' --columns 'text,tag\\, own,' --encoding latin-1 "
        "--epochs 12 --threshold 0.4 --seed 7"
    )
    assert _parser().parse_args(["audit", "rows.csv", "--epochs", "12"]).epochs == 12


def test_of_a_frame_and_of_what_the_command_cannot_do_it_is_the_call(tmp_path: Path) -> None:
    rows = read_rows(FRAME, "the text", "tag, own")
    call = command_of(rows, ["the text"], "tag, own", threshold=0.5, seed=13)
    assert call == "cartograph.audit(frame, text='the text', label='tag, own')"
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    rows = read_rows(tmp_path / "rows.csv", (), "tag, own", True)
    call = command_of(rows, [], ["n", "m"], threshold=0.5, seed=1, epochs=4, vectors=True)
    assert call == "cartograph.audit('rows.csv', features=True, labels=['n', 'm'], epochs=4, seed=1, vectors=vectors)"


def test_the_column_that_links_rows_is_named_and_parsed_as_it_was(tmp_path: Path) -> None:
    rows = read_rows(FRAME, "the text", "tag, own", linked="n")
    call = command_of(rows, ["the text"], "tag, own", threshold=0.5, seed=13)
    assert call == "cartograph.audit(frame, text='the text', label='tag, own', linked='n')"
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    rows = read_rows(tmp_path / "rows.csv", "tag, own", "n", linked="the text")
    command = command_of(rows, ["tag, own"], "n", threshold=0.5, seed=13)
    assert command == "cartograph audit rows.csv --text 'tag, own' --label n --linked 'the text'"
    assert _parser().parse_args(["audit", "rows.csv", "--linked", "the text"]).linked == "the text"


def test_who_labelled_is_named_and_parsed_as_it_was(tmp_path: Path) -> None:
    rows = read_rows(FRAME, "the text", "tag, own", labelled_by="n")
    call = command_of(rows, ["the text"], "tag, own", threshold=0.5, seed=13)
    assert call == "cartograph.audit(frame, text='the text', label='tag, own', labelled_by='n')"
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    rows = read_rows(tmp_path / "rows.csv", "tag, own", "n", labelled_by="the text")
    command = command_of(rows, ["tag, own"], "n", threshold=0.5, seed=13)
    assert command == "cartograph audit rows.csv --text 'tag, own' --label n --labelled-by 'the text'"
    assert _parser().parse_args(["audit", "rows.csv", "--labelled-by", "the text"]).labelled_by == "the text"


def test_the_defaults_are_those_of_the_command() -> None:
    given = _parser().parse_args(["audit", "rows.csv"])
    assert (given.threshold, given.seed) == (THRESHOLD, SEED)
