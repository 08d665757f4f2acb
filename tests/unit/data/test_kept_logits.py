from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from cartograph.data.kept_logits import (
    KEPT,
    WHOLE,
    KeptLogits,
    KeptShares,
    first_of,
    in_blocks,
    keep,
    most_probable,
    share_of,
    spread,
)

CLASSES = WHOLE + 22


def some(rows: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(0, 3, (rows, CLASSES)).astype(np.float32), rng.integers(0, CLASSES, rows)


def kept_epochs(epochs: int, rows: int = 30) -> tuple[np.ndarray, np.ndarray, KeptLogits]:
    gold = some(rows)[1]
    whole = [some(rows, seed)[0] for seed in range(epochs)]
    classes, values, rest = (np.stack(part, axis=1) for part in zip(*(keep(logits, gold) for logits in whole), strict=True))
    return np.stack(whole, axis=1), gold, KeptLogits(classes, values, rest, CLASSES)


def test_kept_are_the_own_label_and_the_highest_others_and_the_sum_of_all_stays() -> None:
    logits, gold = some(40)
    classes, values, rest = keep(logits, gold)
    assert classes.shape == (40, KEPT + 1) and (classes[:, 0] == gold).all()
    assert all(len(set(row)) == KEPT + 1 for row in classes.tolist())
    assert np.array_equal(values, np.take_along_axis(logits, classes.astype(int), axis=1))
    others = np.sort(np.where(np.arange(CLASSES) == gold[:, None], -np.inf, logits), axis=1)[:, ::-1]
    assert np.array_equal(values[:, 1:], others[:, :KEPT])
    back = spread(classes, values, rest, CLASSES)
    np.testing.assert_allclose(logsumexp(back, axis=1), logsumexp(logits, axis=1), rtol=1e-6)
    # Kept once more, it is the same.
    again = keep(back, gold)
    assert np.array_equal(again[0], classes) and np.array_equal(again[1], values)
    np.testing.assert_allclose(again[2], rest, atol=1e-5)


def test_rows_whose_logits_are_all_alike_stay_so() -> None:
    classes, values, rest = keep(np.full((3, CLASSES), 0.25, np.float32), np.array([0, 5, 149]))
    assert (values == 0.25).all() and rest.max() <= 0.25 and np.allclose(rest, 0.25) and classes[:, 0].tolist() == [0, 5, 149]


@pytest.mark.filterwarnings("error")
def test_a_number_that_is_not_finite_is_kept() -> None:
    logits, gold = some(2)
    logits[0, 7] = np.nan
    _, values, _ = keep(logits, gold)
    assert np.isnan(values[0]).any() and np.isfinite(values[1]).all()


def test_mean_probabilities_are_those_of_whole_logits() -> None:
    whole, _, kept = kept_epochs(4)
    expected = softmax(whole.astype(float), axis=2).mean(axis=1)
    found = kept.mean_shares()
    first, highest = first_of(found)
    assert np.mean(first == expected.argmax(axis=1)) > 0.95
    np.testing.assert_allclose(highest, expected.max(axis=1), atol=4e-3)
    np.testing.assert_allclose(found.dense(), expected, atol=2e-2)
    np.testing.assert_allclose(found.dense().sum(axis=1), 1.0)
    assert (np.diff(found.values, axis=1) <= 0).all()
    assert kept.shape == whole.shape and kept[:, 1:3].shape == (30, 2, CLASSES)
    assert np.array_equal(np.asarray(kept)[:, 2], kept[:, 2])


def test_renamed_classes_move_with_their_logits() -> None:
    _, _, kept = kept_epochs(2)
    ids = np.random.default_rng(3).permutation(CLASSES)
    moved = kept.renamed(ids)
    assert np.array_equal(moved[:, 1][:, ids], kept[:, 1])


def test_shares_of_a_class_that_is_not_kept_are_the_rests() -> None:
    shares = KeptShares(np.array([[4, 9], [9, 2]], np.int32), np.array([[0.5, 0.3], [0.6, 0.2]]), 10)
    np.testing.assert_allclose(share_of(shares, np.array([9, 0])), [0.3, 0.2 / 8])
    assert shares.other_than(np.array([4, 0])).tolist() == [9, 9]
    np.testing.assert_allclose(shares.dense().sum(axis=1), 1.0)
    assert shares.take(np.array([1])).classes.tolist() == [[9, 2]]


def test_the_most_probable_classes_have_the_own_label_among_them() -> None:
    shares = softmax(some(50)[0].astype(float), axis=1)
    labels = shares.argmin(axis=1)
    classes, values = most_probable(shares, labels)
    assert (classes == labels[:, None]).any(axis=1).all() and (classes[:, 0] == shares.argmax(axis=1)).all()
    np.testing.assert_allclose(values, np.take_along_axis(shares, classes.astype(int), axis=1))


def test_blocks_cover_every_row_once() -> None:
    assert [(part.start, part.stop) for part in in_blocks(5, 10, 20)] == [(0, 2), (2, 4), (4, 5)]
    assert [part.stop for part in in_blocks(2, 100, 20)] == [1, 2] and list(in_blocks(0, 3)) == []
