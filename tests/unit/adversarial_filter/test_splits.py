from __future__ import annotations

import numpy as np

from cartograph.adversarial_filter.splits import random_splits


def test_partitions_and_rounds_are_all_different() -> None:
    splits = [random_splits(200, 50, 16, (7, 0, number)) for number in (1, 2, 3)]
    columns = {column.tobytes() for split in splits for column in split.T}
    assert len(columns) == 48
    assert all((split.sum(axis=0) == 50).all() for split in splits)


def test_groups_stay_on_one_side() -> None:
    groups = np.repeat(np.arange(40), [1, 2, 3, 4] * 10)
    train = random_splits(100, 30, 20, (1,), groups)
    for column in train.T:
        assert not np.intersect1d(groups[column], groups[~column]).size
        assert 26 <= column.sum() <= 30
    largest_first = random_splits(12, 3, 8, (1,), np.repeat([0, 1], 6))
    assert (largest_first.sum(axis=0) == 6).all()


def test_a_partition_trains_on_groups_for_as_long_as_they_fit_and_on_one_at_least() -> None:
    groups = np.repeat(np.arange(9), [5, 1, 3, 2, 4, 1, 6, 2, 3])
    for size in (1, 6, 13):
        train = random_splits(27, size, 30, (4,), groups)
        for number, column in enumerate(train.T):
            order = np.random.default_rng([4, number]).permutation(9)
            taken, rows = [order[0]], int((groups == order[0]).sum())
            for group in order[1:]:
                rows += int((groups == group).sum())
                if rows > size:
                    break
                taken.append(group)
            assert column.tolist() == np.isin(groups, taken).tolist()
