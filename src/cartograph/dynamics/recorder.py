"""A recorder of training dynamics for any PyTorch loop: the logits and gold label of every training example in every epoch."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cartograph.data.arrays import Array, Bools
from cartograph.data.given import label_ids
from cartograph.data.kept_logits import WHOLE, keep
from cartograph.data.memory import MOST_WAITING
from cartograph.data.parquet import write_parquet
from cartograph.data.uids import in_uid_order, some, text_uids, without
from cartograph.dynamics.distributed import Processes
from cartograph.dynamics.epoch_files import (
    EPOCH_FILE,
    Dynamics,
    dynamics_table,
    epoch_file,
    kept_of,
    kept_table,
    logits_of,
    n_classes_of,
    read_dynamics,
)
from cartograph.errors import InputError
from cartograph.wording import counted

if TYPE_CHECKING:
    import torch

__all__ = ["Dynamics", "DynamicsRecorder", "read_dynamics"]


class UidsAt:
    """The uids of a batch, looked up when they are read: their places among all names may stay on a device until then.

    Args:
        places: (batch,) whole numbers.
        names: all uids.
    """

    def __init__(self, places: torch.Tensor, names: Sequence[str]) -> None:
        self.places, self.names = places, names

    def __len__(self) -> int:
        return len(self.places)


class _Batch(NamedTuple):
    uids: list[Sequence[str | int] | Array | torch.Tensor | UidsAt]  # of one batch, or of several that were moved together
    parts: tuple[torch.Tensor, ...]  # the logits, or what ``keep`` keeps of them
    gold: torch.Tensor


class DynamicsRecorder:
    """Record a model's logits of every training example in every epoch, from any PyTorch loop.

    >>> import tempfile, torch
    >>> recorder = DynamicsRecorder(tempfile.mkdtemp())
    >>> recorder.record(["a", "b"], torch.tensor([[2.0, 0.0], [0.5, 1.0]]), torch.tensor([0, 1]))
    >>> recorder.end_epoch().column("uid").to_pylist()
    ['a', 'b']

    Logits stay on their device until the epoch ends, or until they take 256 MiB there (``MOST_WAITING``) and are moved to the
    machine's memory: nothing else waits for a GPU. Of more than ``kept_logits.WHOLE`` classes only what ``keep`` keeps stays in memory.
    At the end one file is written, synced and renamed into place, so that an epoch's file is complete or absent. Where
    ``torch.distributed`` is initialised, every process records its own rows, ``end_epoch`` is called by all of them, and the first one
    merges the parts. A row recorded more than once in an epoch (a sampler that repeats rows to fill a batch) keeps its first record.

    Args:
        folder: where ``epoch=N.parquet`` is written; made if need be.
        start_epoch: the epoch recorded next. Files of this and later epochs are discarded: a training that resumes
            writes them again.
        uids: the uids that every epoch must hold, once each, strings or whole numbers; None where they are not known beforehand.

    Raises:
        InputError: an epoch before ``start_epoch`` has no file.
    """

    def __init__(self, folder: str | Path, *, start_epoch: int = 0, uids: Iterable[str | int] | None = None) -> None:
        self.folder = Path(folder)
        self.epoch = start_epoch
        self._expected = None if uids is None else in_uid_order(text_uids(uids))
        self._batches: list[_Batch] = []
        self._waiting: list[_Batch] = []
        self._waiting_bytes = 0
        self._shape: tuple[int, ...] = ()
        self._processes = Processes()
        if self._processes.rank == 0:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._discard(start_epoch)
        self._processes.agree(True)
        missing = [epoch for epoch in range(start_epoch) if not epoch_file(self.folder, epoch).is_file()]
        if missing:
            raise InputError(
                f"{self.folder} has no dynamics of epoch {missing[0]}, so recording cannot go on at epoch {start_epoch}; start at 0."
            )

    def __repr__(self) -> str:
        return f"DynamicsRecorder({str(self.folder)!r}, epoch={self.epoch}, rows={self.rows})"

    @property
    def rows(self) -> int:
        """Number of rows that this process has recorded in the running epoch, repeated ones included."""
        return sum(len(batch.gold) for batch in (*self._batches, *self._waiting))

    def record(self, uids: Sequence[str | int] | Array | torch.Tensor | UidsAt, logits: torch.Tensor, gold: Any) -> None:
        """Note one batch. All three are copied, each on its device, so that a loop may use its buffers again.

        Args:
            uids: (batch,) uids, in the order of the rows of ``logits``: strings, or whole numbers, which are stored as strings.
            logits: (batch, n_classes), on any device, of any floating type.
            gold: (batch,) label ids: a tensor or a sequence of int.

        Raises:
            InputError: logits that are no tensor, label ids that are no integers, the three differ in length, or the logits in width from
                those recorded before.
        """
        import torch

        if not isinstance(logits, torch.Tensor):
            raise InputError(f"record got logits of the type {type(logits).__name__}; give the model's tensor, or torch.as_tensor(logits).")
        if not len(uids) == len(logits) == len(gold):
            raise InputError(
                f"record got {len(uids)} uids, logits of shape {tuple(logits.shape)} and {len(gold)} gold labels; give one of each per row."
            )
        begun = bool(self._batches or self._waiting)
        if begun and logits.shape[1:] != self._shape[1:]:
            raise InputError(
                f"record got logits of shape {tuple(logits.shape)} after {self._shape}; the number of classes must stay the same."
            )
        uids = uids.clone() if isinstance(uids, torch.Tensor) else copy(uids)
        labels = (gold if isinstance(gold, torch.Tensor) else torch.as_tensor(label_ids(gold, "gold labels"))).detach().clone()
        if labels.is_floating_point():
            raise InputError(f"record got gold labels of {labels.dtype}; give label ids as integers from 0 on.")
        self._shape = self._shape if begun else tuple(logits.shape)
        copied = logits.detach().to(torch.float32, copy=True)
        self._waiting.append(_Batch([uids], (copied,), labels))
        self._waiting_bytes += copied.nbytes
        if logits.device.type == "cpu" or self._waiting_bytes >= MOST_WAITING:
            self._move()

    def end_epoch(self) -> pa.Table | None:
        """Write the epoch's file; on return it is on disk.

        Returns:
            The epoch's table (``schema.dynamics_schema``, sorted by uid), or None in a process that is not the first.

        Raises:
            InputError: nothing was recorded, a uid that was expected is missing, one came that was not expected, or one
                came with two gold labels.
        """
        part = self.unfinished()
        self.discard_unfinished()
        table = self._write([part]) if self._processes.size == 1 else self._merge(part)
        self.epoch += 1
        return table

    def unfinished(self) -> pa.Table:
        """Return what this process has recorded in the running epoch (``schema.dynamics_schema``), in the order of recording.

        Kept with a checkpoint in the middle of an epoch and given to ``record`` again, it lets a training resume there.
        """
        self._move()
        uids = self._uid_array()
        if not self._batches:
            return dynamics_table(uids, np.empty(0), np.empty((0, 0), np.float32))
        parts = [_joined(list(column)) for column in zip(*(batch.parts for batch in self._batches), strict=True)]
        return _table(uids, _joined([batch.gold for batch in self._batches]), parts, self._shape[1])

    def discard_unfinished(self) -> None:
        """Drop what this process has recorded in the running epoch."""
        self._batches, self._waiting, self._waiting_bytes = [], [], 0

    def _move(self) -> None:
        """Move what waits on a device to the machine's memory; keep of many classes what counts."""
        import torch

        if self._waiting:
            logits, gold = _joined([batch.parts[0] for batch in self._waiting]), _joined([batch.gold for batch in self._waiting])
            parts = keep(logits, gold) if logits.ndim > 1 and logits.shape[1] > WHOLE else (logits,)
            uids = [each for batch in self._waiting for each in batch.uids]
            self._batches.append(_Batch(uids, tuple(torch.from_numpy(part) for part in parts), torch.from_numpy(gold)))
            self._waiting, self._waiting_bytes = [], 0

    def _uid_array(self) -> pa.Array:
        try:
            uids = text_uids(_on_host([uids for batch in self._batches for uids in batch.uids]))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"epoch {self.epoch}: uids must be strings of valid Unicode or whole numbers, but {str(error).splitlines()[0]}."
            ) from error
        if uids.null_count:
            raise InputError(
                f"epoch {self.epoch}: uids must be strings of valid Unicode or whole numbers, "
                f"but {counted(uids.null_count, 'row')} came without one."
            )
        return uids

    def _merge(self, part: pa.Table) -> pa.Table | None:
        parts = [self.folder / "parts" / f"epoch={self.epoch}.rank={rank}.parquet" for rank in range(self._processes.size)]
        parts[0].parent.mkdir(exist_ok=True)
        write_parquet(part, parts[self._processes.rank])
        self._processes.agree(True)
        table, problem = None, None
        if self._processes.rank == 0:
            try:
                table = self._write([read for path in parts if (read := pq.ParquetFile(path).read()).num_rows])
            except (InputError, OSError) as error:
                problem = error
        if not self._processes.agree(problem is None):
            raise problem or InputError(
                f"the parts of epoch {self.epoch} under {self.folder} could not be merged; the first process says why."
            )
        parts[self._processes.rank].unlink()
        return table

    def _write(self, parts: list[pa.Table]) -> pa.Table:
        if not any(part.num_rows for part in parts):
            raise InputError(f"nothing was recorded in epoch {self.epoch}; call record for every training batch before end_epoch.")
        uids = pa.concat_arrays([chunk for part in parts for chunk in part.column("uid").chunks])
        gold = np.concatenate([part.column("gold").to_numpy() for part in parts])
        read = [kept_of(part) if "rest" in part.column_names else (logits_of(part),) for part in parts]
        logits = [np.concatenate(column) for column in zip(*read, strict=True)]
        turn = np.argsort(np.concatenate([np.arange(part.num_rows) for part in parts]), kind="stable")
        order = turn[pc.sort_indices(uids.take(pa.array(turn))).to_numpy()]
        uids, gold = uids.take(pa.array(order)), gold[order]
        again = np.zeros(len(uids), bool)
        again[1:] = pc.equal(uids[1:], uids[:-1]).to_numpy(zero_copy_only=False)
        if again.any():
            self._refuse_conflicts(uids, gold, again)
            uids = uids.filter(pa.array(~again))
            gold, order = gold[~again], order[~again]
        self._refuse_others(uids)
        table = _table(uids, gold, [values[order] for values in logits], n_classes_of(parts[0]))
        write_parquet(table, epoch_file(self.folder, self.epoch))
        return table

    def _refuse_conflicts(self, uids: pa.Array, gold: Array, again: Bools) -> None:
        first = np.maximum.accumulate(np.where(again, 0, np.arange(len(uids))))
        conflicts = np.flatnonzero(gold != gold[first])
        if len(conflicts):
            row = conflicts[0]
            raise InputError(
                f"epoch {self.epoch}: uid {uids[row].as_py()!r} came with gold labels {gold[first[row]]} and {gold[row]} "
                f"({counted(len(set(first[conflicts])), 'such uid')}); a uid must name one example."
            )

    def _refuse_others(self, uids: pa.Array) -> None:
        if self._expected is None or uids.equals(self._expected):
            return
        missing = without(self._expected, uids)
        if len(missing):
            raise InputError(
                f"epoch {self.epoch}: {len(missing):,} of {len(self._expected):,} uids were not recorded, among them {some(missing)}; "
                "every training example must pass through record once an epoch."
            )
        others = without(uids, self._expected)
        raise InputError(f"epoch {self.epoch}: {counted(len(others), 'uid')} that no training example has came to record: {some(others)}.")

    def _discard(self, start: int) -> None:
        shutil.rmtree(self.folder / "parts", ignore_errors=True)
        for path in self.folder.iterdir():
            name = EPOCH_FILE.match(path.name)
            if name and (int(name[1]) >= start or path.name != name[0]):
                path.unlink()


def _table(uids: pa.Array, gold: Array, parts: Sequence[Array], n_classes: int) -> pa.Table:
    """Build one epoch's table from whole logits, or from what was kept of them."""
    return dynamics_table(uids, gold, parts[0]) if len(parts) == 1 else kept_table(uids, gold, parts, n_classes)


def _on_host(batches: list[Any]) -> Iterator[Any]:
    """Yield uids; those of consecutive tensors are moved together."""
    import torch

    for kind, group in groupby(batches, key=type):
        if issubclass(kind, UidsAt):
            whole = list(group)
            yield from (whole[0].names[place] for place in _joined([uids.places for uids in whole]).tolist())
        elif issubclass(kind, torch.Tensor):
            yield from _joined(list(group)).tolist()
        else:
            yield from chain.from_iterable(uids.tolist() if hasattr(uids, "tolist") else uids for uids in group)


def _joined(parts: list[torch.Tensor]) -> Array:
    """Return tensors as one array, moved from their devices in as few copies as their order allows."""
    import torch

    if len(parts) == 1:
        return parts[0].cpu().numpy()
    joined: Array = np.concatenate([torch.cat(list(group)).cpu().numpy() for _, group in groupby(parts, key=lambda part: part.device)])
    return joined
