"""A small set with label errors and what is known of it before and after flips, for the tests of suspects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cartograph.maps.measures import compute_measures
from cartograph.suspects.committee import Committee
from cartograph.suspects.flips import Flips, choose_flips
from cartograph.suspects.label_doubt import label_doubt
from cartograph.suspects.listing import Evidence, mean_probabilities

NAMES = ("contradiction", "entailment", "neutral")


def committee_of(probabilities: np.ndarray, labels: np.ndarray) -> Committee:
    return Committee(probabilities, label_doubt(probabilities, labels), np.zeros(len(labels), dtype=np.intp))


def planted_set(n_examples: int = 600, errors: int = 30, seed: int = 1) -> tuple[Evidence, Evidence, Flips, np.ndarray]:
    """A set with real errors, before and after flips: the model learns some errors by heart, the committee sees through them."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n_examples)
    labels = truth.copy()
    wrong = rng.choice(n_examples, errors, replace=False)
    labels[wrong] = (labels[wrong] + 1) % 3
    hardness = rng.normal(0, 1.2, n_examples)

    def side(given: np.ndarray, noise: int) -> Evidence:
        own = np.random.default_rng([seed, noise])
        logits = own.normal(0, 0.5, (n_examples, 6, 3)).astype(np.float32)
        rows = np.arange(n_examples)
        logits[rows, :, truth] += (3.0 + hardness + own.normal(0, 0.3, n_examples))[:, None]
        logits[rows, :, given] += own.gamma(2.0, 0.6, n_examples)[:, None]
        scores = own.normal(0, 0.5, (n_examples, 3))
        scores[rows, truth] += 3.0 + hardness
        chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        measures = compute_measures([str(row) for row in rows], logits, given)
        return Evidence(given, NAMES, measures, mean_probabilities(logits), 6, committee_of(chances, given))

    original = side(labels, 0)
    easy = original.measures.confidence >= np.quantile(original.measures.confidence, 0.6)
    flips = choose_flips(easy, labels, 3, 0.05, rng)
    return original, side(flips.labels, 1), flips, truth != labels


def without_committee(evidence: Evidence) -> Evidence:
    return replace(evidence, committee=None)
