from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from cartograph.clean.reviewed import DECIDED
from cartograph.page.audit import Audit
from cartograph.page.encode import script_json
from cartograph.page.rows import carried_rows
from tests.page_audits import audit_of_images, audit_of_texts, decoded, with_cleaning, with_several_labels, with_suspects


def test_rows_are_carried_as_they_are() -> None:
    audit = audit_of_texts(10, text="t")
    rows = carried_rows(audit, np.array([1, 4]), {7, 4}, 10**6)
    places = decoded(rows["place"])
    assert places.tolist() == [1, 4, 7]
    assert rows["count"] == 3
    assert rows["uid"] == ["u0000001", "u0000004", "u0000007"]
    assert rows["texts"] == [["1 t", "4 t", "7 t"], ["t", "t", "t"]]
    assert decoded(rows["confidence"]) == pytest.approx(audit.confidence[places], abs=1e-7)
    assert decoded(rows["percent"]).reshape(3, 3) == pytest.approx(100 * audit.probabilities[places], abs=0.5001)
    assert decoded(rows["label"]).tolist() == audit.gold[places].tolist()
    assert decoded(rows["row"]).tolist() == [1, 4, 7]
    assert rows["annotators"] == ["yes × 2, no × 1"] * 3


def test_rows_that_are_no_suspects_have_their_turn_by_how_much_they_are_doubted() -> None:
    audit = with_suspects(audit_of_texts(10, text="t"), flagged=(7, 2))
    assert audit.suspects is not None
    ranks = pa.array([10, 9, 2, 8, 3, 4, 6, 1, 5, 7], pa.int32())
    audit = replace(audit, suspects=replace(audit.suspects, rows=audit.suspects.rows.set_column(5, "rank", ranks)))
    places = np.array([0, 2, 3, 4, 7])
    assert audit.most_suspect_first(places).tolist() == [4, 1, 3, 2, 0]
    assert decoded(carried_rows(audit, places, set(), 10**6)["turn"]).tolist() == [4, 1, 3, 2, 0]


def test_what_people_decided_about_comes_last(audit: Audit) -> None:
    # Of two suspects row 1 is the first; people decided about it, and about row 2.
    cleaned = with_cleaning(audit)
    assert cleaned.cleaning is not None
    decided = pa.table([pa.array(["u1", "u2"]), pa.array([True, False])], schema=DECIDED)
    cleaned = replace(cleaned, cleaning=replace(cleaned.cleaning, decided=decided))
    assert cleaned.most_suspect_first(np.arange(8)).tolist() == [0, 6, 7, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("text", ["word " * 100, "日本語" * 100, "<&>" * 100])
def test_texts_are_cut_until_the_rows_fit_but_those_of_listed_rows(text: str) -> None:
    audit = audit_of_texts(500, text=text, text_characters=280)
    listed = {3, 400}
    rows = carried_rows(audit, np.arange(500), listed, 250_000)
    assert len(script_json(rows).encode()) <= 250_000
    lengths = np.array([[len(one) for one in field] for field in rows["texts"]])
    others = np.delete(lengths, sorted(listed), axis=1)
    assert lengths[:, sorted(listed)].min() >= 279
    assert 20 <= others.max() < 240
    assert rows["texts"][1][0].endswith("…")


def test_listed_rows_are_cut_where_even_they_do_not_fit() -> None:
    rows = carried_rows(audit_of_texts(100, text_characters=400), np.arange(100), set(range(100)), 60_000)
    assert len(script_json(rows).encode()) <= 60_000
    assert 100 < max(len(text) for text in rows["texts"][1]) < 400


def test_what_fits_is_not_cut_further() -> None:
    rows = carried_rows(audit_of_texts(20, text_characters=50), np.arange(20), set(), 10**6)
    assert {len(text) for text in rows["texts"][1]} == {50}


def test_small_pictures_are_carried_whole() -> None:
    audit = audit_of_images(30)
    rows = carried_rows(audit, np.arange(30), {4}, 10**6)
    [pictures] = rows["texts"]
    assert rows["images"] == ["picture <b>"] and len(set(pictures)) == 30
    assert all(picture.startswith("data:image/png;base64,") and len(picture) < 300 for picture in pictures)


@pytest.mark.parametrize(("allowance", "listed_have", "others_have"), [(10**6, 3, 37), (200_000, 3, 37), (50_000, 3, 10), (6_000, 1, 0)])
def test_pictures_shrink_and_those_of_listed_rows_stay_longest(allowance: int, listed_have: int, others_have: int) -> None:
    audit, listed = audit_of_images(40, side=120), {3, 20, 39}
    rows = carried_rows(audit, np.arange(40), listed, allowance)
    assert len(script_json(rows).encode()) <= allowance
    [pictures] = rows["texts"]
    theirs = [bool(pictures[row]) for row in sorted(listed)]
    others = [bool(picture) for row, picture in enumerate(pictures) if row not in listed]
    assert sum(theirs) >= listed_have
    assert sum(others) >= others_have if others_have else not any(others)


def test_rows_of_two_files_with_equal_numbers_share_no_text() -> None:
    audit, examples = with_several_labels(audit_of_texts(8)), audit_of_texts(8).examples
    texts = [f"text {row // 2}" for row in range(8)]
    for name, values in (("a", texts), ("source", ["a.csv"] * 4 + ["b.csv"] * 4), ("row", [1, 1, 2, 2] * 2)):
        place = examples.schema.get_field_index(name)
        examples = examples.set_column(place, examples.schema.field(place), pa.array(values))
    audit = replace(audit, examples=examples)
    rows = carried_rows(audit, np.arange(8), set(), 1_000_000)
    assert [rows["texts"][0][which] for which in decoded(rows["text"])] == texts
