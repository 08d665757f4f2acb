"""Features of texts: weights of words and of pairs of words, by field."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from cartograph.features.text import TextRows, character_features, text_features
from cartograph.schema import DatasetInfo
from tests.training_sets import table


def test_features_are_weights_of_words_and_pairs_of_words() -> None:
    features = text_features(["Good film!", "good film", "a good plot", "unique"])
    # good, film, and "good film"; the rest is in one row only.
    assert features.shape == (4, 3) and features.dtype == np.float32
    np.testing.assert_allclose(np.sqrt(features.power(2).sum(axis=1)), [1, 1, 1, 0], atol=1e-6)
    np.testing.assert_array_equal(features[[0]].toarray(), features[[1]].toarray())
    assert features.data.min() > 0


def test_a_word_in_another_field_is_another_feature() -> None:
    same = text_features([("dog", "cat"), ("dog", "cat"), ("cat", "dog"), ("cat", "dog")]).toarray()
    assert same[0] @ same[1] == pytest.approx(1.0)
    assert same[0] @ same[2] == 0.0


def test_the_most_frequent_features_are_kept() -> None:
    texts = ["x y", "x z", "x y"]
    assert text_features(texts, max_features=1).toarray().tolist() == [[1.0], [1.0], [1.0]]
    # Where no feature is in two rows, those of one row are all there is.
    assert text_features(["p", "q"]).shape == (2, 2)


def test_of_texts_that_share_hardly_a_word_characters_are_features_too() -> None:
    names = [
        f"{begin}{middle}{end}"
        for begin in ("Kow", "Now", "Lin", "Ber")
        for middle in ("al", "ak", "dg", "gs")
        for end in ("ska", "ren", "tz", "o")
    ]
    found = text_features(names)
    assert (np.diff(found.indptr) > 5).all()
    like = (found @ found.T).toarray()
    ska = np.array([name.endswith("ska") for name in names])
    assert like[np.ix_(ska, ska)].mean() > 1.5 * like[np.ix_(ska, ~ska)].mean()
    # Marks that combine with the letter before them, and scripts without blanks, are characters like others.
    hindi = [f"\u0928\u093f\u0915\u094b{chr(0x0905 + row % 40)}{chr(0x0905 + row // 40)}" for row in range(60)]
    assert (np.diff(text_features(hindi).indptr) > 3).all()


def test_characters_of_single_texts_are_features_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"{['painted', 'paints', 'painter'][row % 3]} the {['wall', 'door'][row % 2]} no {row % 4}" for row in range(60)]
    found = character_features(texts)
    assert found is not None and found.shape[0] == 60
    like = (found @ found.T).toarray()
    words = (wordy := text_features(texts)) @ wordy.T
    # `painted` and `paints`, both of doors, are more alike by their characters than by their words.
    assert like[1, 3] > words.toarray()[1, 3] + 0.2
    shouted = character_features([text.upper() for text in texts])
    assert shouted is not None and (shouted != found).nnz == 0
    assert character_features([(text, text) for text in texts]) is None
    assert character_features([f"Kowal{row}" for row in range(60)]) is None
    assert character_features([" ", "\t", ""]) is None and character_features([]) is None
    monkeypatch.setattr("cartograph.features.text.MOST_CHARACTERS", sum(map(len, texts)) - 1)
    assert character_features(texts) is None


def test_of_single_words_it_matters_how_they_are_written() -> None:
    rng = np.random.default_rng(3)
    stems = ["".join(rng.choice(list("abcdefghijklmnop"), 5)) for _ in range(200)]
    written = [stem.upper() if row % 2 else f"{stem[:2].title()}{stem[2:].title()}" for row, stem in enumerate(stems)]
    like = (found := text_features(written)) @ found.T
    upper = np.arange(200) % 2 == 1
    assert like.toarray()[np.ix_(upper, upper)].mean() > 2 * like.toarray()[np.ix_(upper, ~upper)].mean()
    small = text_features(stems) @ text_features(stems).T
    assert abs(small.toarray()[np.ix_(upper, upper)].mean() / small.toarray()[np.ix_(upper, ~upper)].mean() - 1) < 0.5


@pytest.mark.slow
def test_features_are_the_same_in_every_process() -> None:
    code = (
        "from cartograph.features.text import text_features as f; x = f([('a b c', 'c b a z'), ('a c', 'b z')] * 2);"
        "print(x.indices.tolist(), x.data.tolist())"
    )
    runs = {
        subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1 and next(iter(runs)).startswith("[")


def test_rows_of_several_sets_are_read_one_under_the_other_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cartograph.features.text._BLOCK", 2)
    info = DatasetInfo("train", "train", "choice", ("text",), ("one", "two"), ("one", "two"))
    columns = {"text": ["a _", "b _", "c _"], "one": ["x", "y", "z"], "two": ["p", "q", "r"]}
    rows = TextRows(table(info, columns, [0, 1, 0]), table(info, {name: texts[:1] for name, texts in columns.items()}, [1]))
    flat = [("a _", "x"), ("a _", "p"), ("b _", "y"), ("b _", "q"), ("c _", "z"), ("c _", "r"), ("a _", "x"), ("a _", "p")]
    assert list(rows) == flat and len(rows) == 8
    assert (rows[0], rows[-1], rows[1:6:2]) == (flat[0], flat[-1], flat[1:6:2])
    with pytest.raises(IndexError):
        rows[8]
    assert (text_features(rows) != text_features(flat)).nnz == 0
