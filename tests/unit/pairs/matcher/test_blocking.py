from __future__ import annotations

import numpy as np
import pytest

from cartograph.pairs.matcher import blocking
from cartograph.pairs.matcher.blocked import block
from cartograph.pairs.matcher.blocking import nearest_terms, nearest_vectors
from cartograph.pairs.matcher.features import Features
from cartograph.pairs.matcher.records import Records
from cartograph.pairs.matcher.terms import term_vectors, words
from cartograph.pairs.pair_space import PairSpace

WORDS = ("red", "blue", "car", "tv", "sony", "lg", "big", "small")


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("cells", [10, 10_000])
def test_blocking_is_exact(symmetric: bool, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "_CELLS", cells)
    rng = np.random.default_rng(0)
    left = [" ".join(rng.choice(WORDS, 3)) for _ in range(14)]
    right = left if symmetric else [" ".join(rng.choice(WORDS, 3)) for _ in range(11)]
    vectors = term_vectors(left, right, words)
    rows = np.array([1, 3, 4, 8, 9, 13])
    space = PairSpace(rows, rows if symmetric else np.arange(11), len(right), symmetric)
    wanted = set()
    for row in rows.tolist():
        others = [other for other in space.right.tolist() if not (symmetric and other == row)]
        cosine = {other: float(vectors.cosine(np.array([row]), np.array([other]))[0]) for other in others}
        ranked = sorted((other for other in others if cosine[other] > 1e-9), key=lambda other: (-cosine[other], other))[:3]
        wanted |= {min(row, other) * len(right) + max(row, other) if symmetric else row * len(right) + other for other in ranked}
    found = set(nearest_terms(space, vectors, 3).tolist())
    similarity = {key: float(vectors.cosine(np.array([key // len(right)]), np.array([key % len(right)]))[0]) for key in found ^ wanted}
    # Float noise may order equal cosines otherwise; nothing else may differ.
    assert len(found) == pytest.approx(len(wanted), abs=len(similarity))
    assert all(any(abs(similarity[key] - similarity[other]) < 1e-6 for other in similarity if other != key) for key in similarity)


def test_an_encoder_proposes_its_nearest() -> None:
    left = np.eye(3, dtype=np.float32)
    space = PairSpace(np.arange(3), np.arange(3), 3, False)
    assert nearest_vectors(space, left, left[::-1].copy(), 1).tolist() == [2, 4, 6]
    assert len(nearest_vectors(space, left, left, 99)) == 9


def test_how_far_a_search_is_rises_to_the_whole_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "_CELLS", 40)
    rng = np.random.default_rng(0)
    left, right = ([" ".join(rng.choice(WORDS, 3)) for _ in range(number)] for number in (14, 10))
    said: list[tuple[int, int]] = []
    block(PairSpace(np.arange(14), np.arange(10), 10, False), 14, Features(Records(left, right)), 3, lambda *far: said.append(far))
    assert {whole for _, whole in said} == {42}
    assert [done for done, _ in said] == [4, 8, 12, 14, 18, 22, 26, 28, 42]
