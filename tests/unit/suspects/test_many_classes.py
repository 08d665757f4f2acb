from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cartograph.data.kept_logits import KeptShares
from cartograph.errors import InputError
from cartograph.features.linear_models import leave_one_out_bayes, out_of_fold_bayes
from cartograph.statistics.metrics import average_precision
from cartograph.suspects import many_classes
from cartograph.suspects.committee import Committee, committee_scores

CLASSES = 150


def rows_of(number: int, seed: int = 1) -> tuple[sparse.csr_array, np.ndarray]:
    """Rows of words, two of which come with their class, and one that many classes share."""
    rng = np.random.default_rng(seed)
    labels = np.arange(number) % CLASSES
    words = np.stack([labels, CLASSES + labels // 2, 2 * CLASSES + rng.integers(0, 40, number)], axis=1)
    words[rng.random(number) < 0.1, 0] = 3 * CLASSES
    values = rng.integers(1, 4, words.size).astype(np.float32)
    return sparse.csr_array((values, words.ravel(), np.arange(0, words.size + 1, 3)), shape=(number, 3 * CLASSES + 1)), labels


def committee(features: sparse.csr_array | None, labels: np.ndarray, **options: object) -> Committee:
    names = [str(label) for label in range(CLASSES)]
    return committee_scores(features, labels, names, np.random.default_rng(1), folds=np.arange(len(labels)) % 5, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("frequent", [8, 10**9])
def test_its_naive_bayes_is_the_plain_one(monkeypatch: pytest.MonkeyPatch, frequent: int) -> None:
    monkeypatch.setattr(many_classes, "_FREQUENT", frequent)
    features, labels = rows_of(600)
    found = many_classes._Bayes(features, labels, CLASSES)(np.arange(100, 300))
    plain = leave_one_out_bayes(features, labels, CLASSES, many_classes.SMOOTHINGS)
    for one, other in zip(found, plain, strict=True):
        # Of frequent words a row's own part in the total is left in for other classes: it hardly matters, and not at all for its own.
        np.testing.assert_allclose(one, other[100:300], atol=0.25 if frequent == 8 else 1e-4)


@pytest.mark.parametrize("frequent", [8, 10**9])
def test_held_out_together_its_naive_bayes_is_the_plain_one_by_fold(monkeypatch: pytest.MonkeyPatch, frequent: int) -> None:
    monkeypatch.setattr(many_classes, "_FREQUENT", frequent)
    features, labels = rows_of(600)
    fold = np.arange(600) // 120
    found = many_classes._bayes_by_fold(features, labels, CLASSES, fold)(np.arange(100, 300))
    plain = out_of_fold_bayes(features, labels, CLASSES, fold, many_classes.SMOOTHINGS)
    for one, other in zip(found, plain, strict=True):
        np.testing.assert_allclose(one, other[100:300], atol=1e-4)


def test_rows_of_a_group_say_nothing_of_each_other() -> None:
    # Each group of three has words and a vector of its own, and one label, which nothing else tells.
    rng = np.random.default_rng(3)
    groups, labels = np.repeat(np.arange(600), 3), np.repeat(rng.integers(0, CLASSES, 600), 3)
    features = sparse.csr_array((np.ones(1800, np.float32), groups, np.arange(1801)), shape=(1800, 600))
    vectors = rng.normal(size=(600, 16))[groups].astype(np.float32)
    names = [str(label) for label in range(CLASSES)]
    alone, together = (
        committee_scores(features, labels, names, np.random.default_rng(1), vectors=vectors, groups=linked).probabilities.dense()
        for linked in (None, groups)
    )
    assert (alone.argmax(axis=1) == labels).mean() > 0.9
    assert (together.argmax(axis=1) == labels).mean() < 0.05


def test_a_rows_own_label_has_no_influence_on_its_own_scores() -> None:
    features, labels = rows_of(600)
    bayes = many_classes._Bayes(features, labels, CLASSES)
    changed = labels.copy()
    changed[7] = 99
    again = many_classes._Bayes(features, changed, CLASSES)
    for before, after in zip(bayes(np.array([7])), again(np.array([7])), strict=True):
        np.testing.assert_allclose(after, before, atol=1e-4)
    assert np.abs(again(np.array([157]))[0] - bayes(np.array([157]))[0]).max() > 1e-2


def test_it_finds_planted_errors_and_says_what_would_be_right() -> None:
    features, truth = rows_of(3_000)
    rng = np.random.default_rng(4)
    wrong = rng.random(3_000) < 0.05
    given = np.where(wrong, (truth + rng.integers(1, CLASSES, 3_000)) % CLASSES, truth)
    found = committee(features, given)
    assert isinstance(found.probabilities, KeptShares)
    assert average_precision(wrong, found.doubt.score) > 0.9
    assert (found.doubt.suggested[wrong] == truth[wrong]).mean() > 0.85
    assert found.doubt.wrong is not None and found.doubt.wrong.low < wrong.sum() < found.doubt.wrong.scattered
    assert found.doubt.transition is None


def test_an_encoders_vectors_and_known_probabilities_count() -> None:
    rng = np.random.default_rng(2)
    labels = np.arange(900) % CLASSES
    vectors = (rng.normal(0, 1, (CLASSES, 24))[labels] + rng.normal(0, 0.2, (900, 24))).astype(np.float32)
    given = labels.copy()
    given[:20] = (given[:20] + 70) % CLASSES
    found = committee(None, given, vectors=vectors)
    assert average_precision(np.arange(900) < 20, found.doubt.score) > 0.95
    shares = np.full((900, CLASSES), 0.1 / (CLASSES - 1))
    shares[np.arange(900), labels] = 0.9
    assert average_precision(np.arange(900) < 20, committee(None, given, known={"known": shares}).doubt.score) == 1.0
    with pytest.raises(InputError, match="vectors of 899 rows and 900 labels"):
        committee(None, given, vectors=vectors[1:])
