"""Detectors compared, suspects listed, and why: literal maps and small planted ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.errors import InputError
from cartograph.maps.measures import Measures, compute_measures
from cartograph.schema import NOISE
from cartograph.suspects.candidates import PREFERRED, compare_detectors, detector_columns, feature_sets
from cartograph.suspects.committee import Committee
from cartograph.suspects.flips import Flips, choose_flips
from cartograph.suspects.label_doubt import label_doubt
from cartograph.suspects.listing import (
    Evidence,
    assumed_measures,
    choose_suggestions,
    map_measures,
    mean_probabilities,
    reasons,
    suspects_table,
)
from cartograph.suspects.record import noise_metrics, noise_record

NAMES = ("contradiction", "entailment", "neutral")


def committee_of(probabilities: np.ndarray, labels: np.ndarray) -> Committee:
    n_examples, n_classes = probabilities.shape
    scores = np.zeros((1, n_examples, n_classes), dtype=np.float32)
    return Committee(probabilities, label_doubt(probabilities, labels), ("one",), scores, np.ones(1), np.zeros(n_examples, dtype=np.intp))


def planted_set(n_examples: int = 600, errors: int = 30, seed: int = 1) -> tuple[Evidence, Evidence, Flips, np.ndarray]:
    """A set with real errors, before and after flips: the model learns some errors by heart, the committee sees through them."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n_examples)
    labels = truth.copy()
    wrong = rng.choice(n_examples, errors, replace=False)
    labels[wrong] = (labels[wrong] + 1) % 3
    hardness = rng.normal(0, 1.2, n_examples)

    def side(given: np.ndarray, noise: int) -> Evidence:
        own = np.random.default_rng([seed, noise])
        logits = own.normal(0, 0.5, (n_examples, 6, 3)).astype(np.float32)
        rows = np.arange(n_examples)
        logits[rows, :, truth] += (3.0 + hardness + own.normal(0, 0.3, n_examples))[:, None]
        logits[rows, :, given] += own.gamma(2.0, 0.6, n_examples)[:, None]
        scores = own.normal(0, 0.5, (n_examples, 3))
        scores[rows, truth] += 3.0 + hardness
        chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        measures = compute_measures([str(row) for row in rows], logits, given)
        return Evidence(given, NAMES, measures, mean_probabilities(logits), 6, committee_of(chances, given))

    original = side(labels, 0)
    easy = original.measures.confidence >= np.quantile(original.measures.confidence, 0.6)
    flips = choose_flips(easy, labels, 3, 0.05, rng)
    return original, side(flips.labels, 1), flips, truth != labels


def without_committee(evidence: Evidence) -> Evidence:
    return replace(evidence, committee=None)


# --- columns and candidates


def test_columns_are_the_measures_and_the_committees_doubt_and_margin() -> None:
    measures = Measures(np.array([0.2, 0.9]), np.array([0.1, 0.1]), np.array([0.0, 1.0]))
    chances = np.array([[0.1, 0.6, 0.3], [0.8, 0.1, 0.1]])
    labels = np.array([0, 0])
    columns = detector_columns(measures, committee_of(chances, labels), labels)
    assert set(columns) == {"confidence", "variability", "correctness", "doubt", "margin"}
    np.testing.assert_allclose(columns["margin"], [np.log(0.1 / 0.6), np.log(8)])
    assert columns["doubt"][0] > 0 > columns["doubt"][1]
    np.testing.assert_allclose(1 / (1 + np.exp(-columns["doubt"])), label_doubt(chances, labels).score)


def test_a_certain_committee_gives_finite_columns() -> None:
    measures = Measures(np.ones(2), np.zeros(2), np.ones(2))
    labels = np.array([0, 1])
    columns = detector_columns(measures, committee_of(np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), labels), labels)
    assert all(np.isfinite(values).all() for values in columns.values())


def test_candidates_read_what_is_there() -> None:
    original, _, _, _ = planted_set()
    assert feature_sets(original.columns) == {
        "confidence": ("confidence",),
        "measures": ("confidence", "variability", "correctness", "aum", "el2n", "loss"),
        "committee": ("aum", "doubt", "margin"),
    }
    assert "committee" not in feature_sets(without_committee(original).columns)
    coordinates = replace(
        original, measures=Measures(*(getattr(original.measures, name) for name in ("confidence", "variability", "correctness")))
    )
    assert feature_sets(coordinates.columns)["committee"] == ("confidence", "doubt", "margin")


# --- comparing


def test_the_best_on_the_flips_is_used_and_finds_the_real_errors_better() -> None:
    from cartograph.statistics.metrics import average_precision

    original, noised, flips, wrong = planted_set()
    compared = compare_detectors(noised.columns, original.columns, flips.planted, np.random.default_rng(3))
    assert compared.name == "committee" and compared.chosen is compared.candidates["committee"]
    found = {name: average_precision(wrong, detector.probability(original.columns)) for name, detector in compared.candidates.items()}
    assert found["committee"] > found["confidence"] + 0.05
    flagged = compared.chosen.probability(original.columns) >= 0.5
    assert wrong[flagged].mean() > 0.8 and flagged[wrong].mean() > 0.6
    scores = ", ".join(f"{name} {compared.candidates[name].average_precision:.3f}" for name in ("confidence", "measures", "committee"))
    assert compared.reason.startswith(f"Cross-validated average precision on the planted flips: {scores}; used: committee, ")


def test_rows_that_all_detectors_flag_do_not_count_against_any() -> None:
    original, noised, flips, _ = planted_set()
    compared = compare_detectors(noised.columns, original.columns, flips.planted, np.random.default_rng(3))
    by_all = np.all([detector.probability(original.columns) >= 0.5 for detector in compared.candidates.values()], axis=0)
    assert compared.left_out == np.count_nonzero(by_all & ~flips.planted) > 0


def test_without_a_committee_the_paper_and_the_map_are_compared() -> None:
    original, noised, flips, _ = (without_committee(side) if isinstance(side, Evidence) else side for side in planted_set())
    compared = compare_detectors(noised.columns, original.columns, flips.planted, np.random.default_rng(3))
    assert set(compared.candidates) == {"confidence", "measures"}
    with pytest.raises(InputError, match=r"`noise.detector` is committee, which cannot be had here: .* use auto, confidence or measures"):
        compare_detectors(noised.columns, original.columns, flips.planted, np.random.default_rng(3), asked="committee")


def test_equally_good_to_within_one_flip_is_no_difference() -> None:
    planted = np.arange(200) % 10 == 0
    rng = np.random.default_rng(1)
    columns = {
        name: np.where(planted, 0.1, 0.9) + rng.normal(0, 0.01, 200)
        for name in ("confidence", "variability", "correctness", "aum", "doubt", "margin")
    }
    compared = compare_detectors(columns, {name: np.full(200, 0.9) for name in columns}, planted, np.random.default_rng(1))
    assert compared.name == PREFERRED[0] == "committee"
    assert all(detector.average_precision == detector.f1 == 1.0 for detector in compared.candidates.values())


def test_what_was_asked_for_is_used() -> None:
    original, noised, flips, _ = planted_set()
    compared = compare_detectors(noised.columns, original.columns, flips.planted, np.random.default_rng(3), asked="confidence")
    assert compared.name == "confidence" and compared.reason.endswith("used: confidence, as asked.")


def test_assumed_flips_are_not_compared() -> None:
    original, noised, flips, _ = planted_set()
    compared = compare_detectors(noised.columns, original.columns, flips.planted, np.random.default_rng(3), assumed=True)
    assert list(compared.candidates) == ["confidence"] == [compared.name]
    assert compared.reason.startswith("The flips' measures are assumed, not measured")
    asked = compare_detectors(noised.columns, original.columns, flips.planted, np.random.default_rng(3), assumed=True, asked="measures")
    assert asked.name == "measures" and set(asked.candidates) == {"confidence", "measures"}


def test_all_rows_weigh_in_so_that_the_draw_hardly_matters() -> None:
    original, noised, flips, _ = planted_set()
    fits = [
        compare_detectors(noised.columns, original.columns, flips.planted, np.random.default_rng(seed)).candidates["confidence"]
        for seed in range(3)
    ]
    assert all(np.array_equal(fit.weights, fits[0].weights) and fit.bias == fits[0].bias for fit in fits)


def test_confidence_tells_flips_apart_and_variability_less() -> None:
    original, noised, flips, _ = planted_set()
    compared = compare_detectors(noised.columns, original.columns, flips.planted, np.random.default_rng(3))
    assert compared.candidates["confidence"].f1 > 0.9 > compared.variability.f1


# --- coordinates alone


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 5), st.integers(0, 2**31))
def test_assumed_measures_turn_the_flipped_rows_round_and_leave_the_others(n_classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    measures = Measures(rng.random(50), rng.random(50) / 2, rng.random(50))
    planted = rng.random(50) < 0.3
    turned = assumed_measures(measures, planted, n_classes)
    for name in ("confidence", "variability", "correctness"):
        np.testing.assert_array_equal(getattr(turned, name)[~planted], getattr(measures, name)[~planted])
    np.testing.assert_allclose(turned.confidence[planted] * (n_classes - 1), 1 - measures.confidence[planted])
    assert turned.aum is None
    assert ((turned.confidence >= 0) & (turned.confidence <= 1) & (turned.variability <= 0.5)).all()


def test_coordinates_share_the_rest_evenly() -> None:
    evidence = Evidence(np.array([1, 0]), NAMES, Measures(np.array([0.4, 1.0]), np.zeros(2), np.ones(2)), None, None, None)
    np.testing.assert_allclose(evidence.from_coordinates, [[0.3, 0.4, 0.3], [1.0, 0.0, 0.0]])


def test_a_map_of_coordinates_has_no_more_than_that() -> None:
    import pyarrow as pa

    from cartograph.schema import MEASURES

    row = {
        "uid": "a",
        "gold": 1,
        "confidence": 0.5,
        "variability": 0.1,
        "correctness": 1.0,
        "threshold_closeness": 0.25,
        "region": "ambiguous",
    }
    known = map_measures(pa.Table.from_pylist([row], schema=MEASURES))
    assert known.confidence.tolist() == [0.5] and known.aum is None and known.loss is None


# --- suggestions


def sides(in_sample: bool, out_of_fold: bool) -> tuple[Evidence, Evidence, Flips]:
    """Row 0 was flipped from 2 to 0; a source that is right says 2, one that is wrong 1."""
    says = {True: [0.1, 0.2, 0.7], False: [0.1, 0.7, 0.2]}
    measures = Measures(np.array([0.1]), np.zeros(1), np.zeros(1))

    def side(label: int) -> Evidence:
        labels = np.array([label], dtype=np.int32)
        return Evidence(labels, NAMES, measures, np.array([says[in_sample]]), 1, committee_of(np.array([says[out_of_fold]]), labels))

    return side(2), side(0), Flips(np.array([0]), np.array([0], dtype=np.int32))


@pytest.mark.parametrize(
    ("in_sample", "out_of_fold", "source"),
    [(True, True, "in-sample"), (True, False, "in-sample"), (False, True, "out-of-fold"), (False, False, "in-sample")],
)
def test_suggestions_come_from_what_finds_the_flips_labels(in_sample: bool, out_of_fold: bool, source: str) -> None:
    chosen = choose_suggestions(*sides(in_sample, out_of_fold))
    assert chosen.source == source
    assert chosen.right == {"in-sample": float(in_sample), "out-of-fold": float(out_of_fold)}


def test_suggestions_from_coordinates_alone() -> None:
    original, noised, flips = (
        replace(side, in_sample=None, committee=None) if isinstance(side, Evidence) else side for side in sides(True, True)
    )
    chosen = choose_suggestions(original, noised, flips)
    assert chosen.source == "coordinates" and chosen.right == {}
    np.testing.assert_allclose(chosen.probabilities, [[0.45, 0.45, 0.1]])


# --- the table and its words


def test_suspects_are_a_table_of_all_rows() -> None:
    original, noised, flips, _ = planted_set()
    compared = compare_detectors(noised.columns, original.columns, flips.planted, np.random.default_rng(3))
    suggestions = choose_suggestions(original, noised, flips)
    uids = np.array([f"u{row:03d}" for row in range(600)], dtype=object)
    table = suspects_table(uids, compared.chosen, original, suggestions.probabilities)
    assert table.schema == NOISE and table["uid"].to_pylist() == uids.tolist()
    probability, rank = table["probability"].to_numpy(), table["rank"].to_numpy()
    assert sorted(rank) == list(range(1, 601)) and (np.diff(probability[np.argsort(rank)]) <= 0).all()
    flagged = table["flagged"].to_numpy(zero_copy_only=False)
    np.testing.assert_array_equal(flagged, probability >= 0.5)
    suggested = table["suggested"].to_numpy()
    assert (suggested != original.labels).all()
    np.testing.assert_array_equal(table["suggested_probability"].to_numpy(), suggestions.probabilities[np.arange(600), suggested])
    assert (
        suspects_table(uids, compared.chosen, original, suggestions.probabilities, threshold=0.9)["flagged"]
        .to_numpy(zero_copy_only=False)
        .tolist()
        == (probability >= 0.9).tolist()
    )


def evidence(logits: list[list[list[float]]], labels: list[int], names: tuple[str, ...] = NAMES) -> Evidence:
    array, gold = np.array(logits, dtype=np.float32), np.array(labels)
    measures = compute_measures([str(row) for row in range(len(gold))], array, gold)
    return Evidence(gold, names, measures, mean_probabilities(array), array.shape[1], None)


def test_reasons_say_what_the_model_thought_epoch_by_epoch() -> None:
    known = evidence([[[0, 0, 4], [0, 0, 4]], [[4, 0, 0], [0, 0, 4]], [[9, 0, 0], [9, 0, 0]]], [0, 0, 0])
    assert reasons(known, committee=True) == [
        "the model gave its label 1.8\u00a0% on average and preferred neutral (96\u00a0%); all 2 epochs disagreed",
        "the model gave its label 49\u00a0% on average, more than any other; 1 of 2 epochs disagreed",
        "the model gave its label over 99.9\u00a0% on average, more than any other; all 2 epochs agreed",
    ]
    one = evidence([[[0, 0, 4]], [[4, 0, 0]]], [0, 0])
    assert [reason.split("; ")[1] for reason in reasons(one, committee=False)] == ["its one epoch disagreed", "its one epoch agreed"]


def test_reasons_say_what_those_found_that_never_saw_the_row_where_they_had_a_say() -> None:
    known = evidence([[[0, 0, 4]]], [0])
    known = replace(known, committee=committee_of(np.array([[0.03, 0.9, 0.07]]), known.labels))
    told = "; models that never saw the row give it 3\u00a0% and prefer entailment (90\u00a0%)"
    [reason] = reasons(known, committee=True)
    assert reason.endswith(told)
    assert told not in reasons(known, committee=False)[0]


def test_reasons_from_coordinates_state_what_is_assumed() -> None:
    known = Evidence(np.array([0]), ("1", "2"), Measures(np.array([0.004]), np.array([0.1]), np.array([0.0])), None, None, None)
    assert reasons(known, committee=True, assumption="by assumption: so and so") == [
        "the model gave its label 0.4\u00a0% on average; it was the first choice in 0\u00a0% of the epochs; by assumption: so and so"
    ]


def test_long_label_names_are_cut() -> None:
    known = evidence([[[0, 0, 4]]], [0], ("a", "b", "x" * 500))
    assert f"preferred {'x' * 59}… (" in reasons(known, committee=False)[0]


def test_mean_probabilities_by_hand() -> None:
    logits = np.array([[[0.0, 0.0], [0.0, np.log(3)]], [[800.0, 0.0], [800.0, 0.0]]], dtype=np.float32)
    np.testing.assert_allclose(mean_probabilities(logits), [[0.375, 0.625], [1.0, 0.0]], atol=1e-6)


# --- the record


def test_the_record_says_what_was_chosen_and_where_confidence_is_cut() -> None:
    original, noised, flips, _ = planted_set()
    compared = compare_detectors(noised.columns, original.columns, flips.planted, np.random.default_rng(3), asked="confidence")
    suggestions = choose_suggestions(original, noised, flips)
    uids = np.array([f"u{row:03d}" for row in range(600)], dtype=object)
    table = suspects_table(uids, compared.chosen, original, suggestions.probabilities, threshold=0.7)
    record = noise_record(flips, compared, suggestions, table, asked={"detector": "confidence", "threshold": 0.7}, assumption=None)
    flagged = table["flagged"].to_numpy(zero_copy_only=False)
    assert record["suspects"] == flagged.sum()
    np.testing.assert_array_equal(flagged, original.measures.confidence <= record["confidence_below"])
    assert (record["detector"], record["flips"], record["rows"]) == ("confidence", 30, 600)
    metrics = noise_metrics(record)
    assert all(isinstance(value, int | float) for value in metrics.values())
    assert metrics["suspects.share"] == pytest.approx(flagged.mean(), abs=1e-6)
    assert {"f1.confidence", "f1.variability", "f1.committee", "average_precision.measures", "suggestions.in-sample"} <= set(metrics)
    assert metrics["assumed"] == 0
