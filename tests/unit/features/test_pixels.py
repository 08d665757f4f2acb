from __future__ import annotations

import numpy as np
import pytest

from cartograph.data.images import png_of
from cartograph.features.pixels import pixel_shape, sparse_pixels, svd_features
from tests.training_sets import info_of, small_images, table


def test_svd_of_pixels_keeps_the_difference_between_images() -> None:
    tables = {"train": small_images(80), "held": small_images(30, seed=4)}
    found = svd_features(tables, 4, 13)
    assert found["train"].shape == (80, 4) and found["held"].shape == (30, 4)
    assert float(np.mean((found["train"] ** 2).sum(axis=1))) == pytest.approx(10, rel=1e-4)
    label = tables["held"]["label"].to_numpy()
    first = found["held"][:, 0]
    assert max(np.mean((first > 0) == label), np.mean((first <= 0) == label)) > 0.95
    alike = table(info_of("image"), {"image": [png_of(np.full((1, 1), 3, np.uint8), 9)]}, [0])
    assert svd_features({"train": alike}, 4, 13)["train"].tolist() == [[0.0]]


def test_large_images_are_read_small() -> None:
    rows = small_images(4, shape=(60, 120, 3))
    assert pixel_shape(rows) == (32, 16, 3)
    assert sparse_pixels(rows).shape == (4, 32 * 16 * 3)
