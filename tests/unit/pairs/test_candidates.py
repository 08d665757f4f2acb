"""Candidates by Faiss against exact search, and the choice among them; the defects of the reference implementation."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from cartograph.errors import InputError
from cartograph.pairs import candidates as module
from cartograph.pairs import methods
from cartograph.pairs.candidates import Candidates, kind_for, nearest, recall
from cartograph.pairs.pair_space import PairSpace


def unit(rows: int, width: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def whole(n: int) -> PairSpace:
    return PairSpace(np.arange(n), np.arange(n), n, True)


def exact(space: PairSpace, left: np.ndarray, right: np.ndarray, m: int) -> dict[int, int]:
    """Pair -> by how many of its sides it was found."""
    found: dict[int, int] = {}
    for row, similarity in enumerate(left @ right.T):
        if space.symmetric:
            similarity[row] = -np.inf
        for other in np.argsort(-similarity)[:m].tolist():
            [key] = space.keys(space.left[[row]], space.right[[other]])
            found[int(key)] = found.get(int(key), 0) + 1
    return found


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_nearest_are_those_of_exact_search(symmetric: bool) -> None:
    left, right = unit(60, 8, 1), unit(60 if symmetric else 45, 8, 1 if symmetric else 2)
    space = whole(60) if symmetric else PairSpace(np.arange(60), np.arange(45), 45, False)
    found = nearest(space, left, right, 5)
    assert dict(zip(found.keys.tolist(), found.orders.tolist(), strict=True)) == exact(space, left, right, 5)
    rows, others = space.pairs(found.keys)
    assert np.allclose(found.similarity, (left[rows] * right[others]).sum(axis=1), atol=1e-6)


def test_mirror_pairs_are_candidates_once() -> None:
    vectors = unit(50, 6, 3)
    found = nearest(whole(50), vectors, vectors, 7)
    left, right = whole(50).pairs(found.keys)
    assert (left < right).all()
    assert len(np.unique(found.keys)) == len(found.keys) < 50 * 7
    assert int(found.orders.sum()) == 50 * 7


def test_twins_do_not_push_an_utterance_out_of_its_own_neighbours() -> None:
    vectors = np.repeat(unit(4, 5, 4), 6, axis=0)
    found = nearest(whole(24), vectors, vectors, 5)
    assert int(found.orders.sum()) == 24 * 5
    assert (found.similarity > 0.999).all()


class Short:
    """A Faiss index that finds less than it was asked for, and says so by -1."""

    def search(self, queries: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
        ids = np.full((len(queries), m), -1)
        ids[:, 0] = 1
        return np.where(ids < 0, -3.4e38, 0.5).astype(np.float32), ids


def test_places_that_faiss_left_empty_are_no_pair_with_the_last_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_index", lambda *_: Short())
    found = nearest(PairSpace(np.arange(3), np.arange(9), 9, False), unit(3, 4, 0), unit(9, 4, 1), 4)
    assert found.keys.tolist() == [1, 10, 19]
    symmetric = nearest(whole(3), unit(3, 4, 0), unit(3, 4, 0), 2)
    assert symmetric.keys.tolist() == [1, 5]


@pytest.mark.parametrize("kind", ["ivf", "hnsw"])
def test_inexact_indices_find_nearly_all_and_say_how_many(kind: str) -> None:
    vectors = unit(3000, 16, 5)
    space = whole(3000)
    share = recall(space, vectors, vectors, 10, kind=kind, sample=100, rng=np.random.default_rng(0))  # type: ignore[arg-type]
    assert 0.8 < share <= 1.0
    assert recall(space, vectors, vectors, 10, kind="flat", sample=100, rng=np.random.default_rng(0)) == 1.0
    one, other = (nearest(space, vectors, vectors, 10, kind=kind) for _ in range(2))  # type: ignore[arg-type]
    assert np.array_equal(one.keys, other.keys)


def test_an_utterance_that_finds_itself_has_found_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, exact = unit(50, 4, 3), module._index
    monkeypatch.setattr(module, "_index", lambda vectors, kind, m: exact(vectors, kind, m) if kind == "flat" else Itself())
    assert recall(whole(50), vectors, vectors, 1, kind="hnsw", sample=50, rng=np.random.default_rng(0)) == 0


class Itself:
    """A Faiss index that finds every utterance itself, and nothing else; all of 50 are asked about."""

    def search(self, queries: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
        ids = np.full((len(queries), m), -1)
        ids[:, 0] = np.arange(50)
        return np.ones(ids.shape, np.float32), ids


def test_the_index_follows_from_the_size() -> None:
    assert [kind_for(n) for n in (1_000, 100_000, 5_000_000)] == ["flat", "ivf", "hnsw"]


def test_more_neighbours_than_utterances_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"^`encode.neighbours` is 50, but an utterance can be paired with 9 others; set it to 9 or less\.$"
    ):
        nearest(whole(10), unit(10, 3, 0), unit(10, 3, 0), 50)


def some() -> Candidates:
    return Candidates(np.arange(10, 20), np.array([0.9, 0.1, 0.5, 0.5, 0.8, 0.2, 0.7, 0.5, 0.3, 0.6], np.float32), np.ones(10, np.int8))


def test_methods_choose_by_their_own_measure_and_never_the_same_pair_twice() -> None:
    asked = np.array([10, 16])
    assert methods.most_similar(some(), 3, asked).tolist() == [14, 19, 12]
    probability = np.linspace(0, 1, 10)
    assert methods.least_certain(some(), probability, 4, asked).tolist() == [14, 15, 13, 17]


def test_ties_are_broken_by_key() -> None:
    assert methods.most_similar(some(), 6, np.empty(0, np.int64)).tolist() == [10, 14, 16, 19, 12, 13]


def test_a_round_that_wants_more_than_is_left_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"^a round wants 9 pairs, but only 8 of the 10 candidates were not asked yet; raise `encode.neighbours`"
    ):
        methods.most_similar(some(), 9, np.array([10, 16]))


def test_round_sizes_are_the_papers() -> None:
    assert sum(methods.round_sizes(2048, 1.5, 10)) == 232_100
    assert sum(methods.round_sizes(2048, 1.5, 4)) == 16_640


def test_stratified_takes_positives_first_and_fills_up_with_negatives() -> None:
    space = whole(30)
    positives = space.keys(np.arange(10), np.arange(10) + 15)
    asked = np.sort(positives[:3])
    batch = methods.stratified_pairs(space, np.sort(positives), 5, 12, asked, np.random.default_rng(0))
    assert len(set(batch.tolist())) == 12
    assert np.isin(batch, positives).sum() == 5
    assert not np.isin(batch, asked).any()
    assert np.isin(methods.stratified_pairs(space, np.sort(positives), 99, 12, asked, np.random.default_rng(0)), positives).sum() == 7


@pytest.mark.slow
def test_nothing_depends_on_the_hash_seed() -> None:
    code = (
        "from cartograph.planted.paraphrases import generate\n"
        "import numpy as np, pyarrow as pa\n"
        "from cartograph.pairs.stated_pairs import PairColumns, StatedFile, build_task\n"
        "from cartograph.read.source import Batch\n"
        "made = generate(300, 1)\n"
        "stated = made.stated\n"
        "file = StatedFile('x', Batch(stated, pa.array(range(stated.num_rows))), None)\n"
        "how = dict(symmetric=True, transitive=True, contradictions='fail', rng=np.random.default_rng(1))\n"
        "task = build_task([file], PairColumns('left', 'right'), **how).task\n"
        "print(task.left[:50], task.split.tolist(), task.positives('train').tolist(), task.stated_left.tolist(), made.questions)\n"
    )
    found = set()
    for seed in ("0", "1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1
