from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cartograph.errors import InputError
from cartograph.features.text import character_features
from cartograph.statistics.metrics import average_precision
from cartograph.suspects.committee import committee_scores
from cartograph.suspects.label_doubt import label_doubt
from cartograph.suspects.ranking import find_suspects, out_of_fold_probabilities
from tests.speakers import made_up, questions

PROBABILITIES = np.array([[0.95, 0.05], [0.4, 0.6], [0.1, 0.9], [0.9, 0.1], [0.02, 0.98], *[[0.95, 0.05], [0.1, 0.9]] * 30])
LABELS = np.array([0, 0, 1, 1, 0, *[0, 1] * 30])


def test_suspects_are_ranked_by_the_doubt_about_their_labels() -> None:
    suspects = find_suspects(LABELS, PROBABILITIES)
    doubt = label_doubt(PROBABILITIES, LABELS)
    assert suspects.score.tolist() == doubt.score.tolist()
    assert suspects.suggested.tolist()[:5] == [1, 1, 0, 0, 1]
    assert suspects.rows.tolist()[0] == 4 and np.argsort(-suspects.score, kind="stable")[:2].tolist() == [4, 3]
    assert (suspects.score[suspects.rows] >= 0.5).all()
    assert set(suspects.rows.tolist()) == set(np.flatnonzero(doubt.score >= 0.5).tolist())


def test_a_threshold_of_zero_ranks_every_row() -> None:
    suspects = find_suspects(LABELS, PROBABILITIES, threshold=0.0)
    assert sorted(suspects.rows.tolist()) == list(range(65))
    assert (np.diff(suspects.score[suspects.rows]) <= 0).all()


def test_equal_doubt_keeps_the_order_of_the_rows() -> None:
    assert find_suspects([0, 0, 0, 1], [[0.1, 0.9]] * 3 + [[0.1, 0.9]], threshold=0.0).rows.tolist()[:3] == [0, 1, 2]


def test_lists_are_taken_as_arrays() -> None:
    assert find_suspects(LABELS.tolist(), PROBABILITIES.tolist()).rows.tolist() == find_suspects(LABELS, PROBABILITIES).rows.tolist()


@pytest.mark.parametrize(
    ("labels", "probabilities", "options", "message"),
    [
        (["no", "yes"], [[0.5, 0.5]] * 2, {}, r"labels must be integers from 0 on, but are <U3; number them with `np\.unique"),
        ([0.0, 1.0], [[0.5, 0.5]] * 2, {}, "labels must be integers"),
        ([0, 2], [[0.5, 0.5]] * 2, {}, "row 2 has label id 2, but there are probabilities of classes 0 to 1 only"),
        ([0, 1], [[0.5, 0.6]] * 2, {}, "row 1 has the class probabilities"),
        ([0, 1, 1], [[0.5, 0.5]] * 2, {}, r"they have shapes \(2, 2\) and \(3,\)"),
        ([0, 1], [[0.5, 0.5]] * 2, {"threshold": 1.2}, r"threshold must be in \[0, 1\], but is 1\.2"),
        ([0, 1], [[0.5, 0.5]] * 2, {"pseudo_rows": 0}, "`pseudo_rows` must be above 0"),
    ],
)
def test_what_cannot_be_ranked_is_refused(labels: list, probabilities: list, options: dict, message: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(InputError, match=message):
        find_suspects(labels, probabilities, **options)


def test_probabilities_of_texts_are_the_committees() -> None:
    texts = [f"{'good' if row % 2 else 'bad'} film {row % 5}" for row in range(40)]
    labels = np.arange(40) % 2
    own = out_of_fold_probabilities(texts, labels, folds=4, seed=3)
    assert own.shape == (40, 2)
    names, characters = ["0", "1"], character_features(texts)
    whole = committee_scores(texts, labels, names, np.random.default_rng(3), folds=4, characters=characters)
    assert own.tolist() == whole.probabilities.tolist()
    assert (own.argmax(axis=1) == labels).all()


def test_rows_that_are_linked_say_nothing_of_each_other() -> None:
    rows = made_up(120, 0.1, 4)
    wrong, texts, labels = rows["wrong"].to_numpy(), rows["text"].tolist(), (rows["label"] == "pos").to_numpy().astype(int)
    alone, together = (find_suspects(labels, out_of_fold_probabilities(texts, labels, linked=linked)) for linked in (None, rows["speaker"]))
    assert not len(alone.rows) and average_precision(wrong, alone.score) < 0.7
    assert wrong[together.rows].sum() > 50 and average_precision(wrong, together.score) > 0.95
    with pytest.raises(InputError, match="there are 599 values that link rows and 600 labels"):
        out_of_fold_probabilities(texts, labels, linked=rows["speaker"].tolist()[:-1])


@pytest.mark.realdata
def test_a_speakers_wrong_labels_in_questions_of_trec_are_hidden_by_near_copies_and_found_by_the_column(real_data: Path) -> None:
    rows = questions(real_data, 600, 0.08, 1)
    labels, wrong = np.unique(rows["label"], return_inverse=True)[1], rows["wrong"].to_numpy()
    alone, together = (
        find_suspects(labels, out_of_fold_probabilities(rows["text"].tolist(), labels, linked=linked)) for linked in (None, rows["speaker"])
    )
    # .23 and .62 when written, and of 240 wrong labels 0 and about 140 at a probability of .5.
    assert average_precision(wrong, alone.score) < 0.35
    assert average_precision(wrong, together.score) > 0.5
    assert wrong[alone.rows].sum() < 20 < 100 < wrong[together.rows].sum()


def test_no_rows_are_refused() -> None:
    with pytest.raises(InputError, match="there are no rows to score"):
        out_of_fold_probabilities([], np.array([], dtype=int))


def test_numbers_are_no_texts() -> None:
    with pytest.raises(InputError, match=r"row 1 of the texts is of the type .*; give strings"):
        out_of_fold_probabilities(np.zeros((4, 2)), [0, 1, 0, 1])  # type: ignore[arg-type]
