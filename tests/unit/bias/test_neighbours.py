"""Distances to the nearest rows, against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.bias.neighbours import TOPS, neighbour_distances


def test_distances_to_neighbours_are_those_of_brute_force() -> None:
    rng = np.random.default_rng(0)
    train, held = rng.normal(size=(70, 5)).astype(np.float32), rng.normal(size=(9, 5)).astype(np.float32)
    labels, gold = rng.integers(2, size=70), rng.integers(2, size=9)
    found = {(row["label"], row["against"], row["top"]): row["distance"] for row in neighbour_distances(train, labels, held, gold, 2)}
    for label in (0, 1):
        for against in ("same", "others"):
            other = train[(labels == label) == (against == "same")]
            for top in TOPS:
                sums = []
                for row in held[gold == label]:
                    cosine = [1 - row @ one / np.linalg.norm(row) / np.linalg.norm(one) for one in other]
                    sums.append(sum(sorted(cosine)[:top]))
                expected = None if len(other) < top else np.mean(sums)
                assert found[label, against, top] == (None if expected is None else pytest.approx(expected, abs=1e-4))
