"""Detectors fitted on planted flips, compared, and chosen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.errors import InputError
from cartograph.statistics.metrics import average_precision
from cartograph.statistics.prior import PRIOR
from cartograph.suspects.columns import column_table
from cartograph.suspects.detector import PREFERRED, DetectorChoice, choose_detector, sigmoid, untested_committee
from cartograph.suspects.flips import balanced_samples
from cartograph.suspects.label_doubt import Unknown
from cartograph.suspects.listing import Evidence
from tests.label_errors import planted_set, without_committee

Columns = dict[str, np.ndarray]


def noised_map(n_examples: int = 1000, n_flips: int = 60, seed: int = 1) -> tuple[Columns, np.ndarray]:
    """A map after flips: flipped rows have low confidence, and so have some clean ones; `aum` tells more, `variability` little."""
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


def choose(noised: Columns, planted: np.ndarray, seed: int) -> DetectorChoice:
    """The choice on a map none of whose original rows is suspect."""
    original = {name: np.full(len(planted), values[~planted].max()) for name, values in noised.items()}
    return choose_detector(noised, original, planted, np.random.default_rng(seed))


# --- fits


def test_f1_is_of_the_papers_classifier_and_the_model_is_of_all_rows() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score

    measures, planted = noised_map()
    detector = choose(measures, planted, 3).candidates["confidence"]
    confidence = measures["confidence"][:, None]
    train, test = balanced_samples(planted, np.random.default_rng(int(np.random.default_rng(3).integers(2**63))))
    column = (confidence - confidence[train].mean()) / confidence[train].std()
    model = LogisticRegression().fit(column[train], planted[train])
    assert detector.f1 == pytest.approx(f1_score(planted[test], model.predict(column[test])))
    assert detector.tested_on == 60
    column = (confidence - confidence.mean()) / confidence.std()
    model = LogisticRegression(C=100).fit(column, planted, sample_weight=np.where(planted, 1, planted.sum() / (~planted).sum()))
    odds = detector.model.log_odds(confidence)
    np.testing.assert_allclose(sigmoid(odds), model.predict_proba(column)[:, 1], atol=1e-4)


def test_confidence_finds_flips_and_variability_hardly_does() -> None:
    measures, planted = noised_map()
    choice = choose(measures, planted, 1)
    confidence = choice.candidates["confidence"]
    assert confidence.f1 > 0.9 > 0.75 > choice.variability_f1
    alone = choose(measures | {"confidence": measures["variability"]}, planted, 1).candidates["confidence"]
    assert confidence.average_precision > 0.8 > 0.4 > alone.average_precision > planted.mean()
    assert alone.f1 == choice.variability_f1


def test_a_gap_in_confidence_is_an_f1_of_one() -> None:
    planted = np.arange(200) % 10 == 0
    confidence = np.where(planted, 0.1, 0.9)
    detector = choose({"confidence": confidence, "variability": np.zeros(200)}, planted, 1).candidates["confidence"]
    assert detector.f1 == 1.0 and detector.average_precision == 1.0


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**31))
def test_the_lower_the_confidence_the_more_suspect(seed: int) -> None:
    measures, planted = noised_map(seed=seed % 50)
    probability = choose(measures, planted, seed).candidates["confidence"].probability(measures)
    assert ((probability >= 0) & (probability <= 1)).all()
    assert (np.diff(probability[np.argsort(measures["confidence"])]) <= 0).all()


def test_average_precision_is_cross_validated() -> None:
    # Columns of noise for a few flips: in sample they find most, out of sample none.
    rng = np.random.default_rng(2)
    planted = np.arange(24) < 6
    held_out = [f"out_of_fold_{name}" for name in ("confidence", "variability", "margin")]
    noise = {name: rng.normal(size=24) for name in ("confidence", "variability", "correctness", "aum", "el2n", "loss", *held_out)}
    choice = choose(noise, planted, 1)
    detector = choice.candidates["measures"]
    assert choice.left_out == 0
    assert average_precision(planted, detector.log_odds(noise)) > 0.7 > 0.4 > detector.average_precision


def test_measures_of_other_rows_are_refused() -> None:
    measures, planted = noised_map()
    fewer = {name: values[:-1] for name, values in measures.items()}
    for noised, original in ((fewer, measures), (measures, fewer)):
        with pytest.raises(InputError, match="there are 999 rows of measures, but 1,000 are expected; both must be of the same rows"):
            choose_detector(noised, original, planted, np.random.default_rng(1))


# --- the choice


def test_the_committee_is_used_and_ranks_the_real_errors_no_worse_than_confidence() -> None:
    original, noised, flips, wrong = planted_set()
    choice = choose_detector(noised.columns, original.columns, flips.planted, np.random.default_rng(3))
    assert choice.name == "committee" and choice.chosen is choice.candidates["committee"]
    found = {name: average_precision(wrong, detector.probability(original.columns)) for name, detector in choice.candidates.items()}
    assert found["committee"] > found["confidence"] - 0.05
    flagged = choice.chosen.probability(original.columns) >= 0.5
    assert wrong[flagged].mean() > 0.8 and flagged[wrong].mean() > 0.2
    scores = ", ".join(f"{name} {choice.candidates[name].average_precision:.3f}" for name in ("confidence", "measures", "committee"))
    assert choice.reason.startswith(f"Average precision on the planted flips: {scores}; used: committee, ")


def test_rows_that_any_detector_flags_do_not_count_against_the_others() -> None:
    original, noised, flips, _ = planted_set()
    choice = choose_detector(noised.columns, original.columns, flips.planted, np.random.default_rng(3))
    by_any = np.any(
        [detector.model.log_odds(column_table(original.columns, detector.features)) >= 0 for detector in choice.candidates.values()], axis=0
    )
    assert choice.left_out == np.count_nonzero(by_any & ~flips.planted) > 0


def test_a_committee_that_cannot_tell_how_many_are_wrong_still_ranks_and_is_put_to_the_prior() -> None:
    original, noised, flips, wrong = planted_set()
    known = choose_detector(noised.columns, original.columns, flips.planted, np.random.default_rng(3))
    unknowns: tuple[Unknown, ...] = ("few rows", "hard rows", "little explained")
    for unknown in unknowns:
        choice = choose_detector(noised.columns, original.columns, flips.planted, np.random.default_rng(3), unknown=unknown)
        assert choice.name == "committee" and not choice.chosen.calibrated
        probability = choice.chosen.probability(original.columns)
        if unknown != "little explained":  # what the rows themselves show is less than the prior, and is left alone
            assert probability.mean() < PRIOR
            np.testing.assert_array_equal(probability, known.chosen.probability(original.columns))
        else:
            assert probability.mean() == pytest.approx(PRIOR, abs=1e-6)
        assert average_precision(wrong, probability) == average_precision(wrong, known.chosen.probability(original.columns))


def test_with_much_noise_the_list_is_between_what_the_rows_show_and_the_prior() -> None:
    columns = {"doubt": np.random.default_rng(3).normal(-1.0, 2.0, 200)}
    noisy, weak = untested_committee(columns, "much noise"), untested_committee(columns, "little explained")
    assert not noisy.calibrated and noisy.offset == weak.offset / 2.0 < 0.0
    assert untested_committee(columns, "roughly known").offset == noisy.offset
    listed = [int((probability >= 0.5).sum()) for probability in (noisy.probability(columns), weak.probability(columns))]
    assert (columns["doubt"] >= 0).sum() > listed[0] > listed[1] > 0


def test_of_few_rows_that_are_much_doubted_no_more_than_the_prior_are_taken_for_wrong() -> None:
    rng = np.random.default_rng(3)
    doubt = rng.normal(0.0, 2.0, 200)
    probability = untested_committee({"doubt": doubt}, "few rows").probability({"doubt": doubt})
    assert probability.mean() == pytest.approx(PRIOR, abs=1e-6)
    assert (np.argsort(probability) == np.argsort(doubt)).all()


def test_flips_that_flatter_another_do_not_choose_against_the_committee() -> None:
    original, noised, flips, _ = planted_set()
    doubt = noised.columns["doubt"] + np.random.default_rng(1).normal(0, 15, len(flips.planted))
    choice = choose_detector({**noised.columns, "doubt": doubt}, original.columns, flips.planted, np.random.default_rng(3))
    scores = {name: detector.average_precision for name, detector in choice.candidates.items()}
    assert choice.name == "committee" and scores["committee"] < scores["confidence"]
    assert "never saw the row; only easy rows are flipped, which flatters" in choice.reason


def test_the_committees_probability_is_its_own_and_a_classifiers_is_put_to_the_prior() -> None:
    original, noised, flips, _ = planted_set()
    found = choose_detector(noised.columns, original.columns, flips.planted, np.random.default_rng(3)).candidates
    assert original.committee is not None
    np.testing.assert_allclose(found["committee"].probability(original.columns), original.committee.doubt.score, atol=1e-8)
    balanced = found["confidence"].model.log_odds(column_table(original.columns, ("confidence",)))
    np.testing.assert_allclose(found["confidence"].log_odds(original.columns), balanced - np.log(9))
    assert (found["committee"].calibrated, found["confidence"].calibrated) == (True, False)


def test_without_a_committee_the_paper_and_the_map_are_compared() -> None:
    original, noised, flips, _ = (without_committee(side) if isinstance(side, Evidence) else side for side in planted_set())
    choice = choose_detector(noised.columns, original.columns, flips.planted, np.random.default_rng(3))
    assert set(choice.candidates) == {"confidence", "measures"}
    with pytest.raises(InputError, match=r"`noise.detector` is committee, which is not possible here: .* use auto, confidence or measures"):
        choose_detector(noised.columns, original.columns, flips.planted, np.random.default_rng(3), asked="committee")


def test_equally_good_to_within_one_flip_is_no_difference() -> None:
    planted = np.arange(200) % 10 == 0
    rng = np.random.default_rng(1)
    columns = {name: np.where(planted, 0.1, 0.9) + rng.normal(0, 0.01, 200) for name in ("confidence", "variability", "correctness", "aum")}
    choice = choose_detector(columns, {name: np.full(200, 0.9) for name in columns}, planted, np.random.default_rng(1))
    assert choice.name == PREFERRED[1] == "measures"
    assert all(detector.average_precision == 1.0 for name, detector in choice.candidates.items() if name != "committee")


def test_the_detector_asked_for_is_used() -> None:
    original, noised, flips, _ = planted_set()
    choice = choose_detector(noised.columns, original.columns, flips.planted, np.random.default_rng(3), asked="confidence")
    assert choice.name == "confidence" and choice.reason.endswith("used: confidence, as asked.")


def test_detectors_are_not_compared_on_assumed_flips() -> None:
    original, noised, flips, _ = planted_set()
    choice = choose_detector(noised.columns, original.columns, flips.planted, np.random.default_rng(3), assumed=True)
    assert list(choice.candidates) == ["confidence"] == [choice.name]
    assert choice.reason.startswith("The flips' measures are assumed, not measured")
    asked = choose_detector(noised.columns, original.columns, flips.planted, np.random.default_rng(3), assumed=True, asked="measures")
    assert asked.name == "measures" and set(asked.candidates) == {"confidence", "measures"}


def test_the_model_is_fitted_on_all_rows_whatever_the_draw() -> None:
    original, noised, flips, _ = planted_set()
    fits = [
        choose_detector(noised.columns, original.columns, flips.planted, np.random.default_rng(seed)).candidates["confidence"]
        for seed in range(3)
    ]
    assert all(np.array_equal(fit.model.weights, fits[0].model.weights) and fit.model.bias == fits[0].model.bias for fit in fits)


def test_confidence_finds_flips_better_than_variability() -> None:
    original, noised, flips, _ = planted_set()
    choice = choose_detector(noised.columns, original.columns, flips.planted, np.random.default_rng(3))
    assert choice.candidates["confidence"].f1 > 0.9 > choice.variability_f1


def test_a_constant_column_has_a_scale_of_one_and_weighs_nothing() -> None:
    from cartograph.suspects.detector import _fit

    rng = np.random.default_rng(0)
    planted = np.arange(40) % 2 == 0
    column = np.where(planted, 1.0, -1.0) + rng.normal(0, 0.5, 40)
    table = np.column_stack([column, np.full(40, 0.3), np.full(40, 1e9)])
    model = _fit(table, planted)
    assert model.scale[1:].tolist() == [1.0, 1.0]
    assert model.scale[0] == pytest.approx(column.std())
    assert np.isfinite(model.odds(table)).all() if hasattr(model, "odds") else True
    assert model.weights[0] > 0 and np.abs(model.weights[1:]).max() < 1e-9
