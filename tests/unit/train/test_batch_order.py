from __future__ import annotations

from functools import partial

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from cartograph.models.base import IGNORED
from cartograph.models.encoded import Examples, Ragged
from cartograph.train.batch_order import STEP_LABELS, EpochLoader, epoch_batches, oversampled_batches, ranked_batches


@given(st.integers(1, 200), st.integers(1, 20), st.integers(0, 5), st.integers(0, 3), st.booleans())
def test_an_epoch_has_every_row_once(n: int, size: int, seed: int, epoch: int, grouped: bool) -> None:
    lengths = np.arange(n) % 17 if grouped else None
    batches = epoch_batches(n, size, seed, epoch, lengths)
    assert sorted(np.concatenate(batches).tolist()) == list(range(n))
    assert sorted(len(batch) for batch in batches)[1:] == [size] * (len(batches) - 1)
    again = epoch_batches(n, size, seed, epoch, lengths)
    assert all(np.array_equal(one, other) for one, other in zip(batches, again, strict=True))


def test_the_order_changes_with_epoch_and_seed() -> None:
    orders = {tuple(np.concatenate(epoch_batches(50, 8, seed, epoch))) for seed in range(3) for epoch in range(3)}
    assert len(orders) == 9


def test_rows_of_like_length_come_together() -> None:
    lengths = np.random.default_rng(0).integers(1, 100, 2_000)
    padded = [sum(lengths[batch].max() * len(batch) for batch in epoch_batches(2_000, 16, 1, 0, by)) for by in (None, lengths)]
    assert padded[1] < 1.1 * lengths.sum() < padded[0]
    firsts = [lengths[batch].mean() for batch in epoch_batches(2_000, 16, 1, 0, lengths)]
    assert np.any(np.diff(firsts) > 0) and np.any(np.diff(firsts) < 0)


@given(st.integers(2, 40), st.integers(1, 9), st.integers(1, 4), st.integers(1, 3))
def test_processes_share_every_batch_and_make_the_same_number_of_passes(n: int, size: int, pieces: int, processes: int) -> None:
    examples = Examples(
        np.arange(n).astype(str).astype(object), np.zeros(n, np.int64), {"first": Ragged(np.zeros(n, np.int32), np.arange(n + 1))}
    )
    order = partial(epoch_batches, n, size, 0)
    loaders = [EpochLoader(_Echo(), examples, order, pieces=pieces, rank=rank, processes=processes) for rank in range(processes)]
    passes = [list(loader) for loader in loaders]
    assert {len(made) for made in passes} == {len(loaders[0])}
    seen = [row for made in passes for batch in made if batch["rows"] is not None for row in batch["rows"].tolist()]
    assert sorted(seen) == list(range(n))
    fillers = [batch for made in passes for batch in made if batch["rows"] is None]
    assert all((batch["labels"] == IGNORED).all() and len(batch["labels"]) == 1 for batch in fillers)
    sizes = [len(rows) for rows in order(0) for _ in range(pieces)]
    assert [[batch[STEP_LABELS] for batch in made] for made in passes] == [sizes] * processes


class _Echo:
    pads = False

    def batch(self, examples: Examples, rows: np.ndarray) -> dict[str, torch.Tensor]:
        return {"labels": torch.from_numpy(examples.labels[rows])}


@given(st.integers(1, 200), st.integers(1, 6), st.integers(0, 3))
def test_ranked_rows_come_in_stretches_of_ten_batches(n: int, size: int, epoch: int) -> None:
    rank = np.random.default_rng(n).permutation(n)
    order = np.concatenate(ranked_batches(rank, size, 3, epoch))
    assert sorted(order.tolist()) == list(range(n))
    for start in range(0, n, 10 * size):
        assert sorted(rank[order[start : start + 10 * size]]) == list(range(start, min(start + 10 * size, n)))


def test_ranked_rows_are_shuffled_differently_in_every_epoch() -> None:
    orders = {tuple(np.concatenate(ranked_batches(np.arange(50), 8, seed, epoch))) for seed in range(3) for epoch in range(3)}
    assert len(orders) == 9
    assert [len(batch) for batch in ranked_batches(np.arange(50), 8, 0, 0)] == [8] * 6 + [2]


@given(st.integers(1, 80), st.floats(0, 1), st.integers(1, 9), st.integers(0, 3))
def test_oversampled_rows_come_twice_and_others_make_up_the_number(n: int, share: float, size: int, epoch: int) -> None:
    twice = np.random.default_rng(n).random(n) < share
    batches = oversampled_batches(twice, size, 3, epoch)
    counts = np.bincount(np.concatenate(batches), minlength=n)
    assert (counts[twice] == 2).all()
    assert counts[~twice].max(initial=0) <= 1
    assert counts.sum() == max(n, 2 * twice.sum())
    assert all(len(batch) == size for batch in batches[:-1]) and 0 < len(batches[-1]) <= size
    assert [batch.tolist() for batch in oversampled_batches(twice, size, 3, epoch)] == [batch.tolist() for batch in batches]


def test_every_epoch_leaves_out_other_rows() -> None:
    twice = np.arange(40) < 10
    left = {frozenset(range(40)) - set(np.concatenate(oversampled_batches(twice, 8, 1, epoch)).tolist()) for epoch in range(5)}
    assert len(left) == 5
    assert all(len(rows) == 10 and min(rows) >= 10 for rows in left)
