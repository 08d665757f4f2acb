"""The data of a round: rows of a matrix that may lie on a disk, read in blocks, one part per core."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeVar

import numpy as np
import torch
from torch import Tensor

from cartograph.adversarial_filter.solver.halves import halved, pays
from cartograph.data.arrays import Integers
from cartograph.errors import InputError

Given = TypeVar("Given")
Found = TypeVar("Found")

_BLOCK_ELEMENTS = 2**19
_CENTRE_ROWS = 4_096
_HALVED_ROWS = 2**10
_PARTS = 16


@dataclass(frozen=True)
class Problem:
    """One round's data: rows of a matrix that may lie on a disk, read in blocks.

    Attributes:
        features: (n_rows_in_all, d), an array or a memory map.
        rows: (n_examples,) which of its rows are left, rising.
        labels: (n_examples,) label ids in [0, classes).
        classes: two or more, each of which occurs.
        device: where it is computed.
        resident: the rows that are left, on the device; None where they are read in blocks at every pass.
        keep_bytes: what a copy of them may take.
    """

    features: Any
    rows: Integers
    labels: Integers
    classes: int
    device: torch.device
    resident: Tensor | None
    keep_bytes: int = 0

    @property
    def columns(self) -> int:
        """Weight vectors per classifier."""
        return 1 if self.classes == 2 else self.classes

    def take(self, places: Integers) -> Tensor:
        """Return the features of some examples, by their places in ``rows``, rising."""
        if self.resident is not None:
            return self.resident[torch.from_numpy(places).to(self.device)]
        rows = self.rows[places]
        # Rows that rise by one each are read as they stand.
        run = len(rows) > 0 and rows[-1] - rows[0] == len(rows) - 1
        found = np.asarray(self.features[rows[0] : rows[-1] + 1] if run else self.features[rows])
        return torch.from_numpy(np.require(found, np.float32, ["C", "W"])).to(self.device)

    def centre(self) -> Tensor | None:
        """Return the mean of some rows, ``(d,)``, about which to take them in bfloat16; None where float32 is as fast."""
        if not pays(self.device, len(self.rows), self.features.shape[1]):
            return None
        step = max(1, len(self.rows) // _CENTRE_ROWS)
        return self.take(np.arange(0, len(self.rows), step)).mean(dim=0)

    def take_halved(self, places: Integers, about: Tensor) -> Tensor:
        """Return the features of some examples, places rising, less ``about`` in bfloat16; few of them are in float32 at once."""
        found = torch.empty((len(places), self.features.shape[1]), dtype=torch.bfloat16, device=self.device)

        def work(span: range) -> None:
            for start in range(span.start, span.stop, _HALVED_ROWS):
                part = slice(start, min(start + _HALVED_ROWS, span.stop))
                found[part] = halved(self.take(places[part]), about)

        for _ in at_once(work, self.spans(len(places))):
            pass
        return found

    def each_part(
        self, columns: int, work: Callable[[Iterator[tuple[slice, Tensor]]], Found], kept: Tensor | None = None
    ) -> Iterator[Found]:
        """Yield what ``work`` makes of consecutive parts of the examples, in their order; on any number of cores the same parts.

        Each part is handed over as blocks, which fit into a cache together with ``columns`` scores of each example. One thread per
        part, each at work on whole blocks, needs no barrier at every operation, at which threads of a busy machine wait. The blocks are
        of ``kept``, a copy of the examples, where there is one.
        """
        kept = self.resident if kept is None else kept
        blocks = evenly(len(self.rows), -(-len(self.rows) // max(256, _BLOCK_ELEMENTS // columns)))
        return at_once(work, [self._blocks(blocks[part.start : part.stop], kept) for part in evenly(len(blocks), self.parts(len(blocks)))])

    def spans(self, number: int) -> list[range]:
        """Return ``number`` things in consecutive spans, one per core."""
        return evenly(number, cores() if self.device.type == "cpu" else 1)

    def parts(self, number: int) -> int:
        """Return into how many parts to divide ``number`` things whose sums are to be the same on any number of cores."""
        return min(_PARTS, number) if self.device.type == "cpu" else 1

    def _blocks(self, blocks: Sequence[range], kept: Tensor | None) -> Iterator[tuple[slice, Tensor]]:
        for block in filter(len, blocks):
            part = slice(block.start, block.stop)
            yield part, self.take(np.arange(part.start, part.stop)) if kept is None else kept[part]


def problem(features: Any, rows: Integers, labels: Integers, classes: int, device: Device, *, keep_bytes: int) -> Problem:
    """Return a round's data; rows that take at most ``keep_bytes`` are copied onto the device once, or later, as half as many bytes.

    Raises:
        InputError: ``cuda`` is asked for on a machine without a GPU.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device is `cuda`, but torch sees no GPU here; set it to `auto` or `cpu`.")
    where = torch.device("cuda" if device == "cuda" or (device == "auto" and torch.cuda.is_available()) else "cpu")
    resident = None
    if where.type == "cuda":
        # Half of it, as of the machine's memory: as much again may be gathered.
        keep_bytes = min(keep_bytes, torch.cuda.mem_get_info(where)[0] // 2)
    # Where passes read rows in bfloat16, a fit keeps those; of the others some are read once or twice a round.
    if len(rows) * features.shape[1] * 4 <= keep_bytes and not pays(where, len(rows), features.shape[1]):
        whole = features if len(rows) == len(features) else features[rows]
        resident = torch.from_numpy(np.require(np.ascontiguousarray(whole, dtype=np.float32), requirements="W")).to(where)
    return Problem(features, rows, labels, classes, where, resident, keep_bytes)


def at_once(work: Callable[[Given], Found], parts: Sequence[Given]) -> Iterator[Found]:
    """Yield what ``work`` makes of each part, in their order, with a thread per core, in each of which torch uses one."""
    threads = min(cores(), len(parts))
    if threads == 1:
        yield from map(work, parts)
        return
    with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        yield from pool.map(work, parts)


def evenly(number: int, parts: int) -> list[range]:
    """Return ``number`` things in consecutive spans of about the same length, ``parts`` of them or as many as there are things."""
    parts = max(1, min(parts, number))
    edges = [number * part // parts for part in range(parts + 1)]
    return [range(*span) for span in pairwise(edges)]


def cores() -> int:
    """Return the CPU cores that this process may use, at most ``OMP_NUM_THREADS`` where that is set."""
    number = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(number, int(asked)) if asked.isdigit() and int(asked) else number


@contextmanager
def one_thread() -> Iterator[None]:
    """Have torch use one thread here: the parts of a problem are what is done at the same time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


Device = Literal["auto", "cpu", "cuda"]
