"""Distances to the nearest rows, against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.bias.neighbours import TOPS, neighbour_distances


def test_of_many_held_out_rows_a_random_part_is_looked_up() -> None:
    rng = np.random.default_rng(0)
    train, held = rng.normal(size=(60, 5)).astype(np.float32), rng.normal(size=(400, 5)).astype(np.float32)
    labels, gold = rng.integers(2, size=60), rng.integers(2, size=400)
    every = neighbour_distances(train, labels, held, gold, 2)
    part, again = (neighbour_distances(train, labels, held, gold, 2, most=100, seed=4) for _ in range(2))
    assert part == again and sum(row["rows"] for row in part if (row["against"], row["top"]) == ("same", 1)) == 100
    near = [(one["distance"], other["distance"]) for one, other in zip(every, part, strict=True) if one["distance"] is not None]
    assert all(one != other and other == pytest.approx(one, rel=0.15) for one, other in near)
    assert neighbour_distances(train, labels, held, gold, 2, most=400) == every


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


def test_two_searches_a_class_are_counted() -> None:
    rng, heard = np.random.default_rng(0), []
    rows, labels = rng.normal(size=(60, 5)).astype(np.float32), np.arange(60) % 3
    neighbour_distances(rows, labels, rows, labels, 3, progress=lambda done, total: heard.append((done, total)))
    assert heard == [(number, 6) for number in range(1, 7)]
