"""As many processes as pay: none beside the flow's own while trainings take seconds, one a GPU or core once they take longer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from threading import Lock

import pyarrow.parquet as pq

from cartograph.data.progress import Progress
from cartograph.data.spread import Found
from flows.engine.processes import Processes, in_children
from flows.engine.runner import Result, Runner
from tasks.audit.parameters.retrain import Retrain
from tasks.audit.parameters.train import Train
from tasks.engine.workspace import Workspace

FEWEST_ROWS = 20_000
"""Of so many rows bow trains for about five seconds; a second process takes two to start (``benchmarks/grid.py``)."""

_ROWS = "data/ingest/train.parquet"
_BYTES, _BYTES_A_ROW = 2**29, 2**11
"""What a training needs: the libraries, and no more than this a row (``benchmarks/scale.py``)."""


class AsManyAsPay(Runner):
    """The flow's own process for small train sets; for large ones as many processes as there are GPUs, or cores where a model uses one.

    How large the set is, is seen once its rows are ingested: every step that may use an accelerator comes after that.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._processes: Processes | None = None
        self._door = Lock()
        self.spread = partial(_in_as_many_as_pay, workspace)

    def slots(self) -> int:
        """Return how many steps that may use an accelerator are computed at the same time, as far as is known by now."""
        return paying_workers(self._workspace)

    def run(self, work: Callable[[], Result], *, alone: bool = False) -> Result:
        """Compute it here, or in the next free process where there are several."""
        processes = self._started()
        return work() if processes is None else processes.run(work, alone=alone)

    def close(self) -> None:
        """End the processes that were started."""
        if self._processes is not None:
            self._processes.close()

    def _started(self) -> Processes | None:
        with self._door:
            if self._processes is None and (number := self.slots()) > 1:
                self._processes = Processes(number)
            return self._processes


def _in_as_many_as_pay(
    workspace: Workspace,
    pieces: Sequence[Callable[[Progress | None], Found]],
    heard: Callable[[int], Progress | None] = lambda number: None,
) -> Iterator[Found]:
    """Compute a step's pieces in as many processes as pay by then; see ``Spread``."""
    return in_children(paying_workers(workspace), pieces, heard)


def paying_workers(workspace: Workspace) -> int:
    """Return how many trainings at once are faster than one after the other; 1 while the rows are few, or not ingested yet."""
    rows, train = workspace.path / _ROWS, workspace.settings.find(Train)
    # Without retraining, one step after the other trains.
    if train is None or workspace.settings.find(Retrain) is None or not rows.exists():
        return 1
    number: int = pq.read_metadata(rows).num_rows
    if number < FEWEST_ROWS:
        return 1
    from cartograph.models.isolation import available_gpus, available_threads
    from cartograph.models.registry import model_class

    if train.device != "cpu" and (gpus := len(available_gpus())):
        return gpus
    if (train.threads or model_class(train.model).most_threads) != 1:
        return 1
    memory: int = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return max(1, min(available_threads(), memory // (_BYTES + _BYTES_A_ROW * number)))
