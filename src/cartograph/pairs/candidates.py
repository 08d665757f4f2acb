"""Candidate pairs: the nearest right utterances of each left one, by Faiss (Johnson et al. 2017).

Memory is linear in utterances × neighbours. Faiss is imported when it is first used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from cartograph.data.arrays import Floats32, Integers, Integers8
from cartograph.errors import InputError
from cartograph.pairs.pair_space import Keys, PairSpace, is_among

Kind = Literal["auto", "flat", "ivf", "hnsw"]

FLAT_UP_TO, IVF_UP_TO = 65_536, 2_000_000
_BLOCK = 8_192
_SEED = 1234


@dataclass(frozen=True)
class Candidates:
    """Pairs that are near each other, each once.

    Attributes:
        keys: (n,) ascending.
        similarity: (n,) cosine; higher = nearer.
        orders: (n,) how often a search found the pair: 2 where each of the two is among the other's nearest, else 1.
    """

    keys: Keys
    similarity: Floats32
    orders: Integers8

    def __len__(self) -> int:
        return len(self.keys)


def kind_for(n_right: int) -> str:
    """Return the index for so many right utterances: exact, then inverted lists, then a graph."""
    return "flat" if n_right <= FLAT_UP_TO else "ivf" if n_right <= IVF_UP_TO else "hnsw"


def nearest(space: PairSpace, left: Floats32, right: Floats32, m: int, *, kind: Kind = "auto") -> Candidates:
    """Return the pairs of each left utterance with its ``m`` nearest right ones; where symmetric, never with itself.

    Pairs that belong to another split are left out afterwards.

    Args:
        space: whose pairs.
        left: (n_left, width) unit vectors, in the order of ``space.left``.
        right: (n_right, width) unit vectors, in the order of ``space.right``.
        m: neighbours per left utterance, 1 to their number.
        kind: of index; ``auto`` by size.

    Raises:
        InputError: ``m`` is more than there are neighbours.
    """
    most = len(space.right) - space.symmetric
    if not 1 <= m <= most:
        raise InputError(f"`encode.neighbours` is {m:,}, but an utterance can be paired with {most:,} others; set it to {most:,} or less.")
    index = _index(right, kind_for(len(right)) if kind == "auto" else kind, m)
    parts = [_found(space, index, left, start, m) for start in range(0, len(left), _BLOCK)]
    keys, similarity = (np.concatenate([part[place] for part in parts]) for place in (0, 1))
    del parts
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    orders = np.diff(first, append=len(keys)).astype(np.int8)
    kept = ~is_among(keys[first], space.excluded)
    return Candidates(keys[first][kept], similarity[order[first]][kept], orders[kept])


def recall(space: PairSpace, left: Floats32, right: Floats32, m: int, *, kind: Kind, sample: int, rng: np.random.Generator) -> float:
    """Return the share of the exact ``m`` nearest that the index finds, over a sample of left utterances; 1 = all."""
    rows = np.sort(rng.choice(len(left), min(sample, len(left)), replace=False))
    wanted = m + space.symmetric
    exact, _ = _search(_index(right, "flat", wanted), left[rows], wanted)
    approximate, _ = _search(_index(right, kind_for(len(right)) if kind == "auto" else kind, wanted), left[rows], wanted)
    if space.symmetric:
        # An utterance is its own nearest neighbour.
        exact, approximate = (np.where(ids == rows[:, None], -1, ids) for ids in (exact, approximate))
    hits = sum(len(np.intersect1d(one[one >= 0], other[other >= 0])) for one, other in zip(exact, approximate, strict=True))
    return hits / int((exact >= 0).sum())


def _found(space: PairSpace, index: Any, left: Floats32, start: int, m: int) -> tuple[Keys, Floats32]:
    block = left[start : start + _BLOCK]
    ids, similarity = _search(index, block, m + space.symmetric)
    owners = np.repeat(np.arange(start, start + len(block)), ids.shape[1])
    ids, similarity = ids.reshape(-1), similarity.reshape(-1)
    # Faiss fills up with -1 where an index returns fewer than asked for; as an index that would be the last row.
    kept = ids >= 0
    if space.symmetric:
        kept &= ids != owners
        place = np.cumsum(kept.reshape(len(block), -1), axis=1).reshape(-1)
        kept &= place <= m
    return space.keys(space.left[owners[kept]], space.right[ids[kept]]), similarity[kept]


def _search(index: Any, queries: Floats32, m: int) -> tuple[Integers, Floats32]:
    similarity, ids = index.search(np.ascontiguousarray(queries, np.float32), m)
    return ids, similarity


def _index(vectors: Floats32, kind: str, m: int) -> Any:
    import faiss

    vectors = np.ascontiguousarray(vectors, np.float32)
    n, width = vectors.shape
    if kind == "flat":
        index: Any = faiss.IndexFlatIP(width)
    elif kind == "ivf":
        lists = max(int(2 * n**0.5), 1)
        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, lists, faiss.METRIC_INNER_PRODUCT)
        index.cp.seed = _SEED
        index.cp.niter = 8
        index.cp.max_points_per_centroid = 64
        index.nprobe = min(lists, max(32, lists // 16, 8 * m * lists // n))
        index.train(vectors)
    else:
        index = faiss.IndexHNSWFlat(width, 32, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = 80
        index.hnsw.efSearch = max(128, 2 * m)
        threads = faiss.omp_get_max_threads()
        # Several threads build a different graph every time.
        faiss.omp_set_num_threads(1)
        index.add(vectors)
        faiss.omp_set_num_threads(threads)
        return index
    index.add(vectors)
    return index
