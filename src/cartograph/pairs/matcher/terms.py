"""Texts as sparse vectors of weighted terms: words, characters, numbers, and codes such as model numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cartograph.data.arrays import Floats32, Integers
from cartograph.data.words import WORD

_WORD = re.compile(WORD)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CODE = re.compile(r"[^\s,;:()\[\]/|\"']+")
_BLOCK = 65_536


@dataclass(frozen=True)
class TermVectors:
    """Both sides as sparse vectors over the same terms, weighted by rarity.

    Attributes:
        left: (n_left, n_terms) sparse, rows of length 1 or 0.
        right: (n_right, n_terms) likewise; ``left`` itself where both sides are one set.
    """

    left: Any
    right: Any

    def cosine(self, left: Integers, right: Integers) -> Floats32:
        """Return the cosine of each pair of rows, in [0, 1]; 0 where either has no term."""
        cosine = np.empty(len(left), np.float32)
        for start in range(0, len(left), _BLOCK):
            part = slice(start, start + _BLOCK)
            cosine[part] = np.asarray(self.left[left[part]].multiply(self.right[right[part]]).sum(axis=1), np.float32).reshape(-1)
        return cosine


def words(text: str) -> list[str]:
    """Return the words of a text, lower-cased.

    >>> words("Canon SD-1000, 7.1 MP")
    ['canon', 'sd', '1000', '7', '1', 'mp']
    """
    return _WORD.findall(text.lower())


def numbers(text: str) -> list[str]:
    """Return the numbers of a text.

    >>> numbers("Canon SD1000, 7.1 MP")
    ['1000', '7.1']
    """
    return _NUMBER.findall(text)


def codes(text: str) -> list[str]:
    """Return words that mix letters and digits, such as model numbers, without their punctuation.

    >>> codes("Canon PowerShot SD-1000 (7.1 MP) 2nd")
    ['sd1000']
    """
    found = ("".join(filter(str.isalnum, word.lower())) for word in _CODE.findall(text))
    return [word for word in found if len(word) > 3 and any(map(str.isdigit, word)) and any(map(str.isalpha, word))]


def characters(text: str) -> list[str]:
    """Return the runs of 3 and of 4 characters of a text, lower-cased, blanks included.

    >>> characters("abcd")
    ['abc', 'bcd', 'abcd']
    """
    lowered = " ".join(text.lower().split())
    return [lowered[start : start + length] for length in (3, 4) for start in range(len(lowered) - length + 1)]


def term_vectors(left: Sequence[str], right: Sequence[str], terms: Callable[[str], list[str]]) -> TermVectors:
    """Return TF-IDF vectors of both sides; rarity is that among all texts of both, labels unseen.

    Args:
        left: texts.
        right: texts; ``left`` itself where both sides are one set.
        terms: of a text.
    """
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = list(left) if right is left else [*left, *right]
    if not any(terms(text) for text in texts):
        empty = csr_matrix((len(texts), 1), dtype=np.float32)
        return TermVectors(empty[: len(left)], empty[: len(left)] if right is left else empty[len(left) :])
    vectors = TfidfVectorizer(analyzer=terms, dtype=np.float32).fit_transform(texts).tocsr()
    first = vectors[: len(left)]
    return TermVectors(first, first if right is left else vectors[len(left) :])
