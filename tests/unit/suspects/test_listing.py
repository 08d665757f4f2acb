"""Suspects listed, with suggestions and reasons: literal maps and small planted ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.data.kept_logits import WHOLE, KeptShares
from cartograph.errors import InputError
from cartograph.maps.measures import Measures, compute_measures
from cartograph.schema import NOISE
from cartograph.suspects.copies import copies_of
from cartograph.suspects.detector import Detector, Logistic, choose_detector
from cartograph.suspects.flips import Flips
from cartograph.suspects.listing import (
    Evidence,
    assumed_measures,
    choose_suggestions,
    map_measures,
    mean_probabilities,
    reasons,
    suspects_table,
)
from tests.label_errors import NAMES, committee_of, planted_set

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


def test_coordinates_of_many_classes_keep_the_likelier_first() -> None:
    names = [f"class {number}" for number in range(WHOLE + 1)]
    measures = Measures(np.array([0.9, 0.001]), np.zeros(2), np.ones(2))
    kept = Evidence(np.array([0, 7]), names, measures, None, None, None).from_coordinates
    assert isinstance(kept, KeptShares)
    np.testing.assert_array_equal(kept.classes, [[0, 1], [0, 7]])
    np.testing.assert_allclose(kept.values, [[0.9, 0.1 / WHOLE], [0.999 / WHOLE, 0.001]])


def test_a_map_of_coordinates_has_no_other_measures() -> None:
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
    [(True, True, "out-of-fold"), (True, False, "in-sample"), (False, True, "out-of-fold"), (False, False, "out-of-fold")],
)
def test_suggestions_come_from_what_finds_the_flips_labels(in_sample: bool, out_of_fold: bool, source: str) -> None:
    chosen = choose_suggestions(*sides(in_sample, out_of_fold))
    assert chosen.source == source
    assert chosen.right == {"in-sample": float(in_sample), "out-of-fold": float(out_of_fold)}


def test_suggestions_come_from_coordinates_where_nothing_else_is_known() -> None:
    original, noised, flips = (
        replace(side, in_sample=None, committee=None) if isinstance(side, Evidence) else side for side in sides(True, True)
    )
    chosen = choose_suggestions(original, noised, flips)
    assert chosen.source == "coordinates" and chosen.right == {}
    np.testing.assert_allclose(chosen.probabilities, [[0.45, 0.45, 0.1]])


# --- the table and its words


def test_suspects_are_a_table_of_all_rows() -> None:
    original, noised, flips, _ = planted_set()
    choice = choose_detector(noised.columns, original.columns, flips.planted, np.random.default_rng(3))
    suggestions = choose_suggestions(original, noised, flips)
    uids = np.array([f"u{row:03d}" for row in range(600)], dtype=object)
    table = suspects_table(uids, choice.chosen, original, suggestions.probabilities)
    assert table.schema == NOISE and table["uid"].to_pylist() == uids.tolist()
    probability, rank = table["probability"].to_numpy(), table["rank"].to_numpy()
    assert sorted(rank) == list(range(1, 601)) and (np.diff(probability[np.argsort(rank)]) <= 0).all()
    flagged = table["flagged"].to_numpy(zero_copy_only=False)
    np.testing.assert_array_equal(flagged, probability >= 0.5)
    suggested = table["suggested"].to_numpy()
    assert (suggested != original.labels).all()
    np.testing.assert_array_equal(table["suggested_probability"].to_numpy(), suggestions.probabilities[np.arange(600), suggested])
    assert (
        suspects_table(uids, choice.chosen, original, suggestions.probabilities, threshold=0.9)["flagged"]
        .to_numpy(zero_copy_only=False)
        .tolist()
        == (probability >= 0.9).tolist()
    )


def listed(detector: Detector, measures: Measures) -> pa.Table:
    """The table of rows of two classes that are known by their measures alone."""
    n_examples = len(measures.confidence)
    known = Evidence(np.zeros(n_examples, dtype=int), ("1", "2"), measures, None, None, None)
    return suspects_table([str(row) for row in range(n_examples)], detector, known, np.full((n_examples, 2), 0.5))


def literal(feature: str, weight: float) -> Detector:
    return Detector((feature,), Logistic(np.array([0.5]), np.ones(1), np.array([weight]), 0.0), 1.0, 1.0, 10, calibrated=True)


def test_rows_rank_by_their_odds_and_equal_ones_in_their_order() -> None:
    table = listed(literal("confidence", -8.0), Measures(np.array([0.9, 0.05, 0.5, 0.5, 0.5]), np.zeros(5), np.zeros(5)))
    assert table["rank"].to_pylist() == [5, 1, 2, 3, 4]
    assert table["flagged"].to_pylist() == [False, True, True, True, True], "one half is flagged"
    np.testing.assert_allclose(table["probability"], 1 / (1 + np.exp([3.2, -3.6, 0, 0, 0])))
    assert table["suggested"].to_pylist() == [1] * 5


def test_the_surest_suspects_are_ranked_even_where_probabilities_round_to_one() -> None:
    nothing = np.zeros(2)
    table = listed(literal("aum", -1.0), Measures(nothing, nothing, nothing, aum=np.array([-500.0, -900.0])))
    assert table["probability"].to_pylist() == [1.0, 1.0] and table["rank"].to_pylist() == [2, 1]


def test_probabilities_of_other_rows_are_refused() -> None:
    known = Evidence(np.zeros(4, dtype=int), ("1", "2"), Measures(np.ones(4), np.zeros(4), np.ones(4)), None, None, None)
    with pytest.raises(InputError, match=r"one label per example are needed, but they have shapes \(3, 2\) and \(4,\)"):
        suspects_table(list("abcd"), literal("confidence", -8.0), known, np.full((3, 2), 0.5))


def evidence(logits: list[list[list[float]]], labels: list[int], names: tuple[str, ...] = NAMES) -> Evidence:
    array, gold = np.array(logits, dtype=np.float32), np.array(labels)
    measures = compute_measures([str(row) for row in range(len(gold))], array, gold)
    return Evidence(gold, names, measures, mean_probabilities(array), array.shape[1], None)


def test_reasons_say_what_the_model_thought_epoch_by_epoch() -> None:
    known = evidence([[[0, 0, 4], [0, 0, 4]], [[4, 0, 0], [0, 0, 4]], [[9, 0, 0], [9, 0, 0]]], [0, 0, 0])
    assert list(reasons(known, committee=True)) == [
        "the model gave this label 1.8\u00a0% on average and preferred neutral (96\u00a0%); all 2 epochs disagreed",
        "the model gave this label 49\u00a0% on average, more than any other; 1 of 2 epochs disagreed",
        "the model gave this label over 99.9\u00a0% on average, more than any other; all 2 epochs agreed",
    ]
    one = evidence([[[0, 0, 4]], [[4, 0, 0]]], [0, 0])
    assert [reason.split("; ")[1] for reason in reasons(one, committee=False)] == ["its one epoch disagreed", "its one epoch agreed"]


def test_reasons_quote_the_committee_where_the_detector_read_it() -> None:
    known = evidence([[[0, 0, 4]]], [0])
    known = replace(known, committee=committee_of(np.array([[0.03, 0.9, 0.07]]), known.labels))
    said = "; models that never saw the row give it 3\u00a0% and prefer entailment (90\u00a0%)"
    [reason] = reasons(known, committee=True)
    assert reason.endswith(said)
    assert said not in next(reasons(known, committee=False))


def test_the_committees_suggestions_are_taken_unless_others_find_measurably_more() -> None:
    original, noised, flips, _ = planted_set()
    assert original.committee is not None and choose_suggestions(original, noised, flips).source == "out-of-fold"
    shares = np.full((600, 3), 0.1)
    shares[np.arange(600), original.labels] = 0.8
    wrong = np.tile([0.33, 0.33, 0.34], (600, 1))
    blind = replace(noised, in_sample=shares, committee=replace(noised.committee, probabilities=wrong))  # type: ignore[type-var]
    chosen = choose_suggestions(replace(original, in_sample=shares), blind, flips)
    assert chosen.source == "in-sample" and chosen.right["in-sample"] == 1.0 > chosen.right["out-of-fold"]


def test_reasons_name_copies_with_another_label() -> None:
    known = evidence([[[4, 0, 0]]] * 3, [0, 0, 1])
    heard = replace(committee_of(np.full((3, 3), 1 / 3), known.labels), copies=copies_of(np.array([5, 5, 5]), known.labels))
    said = [reason.split("; ")[-1] for reason in reasons(replace(known, committee=heard), committee=True)]
    assert said[0] == said[1] == "of 2 other copies of the row, 1 has another label"
    assert said[2] == "of 2 other copies of the row, 2 have another label"
    alone = replace(heard, copies=copies_of(np.array([5, 5, -1]), known.labels))
    assert not any("same text" in reason for reason in reasons(replace(known, committee=alone), committee=True))


def test_reasons_from_coordinates_state_what_is_assumed() -> None:
    known = Evidence(np.array([0]), ("1", "2"), Measures(np.array([0.004]), np.array([0.1]), np.array([0.0])), None, None, None)
    assert list(reasons(known, committee=True, assumption="by assumption: so and so")) == [
        "the model gave this label 0.4\u00a0% on average; it was the first choice in 0\u00a0% of the epochs; by assumption: so and so"
    ]


def test_the_reason_of_a_suspect_says_where_the_models_do_not_know_its_class() -> None:
    said = evidence([[[2.0, 0.0, 0.0]]] * 4 + [[[0.0, 2.0, 0.0]]] * 4, [0, 0, 0, 2, 1, 1, 1, 0], ("a", "b", "odd"))
    found = suspects_table(list("abcdefgh"), literal("confidence", -8.0), said, mean_probabilities(np.zeros((8, 1, 3), np.float32)))
    flagged = found["flagged"].to_pylist()
    assert [row for row, suspect in enumerate(flagged) if suspect] == [3, 7]
    ends = [
        reason.endswith("; the models do not know `odd` from other classes, so this says little") for reason in found["reason"].to_pylist()
    ]
    assert ends == [False, False, False, True, False, False, False, False]


def test_long_label_names_are_cut() -> None:
    known = evidence([[[0, 0, 4]]], [0], ("a", "b", "x" * 500))
    assert f"preferred {'x' * 59}… (" in next(reasons(known, committee=False))


def test_mean_probabilities_are_as_worked_out_by_hand() -> None:
    logits = np.array([[[0.0, 0.0], [0.0, np.log(3)]], [[800.0, 0.0], [800.0, 0.0]]], dtype=np.float32)
    np.testing.assert_allclose(mean_probabilities(logits), [[0.375, 0.625], [1.0, 0.0]], atol=1e-6)


def test_a_flipped_row_has_its_share_of_what_the_right_label_had() -> None:
    measures = Measures(np.array([0.7, 0.7]), np.array([0.2, 0.2]), np.array([0.9, 0.9]))
    turned = assumed_measures(measures, np.array([True, False]), 3)
    np.testing.assert_allclose(turned.confidence, [0.15, 0.7])
    np.testing.assert_allclose(turned.variability, [0.1, 0.2])
    np.testing.assert_allclose(turned.correctness, [0.05, 0.9])


def test_a_source_that_one_side_lacks_is_not_tried() -> None:
    original, noised, flips = sides(in_sample=True, out_of_fold=False)
    for both in ((original, replace(noised, in_sample=None)), (replace(original, in_sample=None), noised)):
        chosen = choose_suggestions(*both, flips)
        assert (chosen.source, chosen.right) == ("out-of-fold", {"out-of-fold": 0.0})
    alone = choose_suggestions(original, replace(noised, committee=None), flips)
    assert (alone.source, alone.right) == ("in-sample", {"in-sample": 1.0})


def test_k_fold_training_is_a_source_and_gives_what_it_says_of_the_given_labels() -> None:
    original, noised, flips = sides(in_sample=False, out_of_fold=False)
    held_out = np.array([[0.2, 0.1, 0.7]])
    chosen = choose_suggestions(replace(original, held_out=held_out), replace(noised, held_out=np.array([[0.3, 0.1, 0.6]])), flips)
    assert chosen.source == "k-fold" and chosen.probabilities is held_out
    assert chosen.right == {"in-sample": 0.0, "k-fold": 1.0, "out-of-fold": 0.0}


def test_measures_with_holes_are_left_out_and_forgetting_always() -> None:
    table = pa.table(
        {
            "confidence": [0.5],
            "variability": [0.1],
            "correctness": [1.0],
            "aum": pa.array([None], pa.float64()),
            "loss": [0.3],
            "forgetting": [2],
        }
    )
    known = map_measures(table)
    assert (known.aum, known.forgetting) == (None, None)
    assert known.loss is not None and known.loss.tolist() == [0.3]


def test_predictions_of_an_unknown_number_of_epochs_are_told_as_of_one() -> None:
    known = replace(evidence([[[4, 0, 0]], [[0, 4, 0]]], [0, 0]), n_epochs=None)
    assert [reason.split("; ")[1] for reason in reasons(known, committee=False)] == [
        "its one epoch agreed",
        "its one epoch disagreed",
    ]
