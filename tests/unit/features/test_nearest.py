"""The rows most like a given one, against a brute-force comparison of words, and of pixels."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cartograph.data.images import png_of
from cartograph.features.nearest import NearestRows
from cartograph.features.text import text_features
from cartograph.schema import DatasetInfo, examples_schema
from tests.cleaning import make_examples


def test_the_nearest_rows_are_those_with_the_largest_cosine() -> None:
    rng = np.random.default_rng(3)
    texts = [" ".join(rng.choice(list("abcdefghij"), 6)) for _ in range(60)]
    nearest = NearestRows(make_examples([(f"u{n}", text, 0) for n, text in enumerate(texts)]))
    cosine = (lambda rows: rows @ rows.T)(text_features([(text,) for text in texts]).toarray())
    np.fill_diagonal(cosine, 0)
    for row in range(60):
        found = nearest.of(row, 4)
        assert row not in found
        np.testing.assert_allclose(cosine[row, found], np.sort(cosine[row])[::-1][:4], atol=1e-6)


def test_rows_that_share_nothing_are_not_near_and_one_row_has_no_other() -> None:
    assert NearestRows(make_examples([("a", "red red", 0), ("b", "blue blue", 0), ("c", "red sky", 1)])).of(0, 5) == [2]
    assert NearestRows(make_examples([("a", "red", 0)])).of(0, 5) == []
    assert NearestRows(make_examples([("a", "", 0), ("b", " ", 0)])).of(0, 5) == []


def test_images_are_compared_by_their_pixels() -> None:
    left, right = np.zeros((2, 8, 8), dtype=np.uint8)
    left[:, :4], right[:, 4:] = 200, 200
    near = left.copy()
    near[0, 7] = 30
    info = DatasetInfo("train", "train", "image", (), (), ("a", "b"), ("picture",))
    columns = {"uid": ["l", "r", "n"], "picture": [png_of(image, 99) for image in (left, right, near)], "label": [0, 1, 0]}
    columns |= {"source": ["f"] * 3, "row": [1, 2, 3]}
    schema = examples_schema(info)
    assert NearestRows(pa.table({name: columns[name] for name in schema.names}, schema=schema)).of(0, 1) == [2]
