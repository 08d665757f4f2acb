from __future__ import annotations

import numpy as np

from cartograph.pairs.matcher.terms import characters, codes, numbers, term_vectors, words


def test_terms_of_a_text() -> None:
    assert words("Sony KDL-40, Black") == ["sony", "kdl", "40", "black"]
    assert numbers("7.1 MP, 1,299") == ["7.1", "1,299"]
    assert codes("KDL-40V5500 (40in) 2nd abc 123") == ["kdl40v5500", "40in"]
    assert characters("A  bc") == ["a b", " bc", "a bc"]


def test_cosine_is_one_of_the_same_terms_and_nought_of_none() -> None:
    vectors = term_vectors(["red car", "blue", ""], ["car red", "green", "x"], words)
    cosine = vectors.cosine(np.array([0, 1, 2]), np.array([0, 1, 2]))
    assert np.allclose(cosine, [1, 0, 0])


def test_texts_without_any_term_have_empty_vectors() -> None:
    vectors = term_vectors(["!", ""], ["?"], words)
    assert vectors.cosine(np.array([0, 1]), np.array([0, 0])).tolist() == [0.0, 0.0]
