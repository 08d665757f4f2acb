from __future__ import annotations

import math
import statistics
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cartograph.data.kept_logits import WHOLE, KeptLogits, keep
from cartograph.errors import InputError
from cartograph.maps.measures import NEVER_LEARNT, compute_measures, epoch_window, gold_probabilities
from tests.drawn_maps import dynamics

FLOATS = ("confidence", "variability", "correctness", "threshold_closeness", "aum", "el2n", "loss")
COLUMNS = (*FLOATS, "predicted", "forgetting", "never_learnt")


def by_hand(logits: np.ndarray, gold: int) -> dict[str, float]:
    """One row in plain Python, straight from the definitions."""
    probabilities, hits, margins, distances, losses = [], [], [], [], []
    means = [0.0] * logits.shape[1]
    for scores in logits.tolist():
        top = max(scores)
        weights = [math.exp(score - top) for score in scores]
        shares = [weight / math.fsum(weights) for weight in weights]
        means = [mean + share / len(logits) for mean, share in zip(means, shares, strict=True)]
        probabilities.append(shares[gold])
        hits.append(scores.index(top) == gold)
        margins.append(scores[gold] - max(score for label, score in enumerate(scores) if label != gold))
        distances.append(math.sqrt(math.fsum((share - (label == gold)) ** 2 for label, share in enumerate(shares))))
        losses.append(math.log(math.fsum(weights)) + top - scores[gold])
    forgotten = sum(before and not after for before, after in pairwise(hits))
    return {
        "confidence": statistics.fmean(probabilities),
        "variability": statistics.pstdev(probabilities),
        "correctness": sum(hits) / len(hits),
        "forgetting": forgotten if any(hits) else NEVER_LEARNT,
        "threshold_closeness": statistics.fmean(probabilities) * (1 - statistics.fmean(probabilities)),
        "aum": statistics.fmean(margins),
        "el2n": statistics.fmean(distances),
        "loss": statistics.fmean(losses),
        "means": means,
    }


@given(dynamics())
def test_every_measure_is_what_its_definition_says_row_by_row(case: tuple[list[str], np.ndarray, np.ndarray]) -> None:
    uids, logits, gold = case
    measures = compute_measures(uids, logits, gold)
    for row in range(len(uids)):
        expected = by_hand(logits[row], int(gold[row]))
        means = expected.pop("means")
        for name, value in expected.items():
            assert getattr(measures, name)[row] == pytest.approx(value, rel=1e-9, abs=1e-9), name
        assert means[measures.predicted[row]] == pytest.approx(max(means), abs=1e-12)


@given(dynamics(bound=2.0**120))
def test_ranges_and_invariants_of_the_paper_hold_for_any_logits(case: tuple[list[str], np.ndarray, np.ndarray]) -> None:
    uids, logits, gold = case
    measures = compute_measures(uids, logits, gold)
    mean, deviation = measures.confidence, measures.variability
    assert ((mean >= 0) & (mean <= 1)).all()
    assert ((deviation >= 0) & (deviation <= 0.5)).all()
    assert (deviation**2 <= mean * (1 - mean) + 1e-12).all(), "a variable in [0, 1] varies at most as a coin does"
    assert (deviation[(mean == 0) | (mean == 1)] == 0).all()
    assert ((measures.threshold_closeness >= 0) & (measures.threshold_closeness <= 0.25)).all()
    assert ((measures.el2n >= 0) & (measures.el2n <= math.sqrt(2) + 1e-12)).all()
    assert (measures.loss >= 0).all()
    possible = np.arange(logits.shape[1] + 1) / logits.shape[1]
    assert np.isin(measures.correctness, possible).all()
    assert (measures.never_learnt == (measures.correctness == 0)).all()
    assert (measures.forgetting <= logits.shape[1] // 2).all()
    assert (measures.aum[measures.correctness == 1] >= 0).all()
    assert (measures.aum[measures.correctness == 0] <= 0).all()


@given(dynamics(), st.integers(1, 7), st.randoms(use_true_random=False))
def test_blocks_and_order_of_rows_change_no_bit(case: tuple[list[str], np.ndarray, np.ndarray], block: int, random: object) -> None:
    uids, logits, gold = case
    whole = compute_measures(uids, logits, gold)
    order = list(range(len(uids)))
    random.shuffle(order)  # type: ignore[attr-defined]
    parts = compute_measures([uids[row] for row in order], np.asfortranarray(logits[order]), gold[order], block=block)
    for name in COLUMNS:
        assert np.array_equal(getattr(whole, name)[order], getattr(parts, name)), name


@given(dynamics(), st.floats(-50, 50, width=32))
def test_adding_a_constant_to_all_logits_changes_nothing_much(case: tuple[list[str], np.ndarray, np.ndarray], shift: float) -> None:
    uids, logits, gold = case
    shifted = compute_measures(uids, logits + np.float32(shift), gold)
    for name in ("confidence", "variability", "el2n", "loss", "aum"):
        np.testing.assert_allclose(getattr(shifted, name), getattr(compute_measures(uids, logits, gold), name), atol=1e-4)


@given(dynamics(min_epochs=2), st.data())
def test_renaming_the_classes_changes_no_measure(case: tuple[list[str], np.ndarray, np.ndarray], data: st.DataObject) -> None:
    uids, logits, gold = case
    order = np.array(data.draw(st.permutations(range(logits.shape[2]))))
    renamed = compute_measures(uids, logits[:, :, order], np.argsort(order)[gold])
    for name in ("confidence", "variability", "aum", "el2n", "loss"):
        np.testing.assert_allclose(getattr(renamed, name), getattr(compute_measures(uids, logits, gold), name), rtol=1e-9, atol=1e-9)


def test_coordinates_agree_with_a_softmax_in_float32_to_a_millionth() -> None:
    rng = np.random.default_rng(8)
    logits = rng.normal(0, 4, (2000, 6, 3)).astype(np.float32)
    gold = rng.integers(0, 3, 2000)
    single = torch.softmax(torch.from_numpy(logits), dim=-1).numpy()[np.arange(2000), :, gold].astype(np.float64)
    measures = compute_measures([str(row) for row in range(2000)], logits, gold)
    np.testing.assert_allclose(measures.confidence, single.mean(axis=1), atol=1e-6)
    np.testing.assert_allclose(measures.variability, single.std(axis=1), atol=1e-6)


def test_equal_probabilities_have_exactly_no_variability_and_exactly_that_mean() -> None:
    logits = np.tile(np.array([0.3, -0.1, 1.7], dtype=np.float32), (1, 7, 1))
    measures = compute_measures(["a"], logits, np.array([0]))
    assert measures.variability[0] == 0.0
    assert measures.confidence[0] == gold_probabilities(["a"], logits, np.array([0]))[0, 0]


def test_one_epoch_has_variability_zero() -> None:
    measures = compute_measures(["a", "b"], np.array([[[0, 1]], [[3, 1]]], dtype=np.float32), np.array([1, 1]))
    assert measures.variability.tolist() == [0.0, 0.0]
    assert measures.correctness.tolist() == [1.0, 0.0]


def test_half_certain_right_half_certain_wrong_reaches_the_largest_variability() -> None:
    logits = np.array([[[0, 1000], [1000, 0]] * 3], dtype=np.float32)
    measures = compute_measures(["a"], logits, np.array([1]))
    assert (measures.confidence[0], measures.variability[0], measures.forgetting[0]) == (0.5, 0.5, 3)


@pytest.mark.parametrize(
    ("right", "forgetting"),
    [("000", NEVER_LEARNT), ("111", 0), ("011", 0), ("110", 1), ("1010", 2), ("0101", 1), ("100001", 1)],
)
def test_forgetting_counts_falls_from_right_to_wrong(right: str, forgetting: int) -> None:
    logits = np.array([[[0, 2] if hit == "1" else [2, 0] for hit in right]], dtype=np.float32)
    measures = compute_measures(["a"], logits, np.array([1]))
    assert measures.forgetting[0] == forgetting
    assert measures.never_learnt[0] == (forgetting == NEVER_LEARNT)


def test_a_tie_of_logits_goes_to_the_lowest_class() -> None:
    measures = compute_measures(["a", "b"], np.zeros((2, 1, 3), dtype=np.float32), np.array([0, 1]))
    assert measures.correctness.tolist() == [1.0, 0.0]
    assert measures.predicted.tolist() == [0, 0]


def test_predicted_follows_mean_probability_rather_than_the_majority_of_epochs() -> None:
    logits = np.array([[[0.0, 0.1], [0.0, 0.1], [9.0, 0.0]]], dtype=np.float32)
    measures = compute_measures(["a"], logits, np.array([1]))
    assert measures.predicted[0] == 0
    assert measures.correctness[0] == pytest.approx(2 / 3)


def test_include_ci_widens_variability_as_the_reference_does() -> None:
    logits = np.array([[[0, 1], [0, 2], [1, 0]]], dtype=np.float32)
    variance = compute_measures(["a"], logits, np.array([1])).variability[0] ** 2
    widened = compute_measures(["a"], logits, np.array([1]), include_ci=True).variability[0]
    assert widened == pytest.approx(math.sqrt(variance + variance**2 / 2), rel=1e-12)


def test_include_ci_needs_two_epochs() -> None:
    with pytest.raises(InputError, match=r"`include_ci` .* one epoch is used; use two or more, or switch it off"):
        compute_measures(["a"], np.zeros((1, 3, 2), np.float32), np.array([0]), burn_in=2, include_ci=True)


def test_burn_in_and_epochs_are_a_window_of_the_epochs() -> None:
    logits = np.random.default_rng(5).normal(size=(20, 7, 3)).astype(np.float32)
    uids, gold = [str(row) for row in range(20)], np.arange(20) % 3
    part = compute_measures(uids, logits, gold, burn_in=2, epochs=3)
    alone = compute_measures(uids, logits[:, 2:5].copy(), gold)
    for name in COLUMNS:
        assert np.array_equal(getattr(part, name), getattr(alone, name)), name


def test_a_window_leaves_out_the_burn_in() -> None:
    assert epoch_window(6) == slice(0, 6)
    assert epoch_window(6, burn_in=1, epochs=5) == slice(1, 6)
    with pytest.raises(InputError, match=r"`burn_in` skips 6 epochs and the dynamics have 6: none is left; set it to 5 or less"):
        epoch_window(6, burn_in=6)
    with pytest.raises(InputError, match=r"`epochs` asks for 5 epochs and the dynamics have 4 after a `burn_in` of 2; lower it"):
        epoch_window(6, burn_in=2, epochs=5)
    with pytest.raises(InputError, match=r"`burn_in` must be 0 or more and `epochs` 1 or more, but they are 0 and 0"):
        epoch_window(6, epochs=0)
    with pytest.raises(InputError, match=r"`epochs` asks for 7 epochs and the dynamics have 6; lower it, or write `all`"):
        epoch_window(6, epochs=7)


@pytest.mark.parametrize(("value", "shown"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
@pytest.mark.parametrize("block", [None, 1, 2])
def test_a_logit_that_is_no_number_is_named(value: float, shown: str, block: int | None) -> None:
    logits = np.zeros((4, 3, 2), dtype=np.float32)
    logits[2, 1, 0] = value
    with pytest.raises(InputError, match=rf"epoch 1 has the logit {shown} for uid 'c', where a finite number is needed"):
        compute_measures(["a", "b", "c", "d"], logits, np.zeros(4, dtype=np.int32), block=block)


def test_a_bad_logit_in_a_skipped_epoch_does_not_matter() -> None:
    logits = np.zeros((1, 3, 2), dtype=np.float32)
    logits[0, 0, 0] = np.nan
    assert compute_measures(["a"], logits, np.array([0]), burn_in=1).confidence[0] == 0.5


def test_a_label_outside_the_classes_is_named() -> None:
    with pytest.raises(InputError, match=r"uid 'b' has gold label 2, but the logits have classes 0 to 1 \(2 such rows\)"):
        compute_measures(["a", "b", "c"], np.zeros((3, 1, 2), np.float32), np.array([1, 2, -1]))


@pytest.mark.parametrize("shape", [(3, 2), (3, 0, 2), (3, 2, 1), (2, 2, 2)])
def test_shapes_that_do_not_fit_are_shown(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"logits have shape \(.*\), gold \(3,\), and there are 3 uids"):
        compute_measures(["a", "b", "c"], np.zeros(shape, np.float32), np.zeros(3, np.int32))


def test_an_empty_table_has_empty_measures() -> None:
    measures = compute_measures([], np.zeros((0, 2, 3), np.float32), np.zeros(0, np.int32))
    assert all(len(getattr(measures, name)) == 0 for name in COLUMNS)


def test_measures_of_kept_logits_are_those_of_all() -> None:
    rng = np.random.default_rng(1)
    classes = WHOLE + 40
    whole = rng.normal(0, 2, (60, 5, classes)).astype(np.float32)
    gold = rng.integers(0, classes, 60)
    whole[np.arange(60) < 40, :, gold[:40]] += 6.0
    parts = [keep(whole[:, epoch], gold) for epoch in range(5)]
    kept = KeptLogits(*(np.stack(part, axis=1) for part in zip(*parts, strict=True)), classes)
    uids = [str(row) for row in range(60)]
    few, every = compute_measures(uids, kept, gold, burn_in=1), compute_measures(uids, whole, gold, burn_in=1)
    for name in ("confidence", "variability", "aum", "loss"):
        np.testing.assert_allclose(getattr(few, name), getattr(every, name), atol=1e-6)
    assert np.array_equal(few.correctness, every.correctness) and np.array_equal(few.forgetting, every.forgetting)
    # Only who among the rest has how much is shared out evenly.
    np.testing.assert_allclose(few.el2n, every.el2n, atol=5e-3)
    assert (few.predicted == every.predicted)[:40].all() and every.predicted is not None
    np.testing.assert_allclose(gold_probabilities(uids, kept, gold), gold_probabilities(uids, whole, gold), atol=1e-7)
    flipped = (gold + 1) % classes
    lower, exact = compute_measures(uids, kept, flipped), compute_measures(uids, whole, flipped)
    np.testing.assert_allclose(lower.confidence, exact.confidence, atol=0.02)
    with pytest.raises(InputError, match="epoch 2 has the logit nan for uid '3'"):
        broken = KeptLogits(kept.classes, kept.values.copy(), kept.rest, classes)
        broken.values[3, 2, 4] = np.nan
        compute_measures(uids, broken, gold)


def test_a_window_may_be_one_epoch_long_and_begins_at_the_first_at_the_earliest() -> None:
    assert epoch_window(6, epochs=1) == slice(0, 1)
    assert epoch_window(6, burn_in=5) == slice(5, 6)
    with pytest.raises(InputError, match=r"`burn_in` must be 0 or more and `epochs` 1 or more, but they are -1 and None"):
        epoch_window(6, burn_in=-1)


def test_two_epochs_are_enough_for_the_wider_variability() -> None:
    # Probabilities 0 and 1: variance 1/4, and 1/4 + 1/16 with the term for few epochs.
    logits = np.array([[[0, 1000], [1000, 0]]], dtype=np.float32)
    assert compute_measures(["a"], logits, np.array([1]), include_ci=True).variability[0] == pytest.approx(math.sqrt(5) / 4)


def test_a_logit_that_is_no_number_is_named_in_a_later_block_too() -> None:
    logits = np.zeros((5, 2, 2), dtype=np.float32)
    logits[4, 0, 1] = np.nan
    with pytest.raises(InputError, match=r"epoch 0 has the logit nan for uid 'e'"):
        compute_measures(list("abcde"), logits, np.zeros(5, dtype=np.int32), block=3)


def test_a_row_without_a_name_is_refused() -> None:
    with pytest.raises(InputError, match=r"logits have shape \(3, 1, 2\), gold \(3,\), and there are 2 uids"):
        compute_measures(["a", "b"], np.zeros((3, 1, 2), np.float32), np.zeros(3, np.int32))
