"""Rows from frames and files, and the way back to them."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cartograph.errors import InputError
from cartograph.frames.opened import FileForm
from cartograph.frames.rows import read_rows

FRAME = pd.DataFrame({"text": ["a", None, "c", "d"], "label": [1, 0, 0, 1], "more": [[1], [2], [3], [4]]}, index=[7, 7, 9, 10])


def test_rows_that_stay_keep_their_order_their_columns_and_the_spelling_of_their_labels() -> None:
    rows = read_rows(FRAME, "text", "label")
    before = rows.ingested.examples["label"].to_numpy()
    assert rows.places.tolist() == [0, 2, 3]
    same = rows.kept(np.array([True, False, True]), before.astype(np.int32))
    pd.testing.assert_frame_equal(same, FRAME.iloc[[0, 3]])
    turned = rows.kept(np.ones(3, bool), (1 - before).astype(np.int32))
    assert turned["label"].tolist() == [0, 1, 0] and turned["more"].tolist() == [[1], [3], [4]]


def test_a_corrected_label_is_written_as_its_class_is_most_often() -> None:
    rows = read_rows(pd.DataFrame({"text": list("abcde"), "label": ["libs ", "libs", "libs", "net", " net"]}), "text", "label")
    before = rows.ingested.examples["label"].to_numpy()
    turned = rows.kept(np.ones(5, bool), (1 - before).astype(np.int32))
    assert turned["label"].tolist() == ["net", "net", "net", "libs", "libs"]
    one = rows.kept(np.ones(5, bool), np.append(before[:4], 1 - before[4]).astype(np.int32))
    assert one["label"].tolist() == ["libs ", "libs", "libs", "net", "libs"]


def test_what_is_set_aside_is_named_as_the_frame_names_it() -> None:
    assert read_rows(FRAME, "text", "label").set_aside.drop(columns="value").to_dict("records") == [
        {"row": 7, "column": "text", "reason": "empty text"}
    ]
    unlabelled = FRAME.assign(text=list("abcd"), mood=["x", None, "y", "x"]).drop(columns="label")
    [aside] = read_rows(unlabelled, "text", "mood").set_aside.drop(columns="value").to_dict("records")
    assert aside == {"row": 7, "column": "mood", "reason": "no label"}


def test_of_an_index_with_levels_a_row_is_named_by_all_of_them() -> None:
    index = pd.MultiIndex.from_product([["ann", "bob"], [1, 2]], names=["who", "turn"])
    rows = read_rows(pd.DataFrame({"text": ["one", "", "two", "three"], "label": list("abab")}, index=index), "text", "label")
    assert rows.set_aside[["row", "reason"]].to_numpy().tolist() == [[("ann", 2), "empty text"]]
    assert rows.given.index[rows.places].tolist() == [("ann", 1), ("bob", 1), ("bob", 2)]


def test_half_a_character_is_read_as_an_escape() -> None:
    rows = read_rows(pd.DataFrame({"text": ["caf\udce9", "\ud800 broken", "été"], "label": list("aba")}, dtype=object), "text", "label")
    assert rows.ingested.examples["text"].to_pylist() == ["caf\\udce9", "\\ud800 broken", "été"]


@pytest.mark.parametrize("cells", [[["x"], "y"], [np.array(["x", "y"]), "z"], [{"x": 1}, "y"], [("x",), "y"]])
def test_several_labels_in_a_cell_are_refused(cells: list[object]) -> None:
    frame = pd.DataFrame({"text": ["one", "two"], "label": cells}, index=["r1", "r2"])
    with pytest.raises(InputError, match=r"column 'label' holds .*x.* in row 'r1', expected one label; .*`labels='label'`"):
        read_rows(frame, "text", "label")


def test_a_record_that_cannot_be_read_is_set_aside_as_well(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("text,label\na,x\nb,y\nc,x,extra,cells\nd,y\n")
    rows = read_rows(file, "text", "label")
    assert rows.set_aside["row"].tolist() == [3] and rows.ingested.rows_read == 4
    assert rows.given.index[rows.places].tolist() == [1, 2, 4]


def test_the_columns_may_have_the_names_of_the_projects_own() -> None:
    frame = pd.DataFrame({"source": ["a", "b"], "row": ["x", "y"]})
    assert read_rows(frame, "source", "row").ingested.info.labels == ("x", "y")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (FRAME.iloc[:0], "the frame has no rows"),
        (FRAME.drop(columns="label"), "the frame has no column 'label'; its columns are text, more"),
        ("absent.csv", "absent.csv does not exist"),
    ],
)
def test_what_cannot_be_read_is_refused(data: pd.DataFrame | str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_rows(data, "text", "label")


def test_of_columns_that_are_numbered_it_says_how_to_name_them() -> None:
    frame = pd.DataFrame([["good day", "yes"], ["bad day", "no"]])
    way_out = re.escape("Columns that are numbered get such names by `frame.columns = frame.columns.map(str)`.")
    for text, label in ((0, "1"), ("0", 1), ([0], "1")):
        with pytest.raises(InputError, match=f"must be the name of a column, a text, but is [01]. {way_out}"):
            read_rows(frame, text, label)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"the frame has no column '0'; its columns are 0, 1. {way_out}"):
        read_rows(frame, "0", "1")
    assert read_rows(frame.set_axis(frame.columns.map(str), axis=1), "0", "1").ingested.info.labels == ("no", "yes")


def test_a_table_of_features_is_read_by_all_its_columns_or_by_those_that_are_named() -> None:
    days = pd.date_range("2024-01-01", periods=40)
    frame = pd.DataFrame(
        {"age": [20.0, 30.0, None, 41.5] * 10, "job": ["clerk", "cook"] * 20, "seen": days, "id": range(40), "y": [0, 1] * 20}
    )
    rows = read_rows(frame, (), "y", features=True)
    assert rows.columns == ("age", "job", "seen", "y") and rows.ingested.left_out == ("id",)
    assert [feature.kind for feature in rows.ingested.info.features] == ["number", "category", "date"]
    assert rows.ingested.examples["values"][2].as_py() == {"age": None, "job": "clerk", "seen": datetime(2024, 1, 3)}
    assert read_rows(frame, (), "y", features=["job", "id"]).columns == ("job", "id", "y")
    with pytest.raises(InputError, match="name texts or features, not both"):
        read_rows(frame, "job", "y", features=True)
    with pytest.raises(InputError, match="the frame has no column 'jobs'"):
        read_rows(frame, (), "y", features=["jobs"])


@pytest.mark.parametrize("from_file", [False, True])
def test_a_column_links_rows_and_is_no_feature(from_file: bool, tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [20, 30, 41, 50] * 10, "who": [7, 7, None, 8] * 10, "job": ["a", "b"] * 20, "y": [0, 1] * 20})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    data = tmp_path / "rows.csv" if from_file else frame
    for features in (True, ["age", "job"]):
        rows = read_rows(data, (), "y", features=features, linked="who")
        assert rows.columns == ("age", "job", "y") and rows.linked == "who" and rows.ingested.left_out == ()
        assert rows.ingested.examples["linked"].to_pylist() == [0, 0, None, 1] * 10
    assert read_rows(data, "job", "y", linked="who").ingested.examples["linked"].to_pylist() == [0, 0, None, 1] * 10
    assert "linked" not in read_rows(data, "job", "y").ingested.examples.column_names
    for read, message in (("whom", "has no column .whom"), ("job", "'job' is named in `linked` and as what is read of the rows")):
        with pytest.raises(InputError, match=message):
            read_rows(data, "job", "y", linked=read)


def test_a_file_that_is_not_utf8_is_read_as_what_it_is_which_a_warning_says(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("text,label\nschön,x\nübel,y\n", encoding="cp1252")
    with pytest.warns(UserWarning, match=r"rows\.csv is not UTF-8; it is read as cp1252\."):
        rows = read_rows(file, "text", "label")
    assert rows.ingested.examples["text"].to_pylist() == ["schön", "übel"]
    assert read_rows(file, "text", "label", form=FileForm("latin-1")).form == FileForm("latin-1")


def test_an_item_of_a_list_is_read_as_a_column_of_its_own(tmp_path: Path) -> None:
    lines = [json.dumps({"doc": {"body": f"text {row}"}, "ann": [{"value": "ab"[row % 2]}]}) for row in range(6)]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    rows = read_rows(tmp_path / "rows.jsonl", "doc.body", "ann.0.value")
    assert rows.given["ann.0.value"].tolist() == ["a", "b"] * 3
    assert rows.given[list(rows.columns)].iloc[0].tolist() == ["text 0", "a"]


@pytest.mark.parametrize("from_file", [False, True])
def test_the_majority_of_several_columns_is_a_column_of_its_own(from_file: bool, tmp_path: Path) -> None:
    raters = {"r": ["a", "a", "b", "a"] * 3, "s": ["a", "b", "b", None] * 3, "t": ["b", "b", "b", "b"] * 3}
    frame = pd.DataFrame({"text": [f"text {row}" for row in range(12)], **raters})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    rows = read_rows(tmp_path / "rows.csv" if from_file else frame, "text", "r+s+t")
    assert rows.given["r+s+t"].tolist() == ["a", "b", "b", None] * 3
    assert rows.columns == ("text", "r+s+t")
    assert (len(rows.ingested.examples), len(rows.set_aside)) == (9, 3)
    assert "r+s+t" not in rows.whole_file.batch.table.column_names
    labels = rows.ingested.examples["label"].to_numpy().copy()
    labels[0] = 1 - labels[0]
    stays = rows.kept(np.ones(9, bool), labels)
    assert stays["r+s+t"].tolist() == ["b", "b", "b", "a", "b", "b", "a", "b", "b"]
    assert stays["r"].tolist() == ["a", "a", "b"] * 3


def test_a_column_that_is_named_twice_is_refused() -> None:
    with pytest.raises(InputError, match="column 'text' is named twice as a text"):
        read_rows(pd.DataFrame({"text": ["a", "b"], "label": ["x", "y"]}), ["text", "text"], "label")


def test_a_label_that_is_read_too_and_names_that_are_there_twice_or_have_levels_are_refused() -> None:
    frame = pd.DataFrame({"size": [1, 2], "text": ["a", "b"], "label": ["x", "y"]})
    with pytest.raises(InputError, match="column 'label' is the label, and named in `features`, too; leave it out there"):
        read_rows(frame, (), "label", features=["size", "label"])
    with pytest.raises(InputError, match="column 'label' is the label, and named in `text`, too"):
        read_rows(frame, "label", "label")
    for twice in ("size", "label"):
        with pytest.raises(InputError, match=f"the frame has 2 columns '{twice}'; rename or drop the others"):
            read_rows(pd.concat([frame, frame[[twice]]], axis=1), (), "label", features=True)
    assert len(read_rows(pd.concat([frame, frame[["size"]]], axis=1), "text", "label").ingested.examples) == 2, "nobody reads the sizes"
    levels = frame.set_axis(pd.MultiIndex.from_product([["all"], frame.columns]), axis=1)
    with pytest.raises(InputError, match="the frame's column names have 2 levels, but one is needed"):
        read_rows(levels, ("all", "text"), "label")


def test_a_labeller_who_is_the_same_in_all_rows_is_said_to_be_of_no_use() -> None:
    frame = pd.DataFrame({"text": [f"text {number}" for number in range(40)], "label": ["a", "b"] * 20, "who": "me"})
    rows = read_rows(frame, "text", "label", labelled_by="who")
    assert rows.labeller_sentence("--labelled-by ") == "`who` has the same value in all rows, so labels are not doubted by who gave them."
    assert read_rows(frame.assign(who=["me", "you"] * 20), "text", "label", labelled_by="who").labeller_sentence("--labelled-by ") == ""
