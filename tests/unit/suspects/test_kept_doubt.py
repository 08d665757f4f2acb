from __future__ import annotations

import numpy as np
from scipy.special import softmax

from cartograph.data.kept_logits import KeptShares, most_probable
from cartograph.statistics.metrics import average_precision
from cartograph.suspects.kept_doubt import kept_doubt
from cartograph.suspects.label_doubt import EXPLAINED, label_doubt

CLASSES = 20


def noisy(rows: int, classes: int, rate: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities of given labels that are wrong at an even rate, the labels, and which are wrong."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, classes, rows)
    true = np.full((rows, classes), 0.08 / (classes - 1))
    true[np.arange(rows), truth] = 0.92
    wrong = rng.random(rows) < rate
    given = np.where(wrong, (truth + rng.integers(1, classes, rows)) % classes, truth)
    even = np.full((classes, classes), rate / (classes - 1))
    np.fill_diagonal(even, 1 - rate)
    return true @ even, given, wrong


def kept(shares: np.ndarray, given: np.ndarray) -> KeptShares:
    return KeptShares(*most_probable(shares, given), shares.shape[1])


def test_it_doubts_as_the_whole_rows_do() -> None:
    shares, given, wrong = noisy(2_000, CLASSES, 0.1)
    few, whole = kept_doubt(kept(shares, given), given), label_doubt(shares, given)
    assert np.corrcoef(few.score, whole.score)[0, 1] > 0.98
    assert abs(few.explained - whole.explained) < 1e-9
    assert few.wrong is not None and whole.wrong is not None
    assert abs(few.wrong.expected - whole.wrong.expected) < 0.25 * whole.wrong.expected
    assert few.wrong.low < 0.1 * 2_000 < few.wrong.scattered
    assert average_precision(wrong, few.score) > 0.95
    assert (few.suggested == whole.suggested)[wrong].all()


def test_one_rare_class_may_have_been_missed_as_where_whole_rows_are_kept() -> None:
    rng = np.random.default_rng(5)
    true = np.where(rng.random(3_000) < 0.02, CLASSES, rng.integers(0, CLASSES, 3_000))
    rare = true == CLASSES
    given = np.where(rare & (rng.random(3_000) < 0.5), rng.integers(0, CLASSES, 3_000), true)
    logits = rng.normal(0.0, 0.3, (3_000, CLASSES + 1))
    logits[np.arange(3_000), true] += np.where(rare, rng.normal(3.0, 1.5, 3_000), 7.0)
    shares = softmax(logits, axis=1)
    few, whole = kept_doubt(kept(shares, given), given), label_doubt(shares, given)
    number = np.count_nonzero(true != given)
    for doubt in (few, whole):
        assert doubt.wrong is not None and doubt.wrong.low <= number <= doubt.wrong.scattered
    assert (
        few.wrong is not None
        and whole.wrong is not None
        and abs(few.wrong.scattered - whole.wrong.scattered) < 0.25 * whole.wrong.scattered
    )


def test_where_little_is_explained_or_rows_are_few_it_only_ranks() -> None:
    shares, given, _ = noisy(300, CLASSES, 0.1)
    assert kept_doubt(kept(shares, given), given).unknown == "few rows"
    flat = np.full_like(shares, 1 / CLASSES)
    found = kept_doubt(kept(flat, given), given)
    assert found.unknown == "little explained" and found.wrong is None


def test_the_only_row_of_a_class_is_doubted() -> None:
    shares, given, _ = noisy(400, CLASSES, 0.0)
    keep_one = (given != 3) | (np.cumsum(given == 3) == 1)
    found = kept_doubt(kept(shares[keep_one], given[keep_one]), given[keep_one])
    assert found.score[given[keep_one] == 3].min() >= 0.5


def test_a_committee_whose_surest_rows_contradict_it_tells_no_number_as_with_few_classes() -> None:
    rng = np.random.default_rng(4)
    sure, truth = rng.uniform(0.2, 0.85, 3_000), rng.integers(0, CLASSES, 3_000)
    shares = np.repeat((1 - sure[:, None]) / (CLASSES - 1), CLASSES, axis=1)
    shares[np.arange(3_000), truth] = sure
    given = np.where(rng.random(3_000) < sure, truth, (truth + rng.integers(1, CLASSES, 3_000)) % CLASSES)
    few, whole = kept_doubt(kept(shares, given), given), label_doubt(shares, given)
    assert few.explained > EXPLAINED
    assert (few.unknown, few.wrong) == (whole.unknown, whole.wrong) == ("roughly known", None)
    assert few.between is not None and few.between.low <= (given != truth).sum() <= few.between.most


def test_of_many_hard_classes_few_right_labels_are_doubted() -> None:
    # Models that are surer than they are right, and take half of the classes for one of a few that are like them.
    rng, classes, rows = np.random.default_rng(6), 200, 6_000
    true = rng.integers(0, classes, rows)
    taken = np.where((true % 2 == 1) & (rng.random(rows) < 0.6), (true // 10) * 10 + rng.integers(0, 10, rows), true)
    shares = rng.dirichlet(np.full(classes, 0.1), rows) * 0.02
    sure = rng.uniform(0.5, 0.95, rows)
    shares[np.arange(rows), taken] += sure
    for _ in range(4):
        shares[np.arange(rows), (true // 10) * 10 + rng.integers(0, 10, rows)] += (0.98 - sure) / 8
    shares[np.arange(rows), true] += (0.98 - sure) / 2
    shares /= shares.sum(axis=1, keepdims=True)
    wrong = rng.random(rows) < 0.05
    for given, errors in ((true, np.zeros(rows, bool)), (np.where(wrong, (true + rng.integers(1, classes, rows)) % classes, true), wrong)):
        found = kept_doubt(kept(shares, given), given)
        doubted = found.score >= 0.5
        assert np.count_nonzero(doubted & ~errors) < 10
        assert np.count_nonzero(doubted & errors) >= 0.85 * np.count_nonzero(errors)
