"""Plain pixels as features, for cheap models of images: every image at one small size, a number per pixel and channel."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from scipy import sparse

from cartograph.data.arrays import Floats32
from cartograph.data.images import pixels_of, sizes_of
from cartograph.schema import dataset_info

Shape = tuple[int, int, int]

SIDE = 32
"""Most pixels of the longer side."""
SQUARED_NORM = 10.0
"""Mean squared length of a row, which suits the usual penalty of a logistic regression."""

_ALIKE = 1e-5


def pixel_shape(table: pa.Table) -> Shape:
    """Return width, height and channels at which a set's images are read: its medians, the longer side at most ``SIDE``.

    Args:
        table: a set of images (``schema.examples_schema``).
    """
    sizes = sizes_of(table[dataset_info(table.schema).images[0]])
    width, height = np.median(sizes[:, :2], axis=0)
    scale = min(1.0, SIDE / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale)), int(sizes[:, 2].max())


def pixel_rows(table: pa.Table, shape: Shape) -> Floats32:
    """Return the pixels of each image in [0, 1], ``(n_examples, width · height · channels)``."""
    pixels = pixels_of(table[dataset_info(table.schema).images[0]], *shape)
    return pixels.reshape(len(pixels), -1).astype(np.float32) / np.float32(255)


def sparse_pixels(*tables: pa.Table) -> sparse.csr_array:
    """Return the pixels of all images of some sets, one set under the other, as one matrix of features ≥ 0.

    It is scaled to a mean squared length of ``SQUARED_NORM`` over the first set, which also decides the size.
    """
    shape = pixel_shape(tables[0])
    rows = [pixel_rows(table, shape) for table in tables]
    squared = float(np.mean((rows[0] ** 2).sum(axis=1))) if len(rows[0]) else 1.0
    return sparse.csr_array(np.concatenate(rows) * np.float32(np.sqrt(SQUARED_NORM / max(squared, 1e-12))))


def svd_features(tables: Mapping[str, pa.Table], dimensions: int, seed: int) -> dict[str, Floats32]:
    """Return the pixels of each image of some sets in few dimensions: less the mean of ``train``, by a truncated SVD of it, scaled to a
    mean squared length of ``SQUARED_NORM`` there.

    Args:
        tables: sets of images by name, ``train`` among them.
        dimensions: most dimensions; fewer where there are fewer pixels or rows.
        seed: of the SVD.
    """
    from sklearn.decomposition import TruncatedSVD

    shape = pixel_shape(tables["train"])
    rows = {name: pixel_rows(table, shape) for name, table in tables.items()}
    centre = rows["train"].mean(axis=0)
    width = min(dimensions, rows["train"].shape[1] - 1, len(rows["train"]) - 1)
    if width < 1 or np.abs(rows["train"] - centre).max() < _ALIKE:  # one row, one pixel, or one image: there is nothing to decompose
        return {name: np.zeros((len(values), 1), np.float32) for name, values in rows.items()}
    svd = TruncatedSVD(width, random_state=seed).fit(rows["train"] - centre)
    projected = {name: svd.transform(values - centre) for name, values in rows.items()}
    scale = np.sqrt(SQUARED_NORM / max(float(np.mean((projected["train"] ** 2).sum(axis=1))), 1e-12))
    return {name: (values * scale).astype(np.float32) for name, values in projected.items()}
