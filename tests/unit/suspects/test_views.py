from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from cartograph.errors import InputError
from cartograph.features.tables import TreeColumns
from cartograph.features.vector_models import OF_COLUMNS, SHRINKAGES, out_of_fold_discriminant
from cartograph.statistics.metrics import average_precision
from cartograph.suspects import views as module
from cartograph.suspects.committee import committee_scores
from cartograph.suspects.label_doubt import label_doubt
from cartograph.suspects.views import combine, known_view, vectors_view, words_view


def two_views(n_examples: int = 600, seed: int = 1) -> tuple[sparse.csr_array, np.ndarray, np.ndarray, np.ndarray]:
    """Words and vectors that each tell a part of the classes, labels with errors, and which are wrong."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_examples) % 3
    dense = rng.poisson(0.4, (n_examples, 12)).astype(np.float32)
    dense[np.arange(n_examples), truth] += rng.poisson(0.8, n_examples)
    vectors = (np.eye(3)[truth] * 1.2 + rng.normal(0, 1, (n_examples, 3))).astype(np.float32)
    labels, wrong = truth.copy(), rng.random(n_examples) < 0.1
    labels[wrong] = (truth[wrong] + 1) % 3
    return sparse.csr_array(dense), vectors, labels, wrong


def test_two_views_find_more_than_either() -> None:
    features, vectors, labels, wrong = two_views()
    fold, rng = np.arange(600) // 3 % 5, np.random.default_rng(2)
    words, other = words_view(features, labels, 3, fold, rng), vectors_view(vectors, labels, 3, fold, rng)
    together = combine([words, other], labels, rng)
    np.testing.assert_allclose(together.sum(axis=1), 1.0)
    alone = [average_precision(wrong, label_doubt(view.probabilities, labels).score) for view in (words, other)]
    assert average_precision(wrong, label_doubt(together, labels).score) > max(alone) + 0.05


def test_views_that_know_nothing_do_no_harm_however_many() -> None:
    features, vectors, labels, wrong = two_views()
    fold, rng = np.arange(600) // 3 % 5, np.random.default_rng(2)
    words = words_view(features, labels, 3, fold, rng)
    blind = [vectors_view(vectors[rng.permutation(600)], labels, 3, fold, rng) for _ in range(4)]
    alone = average_precision(wrong, label_doubt(words.probabilities, labels).score)
    for number in (1, 4):
        together = combine([words, *blind[:number]], labels, rng)
        assert average_precision(wrong, label_doubt(together, labels).score) > alone - 0.03


def test_errors_that_follow_the_words_are_found_by_what_does_not_read_them() -> None:
    rng = np.random.default_rng(1)
    truth = np.arange(800) % 2
    dense = rng.poisson(0.4, (800, 12)).astype(np.float32)
    dense[np.arange(800), truth] += rng.poisson(2.0, 800)
    # Who labelled by a list of words named most rows with one of them by it.
    trap = (truth == 0) & (rng.random(800) < 0.15)
    dense[trap, 11] += 3
    wrong = trap & (rng.random(800) < 0.8)
    labels = np.where(wrong, 1, truth)
    vectors = (np.eye(2)[truth] * 1.8 + rng.normal(0, 1, (800, 2))).astype(np.float32)
    fold = np.arange(800) // 2 % 5
    words, other = words_view(sparse.csr_array(dense), labels, 2, fold, rng), vectors_view(vectors, labels, 2, fold, rng)
    found = [
        average_precision(wrong, label_doubt(combine([words, view], labels, np.random.default_rng(2)), labels).score)
        for view in (other, replace(other, name="of words, too"), words)
    ]
    assert found[0] > found[1] + 0.02 > found[2] + 0.1


def test_one_view_is_left_as_it_is() -> None:
    features, _, labels, _ = two_views()
    view = words_view(features, labels, 3, np.arange(600) // 3 % 5, np.random.default_rng(2))
    assert combine([view], labels, np.random.default_rng(3)) is view.probabilities


def test_known_probabilities_are_a_view_of_their_own() -> None:
    features, _, labels, wrong = two_views()
    shares = np.full((600, 3), 0.1)
    shares[np.arange(600), np.arange(600) % 3] = 0.8
    view = known_view("oracle", shares, labels, np.random.default_rng(1))
    assert (view.name, view.members, view.scores.shape) == ("oracle", ("oracle",), (1, 600, 3))
    found = committee_scores(None, labels, ["a", "b", "c"], np.random.default_rng(1), known={"oracle": shares})
    np.testing.assert_array_equal(found.probabilities, view.probabilities)
    assert average_precision(wrong, found.doubt.score) == pytest.approx(1.0)
    both = committee_scores(features, labels, ["a", "b", "c"], np.random.default_rng(1), known={"oracle": shares})
    assert average_precision(wrong, both.doubt.score) > 0.99


def test_a_sample_fits_the_mixtures_of_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    features, vectors, labels, _ = two_views()
    whole = committee_scores(features, labels, ["a", "b", "c"], np.random.default_rng(1), vectors=vectors)
    monkeypatch.setattr(module, "_MIXTURE_ROWS", 200)
    sampled = committee_scores(features, labels, ["a", "b", "c"], np.random.default_rng(1), vectors=vectors)
    assert not np.array_equal(whole.probabilities, sampled.probabilities)
    np.testing.assert_allclose(whole.probabilities, sampled.probabilities, atol=0.25)


def test_small_differences_of_columns_that_go_together_are_read_of_a_table() -> None:
    rng = np.random.default_rng(0)
    size, labels = rng.normal(size=300), rng.integers(0, 2, 300).astype(np.int32)
    # Five lengths, all nearly the size: whether the first is longer than the others tells the class.
    columns = (size[:, None] + rng.normal(0, 0.02, (300, 5))).astype(np.float32)
    columns[:, 0] += 0.1 * (2 * labels - 1)
    fold = rng.permutation(np.arange(300) % 5)
    scores = out_of_fold_discriminant(columns, labels, 2, fold, (*SHRINKAGES, *OF_COLUMNS))
    right = [(own.argmax(axis=1) == labels).mean() for own in scores]
    assert max(right[:3]) < 0.9 < 0.97 < right[3]
    # A table's committee asks them, an encoder's does not.
    scaled, trees = (columns - columns.mean(axis=0)) / columns.std(axis=0), TreeColumns(size[:, None], np.zeros(1, bool))
    found = [
        committee_scores(None, labels, ("a", "b"), np.random.default_rng(1), folds=fold, vectors=scaled, trees=read).probabilities
        for read in (trees, None)
    ]
    near = [shares[np.arange(300), labels].mean() for shares in found]
    assert near[0] > near[1]


def test_the_error_names_the_view_that_does_not_fit() -> None:
    features, vectors, labels, _ = two_views()
    names, rng = ["a", "b", "c"], np.random.default_rng(1)
    with pytest.raises(InputError, match="vectors of 599 rows and 600 labels"):
        committee_scores(features, labels, names, rng, vectors=vectors[:-1])
    vectors[3, 1] = np.nan
    with pytest.raises(InputError, match="the vector of row 4 holds a number that is not finite"):
        committee_scores(features, labels, names, rng, vectors=vectors)
    with pytest.raises(InputError, match="the view 'k-fold training' have shape"):
        known_view("k-fold training", -np.ones((600, 3)), labels, rng)
    with pytest.raises(InputError, match="neither texts nor vectors nor probabilities"):
        committee_scores(None, labels, names, rng)
