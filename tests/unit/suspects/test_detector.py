from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.errors import InputError
from cartograph.suspects.detector import apply_detector, fit_detector
from cartograph.suspects.flips import balanced_samples, choose_flips

Measures = dict[str, np.ndarray]


def noised_map(n_examples: int = 1000, n_flips: int = 60, seed: int = 1) -> tuple[Measures, np.ndarray]:
    """A map after retraining: flipped rows have low confidence, and so have some clean ones; `aum` tells more, `variability` little."""
    rng = np.random.default_rng(seed)
    planted = np.zeros(n_examples, dtype=bool)
    planted[rng.choice(n_examples, n_flips, replace=False)] = True
    confidence = np.clip(np.where(planted, 0.25, 0.75) + rng.normal(0, 0.15, n_examples), 0, 1)
    variability = np.clip(np.where(planted, 0.20, 0.17) + rng.normal(0, 0.06, n_examples), 0, 0.5)
    return {
        "confidence": confidence,
        "variability": variability,
        "aum": np.where(planted, -6.0, 6.0) + rng.normal(0, 1.5, n_examples),
    }, planted


# --- flips


@settings(deadline=None)
@given(st.integers(40, 200), st.integers(2, 5), st.floats(0.1, 0.4), st.integers(0, 2**31))
def test_flips_are_an_exact_share_of_all_rows_from_the_easy_region_only(n_examples: int, n_classes: int, share: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, easy = rng.integers(0, n_classes, n_examples), np.arange(n_examples) % 2 == 0
    flips = choose_flips(easy, labels, n_classes, share, np.random.default_rng(seed))
    assert len(flips.rows) == round(share * n_examples) == flips.planted.sum()
    assert easy[flips.rows].all()
    np.testing.assert_array_equal(flips.labels != labels, flips.planted)
    assert flips.labels.min() >= 0 and flips.labels.max() < n_classes


def test_every_other_class_is_equally_likely() -> None:
    flips = choose_flips(np.ones(30_000, dtype=bool), np.full(30_000, 1), 4, 0.5, np.random.default_rng(1))
    np.testing.assert_allclose(np.bincount(flips.labels[flips.rows], minlength=4) / 15_000, [1 / 3, 0, 1 / 3, 1 / 3], atol=0.02)


def test_flips_hang_on_the_generator_alone_and_leave_the_input_alone() -> None:
    labels, easy = np.zeros(100, dtype=np.int32), np.ones(100, dtype=bool)
    one, other, third = (choose_flips(easy, labels, 2, 0.1, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.rows, other.rows)
    assert one.rows.tolist() != third.rows.tolist()
    assert not labels.any()


@pytest.mark.parametrize(
    ("share", "n_classes", "message"),
    [
        (
            0.5,
            2,
            r"`flip_share` 0.5 asks for 50 flips, but the easy region has 20 of 100 rows; lower `flip_share` to 0.2 or less, or widen",
        ),
        (0.01, 2, r"`flip_share` 0.01 of 100 rows makes 1 flips, and four is the least .* raise it to 0.04 or more"),
        (0.0, 2, "`flip_share` must be above 0 and below 1, but is 0.0"),
        (0.1, 1, "a label can only be flipped to another class, but there is 1"),
    ],
)
def test_flips_that_cannot_be_planted_are_refused(share: float, n_classes: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose_flips(np.arange(100) < 20, np.zeros(100, dtype=int), n_classes, share, np.random.default_rng(1))


@settings(deadline=None)
@given(st.integers(4, 31), st.integers(0, 2**31))
def test_samples_are_balanced_and_have_no_row_in_common(n_flips: int, seed: int) -> None:
    planted = np.zeros(80, dtype=bool)
    planted[np.random.default_rng(seed).choice(80, n_flips, replace=False)] = True
    one, other = balanced_samples(planted, np.random.default_rng(seed))
    assert not set(one) & set(other)
    for sample in (one, other):
        assert planted[sample].sum() == n_flips // 2 == (~planted[sample]).sum()


def test_too_few_flips_for_two_samples() -> None:
    with pytest.raises(InputError, match="at least four flipped rows and as many clean ones, but there are 3 flipped and 7 clean"):
        balanced_samples(np.arange(10) < 3, np.random.default_rng(1))


# --- detectors


def test_the_papers_classifier_by_hand() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score

    measures, planted = noised_map()
    detector = fit_detector(measures, ["confidence"], planted, np.random.default_rng(3))
    train, test = balanced_samples(planted, np.random.default_rng(3))
    column = ((measures["confidence"] - measures["confidence"][train].mean()) / measures["confidence"][train].std())[:, None]
    model = LogisticRegression().fit(column[train], planted[train])
    assert detector.f1 == pytest.approx(f1_score(planted[test], model.predict(column[test])))
    assert detector.tested_on == 60
    np.testing.assert_allclose(detector.probability(measures), model.predict_proba(column)[:, 1], atol=1e-4)


def test_confidence_tells_flips_apart_and_variability_hardly() -> None:
    measures, planted = noised_map()
    confidence, variability = (fit_detector(measures, [name], planted, np.random.default_rng(1)) for name in ("confidence", "variability"))
    assert confidence.f1 > 0.9 > 0.75 > variability.f1
    assert confidence.average_precision > 0.8 > 0.4 > variability.average_precision > planted.mean()


def test_a_gap_in_confidence_is_an_f1_of_one() -> None:
    planted = np.arange(200) % 10 == 0
    detector = fit_detector({"confidence": np.where(planted, 0.1, 0.9)}, ["confidence"], planted, np.random.default_rng(1))
    assert detector.f1 == 1.0 and detector.average_precision == 1.0


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**31))
def test_the_lower_the_confidence_the_more_suspect(seed: int) -> None:
    measures, planted = noised_map(seed=seed % 50)
    probability = fit_detector(measures, ["confidence"], planted, np.random.default_rng(seed)).probability(measures)
    assert ((probability >= 0) & (probability <= 1)).all()
    assert (np.diff(probability[np.argsort(measures["confidence"])]) <= 0).all()


def test_average_precision_is_cross_validated() -> None:
    # A column of noise for every flip: in sample they would tell all flips apart, out of sample none.
    rng = np.random.default_rng(2)
    planted = np.arange(300) < 20
    noise = {f"noise {number}": rng.normal(size=300) for number in range(200)}
    assert fit_detector(noise, list(noise), planted, np.random.default_rng(1)).average_precision < 0.25


# --- application


def test_the_original_rows_get_a_probability_a_rank_a_suggestion_and_a_reason() -> None:
    measures, planted = noised_map()
    detector = fit_detector(measures, ["confidence", "aum"], planted, np.random.default_rng(1))
    original = {"confidence": np.array([0.9, 0.05, 0.9, 0.5]), "aum": np.array([6.0, 5.0, -9.0, 0.0]), "unused": np.zeros(4)}
    probabilities = np.array([[0.9, 0.1, 0.0], [0.1, 0.3, 0.6], [0.2, 0.7, 0.1], [0.4, 0.3, 0.3]])
    found = apply_detector(detector, original, probabilities, np.array([0, 0, 1, 0]))
    np.testing.assert_allclose(found.probability, detector.probability(original))
    np.testing.assert_array_equal(found.flagged, found.probability >= 0.5)
    assert sorted(found.rank) == [1, 2, 3, 4] and (np.diff(found.probability[np.argsort(found.rank)]) <= 0).all()
    assert not found.flagged[0] and found.flagged[2]
    assert found.suggested.tolist() == [1, 2, 0, 1]
    assert found.reason.tolist()[1:3] == ["confidence", "aum"]


def test_equal_rows_rank_in_their_order() -> None:
    measures, planted = noised_map()
    detector = fit_detector(measures, ["confidence"], planted, np.random.default_rng(1))
    found = apply_detector(detector, {"confidence": np.full(4, 0.5)}, np.full((4, 2), 0.5), np.zeros(4, dtype=int))
    assert found.rank.tolist() == [1, 2, 3, 4]


def test_the_surest_suspects_are_ranked_even_where_probabilities_round_to_one() -> None:
    measures, planted = noised_map()
    detector = fit_detector(measures, ["aum"], planted, np.random.default_rng(1))
    found = apply_detector(detector, {"aum": np.array([-500.0, -900.0])}, np.full((2, 2), 0.5), np.zeros(2, dtype=int))
    assert found.probability.tolist() == [1.0, 1.0] and found.rank.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("measures", "features", "message"),
    [
        ({"confidence": np.ones(20)}, ["confidence", "aum"], "the measure 'aum' is not in the table; it has confidence"),
        (
            {"aum": np.array([1.0] * 18 + [np.nan] * 2)},
            ["aum"],
            r"the measure 'aum' has the value nan in row 19 \(2 such rows\), where a finite",
        ),
        ({"aum": np.ones(20)}, [], "a detector needs at least one measure"),
        ({"a": np.ones(20), "b": np.ones(19)}, ["a", "b"], "the measure 'b' has 19 rows and 'a' has 20"),
        ({"a": np.ones(19)}, ["a"], "there are 19 rows of measures and 20 marks of what was planted"),
    ],
)
def test_bad_measures_are_named(measures: Measures, features: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fit_detector(measures, features, np.arange(20) < 5, np.random.default_rng(1))


def test_measures_and_labels_of_other_rows_are_refused() -> None:
    measures, planted = noised_map()
    detector = fit_detector(measures, ["confidence"], planted, np.random.default_rng(1))
    with pytest.raises(InputError, match="there are 1,000 rows of measures and 3 labels; both must be of the same rows"):
        apply_detector(detector, measures, np.full((3, 2), 0.5), np.zeros(3, dtype=int))
