"""A matcher on two small tables: what labels are worth, what it says, and that it comes back from disk as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cartograph.errors import InputError
from cartograph.pairs.matcher.blocked import COMBINED, Blocked, block
from cartograph.pairs.matcher.features import Features
from cartograph.pairs.matcher.fitting import calibrated, fit_matcher
from cartograph.pairs.matcher.model import NOT_PROPOSED, Matcher, probability
from cartograph.pairs.matcher.records import Records
from cartograph.pairs.pair_space import PairSpace
from cartograph.statistics.metrics import average_precision

N = 120
MAKERS = ("sony", "canon", "philips", "samsung")


@pytest.fixture(scope="module")
def features() -> Features:
    left, right = [], []
    for row in range(N):
        maker, code = MAKERS[row % 4], f"{'abc'[row % 3]}{1000 + row}"
        left.append(f"{maker} camera {code} seller{row} parcel{row}")
        # Other words are alike where another shop's record is another camera: only the code tells.
        right.append(f"{maker} {code} camera seller{(row + 4) % N} parcel{(row + 4) % N}")
    return Features(Records(left, right))


@pytest.fixture(scope="module")
def pairs(features: Features) -> Blocked:
    space = PairSpace(np.arange(N), np.arange(N), N, False)
    return block(space, N, features, 15)


def labels_of(pairs: Blocked) -> np.ndarray:
    left, right = pairs.space.pairs(pairs.keys)
    return (left == right).astype(np.int8)


def fit(pairs: Blocked, number: int = 150) -> Matcher:
    rng, label = np.random.default_rng(1), labels_of(pairs)
    rows = np.concatenate([rng.permutation(np.flatnonzero(label == 1))[:40], rng.permutation(np.flatnonzero(label == 0))[: number - 40]])
    return fit_matcher(pairs, pairs.keys[rows], label[rows], COMBINED, 3)


@pytest.fixture(scope="module")
def matcher(pairs: Blocked) -> Matcher:
    return fit(pairs)


def test_labels_beat_every_label_free_score(pairs: Blocked, matcher: Matcher) -> None:
    label = labels_of(pairs) == 1
    before = max(average_precision(label, score) for score in pairs.scores.values())
    score = matcher.score(pairs)
    assert average_precision(label, score) > 0.95 > 0.8 > before
    share = probability(score)
    assert share[label].mean() > 0.8 > 0.05 > share[~label].mean()


def test_the_same_seed_gives_the_same_matcher(pairs: Blocked, matcher: Matcher) -> None:
    assert np.array_equal(fit(pairs).score(pairs), matcher.score(pairs))


def test_too_few_labels_leave_the_label_free_score(pairs: Blocked) -> None:
    matcher = fit_matcher(pairs, pairs.keys[:5], np.array([1, 1, 0, 0, 0], np.int8), "words", 1)
    assert not matcher.trained
    order = np.argsort(-matcher.score(pairs), kind="stable")
    assert np.array_equal(order, np.argsort(-pairs.scores["words"], kind="stable"))


def test_labels_say_what_a_label_free_score_means_though_it_ranks_by_that_score_alone(pairs: Blocked) -> None:
    score, rng = pairs.scores["words"], np.random.default_rng(2)
    # Only the most alike are the same: taken as it is, the score says so of many more.
    label = (score + rng.normal(0, 0.02, len(score)) > np.quantile(score, 0.97)).astype(np.int8)
    rows = np.argsort(-score)[: len(score) // 3 : 2]
    matcher = calibrated(pairs, pairs.keys[rows], label[rows], "words")
    assert matcher.calibrated
    assert not matcher.trained
    assert np.array_equal(np.argsort(-matcher.score(pairs), kind="stable"), np.argsort(-score, kind="stable"))
    asked = probability(matcher.score(pairs))[rows]
    assert asked.sum() == pytest.approx(label[rows].sum(), abs=1)
    guess, said = (probability(one.score(pairs)).sum() for one in (Matcher("words"), matcher))
    assert said == pytest.approx(label.sum(), rel=0.1)
    assert guess > 2 * label.sum()


def test_labels_that_a_score_parts_without_a_mistake_make_it_sure_but_not_certain(pairs: Blocked) -> None:
    score = pairs.scores["words"]
    label = (score >= np.quantile(score, 0.97)).astype(np.int8)
    rows = np.argsort(-score)[: len(score) // 3 : 2]
    share = probability(calibrated(pairs, pairs.keys[rows], label[rows], "words").score(pairs))[rows]
    assert share[label[rows] == 1].mean() > 0.9
    assert share[label[rows] == 0].mean() < 0.05
    assert 0.95 < share.max() < 1 - 1e-9


def test_too_few_labels_say_nothing_of_what_a_score_means(pairs: Blocked) -> None:
    matcher = calibrated(pairs, pairs.keys[:5], np.array([1, 1, 0, 0, 0], np.int8), "words")
    assert not matcher.calibrated
    assert matcher == Matcher("words")


def test_what_blocking_does_not_propose_ranks_below_all_it_proposes(pairs: Blocked, features: Features, matcher: Matcher) -> None:
    left_out = np.setdiff1d(np.arange(N * N), pairs.keys)[:50]
    more = pairs.with_pairs(left_out, features)
    for one in (Matcher(COMBINED), matcher):
        score = one.score(more)
        assert score[~more.blocked].max() <= NOT_PROPOSED + 1 < score[more.blocked].min()
    assert np.array_equal(matcher.score(more)[more.blocked], matcher.score(pairs))


def test_a_matcher_comes_back_as_it_was(pairs: Blocked, matcher: Matcher, tmp_path: Path) -> None:
    matcher.save(tmp_path)
    assert np.array_equal(Matcher.load(tmp_path).score(pairs), matcher.score(pairs))
    assert {file.suffix for file in tmp_path.iterdir()} == {".json", ".npz"}


def test_features_that_records_lack_are_named(pairs: Blocked, matcher: Matcher) -> None:
    with pytest.raises(InputError, match=r"^the matcher reads 1 features that these records do not have, such as `price: amount`"):
        Matcher(COMBINED, (*matcher.names, "price: amount"), matcher.ensemble).score(pairs)


def test_the_gain_over_likeness_is_measured_on_labels_not_learnt_from(pairs: Blocked, matcher: Matcher) -> None:
    assert matcher.gain is not None
    assert matcher.gain.value > matcher.gain.error > 0
    keys, label = pairs.keys[::7], labels_of(pairs)[::7]
    chance = fit_matcher(pairs, keys, np.random.default_rng(0).permutation(label), COMBINED, 1).gain
    assert chance is not None
    assert abs(chance.value) < 4 * chance.error
