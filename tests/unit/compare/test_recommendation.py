from __future__ import annotations

import pyarrow as pa
import pytest

from cartograph.compare.recommendation import Recommendation, recommend
from cartograph.compare.versions import DIFFERENCES


def advice(*rows: dict[str, object], noise: dict[str, object] | None = None, decided: int = 0, weighted: bool = False) -> Recommendation:
    usual = {"subset": "cleaned", "against": "original", "set": "test", "domain": "id", "rows": 500, "metric": "accuracy", "seeds": 3}
    found = recommend(pa.Table.from_pylist([usual | row for row in rows], schema=DIFFERENCES), noise, decided, weighted=weighted)
    assert found is not None
    return found


def estimate(expected: float, low: float) -> dict[str, object]:
    return {"calibrated": True, "wrong": {"expected": expected, "low": low, "high": 2 * expected, "most": 3 * expected}}


GAIN = {"low": 0.01, "difference": 0.02, "high": 0.03}
NONE = {"low": -0.01, "difference": 0.002, "high": 0.02}
LOSS = {"low": -0.03, "difference": -0.02, "high": -0.01}


@pytest.mark.parametrize(
    ("rows", "version", "outcome"),
    [
        ([GAIN], "cleaned", "better"),
        ([NONE], "original", "no difference"),
        ([LOSS], "original", "worse"),
        ([GAIN, {**LOSS, "metric": "macro_f1"}], "original", "worse"),
        ([{**GAIN, "set": "far", "domain": "ood"}, NONE], "original", "no difference"),
        ([{**LOSS, "set": "far", "domain": "ood"}], "original", "worse"),
        ([{**LOSS, "set": "test/Logic"}, GAIN], "cleaned", "better"),
        ([{**LOSS, "against": "random"}, GAIN], "cleaned", "better"),
        ([{"low": 0.0, "difference": 0.0, "high": 0.0}], "original", "unchanged"),
    ],
)
def test_cleaned_rows_that_are_measurably_better_in_distribution_are_recommended(
    rows: list[dict[str, object]], version: str, outcome: str
) -> None:
    found = advice(*rows)
    assert (found.version, found.outcome) == (version, outcome)


@pytest.mark.parametrize(
    ("noise", "version", "why"),
    [
        (estimate(60, 15), "cleaned", "and it is certain that labels are wrong (at least 15, about 60)."),
        (estimate(60, 14), "original", "and how many labels are wrong is only loosely known (at least 14, about 60)."),
        (estimate(60, 0.2), "original", "and perhaps no label is wrong."),
        (estimate(0, 0), "original", "and perhaps no label is wrong."),
        ({**estimate(60, 40), "calibrated": False}, "original", "and how many labels are wrong is not known closely."),
        (None, "original", "and how many labels are wrong is not known closely."),
    ],
)
def test_without_a_difference_the_cleaned_rows_are_recommended_where_wrong_labels_are_there_for_sure(
    noise: dict[str, object] | None, version: str, why: str
) -> None:
    found = advice(NONE, noise=noise)
    assert (found.version, found.outcome, found.content()["determined"]) == (version, "no difference", version == "cleaned")
    start = f"Recommended: the {version} rows; models trained on the cleaned ones are neither better nor worse measurably on test, "
    assert found.sentence == f"{start}{why}"
    for rows, other in ((GAIN, "cleaned"), (LOSS, "original")):
        sure = advice(rows, noise=noise)
        assert sure.version == other and "determined" not in sure.sentence, "what was measured decides"


def test_where_models_are_probably_worse_wrong_labels_that_are_there_for_sure_do_not_decide() -> None:
    probably = {"low": -0.009, "difference": -0.004, "high": 0.0005}
    found = advice(probably, noise=estimate(60, 40))
    assert (found.version, found.outcome, found.determined) == ("original", "no difference", True)
    assert found.sentence == (
        "Recommended: the original rows; models trained on the cleaned ones are probably worse on test, though not measurably; it is "
        "certain that labels are wrong (at least 40, about 60)."
    )
    assert advice({**probably, "high": 0.005}, noise=estimate(60, 40)).version == "cleaned"
    assert advice(NONE, {**probably, "metric": "macro_f1"}, noise=estimate(60, 40)).version == "original"


@pytest.mark.parametrize("noise", [estimate(60, 40), estimate(60, 14), None])
def test_weights_are_recommended_unless_models_are_worse_for_them(noise: dict[str, object] | None) -> None:
    found = advice(NONE, noise=noise, weighted=True)
    assert (found.version, found.outcome) == ("cleaned", "no difference")
    assert found.sentence == (
        "Recommended: the weighted rows; weights drop no row and change no label, and models trained on the original ones are neither "
        "better nor worse measurably on test."
    )
    probably = advice({"low": -0.009, "difference": -0.004, "high": 0.0005}, noise=noise, weighted=True)
    said = "Recommended: the original rows; models trained on the weighted ones are probably worse on test, though not measurably"
    assert (probably.version, probably.sentence.startswith(said)) == ("original", True)
    assert ("it is certain that labels are wrong" in probably.sentence) == (noise is not None and probably.determined)
    assert advice(LOSS, noise=noise, weighted=True).version == "original"
    assert advice({"low": 0.0, "difference": 0.0, "high": 0.0}, noise=noise, weighted=True).version == "original"
    better = "Recommended: the weighted rows, on which models are measurably better (test)."
    assert advice(GAIN, noise=noise, weighted=True).sentence == better


def test_the_sentence_names_what_is_worse_and_asks_for_a_third_seed() -> None:
    found = advice({**LOSS, "metric": "macro_f1", "seeds": 2}, {**NONE, "seeds": 2})
    assert found.sentence == (
        "Recommended: the original rows, since models trained on the cleaned ones are measurably worse (macro F1 on test). "
        "With 2 seeds the interval says little about other seeds: train with a third (`retrain.seeds`)."
    )
    assert advice({**NONE, "seeds": 1}).sentence.endswith(
        "With one seed, or one training that did not fail, the interval says nothing about other seeds: train with three (`retrain.seeds`)."
    )
    assert "seed" not in advice(NONE).sentence
    assert found.content()["worse"] == [["test", "macro_f1"]]


def test_nothing_compared_is_no_recommendation() -> None:
    assert recommend(DIFFERENCES.empty_table()) is None


def test_a_gain_that_as_many_random_rows_have_too_is_said_to_be_so() -> None:
    said = "Recommended: the cleaned rows, on which models are measurably better (test); not so against as many rows drawn at random: fewer"
    like = advice(GAIN, {**NONE, "against": "random"})
    assert (like.version, like.like_random) == ("cleaned", True) and like.sentence == f"{said} rows may be why."
    beyond = advice(GAIN, {**GAIN, "against": "random"})
    assert not beyond.like_random and beyond.sentence.endswith("measurably better (test).")
    both = advice(GAIN, {**GAIN, "metric": "macro_f1"}, {**NONE, "against": "random"}, {**GAIN, "against": "random", "metric": "macro_f1"})
    assert not both.like_random, "by one metric it is more than chance removes"
    weights = advice(GAIN, {**NONE, "against": "random"}, weighted=True).sentence
    assert weights == (
        "Recommended: the weighted rows, on which models are measurably better (test); not so against the same weights in random order: "
        "uneven weights may be why."
    )
    assert not advice(GAIN).like_random and not advice(NONE, {**NONE, "against": "random"}).like_random


def test_what_people_changed_is_kept_unless_models_are_measurably_worse_for_it() -> None:
    vague = estimate(60, 5)
    assert advice(NONE, noise=vague).version == "original"
    kept = advice(NONE, noise=vague, decided=66)
    said = "Recommended: the cleaned rows, since people decided on each of the 66 changes; models trained on the original ones are neither "
    assert (kept.version, kept.sentence) == ("cleaned", f"{said}better nor worse measurably on test.")
    same = advice({"low": 0.0, "difference": 0.0, "high": 0.0}, decided=1)
    assert same.version == "cleaned" and "people decided on the one change; " in same.sentence
    assert advice(LOSS, noise=vague, decided=66).version == "original"
    assert advice(GAIN, decided=66).sentence == advice(GAIN).sentence
