"""The rows of a set that are most like a given one: by their words, their pixels, or their columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from scipy import sparse

from cartograph.data.arrays import Floats32
from cartograph.errors import InputError
from cartograph.features.pixels import pixel_rows, pixel_shape
from cartograph.features.tables import TableEncoder
from cartograph.features.text import text_features
from cartograph.schema import dataset_info


class NearestRows:
    """The rows of one set, ready to be compared.

    Example:
        >>> from cartograph.schema import DatasetInfo, examples_schema
        >>> info = DatasetInfo("train", "train", "single", ("text",), (), ("no", "yes"))
        >>> columns = [["a", "b", "c"], ["a fine film", "rain again", "one fine film"], [1, 0, 1], ["f"] * 3, [1, 2, 3]]
        >>> NearestRows(pa.table(columns, schema=examples_schema(info))).of(0, 2)
        [2]
    """

    def __init__(self, examples: pa.Table) -> None:
        """Read the rows; takes time and memory in proportion to their words, pixels or columns.

        Args:
            examples: the set (``schema.examples_schema``).
        """
        info = dataset_info(examples.schema)
        self._vectors: sparse.csr_array | Floats32 | None
        if info.images or info.features:
            pixels = pixel_rows(examples, pixel_shape(examples)) if info.images else TableEncoder.fit(examples).dense(examples)
            pixels -= pixels.mean(axis=0)
            self._vectors = pixels / np.maximum(np.linalg.norm(pixels, axis=1, keepdims=True), 1e-9)
            return
        try:
            self._vectors = text_features(list(zip(*(examples[name].to_pylist() for name in info.fields), strict=True)))
        except InputError:
            # No row, or not a word in any: none is like another.
            self._vectors = None

    def of(self, row: int, most: int) -> list[int]:
        """Return the rows most like one, most alike first, at most ``most``; those that share nothing with it are left out."""
        if self._vectors is None:
            return []
        if isinstance(self._vectors, sparse.csr_array):
            alike = self._vectors @ self._vectors[[row]].toarray().ravel()
        else:
            alike = self._vectors @ self._vectors[row]
        alike[row] = 0
        chosen = np.argpartition(-alike, min(most, len(alike) - 1))[:most]
        order = chosen[np.lexsort((chosen, -alike[chosen]))]
        return [int(place) for place in order if alike[place] > 1e-6]
