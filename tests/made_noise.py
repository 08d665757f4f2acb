"""Probabilities and labels that go wrong as a matrix says, whatever the row."""

from __future__ import annotations

import numpy as np

ONE_WAY = np.array([[1.0, 0.0, 0.0], [0.3, 0.7, 0.0], [0.0, 0.0, 1.0]])
EVEN = np.full((3, 3), 0.1) + 0.7 * np.eye(3)


def noisy_with_truth(transition: np.ndarray, n_examples: int, sharpness: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return probabilities of the given labels, those labels, and the true ones."""
    rng = np.random.default_rng(seed)
    n_classes = len(transition)
    logits = rng.normal(0, sharpness, (n_examples, n_classes))
    true = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    truth = np.array([rng.choice(n_classes, p=row) for row in true])
    given = np.array([rng.choice(n_classes, p=transition[label]) for label in truth])
    return true @ transition, given, truth
