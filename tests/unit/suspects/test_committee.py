from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from cartograph.data.images import png_of
from cartograph.errors import InputError
from cartograph.features.pixels import sparse_pixels
from cartograph.features.tables import TreeColumns
from cartograph.schema import LABEL
from cartograph.statistics.metrics import average_precision
from cartograph.suspects.committee import committee_scores, reading_of
from cartograph.suspects.views import words_view
from tests.training_sets import info_of, small_images, small_set, small_table, table

NO_YES = ["no", "yes"]


def small(n_examples: int, n_classes: int, seed: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Rows of random counts, whose first columns tell the classes apart now and then."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_examples) % n_classes
    dense = rng.poisson(0.4, (n_examples, 12)).astype(np.float32)
    dense[np.arange(n_examples), labels] += rng.poisson(1.0, n_examples)
    return sparse.csr_array(dense), labels


def scores_of(features: sparse.csr_array, labels: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """What each model that reads words says, of as many classes as there are labels."""
    return words_view(features, labels, int(labels.max()) + 1, fold, np.random.default_rng(1)).scores


# --- a row's own label


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_rows_own_label_has_no_influence_on_its_own_scores(n_classes: int) -> None:
    features, labels = small(60, n_classes, 1)
    fold = np.random.default_rng(2).permutation(np.arange(60) % 4)
    classes = [str(label) for label in range(n_classes)]
    before, words = committee_scores(features, labels, classes, np.random.default_rng(1), folds=fold), scores_of(features, labels, fold)
    for row in (0, 17, 59):
        changed = labels.copy()
        changed[row] = (changed[row] + 1) % n_classes
        after = committee_scores(features, changed, classes, np.random.default_rng(1), folds=fold)
        scores = scores_of(features, changed, fold)
        np.testing.assert_allclose(scores[:, row], words[:, row], atol=1e-6)
        mates = (fold == fold[row]) & (np.arange(60) != row)
        np.testing.assert_array_equal(scores[:2][:, mates], words[:2][:, mates])
        # It counts for all others, so the test above could fail.
        assert np.abs(scores[:, fold != fold[row]] - words[:, fold != fold[row]]).max() > 1e-3
        assert np.abs(after.probabilities[row] - before.probabilities[row]).max() < 5 / 60


def triads(number: int, seed: int) -> tuple[list[tuple[str, str]], np.ndarray, np.ndarray]:
    """Premises with one hypothesis of each of three labels, of which a word of the hypothesis says a little; every tenth label is wrong."""
    rng = np.random.default_rng(seed)
    true = np.tile(np.arange(3), number)
    said = np.where(rng.random(3 * number) < 0.6, true, rng.integers(0, 3, 3 * number))
    texts = [(f"premise{row // 3} stands{row // 3}", f"word{said[row]} other{rng.integers(50)}") for row in range(3 * number)]
    wrong = rng.random(3 * number) < 0.1
    return texts, true, np.where(wrong, (true + rng.integers(1, 3, 3 * number)) % 3, true)


@pytest.mark.parametrize("with_vectors", [False, True])
def test_how_a_set_of_pairs_was_made_is_no_evidence_of_a_label(with_vectors: bool) -> None:
    # As of SNLI's premises: two labels of a premise give away the third, whatever its text says.
    texts, labels, _ = triads(400, 1)
    groups = np.arange(1200) // 3
    rng = np.random.default_rng(2)
    vectors = np.repeat(rng.normal(size=(400, 8)), 3, axis=0).astype(np.float32) if with_vectors else None
    together = committee_scores(texts, labels, ["e", "n", "c"], np.random.default_rng(3), vectors=vectors, apart=True, groups=groups)
    said = np.array([int(text[1][4]) for text in texts])
    held = together.probabilities[np.arange(1200), labels]
    assert together.doubt.explained < 0.4
    assert held[said == labels].mean() > 0.5 > held[said != labels].mean() + 0.2


def test_pairs_of_a_table_are_held_out_by_the_texts_that_they_share() -> None:
    texts, _, labels = triads(100, 4)
    columns = {"premise": [text[0] for text in texts], "hypothesis": [text[1] for text in texts]}
    reading = reading_of(table(info_of("pair"), columns, (labels % 2).tolist()))
    assert reading.groups is not None
    np.testing.assert_array_equal(np.bincount(reading.groups), np.full(100, 3))


def test_a_word_that_no_other_row_has_is_no_evidence() -> None:
    # Word and label of every row are its own: nothing can be known out of fold, everything in sample.
    features, labels = sparse.csr_array(np.eye(40, dtype=np.float32)), np.arange(40) % 2
    found = committee_scores(features, labels, NO_YES, np.random.default_rng(1))
    assert np.abs(found.probabilities - 0.5).max() < 0.1


# --- oracles


def test_a_row_without_any_feature_gets_a_score_too() -> None:
    features = sparse.csr_array(np.array([[1, 0], [0, 0], [0, 1], [1, 0], [0, 1], [0, 0]], dtype=np.float32))
    labels = np.array([0, 0, 1, 0, 1, 1])
    found = committee_scores(features, labels, NO_YES, np.random.default_rng(1), folds=2)
    np.testing.assert_allclose(scores_of(features, labels, found.fold)[2:, [1, 5]], 0.0, atol=1e-6)
    assert np.isfinite(found.probabilities).all()


# --- doubt


# --- the committee


def test_planted_flips_of_texts_come_first() -> None:
    rng = np.random.default_rng(9)
    words = {0: ["dog", "cat", "cow", "hen"], 1: ["red", "blue", "green", "pink"], 2: ["one", "two", "six", "ten"]}
    truth = np.arange(150) % 3
    texts = [" ".join(["the", *rng.choice(words[int(label)], 3), "and"]) for label in truth]
    labels, planted = truth.copy(), np.arange(150) % 15 == 7
    labels[planted] = (labels[planted] + 1) % 3
    found = committee_scores(texts, labels, ["animal", "colour", "number"], np.random.default_rng(1))
    assert average_precision(planted, found.doubt.score) == pytest.approx(1.0)
    assert (found.doubt.suggested[planted] == truth[planted]).all()
    assert found.probabilities.shape == (150, 3)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)


def test_pairs_are_understood_by_what_the_fields_share() -> None:
    # No word alone tells the classes apart: only whether the second field repeats the first's noun.
    rng = np.random.default_rng(10)
    nouns = [f"noun{number}" for number in range(30)]
    pairs, labels = [], np.arange(300) % 2
    for label in labels:
        first, other = rng.choice(nouns, 2, replace=False)
        pairs.append((f"here is a {first}", f"i see the {first if label else other}"))
    found = committee_scores(pairs, labels, NO_YES, np.random.default_rng(1))
    assert np.mean(found.probabilities.argmax(axis=1) == labels) > 0.9


def test_of_pairs_and_choices_it_is_said_that_a_label_is_about_how_texts_relate() -> None:
    assert {task: reading_of(small_set(task)).apart for task in ("single", "pair", "choice")} == {
        "single": False,
        "pair": True,
        "choice": True,
    }


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**31))
def test_the_order_of_the_rows_does_not_matter(seed: int) -> None:
    features, labels = small(48, 3, seed % 1000)
    fold = np.arange(48) // 3 % 4
    order = np.random.default_rng(seed).permutation(48)
    one = committee_scores(features, labels, ["a", "b", "c"], np.random.default_rng(1), folds=fold)
    other = committee_scores(features[order], labels[order], ["a", "b", "c"], np.random.default_rng(1), folds=fold[order])
    np.testing.assert_allclose(other.probabilities, one.probabilities[order], atol=1e-4)
    np.testing.assert_allclose(other.doubt.score, one.doubt.score[order], atol=1e-3)


def test_the_same_generator_gives_the_same_numbers() -> None:
    features, labels = small(60, 3, 11)
    one, other = (committee_scores(features, labels, ["a", "b", "c"], np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one.doubt.score, other.doubt.score)
    np.testing.assert_array_equal(one.fold, other.fold)


def test_a_class_without_rows_is_allowed() -> None:
    features, labels = small(40, 2, 12)
    found = committee_scores(features, labels * 2, ["a", "unused", "b"], np.random.default_rng(1))
    assert np.isfinite(found.doubt.score).all() and found.probabilities[:, 1].max() < 0.2


def test_the_only_row_of_a_class_is_doubted() -> None:
    features, labels = small(200, 2, 14)
    found = committee_scores(features, np.append(labels[:-1], 2), ["a", "b", "typo"], np.random.default_rng(1))
    assert found.doubt.score[-1] >= 0.5


FEATURES, LABELS = small(20, 2, 13)


@pytest.mark.parametrize(
    ("data", "labels", "classes", "folds", "message"),
    [
        (FEATURES, LABELS, NO_YES, 21, "`folds` is 21, but there are only 20 rows; use fewer folds"),
        (FEATURES, LABELS, NO_YES, 1, "`folds` must be 2 or more, so that each row has models that did not see it, but is 1"),
        (FEATURES, np.zeros(20, dtype=int), NO_YES, 5, "all 20 rows have the label 'no'; without a second class no label can be doubted"),
        (FEATURES, LABELS + 1, NO_YES, 5, r"row 2 has label id 2, but there are 2 classes: ids 0 to 1"),
        (FEATURES, LABELS[:-1], NO_YES, 5, "there are 20 rows of data and 19 labels"),
        ([], np.array([], dtype=int), NO_YES, 5, "there are no rows to score"),
        (-FEATURES, LABELS, NO_YES, 5, "the features hold a negative or infinite value"),
        ([""] * 20, LABELS, NO_YES, 5, "the texts of all 20 rows are empty or blank"),
        ([("a", "b")] * 19 + [("a",)], LABELS, NO_YES, 5, "row 20 has 1 text fields and row 1 has 2"),
        (FEATURES, LABELS, NO_YES, np.zeros(20, dtype=int), "`folds` must hold one fold id per row, from 0 on, each in use, two or more"),
    ],
)
def test_the_error_names_the_input_that_is_wrong(
    data: object, labels: np.ndarray, classes: list[str], folds: int | np.ndarray, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        committee_scores(data, labels, classes, np.random.default_rng(1), folds=folds)


# --- features


# --- real data


@pytest.mark.realdata
def test_planted_flips_of_trec_are_found(real_data: Path) -> None:
    lines = (real_data / "trec" / "TREC.train").read_text(encoding="latin-1").splitlines()
    names, texts = zip(*(line.split(" ", 1) for line in lines), strict=True)
    classes, truth = np.unique([name.split(":")[0] for name in names], return_inverse=True)
    rng = np.random.default_rng(14)
    rows = rng.choice(len(truth), 545, replace=False)
    labels, planted = truth.copy(), np.zeros(len(truth), dtype=bool)
    labels[rows], planted[rows] = (labels[rows] + rng.integers(1, 6, 545)) % 6, True
    found = committee_scores(texts, labels, list(classes), rng)
    # .89 when written; cleanlab on cross-validated logistic regression .86, chance .10.
    assert average_precision(planted, found.doubt.score) > 0.85
    assert np.mean(found.doubt.suggested[planted] == truth[planted]) > 0.75


def test_copies_that_were_labelled_apart_are_heard() -> None:
    rng = np.random.default_rng(2)
    text = np.repeat(np.arange(400), 3)
    true = rng.integers(0, 2, 400)
    said = np.where(rng.random(400) < 0.7, true, 1 - true)
    words = [f"{'good' if of else 'bad'} thing {row}" for row, of in enumerate(said.tolist())]
    given = np.where(rng.random(len(text)) < 0.1, 1 - true[text], true[text])

    def found(heard: np.ndarray | None) -> float:
        committee = committee_scores([words[row] for row in text], given, ["no", "yes"], np.random.default_rng(1), groups=text, texts=heard)
        assert (committee.copies is None) == (heard is None)
        return average_precision(given != true[text], committee.doubt.score)

    assert found(text) > found(None) + 0.3


def test_the_committee_reads_pixels() -> None:
    train = small_images(150)
    given = train["label"].to_numpy().copy()
    wrong = np.arange(0, 150, 15)
    given[wrong] = 1 - given[wrong]
    scores = committee_scores(sparse_pixels(train), given, ["left", "right"], np.random.default_rng(0), folds=3)
    assert set(np.argsort(-scores.doubt.score)[: len(wrong)]) == set(wrong)


def test_what_sets_images_apart_finds_more_of_their_wrong_labels_than_pixels_alone() -> None:
    # Stripes this way or that way, wherever they begin: no pixel says which, images like it do.
    rng = np.random.default_rng(2)
    kinds, start = rng.integers(0, 2, 400), rng.integers(0, 4, 400)
    stripes = (np.arange(12)[None, :] + start[:, None]) % 4 < 2
    drawn = np.where(kinds[:, None, None] == 1, stripes[:, None, :], stripes[:, :, None]) * 120 + rng.integers(0, 100, (400, 12, 12))
    wrong = rng.random(400) < 0.1
    given = np.where(wrong, 1 - kinds, kinds).astype(np.int32)
    rows = table(info_of("image"), {"image": [png_of(image.astype(np.uint8), 12) for image in drawn]}, given.tolist())
    reading = reading_of(rows)
    assert reading.vectors is not None and reading.vectors.shape == (400, 64)
    assert reading_of(rows, characters=False).vectors is None

    def precision(vectors: np.ndarray | None) -> float:
        found = committee_scores(reading.data, given, ["down", "across"], np.random.default_rng(0), vectors=vectors)
        return average_precision(wrong, found.doubt.score)

    assert precision(reading.vectors) > precision(None) + 0.3
    same = reading_of(table(info_of("image"), {"image": [png_of(drawn[0].astype(np.uint8), 12)] * 30}, [0, 1] * 15)).vectors
    assert same is not None and not same.any()


# --- rows that the user linked


@pytest.mark.parametrize("task", ["single", "choice", "image", "table"])
def test_rows_that_the_user_linked_are_a_group_of_whatever_kind(task: str) -> None:
    rows = {"image": small_images, "table": small_table}.get(task, lambda: small_set(task))()  # type: ignore[arg-type, operator]
    assert reading_of(rows).groups is None
    linked = rows.append_column("linked", pa.array([row // 3 for row in range(60)], pa.int32()))
    groups = reading_of(linked).groups
    assert groups is not None
    np.testing.assert_array_equal(groups, np.arange(60) // 3)


@pytest.mark.slow
def test_of_a_table_whose_rows_are_near_copies_a_whole_patients_wrong_labels_are_found() -> None:
    rng = np.random.default_rng(1)
    truth, patient = np.arange(120) % 2, np.repeat(np.arange(120), 5)
    wrong = rng.permutation(np.arange(120) < 10)
    measured = rng.normal(0, 1, (120, 12)) + np.where(truth[:, None], 0.5, -0.5)
    values = (measured[patient] + rng.normal(0, 0.01, (600, 12))).astype(np.float32)
    labels = np.where(wrong, 1 - truth, truth)[patient]
    trees = TreeColumns(values, np.zeros(12, bool))
    alone, together = (
        average_precision(
            wrong[patient],
            committee_scores(None, labels, NO_YES, np.random.default_rng(2), vectors=values, trees=trees, groups=groups).doubt.score,
        )
        for groups in (None, patient)
    )
    assert alone < 0.4 < 0.9 < together


@pytest.mark.slow
@pytest.mark.parametrize("twice", [60, 12])
def test_of_a_row_of_a_table_that_is_there_twice_the_label_is_wrong_that_its_columns_contradict(twice: int) -> None:
    rows = small_table(600)
    again = rows.slice(0, twice)
    field = rows.schema.field(LABEL)
    other = again.set_column(rows.schema.get_field_index(LABEL), field, pa.array(1 - again[LABEL].to_numpy(), field.type))
    both = pa.concat_tables([rows, other])
    wrong = np.arange(600 + twice) >= 600
    reading = reading_of(both)
    # Few copies are not held out together: models of one have met the other.
    assert (reading.groups is None) == (twice < 30) and (reading.texts is None) == (reading.same is not None)
    heard, alone = (
        committee_scores(
            None,
            both[LABEL].to_numpy(),
            NO_YES,
            np.random.default_rng(2),
            vectors=reading.vectors,
            trees=reading.trees,
            groups=reading.groups,
            texts=reading.texts if copies else None,
            same=reading.same if copies else None,
        ).doubt.score
        for copies in (True, False)
    )
    assert 1 - average_precision(wrong, heard) < min(0.6 * (1 - average_precision(wrong, alone)), 0.1)


# --- how far it is


@pytest.mark.parametrize("kinds", [("words",), ("vectors",), ("words", "vectors", "trees")])
def test_the_folds_of_all_views_are_counted_to_the_end(kinds: tuple[str, ...]) -> None:
    features, labels = small(60, 3, 1)
    heard: list[tuple[int, int]] = []
    columns = TreeColumns(features.toarray(), np.zeros(12, bool))
    given = {"vectors": features.toarray() if "vectors" in kinds else None, "trees": columns if "trees" in kinds else None}
    read = features if "words" in kinds else None
    asked = {"folds": 4, "progress": lambda done, total: heard.append((done, total))}
    counted = committee_scores(read, labels, list("abc"), np.random.default_rng(1), **given, **asked)
    dones, totals = zip(*heard, strict=True)
    assert set(totals) == {4 * len(kinds)} and list(dones) == sorted(dones) and dones[-1] == 4 * len(kinds)
    silent = committee_scores(read, labels, list("abc"), np.random.default_rng(1), **given, folds=4)
    np.testing.assert_array_equal(counted.probabilities, silent.probabilities)


def test_of_many_classes_rows_are_counted_to_the_end() -> None:
    features, _ = small(600, 12, 1)
    heard: list[tuple[int, int]] = []
    wide = np.arange(600) % 300
    committee_scores(
        features,
        wide,
        [str(label) for label in range(300)],
        np.random.default_rng(1),
        folds=np.arange(600) // 300,
        progress=lambda done, total: heard.append((done, total)),
    )
    assert heard[-1] == (600, 600)
