"""Texts among the columns of a table of features: as rows of texts, and as a few numbers each that a model of numbers can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from cartograph.data.arrays import Floats
from cartograph.data.shared_words import reads_characters
from cartograph.data.words import WORD_OR_SIGN
from cartograph.features.text import Row
from cartograph.schema import dataset_info, values_of

NUMBERS, WORDS = 32, 2_000
"""Most numbers that a text is read as, and most words, the most frequent, that they are made of."""

_SIZES = (2, 4)


@dataclass(frozen=True)
class ColumnTexts:
    """How the texts of one column are read as numbers, as fitted on a train set: TF-IDF of its words, and what sets them apart most.

    Attributes:
        name: of the column.
        words: that are counted, ``n_words``; of texts that hardly share words (``shared_words``) runs of characters.
        rarity: inverse document frequency of each.
        directions: of the singular value decomposition, ``(n_numbers, n_words)``, scaled so that the numbers of a text have a mean squared
            length of 1.
        characters: whether runs of characters are counted.
    """

    name: str
    words: tuple[str, ...]
    rarity: tuple[float, ...]
    directions: tuple[tuple[float, ...], ...]
    characters: bool

    @classmethod
    def fit(cls, table: pa.Table, name: str) -> Self:
        """Return how a column of a train set (``schema.examples_schema``) is read; as no number where there is no word."""
        from sklearn.decomposition import TruncatedSVD

        texts = column_texts(table, name)
        characters = reads_characters(texts)
        reader = _reader(characters)
        try:
            found = reader.fit_transform(texts)
        except ValueError:  # Not a word in any.
            return cls(name, (), (), (), characters)
        number = min(NUMBERS, found.shape[1] - 1, found.shape[0] - 1)
        if number < 1:
            return cls(name, (), (), (), characters)
        svd = TruncatedSVD(number, random_state=0).fit(found)
        length = float(np.mean((svd.transform(found) ** 2).sum(axis=1))) or 1.0
        directions = (svd.components_ / np.sqrt(length)).astype(np.float32)
        words, rarity = reader.get_feature_names_out().tolist(), reader.idf_.astype(np.float32)
        return cls(name, tuple(words), tuple(rarity.tolist()), tuple(map(tuple, directions.tolist())), characters)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Return what ``dataclasses.asdict`` made JSON values of."""
        rows = tuple(tuple(row) for row in content["directions"])
        return cls(content["name"], tuple(content["words"]), tuple(content["rarity"]), rows, content["characters"])

    def numbers(self, table: pa.Table) -> Floats:
        """Return the numbers of each row's text, ``(n_rows, n_numbers)``; 0 where it is missing."""
        if not self.directions:
            return np.zeros((len(table), 0))
        reader = _reader(self.characters, self.words)
        reader.idf_ = np.array(self.rarity)
        read: sparse.csr_array = reader.transform(column_texts(table, self.name))
        numbers: Floats = np.asarray(read @ np.array(self.directions).T, np.float64)
        return numbers


def _reader(characters: bool, words: Sequence[str] | None = None) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    how: dict[str, Any] = {"analyzer": "char_wb", "ngram_range": _SIZES} if characters else {"token_pattern": WORD_OR_SIGN}
    return TfidfVectorizer(max_features=WORDS, vocabulary=words, sublinear_tf=True, **how)


def column_texts(table: pa.Table, name: str) -> list[str]:
    """Return the texts of a column of features, empty where missing."""
    texts: list[str] = pc.fill_null(values_of(table, name), "").to_pylist()
    return texts


def texts_of_columns(*tables: pa.Table) -> list[Row]:
    """Return the texts among the columns of tables of features, one table under the other: a string a row, or as many as there are columns.

    None (an empty list) where no column holds texts, or not a letter is in any.

    Args:
        tables: of the same features (``schema.examples_schema``).
    """
    names = [feature.name for feature in dataset_info(tables[0].schema).features if feature.kind == "text"]
    columns = [[text for table in tables for text in column_texts(table, name)] for name in names]
    if not any(map(any, columns)):
        return []
    return list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True))
