"""Made vectors with labels, as an encoder's are."""

from __future__ import annotations

import numpy as np


def correlated(rows: int, width: int, classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Like an encoder's vectors: few strong directions, many weak ones, a mean far from zero."""
    rng = np.random.default_rng(seed)
    scale = np.exp(-np.arange(width) / (width / 4))
    labels = rng.integers(classes, size=rows)
    means = 0.4 * rng.normal(size=(classes, width)) * scale
    turned = np.linalg.qr(rng.normal(size=(width, width)))[0]
    features = (rng.normal(size=(rows, width)) * scale + means[labels]) @ turned + 0.5 * rng.normal(size=width)
    return features.astype(np.float32), labels.astype(np.int64)
