"""Batches of a data loader that carry their rows' positions in the dataset and their gold label ids."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

from cartograph.errors import InputError
from cartograph.wording import counted

ROWS = "cartograph_rows"
"""The key of a batch under which positions and label ids are found, (batch, 2) whole numbers."""

_SETTINGS = (
    "num_workers",
    "pin_memory",
    "timeout",
    "worker_init_fn",
    "multiprocessing_context",
    "generator",
    "prefetch_factor",
    "persistent_workers",
    "in_order",
)


def with_rows(loader: DataLoader[Any], labels: str) -> DataLoader[Any]:
    """Return a loader of the same batches in the same order, each with ``ROWS`` beside what the collator made.

    Args:
        loader: of a dataset with positions.
        labels: the key of a batch that holds the gold label ids.
    """
    settings = {name: getattr(loader, name) for name in _SETTINGS}
    collate = _Collate(loader.collate_fn, labels)
    return DataLoader(_Numbered(loader.dataset), batch_sampler=loader.batch_sampler, collate_fn=collate, **settings)


def require_every_row(loader: Any, args: Any) -> None:
    """Check that a Trainer's loader reads every row of a dataset with positions in every epoch.

    Args:
        loader: of the train set.
        args: the Trainer's.

    Raises:
        InputError: the dataset has no positions, or ``dataloader_drop_last`` leaves rows out.
    """
    if not hasattr(loader, "base_dataloader") or loader.batch_sampler is None or isinstance(loader.dataset, IterableDataset):
        raise InputError(
            f"the train set is a {type(loader.dataset).__name__} read through a {type(loader).__name__}, in which rows have no positions; "
            "train on a dataset with a length through Trainer's own data loader, or use DynamicsRecorder in your loop."
        )
    left_over = len(loader.dataset) % (args.train_batch_size * args.world_size)
    if args.dataloader_drop_last and left_over:
        raise InputError(
            f"dataloader_drop_last leaves {counted(left_over, 'row')} of {len(loader.dataset):,} out of every epoch, others each time; "
            "set it to False: training dynamics need every row in every epoch."
        )


class _Numbered(Dataset[Any]):
    """A dataset whose items come with their positions; all else is the dataset's own."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def __getattr__(self, name: str) -> Any:
        if name == "_dataset":  # asked for while a copy of this object is made in another process
            raise AttributeError(name)
        return getattr(self._dataset, name)

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, row: int) -> tuple[int, Any]:
        return row, self._dataset[row]

    def __getitems__(self, rows: Sequence[int]) -> list[tuple[int, Any]]:
        fetch = getattr(self._dataset, "__getitems__", None)
        return list(zip(rows, fetch(rows) if fetch else [self._dataset[row] for row in rows], strict=True))


class _Collate:
    """The collator of a loader, and after it the positions and labels."""

    def __init__(self, collate: Callable[[list[Any]], Any], labels: str) -> None:
        self._collate = collate
        self._labels = labels

    def __call__(self, items: list[tuple[int, Any]]) -> Any:
        batch = self._collate([item for _, item in items])
        if not isinstance(batch, MutableMapping) or self._labels not in batch:
            keys = ", ".join(map(str, batch)) if isinstance(batch, MutableMapping) else f"a {type(batch).__name__}"
            raise InputError(
                f"the train set's batches have no `{self._labels}` (they have: {keys}); "
                "give DynamicsCallback the key of the gold label ids as `labels`."
            )
        gold = torch.as_tensor(batch[self._labels])
        if gold.shape != (len(items),) or gold.is_floating_point():
            raise InputError(
                f"`{self._labels}` of a batch of {len(items)} rows is of shape {tuple(gold.shape)} and type {gold.dtype}; "
                "training dynamics need one label id per row."
            )
        rows = torch.tensor([row for row, _ in items], dtype=torch.int64)
        batch[ROWS] = torch.stack([rows, gold.to(torch.int64)], dim=1)
        return batch
