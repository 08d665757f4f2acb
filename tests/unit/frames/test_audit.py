"""A whole audit of a data frame in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import average_precision_score

from cartograph.errors import InputError
from cartograph.frames.audit import audit
from cartograph.frames.result import FrameAudit
from tasks.audit import ingest, measure, noise, train
from tasks.commands.own_file import workspace_for
from tasks.engine.running import run_step
from tasks.pipelines import open_workspace

WRONG = [f"r{row}" for row in range(7, 600, 10)]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    words = {"pos": ("good", "fine", "lovely", "great", "superb"), "neg": ("bad", "dull", "poor", "weak", "awful")}
    labels = ["pos", "neg"] * 300
    others = [f"w{number}" for number in range(60)]
    texts = [" ".join([*rng.choice(words[label], 2), *rng.choice(others, 4)]) for label in labels]
    table = pd.DataFrame({"text": texts, "label": labels}, index=[f"r{row}" for row in range(600)])
    table.loc[WRONG, "label"] = ["pos" if table.loc[row, "label"] == "neg" else "neg" for row in WRONG]
    return table


@pytest.fixture(scope="module")
def found(frame: pd.DataFrame) -> FrameAudit:
    return audit(frame, text="text", label="label", epochs=16)


def test_wrong_labels_are_suspects_under_the_frames_index_with_what_they_should_be(frame: pd.DataFrame, found: FrameAudit) -> None:
    assert set(found.suspects.index) <= set(WRONG) and len(found.suspects) > 20
    assert all(found.suspects.loc[row, "suggested"] != frame.loc[row, "label"] for row in found.suspects.index)
    assert found.suspects["probability"].is_monotonic_decreasing and found.suspects["probability"].between(0.5, 1).all()
    assert found.wrong is not None and found.wrong.low <= len(WRONG) <= found.wrong.high


@pytest.mark.slow
def test_the_page_says_in_which_value_of_a_column_that_is_not_read_suspects_gather(frame: pd.DataFrame, tmp_path: Path) -> None:
    who = np.where(np.arange(600) % 3, "ann", "bo")
    who[[frame.index.get_loc(row) for row in WRONG]] = "eve"
    who[:40] = "eve"
    kept = frame.assign(who=who, note=[{"id": row} for row in range(600)])
    page = audit(kept, text="text", label="label", epochs=16).report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Suspects gather where `who` is eve (" in page
    kept.to_csv(tmp_path / "rows.csv", index=False)
    page = audit(tmp_path / "rows.csv", text="text", label="label", epochs=16).report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Suspects gather where `who` is eve (" in page


def test_who_labelled_finds_more_of_a_careless_ones_errors(frame: pd.DataFrame) -> None:
    who = np.where(np.arange(600) % 3, "ann", "bo")
    who[[frame.index.get_loc(row) for row in WRONG]] = "eve"
    who[np.random.default_rng(1).choice(600, 60, replace=False)] = "eve"
    # Without the first of the two words that say which class it is, and a third of the texts without the other.
    words = frame["text"].str.split()
    texts = [" ".join(each[2 if row // 10 % 3 == 1 else 1 :]) for row, each in enumerate(words)]
    named = frame.assign(who=who, text=texts)
    without, known = (audit(named, text="text", label="label", labelled_by=name, epochs=2) for name in ("", "who"))
    others = named.index.difference(WRONG)
    odds = [np.log(one.ranking["probability"] / (1 - one.ranking["probability"])) for one in (without, known)]
    assert odds[1].loc[WRONG].mean() - odds[1].loc[others].mean() > odds[0].loc[WRONG].mean() - odds[0].loc[others].mean() + 0.5
    assert len(set(known.suspects.index) & set(WRONG)) > len(set(without.suspects.index) & set(WRONG))
    assert known.suspects.index.isin(WRONG).mean() >= without.suspects.index.isin(WRONG).mean()
    with pytest.raises(InputError, match="labelled_by is for rows of one label"):
        audit(named, text="text", labels=["label"], labelled_by="who")
    with pytest.raises(InputError, match="the frame has no column 'whom'"):
        audit(named, text="text", label="label", labelled_by="whom")


def test_of_few_rows_suspects_are_ranked_and_their_number_is_only_told_to_lie_between(frame: pd.DataFrame) -> None:
    few = audit(frame[:240], text="text", label="label", epochs=2)
    assert few.wrong is None and few.between is not None
    assert few.between.low <= frame.index[:240].isin(WRONG).sum() <= few.between.high <= few.between.most < 240
    assert repr(few).endswith(f"wrong labels: {few.between.low:,.0f} to {few.between.high:,.0f}>")
    fewer = audit(frame[:60], text="text", label="label", epochs=2)
    assert fewer.wrong is None and fewer.between is None and repr(fewer).endswith("wrong labels: unknown>")
    assert set(few.suspects.index) <= set(WRONG) and len(few.suspects)


def test_an_encoders_vectors_find_what_words_alone_do_not(frame: pd.DataFrame) -> None:
    rng = np.random.default_rng(3)
    truth = np.where(frame["label"].eq("pos") ^ frame.index.isin(WRONG), 1.0, -1.0)
    vectors = truth[:, None] + rng.normal(0, 0.5, (600, 4))
    blind = frame.assign(text=[f"w{number}" for number in rng.integers(0, 60, 600)])
    assert audit(blind, text="text", label="label", epochs=2).wrong is None
    found = audit(blind, text="text", label="label", vectors=vectors, epochs=2)
    assert found.wrong is not None and found.wrong.low <= len(WRONG) <= found.wrong.high
    assert set(found.suspects.index) <= set(WRONG) and len(found.suspects) > 25
    with pytest.raises(InputError, match="vectors of 599 rows and 600 labels"):
        audit(blind, text="text", label="label", vectors=vectors[:-1], epochs=2)


def test_every_row_has_its_measures_and_the_wrong_ones_low_confidence(frame: pd.DataFrame, found: FrameAudit) -> None:
    assert found.measures.index.equals(frame.index)
    confidence = found.measures["confidence"]
    assert confidence[WRONG].mean() < confidence.drop(WRONG).mean() - 0.2
    assert {"confidence", "variability", "correctness", "region"} <= set(found.measures.columns)


def test_the_map_has_a_point_for_each_row_and_the_result_is_a_line(found: FrameAudit) -> None:
    assert found.map().layout.meta["rows"] == 600
    assert repr(found).startswith(f"<audit of 600 rows: {len(found.suspects)} suspects, wrong labels: about ")


def test_the_same_frame_gives_the_same_result_and_pairs_are_taken(frame: pd.DataFrame, found: FrameAudit) -> None:
    pd.testing.assert_frame_equal(audit(frame, text="text", label="label", epochs=16).measures, found.measures)
    pairs = audit(frame.assign(other="about a film"), text=["text", "other"], label="label", epochs=2)
    assert len(pairs.measures) == 600


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({}, {"text": "review"}, "the frame has no column 'review'; its columns are text, label"),
        ({"label": None}, {}, r"none of its 600 rows can be used: 600 no label"),
        ({}, {"text": ["text", "text", "text"]}, "text names 3 columns; name one, or two for pairs"),
        ({}, {"text": ()}, "name one, or two for pairs, or give `features=True` where the columns are numbers and categories"),
        ({}, {"epochs": 1}, "epochs must be 2 or more"),
        ({}, {"epochs": "lots"}, "epochs must be 2 or more, a whole number, or auto, but is 'lots'"),
        ({}, {"threshold": 1.0}, r"threshold must be in \(0, 1\)"),
    ],
)
def test_a_frame_that_cannot_be_audited_is_refused(frame: pd.DataFrame, change: dict, arguments: dict, message: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(InputError, match=message):
        audit(frame.assign(**change), **{"text": "text", "label": "label"} | arguments)


@pytest.mark.parametrize("data", [{"text": ["a"]}, [["a", "b"]], np.zeros((2, 2)), None])
def test_what_is_neither_a_frame_nor_a_path_is_refused(data: Any) -> None:
    with pytest.raises(InputError, match=f"must be a pandas data frame or the path of a file, but is a {type(data).__name__}"):
        audit(data, text="text", label="label")


def test_rows_without_text_or_label_are_set_aside_and_the_others_are_audited(frame: pd.DataFrame) -> None:
    broken = frame.copy()
    broken.loc["r0", "text"] = None
    broken.loc["r1", "text"] = "  "
    broken.loc["r2", "label"] = np.nan
    found = audit(broken, text="text", label="label", epochs=2)
    assert found.set_aside[["row", "reason"]].values.tolist() == [["r0", "empty text"], ["r1", "empty text"], ["r2", "no label"]]
    assert found.measures.index.tolist() == frame.index[3:].tolist()
    assert "597 rows, 3 set aside" in repr(found)


def test_a_file_gives_what_its_frame_gives_under_the_numbers_of_its_rows(frame: pd.DataFrame, found: FrameAudit, tmp_path: Path) -> None:
    frame.to_csv(tmp_path / "rows.csv", index=False)
    read = audit(tmp_path / "rows.csv", text="text", label="label", epochs=16)
    assert read.measures.index.tolist() == list(range(1, 601))
    np.testing.assert_array_equal(read.measures["confidence"], found.measures["confidence"])
    assert [f"r{number - 1}" for number in read.suspects.index] == found.suspects.index.tolist()


@pytest.mark.slow
def test_the_suspects_are_those_of_the_steps(project: Path, frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_csv(tmp_path / "rows.csv", index=False)
    found = audit(tmp_path / "rows.csv", text="text", label="label")
    space = open_workspace(workspace_for(str(tmp_path / "rows.csv"), text=["text"], label="label"))
    for step in (ingest.STEP, train.STEP, measure.STEP, noise.STEP):
        run_step(step, space)
    steps = pq.read_table(space.path / "data/noise/noise.parquet").to_pandas().set_index("uid")
    rows = pq.read_table(space.path / "data/ingest/train.parquet").to_pandas().set_index("uid")["row"]
    flagged = steps[steps["flagged"]].sort_values("rank")
    assert rows[flagged.index].tolist() == found.suspects.index.tolist() and len(flagged) > 20
    np.testing.assert_allclose(flagged["probability"], found.suspects["probability"], rtol=1e-12)
    theirs = pq.read_table(space.path / "data/measure/measures.parquet").to_pandas().set_index("uid")["confidence"]
    np.testing.assert_allclose(theirs.set_axis(rows[theirs.index]).sort_index(), found.measures["confidence"], rtol=1e-12)


def test_labels_and_an_index_that_are_no_strings_are_taken(frame: pd.DataFrame) -> None:
    numbered = frame.assign(label=(frame["label"] == "pos").astype(int)).set_axis(np.arange(600) * 2)
    found = audit(numbered, text="text", label="label", epochs=2)
    for suggested in (found.suspects["suggested"], found.ranking["suggested"]):
        assert {(name, type(name)) for name in suggested} <= {(0, int), (1, int)}
    assert set(found.suspects["label"]) <= {0, 1}
    assert set(found.suspects.index) <= set(numbered.index)


@pytest.mark.slow
def test_wrong_labels_of_a_table_of_features_are_found() -> None:
    wines = load_wine(as_frame=True)
    frame, rng = wines.data.astype(object), np.random.default_rng(4)
    frame["grower"] = np.array(["a", "b", "c"])[wines.target]
    wrong = rng.choice(len(frame), 9, replace=False)
    frame.loc[wrong, "grower"] = [{"a": "b", "b": "c", "c": "a"}[label] for label in frame["grower"].iloc[wrong]]
    frame.loc[rng.choice(len(frame), 20, replace=False), "alcohol"] = None
    found = audit(frame, features=True, label="grower", epochs=8)
    assert len(set(found.suspects.index) & set(wrong)) >= 8 and len(found.suspects) <= 14
    right = dict(enumerate(np.array(["a", "b", "c"])[wines.target].tolist()))
    assert all(suggested == right[row] for row, suggested in found.suspects["suggested"].items() if row in set(wrong.tolist()))
    assert len(found.measures) == len(frame)


@pytest.mark.slow
def test_texts_among_columns_find_what_either_alone_does_not(tmp_path: Path) -> None:
    """What was said decides half of the rows, what they cost the others."""
    rng = np.random.default_rng(6)
    kinds, words = rng.integers(0, 2, 400), (("sour", "bitter", "cold"), ("sweet", "warm", "soft"))
    by_text = rng.random(400) < 0.5
    said = [
        f"it was {rng.choice(words[kind if by_words else rng.integers(2)])}, cup {row}, and no more"
        for row, (kind, by_words) in enumerate(zip(kinds, by_text, strict=True))
    ]
    cost = np.where(by_text, rng.normal(5, 3, 400), np.where(kinds == 1, 9, 1) + rng.normal(0, 1, 400))
    wrong = rng.random(400) < 0.08
    frame = pd.DataFrame({"said": said, "cost": cost.round(2), "label": np.array(["tea", "milk"])[np.where(wrong, 1 - kinds, kinds)]})

    def precision(found: FrameAudit) -> float:
        turn = pd.Series(np.arange(len(frame)), index=found.ranking.index).sort_index()
        return float(average_precision_score(wrong, -turn))

    both = audit(frame, features=True, label="label", epochs=4)
    one, other = audit(frame, features=["cost"], label="label", epochs=4), audit(frame, text="said", label="label", epochs=4)
    assert precision(both) > max(precision(one), precision(other)) + 0.1
    assert "said" in both.report(tmp_path / "page.html").read_text() and both.cleaned().columns.tolist() == ["said", "cost", "label"]


@pytest.mark.slow
@pytest.mark.parametrize("columns", [("said",), ("said", "place")])
def test_a_table_whose_columns_are_all_texts_is_read_by_their_words(columns: tuple[str, ...]) -> None:
    rng = np.random.default_rng(6)
    kinds = rng.integers(0, 2, 300)
    words = np.array([["sour", "bitter", "cold"], ["sweet", "warm", "soft"]])
    wrong = rng.random(300) < 0.08
    frame = pd.DataFrame(
        {
            "said": [
                f"it was {words[kind, rng.integers(3)]} and {words[kind, rng.integers(3)]}, cup {row}" for row, kind in enumerate(kinds)
            ],
            "place": [f"the inn on hill {rng.integers(300)} behind field {row}" for row in range(300)],
            "label": np.array(["tea", "milk"])[np.where(wrong, 1 - kinds, kinds)],
        }
    )
    found = audit(frame[[*columns, "label"]], features=True, label="label", epochs=4)
    suspects = set(found.suspects.index)
    assert suspects <= set(frame.index[wrong]) and len(suspects) >= wrong.sum() - 1
    assert found.cleaned().columns.tolist() == [*columns, "label"]


@pytest.mark.slow
def test_no_number_is_given_where_a_column_was_made_from_the_label(tmp_path: Path) -> None:
    """Right or wrong, the column gives each label away, so that none looks wrong."""
    rng = np.random.default_rng(6)
    labels = rng.choice(["low", "high"], 600)
    frame = pd.DataFrame({"size": rng.normal(size=600), "grade": np.where(labels == "low", "g1", "g2"), "label": labels})
    found = audit(frame, label="label", features=True, epochs=2)
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert found.wrong is None and repr(found).endswith("wrong labels: unknown>")
    why = "cannot be estimated: `grade` tells the label of (nearly) every row by itself, so that wrong labels would look right"
    assert f"Of 600 labels, how many are wrong {why}; without that number none is sure enough to change automatically" in page
    assert found.changes() == "all of them: how many labels are wrong is not known closely enough for one to be changed without a person"
    without = audit(frame.drop(columns="grade"), label="label", features=True, epochs=2)
    assert "tells the label" not in without.report(tmp_path / "other.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_label_is_not_wrong_for_how_it_is_written() -> None:
    rng = np.random.default_rng(5)
    words = {"pos": ["good", "great", "fun", "fine", "lovely"], "neg": ["bad", "dull", "poor", "awful", "sad"]}
    right = rng.choice(["pos", "neg"], 1200)
    texts = [" ".join([*rng.choice(["film", "plot", "story", "cast"], 4), *rng.choice(words[label], 3)]) for label in right]
    frame = pd.DataFrame({"text": texts, "label": right})
    wrong = rng.choice(1200, 30, replace=False)
    frame.loc[wrong, "label"] = [{"pos": "neg", "neg": "pos"}[label] for label in right[wrong]]
    other = rng.choice(np.flatnonzero(frame["label"] == "pos"), 150, replace=False)
    odd = frame.assign(label=frame["label"].where(~np.isin(np.arange(1200), other), "Pos"))
    found, plain = audit(odd, text="text", label="label", epochs=2), audit(frame, text="text", label="label", epochs=2)
    assert set(found.suspects.index) <= set(wrong) and len(found.suspects) >= 0.7 * len(plain.suspects)
    assert not (found.suspects["label"].str.casefold() == found.suspects["suggested"].str.casefold()).any()
    assert found.wrong is not None and plain.wrong is not None and found.wrong.expected < 1.5 * plain.wrong.expected
    assert repr(found).endswith(") (if `pos` and `Pos` are one class)>") and "one class" not in repr(plain)
    assert (found.cleaned("relabel")["label"] == "Pos").sum() >= 140, "what is changed is changed for what it says"
    alone = audit(odd[odd["label"] != "neg"], text="text", label="label", epochs=2)
    assert alone.wrong is None and alone.suspects.empty and len(alone.cleaned("drop-flagged")) == (odd["label"] != "neg").sum()
