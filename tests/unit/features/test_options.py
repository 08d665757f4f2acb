"""Options of multiple choice: each against the others of its row, in whatever place it stands."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from cartograph.features.options import against_others, held_out_options, option_features, out_of_fold_option_vectors, out_of_fold_options
from cartograph.schema import DatasetInfo, examples_schema
from cartograph.statistics.metrics import accuracy, average_precision
from cartograph.suspects.committee import committee_scores, reading_of
from cartograph.train.enough import simple_accuracy

OBJECTS = {"drank": ("milk", "tea", "water"), "read": ("book", "letter", "map"), "wore": ("hat", "coat", "ring")}


def quiz(rows: int, n_options: int, seed: int, wrong: float = 0.0) -> tuple[pa.Table, np.ndarray]:
    """Return questions whose right option suits the verb, the others suiting other verbs; and which labels are wrong."""
    rng = np.random.default_rng(seed)
    options = tuple(f"option{number + 1}" for number in range(n_options))
    verbs = rng.choice(list(OBJECTS), rows)
    labels, flipped = rng.integers(n_options, size=rows), rng.random(rows) < wrong
    texts, columns = [], [[] for _ in options]
    for verb, label in zip(verbs, labels, strict=True):
        others = [word for other, words in OBJECTS.items() if other != verb for word in words]
        drawn = rng.choice(others, n_options, replace=False).tolist()
        drawn[label] = str(rng.choice(OBJECTS[verb]))
        texts.append(f"The {rng.choice(['girl', 'boy', 'king'])} {verb} the _ .")
        for column, word in zip(columns, drawn, strict=True):
            column.append(word)
    given = np.where(flipped, (labels + 1) % n_options, labels)
    info = DatasetInfo("train", "train", "choice", ("sentence",), options, options)
    uids = [f"u{row:04}" for row in range(rows)]
    values = [uids, texts, *columns, given, ["quiz.csv"] * rows, list(range(1, rows + 1))]
    schema = examples_schema(info)
    return pa.table([pa.array(column, field.type) for column, field in zip(values, schema, strict=True)], schema=schema), flipped


def test_an_option_is_what_it_differs_in_from_the_others_of_its_row() -> None:
    rows = sparse.csr_array(np.array([[1, 0, 3], [0, 2, 3], [2, 1, 3], [4, 0, 0], [0, 0, 0], [2, 3, 0]], np.float32))
    found = against_others(rows, 3)
    assert found.dtype == np.float32
    np.testing.assert_allclose(
        found.toarray().reshape(2, 3, 3), rows.toarray().reshape(2, 3, 3) - rows.toarray().reshape(2, 3, 3).mean(1)[:, None]
    )
    assert not (found.data == 0).any()


@pytest.mark.parametrize("n_options", [2, 4])
def test_the_right_option_is_known_by_its_words_beside_the_texts(n_options: int) -> None:
    rows, _ = quiz(400, n_options, 1)
    features, labels = option_features(rows), rows["label"].to_numpy()
    assert features.shape[0] == 400 * n_options
    fold = np.arange(400) % 5
    for scores in out_of_fold_options(features, labels, n_options, fold, (1.0, 0.1)):
        assert scores.shape == (400, n_options)
        np.testing.assert_allclose(scores.mean(axis=1), 0.0, atol=1e-4)
        assert accuracy(scores, labels) > 0.95
    assert simple_accuracy(rows, 1) > 0.95


def test_a_rows_own_label_has_no_influence_on_its_own_scores() -> None:
    rows, _ = quiz(100, 3, 2)
    features, labels, fold = option_features(rows), rows["label"].to_numpy(), np.arange(100) % 4
    vectors = np.random.default_rng(1).normal(size=(100, 3, 5)).astype(np.float32)
    changed = labels.copy()
    changed[fold == 2] = (changed[fold == 2] + 1) % 3
    for before, after in (
        (out_of_fold_options(features, of, 3, fold, (1.0,))[0] for of in (labels, changed)),
        (out_of_fold_option_vectors(vectors, of, fold, (0.5,))[0] for of in (labels, changed)),
    ):
        np.testing.assert_array_equal(before[fold == 2], after[fold == 2])
        assert np.abs(before[fold != 2] - after[fold != 2]).max() > 1e-3


def test_a_row_of_weight_0_teaches_nothing() -> None:
    rows, _ = quiz(100, 3, 2)
    features, labels = option_features(rows), rows["label"].to_numpy()
    weights = (np.arange(100) != 7).astype(np.float32)
    changed = labels.copy()
    changed[7] = (changed[7] + 1) % 3
    both = [held_out_options(features, of, 3, weights, 1.0, even=True) for of in (labels, changed)]
    np.testing.assert_array_equal(*both)
    assert accuracy(both[0], labels) > 0.9


def test_options_vectors_are_compared_within_the_row() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(3, size=300)
    # What a row's options have in common is far larger than what tells the right one.
    vectors = (10 * rng.normal(size=(300, 1, 6)) + rng.normal(size=(300, 3, 6))).astype(np.float32)
    vectors[np.arange(300), labels, 0] += 3.0
    scores = out_of_fold_option_vectors(vectors, labels, np.arange(300) % 5, (0.1,))[0]
    assert accuracy(scores, labels) > 0.8


def test_wrong_answers_are_found_and_clean_ones_are_not_listed() -> None:
    for wrong in (0.1, 0.0):
        rows, planted = quiz(600, 3, 4, wrong)
        reading = reading_of(rows)
        found = committee_scores(
            reading.data,
            rows["label"].to_numpy(),
            reading_names(rows),
            np.random.default_rng(1),
            apart=reading.apart,
            options=reading.options,
        ).doubt
        if wrong:
            assert average_precision(planted, found.score) > 0.9
            assert found.wrong is not None and found.wrong.low <= planted.sum() <= found.wrong.high
        else:
            assert np.count_nonzero(found.score >= 0.5) <= 3


def reading_names(rows: pa.Table) -> list[str]:
    return [name for name in rows.column_names if name.startswith("option")]


def test_long_texts_are_not_multiplied_by_long_options(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _ = quiz(50, 2, 5)
    every = option_features(rows).shape[1]
    monkeypatch.setattr("cartograph.features.options._MOST_TOGETHER", 3)
    assert option_features(rows).shape[1] < every
