"""A whole audit of rows that have several labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cartograph
from cartograph.dynamics.decisions import decision_places
from cartograph.errors import InputError
from cartograph.frames.labels_result import LabelsAudit
from cartograph.ingest.label_sets import label_sets
from cartograph.page.rows import carried_rows
from tests.label_sets import WORDS, film_frame
from tests.page_audits import decoded

FRAME, TRUTH = film_frame(700, 0.05)
GIVEN = label_sets({"tags": FRAME["tags"].tolist()}, "").given.astype(int)
WRONG = {(f"r{row}", WORDS[label]) for row, label in zip(*np.nonzero(GIVEN != TRUTH), strict=True)}


@pytest.fixture(scope="module")
def found() -> LabelsAudit:
    return cartograph.audit(FRAME, text="text", labels="tags")


def test_suspects_name_the_row_the_label_and_what_it_should_be(found: LabelsAudit) -> None:
    suspects = found.suspects
    assert suspects.columns.tolist() == ["text", "label", "given", "suggested", "probability", "yes", "reason"]
    named = list(zip(suspects.index, suspects["label"], strict=True))
    assert np.mean([pair in WRONG for pair in named]) > 0.85 and len(set(named) & WRONG) > len(WRONG) / 2
    assert ((suspects["given"] == "yes") != (suspects["suggested"] == "yes")).all()
    for (row, label), given, text in zip(named, suspects["given"], suspects["text"], strict=True):
        assert (given == "yes") == (label in FRAME.loc[row, "tags"].split("|")) and text == FRAME.loc[row, "text"]
    assert suspects["probability"].is_monotonic_decreasing and suspects["probability"].between(0.5, 1).all()
    assert (suspects["yes"].gt(0.5) == suspects["suggested"].eq("yes"))[:20].all()


def test_every_label_of_every_row_has_a_rank(found: LabelsAudit) -> None:
    ranking = found.ranking
    assert ranking.columns.tolist() == ["label", "given", "probability"] and len(ranking) == GIVEN.size
    assert ranking["probability"].is_monotonic_decreasing
    known = {(row, label): given for row, label, given in zip(ranking.index, ranking["label"], ranking["given"], strict=True)}
    assert len(known) == GIVEN.size
    assert all((known[f"r{row}", WORDS[label]] == "yes") == bool(given) for (row, label), given in np.ndenumerate(GIVEN))
    first = set(zip(ranking.index[:30], ranking["label"][:30], strict=True))
    assert first == set(zip(found.suspects.index[:30], found.suspects["label"][:30], strict=True))
    with pytest.raises(InputError, match=r"of one label of several \(`\.ranking` of the whole audit has it\)"):
        _ = found.label(WORDS[0]).ranking


def test_the_number_of_wrong_labels_is_told_for_all_and_for_each(found: LabelsAudit) -> None:
    assert found.wrong is not None and found.wrong.low <= len(WRONG) <= found.wrong.high
    table = found.labels
    assert table.index.tolist() == list(WORDS) and table["rows"].tolist() == GIVEN.sum(axis=0).tolist()
    assert table["suspects"].sum() == len(found.suspects) and (table["missing"] + table["surplus"] == table["suspects"]).all()
    assert repr(found).startswith("<audit of 700 rows with 4 labels: ")
    wrong = (GIVEN != TRUTH).sum(axis=0)
    known = table["wrong"].notna()
    assert known.any() and (table["low"][known] <= wrong[known]).all() and (wrong[known] <= table["high"][known]).all()


def test_each_label_has_a_map_of_its_own_and_all_have_one(found: LabelsAudit) -> None:
    assert found.measures.index[:5].tolist() == [*(("r0", name) for name in WORDS), ("r1", "love")]
    war = found.label("war")
    assert war.measures.index.tolist() == FRAME.index.tolist()
    of_all = found.measures.xs("war", level="label")
    np.testing.assert_allclose(war.measures["confidence"], of_all["confidence"])
    assert len(war.suspects) == found.labels.loc["war", "suspects"]
    assert war.suspects["suggested"].tolist() == found.suspects["suggested"][found.suspects["label"] == "war"].tolist()
    assert found.map().layout.meta["rows"] == 2800 and found.map("war").layout.meta["rows"] == 700
    with pytest.raises(InputError, match="no label is called 'peace'; there are love, sea, space, war"):
        found.label("peace")


def test_low_confidence_gathers_wrong_labels(found: LabelsAudit) -> None:
    wrong = np.array([pair in WRONG for pair in found.measures.index])
    confidence = found.measures["confidence"].to_numpy()
    assert confidence[wrong].mean() < confidence[~wrong].mean() - 0.2
    assert found._page.training["learning"]["sentence"] == ""


def test_cleaned_rows_have_fewer_wrong_labels_and_the_rest_as_it_was(found: LabelsAudit) -> None:
    cleaned = found.cleaned()
    assert cleaned.index.tolist() == FRAME.index.tolist()
    now = label_sets({"tags": cleaned["tags"].tolist()}, "").given.astype(int)
    assert (now != GIVEN).sum() == found.corrections > 20
    assert (now != TRUTH).sum() < 0.7 * len(WRONG)
    fewer = found.cleaned("drop-flagged")
    assert len(fewer) == 700 - (now != GIVEN).any(axis=1).sum()
    with pytest.raises(InputError, match="recipe must be correct or drop-flagged, but is 'relabel'"):
        found.cleaned("relabel")  # type: ignore[arg-type]


def test_rows_of_the_page_share_their_texts(found: LabelsAudit) -> None:
    rows = carried_rows(found._page, np.arange(2800), set(), 10**7)
    assert len(rows["texts"][0]) == 700 and rows["several"] == list(WORDS)
    texts = found._page.examples["text"].to_pylist()
    assert [rows["texts"][0][place] for place in decoded(rows["text"])] == texts


def test_the_classes_of_the_page_are_the_no_and_the_yes_of_each_label(found: LabelsAudit) -> None:
    page = found._page
    assert page.info.labels[:4] == ("love: no", "love: yes", "sea: no", "sea: yes")
    row, label = np.divmod(decision_places(found._rows.examples["uid"].to_numpy(zero_copy_only=False).astype(object), 4), 4)
    assert page.gold.tolist() == (2 * label + found._rows.given[row, label]).tolist()
    suggested = page.suspects.rows["suggested"].to_numpy() if page.suspects else np.empty(0)
    assert (suggested // 2 == page.gold // 2).all() and (suggested != page.gold).all()
    assert page.predicted is not None and (page.predicted // 2 == page.gold // 2).all()


def test_labels_that_cannot_be_audited_end_nothing_and_are_named(tmp_path: Path) -> None:
    frame = FRAME[:200].copy()
    frame.loc["r1", "tags"] = "war|typo"
    found = cartograph.audit(frame, text="text", labels="tags", epochs=2)
    assert found.labels.loc["typo", ["rows", "note"]].tolist() == [1, "yes in 1 row, of 5 that are needed"]
    with pytest.raises(InputError, match="label 'typo' was not audited: yes in 1 row, of 5 that are needed"):
        found.label("typo")
    assert found.wrong is None and "typo" in found.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert found.corrections == 0 and found.cleaned().equals(frame)
    alone = found.labels[found.labels["wrong"].isna() & found.labels["high"].notna()]
    wrong = (GIVEN[:200] != TRUTH[:200]).sum(axis=0)[[list(WORDS).index(name) for name in alone.index]]
    assert len(alone) and (alone["low"] <= wrong).all() and (wrong <= alone["high"]).all(), "between which numbers is known all the same"


@pytest.mark.slow
def test_tables_of_features_are_audited_too() -> None:
    from sklearn.datasets import load_digits

    digits = load_digits(as_frame=True)
    frame = digits.data[:600].assign(even=digits.target[:600] % 2 == 0, big=(digits.target[:600] > 4).astype(int))
    turned = [3, 77, 150, 320, 511]
    frame.loc[turned, "even"] = ~frame.loc[turned, "even"].astype(bool)
    found = cartograph.audit(frame, features=True, labels=["even", "big"], epochs=4)
    assert len(set(found.suspects.query("label == 'even'").index[:6]) & set(turned)) >= 3


def test_an_encoders_vectors_are_read_row_by_row() -> None:
    vectors = 2.0 * TRUTH[:200] + np.random.default_rng(3).normal(0, 0.4, (200, 4))
    found = cartograph.audit(FRAME[:200], text="text", labels="tags", vectors=vectors, epochs=2)
    wrong = WRONG & {(f"r{row}", name) for row in range(200) for name in WORDS}
    first = found.suspects[: len(wrong)]
    assert len(set(zip(first.index, first["label"], strict=True)) & wrong) >= 0.8 * len(wrong)
    with pytest.raises(InputError, match="there are vectors of 3 rows and 200 rows of labels"):
        cartograph.audit(FRAME[:200], text="text", labels="tags", vectors=vectors[:3], epochs=2)


def test_one_of_label_and_labels_is_needed() -> None:
    for both in ({}, {"label": "tags", "labels": "tags"}):
        with pytest.raises(InputError, match="name label, the column of the one label of a row, or labels"):
            cartograph.audit(FRAME, text="text", **both)  # type: ignore[call-overload]


@pytest.mark.slow
def test_the_same_rows_give_the_same_audit() -> None:
    one, other = (cartograph.audit(FRAME[:120], text="text", labels="tags", epochs=2) for _ in range(2))
    pd.testing.assert_frame_equal(one.suspects, other.suspects)
    pd.testing.assert_frame_equal(one.measures, other.measures)
