"""The review sheet and the Label Studio tasks: what reviewers are shown, and what comes back."""

from __future__ import annotations

import csv
import io
import json
import math
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.clean.decisions import Decision
from cartograph.clean.label_studio import configuration, entries_of_export, tasks
from cartograph.clean.review_sheet import asked_rows, require_saved, review_sheet, suspects
from cartograph.data.spreadsheet import header_of, read_sheet
from cartograph.errors import InputError
from cartograph.schema import DatasetInfo, dataset_info, examples_schema
from tests.cleaning import make_examples, make_noise
from tests.training_sets import info_of, small_images

EXAMPLES = make_examples([("d", "=cmd|' /C calc'!A0", 0), ("a", 'say "x",\r\ny', 1), ("-1", "@three", 0), ("b", "four", 2)])
NOISE = make_noise(EXAMPLES, {"-1": (1, 0.95), "a": (0, 0.5), "d": (2, math.nan)})
GIVEN = {"d": "bad", "a": "good", "-1": "bad", "b": "odd"}
LABELS = ("bad", "good", "odd")


def test_the_sheet_lists_suspects_by_rank_with_empty_columns_to_fill_in() -> None:
    content = review_sheet(dataset_info(EXAMPLES.schema), suspects(EXAMPLES, NOISE, 500))
    assert content.decode("utf-8-sig") == (
        "rank,uid,text,given_label,suggested_label,probability,suggested_probability,reason,decision,new_label,by,comment\r\n"
        "1,'-1,'@three,bad,good,0.8,0.95,low confidence 1,,,,\r\n"
        '2,a,"say ""x"",\r\ny",good,bad,0.6,0.5,low confidence 2,,,,\r\n'
        "3,d,'=cmd|' /C calc'!A0,bad,,0.4,,low confidence 3,,,,\r\n"
    )


def test_the_list_is_limited_and_leaves_out_what_is_decided() -> None:
    assert [one.uid for one in suspects(EXAMPLES, NOISE, 2)] == ["-1", "a"]
    assert [one.uid for one in suspects(EXAMPLES, NOISE, 2, {"-1": 0})] == ["a", "d"]
    assert suspects(EXAMPLES, NOISE, 0) == []
    assert suspects(EXAMPLES, make_noise(EXAMPLES, {}), 9) == []


def test_further_rows_rank_below_the_list_and_those_without_a_decision_are_counted() -> None:
    examples = make_examples([(f"u{n}", f"text {n}", n % 3) for n in range(9)])
    noise = make_noise(examples, {"u4": (2, 0.9), "u0": (1, 0.8)})
    ranked = ["u4", "u0", "u8", "u7", "u6", "u5", "u3", "u2", "u1"]
    assert [one.uid for one in suspects(examples, noise, 500, further=3)] == ranked[:5]
    assert [one.uid for one in suspects(examples, noise, 500, {"u0": 0, "u7": 0}, further=3)] == ["u4", "u8", "u6", "u5"]
    assert [noise["uid"][row].as_py() for row in asked_rows(noise, {"u7"}, 2).to_pylist()] == ranked[:5]
    assert [one.uid for one in suspects(examples, noise, 500, further=99)] == ranked
    assert [one.uid for one in suspects(examples, make_noise(examples, {}), 500, further=2)] == ["u8", "u7"]
    # Above the last of the list, but not on it: its suggestion is another form of its own class.
    listed = noise["flagged"].to_pylist()
    listed[noise["uid"].to_pylist().index("u4")] = False
    column = noise.schema.get_field_index("flagged")
    without = noise.set_column(column, noise.schema.field(column), pa.array(listed))
    assert [one.uid for one in suspects(examples, without, 500, further=2)] == ["u0", "u8", "u7"]


def test_a_text_column_named_like_a_column_of_the_sheet_is_renamed() -> None:
    info = DatasetInfo("train", "train", "pair", ("Comment", "comment (text)"), (), LABELS)
    columns = [["a"], ["one"], ["two"], [0], ["t"], [1]]
    examples = pa.table(columns, schema=examples_schema(info))
    content = review_sheet(info, suspects(examples, make_noise(examples, {"a": (1, 0.9)}), 9))
    assert header_of(content, "s.csv")[2:4] == ("comment (text)", "comment (text) (text)")
    [record] = read_sheet(content, "s.csv", ("uid", "decision", "comment"))
    assert (record.cells["comment (text)"], record.cells["comment (text) (text)"], record.cells["comment"]) == ("one", "two", "")


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.sampled_from(["=1", "'=1", "\t@", "1e5", "a\r\nb", '","', "007"])


@settings(max_examples=60)
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6, unique_by=lambda row: row[0]))
def test_uids_and_texts_come_back_as_they_were(rows: list[tuple[str, str]]) -> None:
    examples = make_examples([(uid, text, 0) for uid, text in rows])
    found = suspects(examples, make_noise(examples, {uid: (1, 0.9) for uid, _ in rows}), 99)
    content = review_sheet(dataset_info(examples.schema), found)
    assert [(record.cells["uid"], record.cells["text"]) for record in read_sheet(content, "s.csv", ("uid", "decision"))] == rows
    for line in content.decode("utf-8-sig").split("\r\n"):
        assert not line.startswith(("=", "+", "-", "@", "\t", "\r"))


def filled(decision: str, new_label: str = "") -> bytes:
    content = review_sheet(dataset_info(EXAMPLES.schema), suspects(EXAMPLES, NOISE, 2))
    return content.replace(b"low confidence 1,,,,", f"low confidence 1,{decision},{new_label},,".encode())


def test_a_sheet_with_decisions_that_were_not_taken_in_is_not_replaced() -> None:
    def may_go(content: bytes, *decisions: Decision) -> None:
        require_saved(content, "r.csv", decisions, GIVEN, LABELS, "take it in")

    may_go(filled(""))
    may_go(filled("keep"), Decision("-1", "keep", None, "Ann"))
    may_go(filled("relabel", "Good"), Decision("-1", "relabel", "good", "Ann"))
    # Its row was taken out since, but the decision was taken in.
    left = {uid: label for uid, label in GIVEN.items() if uid != "-1"}
    require_saved(filled("drop"), "r.csv", [Decision("-1", "drop", None, "Ann")], left, LABELS, "take it in")
    message = r"^r\.csv holds decisions about 1 rows that were not taken in and would be lost, .* with `take it in`, or delete the file\.$"
    for content, decision in [
        (filled("keep"), Decision("a", "keep", None, "Ann")),
        (filled("keep"), Decision("-1", "drop", None, "Ann")),
        (filled("relabel"), Decision("-1", "keep", None, "Ann")),
    ]:
        with pytest.raises(InputError, match=message):
            may_go(content, decision)
    with pytest.raises(InputError, match=r"^r\.csv is not UTF-8 text \(line 1\); .* nobody can tell what it holds, and it is not replaced"):
        may_go("ü".encode() + b"\xe9uid")


def test_tasks_fit_their_configuration() -> None:
    found = suspects(EXAMPLES, NOISE, 9)
    assert tasks(found)[0] == {
        "data": {"uid": "-1", "text_1": "@three", "about": "given label: bad; suggested: good (0.95). Suspect 1 (0.80): low confidence 1"}
    }
    assert tasks(found)[2]["data"]["about"] == "given label: bad. Suspect 3 (0.40): low confidence 3"
    labels = ('<b> & "q"', "$data", "a\x00b")
    info = DatasetInfo("train", "train", "pair", ("<premise>", "$x"), (), labels)
    view = ElementTree.fromstring(configuration(info))
    assert [one.get("value") for one in view.iter("Text")] == ["$text_1", "$text_2"]
    assert {one.get("valueType") for one in view.iter("Text")} == {"text"}
    assert [one.get("value") for one in view.iter("Header")] == ["<premise>", "＄x", "$about"]
    decision, new_label = view.iter("Choices")
    assert [one.get("value") for one in decision] == ["keep", "drop", "relabel"]
    shown = [one.get("value") for one in new_label]
    assert shown == ['<b> & "q"', "＄data", "a\ufffdb"]
    export = [{"uid": "u", "decision": "relabel", "new_label": label} for label in shown]
    assert [entry.new_label for entry in entries_of_export(json.dumps(export).encode(), "e", labels)] == list(labels)


def test_a_review_sheet_shows_pictures() -> None:
    rows = small_images(6)
    found = suspects(rows, make_noise(rows, {"u0000": (1, 0.8), "u0001": (1, 0.8)}), 10)
    sheet = list(csv.DictReader(io.StringIO(review_sheet(info_of("image"), found).decode("utf-8-sig"))))
    assert [row["uid"] for row in sheet] == ["u0000", "u0001"]
    assert all(row["image"].startswith("data:image/png;base64,") and len(row["image"]) < 32_767 for row in sheet)
    assert tasks(found)[0]["data"]["text_1"] == sheet[0]["image"]
    image = ElementTree.fromstring(configuration(info_of("image"))).find("Image")
    assert image is not None and image.attrib["value"] == "$text_1"
