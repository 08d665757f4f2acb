"""Steps computed on a Dask cluster, a running one or one of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from cartograph.data.progress import Progress
from cartograph.data.spread import Found
from cartograph.errors import CartographError, InputError
from flows.engine.runner import VISIBLE, LostProcessError, Result, Runner, compute
from tasks.engine.workspace import CODE
from tasks.presentation import console

_PATIENCE_SECONDS = 10


def over_cluster(
    pieces: Sequence[Callable[[Progress | None], Found]], heard: Callable[[int], Progress | None] = lambda number: None
) -> Iterator[Found]:
    """Compute a step's pieces on all workers of the cluster on one of which it runs itself; see ``Spread``.

    The step's worker takes pieces as well while the step waits for them. One whose worker is lost, Dask itself gives to another.
    """
    from distributed import KilledWorker, worker_client

    with worker_client() as client:
        futures = [client.submit(compute, partial(piece, None), pure=False) for piece in pieces]
        for number, future in enumerate(futures, 1):
            try:
                yield future.result()
            except KilledWorker as error:
                raise CartographError(f"the workers that computed piece {number} of {len(pieces)} were lost: {error}") from error


class DaskCluster(Runner):
    """A Dask cluster: the one at an address, or one of several processes on this machine."""

    spread = staticmethod(over_cluster)

    def __init__(self, workers: int, address: str | None = None) -> None:
        self.at_once = workers
        self._address = address
        self._started = ExitStack()

    def __enter__(self) -> Self:
        cluster = self._address or self._started.enter_context(local_cluster(self.at_once))
        self._client = self._started.enter_context(_client(cluster))
        if self._address is not None:
            there = len(self._client.scheduler_info(n_workers=-1)["workers"])
            self.at_once = max(there, 1)
            if there == 0:
                console.say(
                    f"{self._address}: there is no worker yet; waiting for the first (`python -m dask worker {self._address}` in the "
                    "project's root)"
                )
        return self

    def close(self) -> None:
        """Disconnect, and end a cluster of this machine."""
        self._started.close()

    def run(self, work: Callable[[], Result], *, alone: bool = False) -> Result:
        """Compute it on a worker; what a lost worker had, Dask itself gives to others, a few times."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError

        future = self._client.submit(compute, work, pure=False)
        try:
            result: Result = future.result()
        except (CommClosedError, FutureCancelledError, KilledWorker) as error:
            raise LostProcessError(f"{type(error).__name__}: {error}") from error
        return result


def _client(cluster: Any) -> Any:
    from distributed import Client

    return Client(cluster, timeout=_PATIENCE_SECONDS, set_as_default=False)


def check_scheduler(address: str) -> None:
    """Check that a Dask scheduler answers at an address, and that it and its workers see this project.

    Raises:
        InputError: they do not.
    """
    try:
        with _client(address) as client:
            # A function of this project's own could not be read where the project is not seen.
            seen = {"the scheduler": client.run_on_scheduler(find_spec, "tasks")}
            seen |= {f"the worker {name}": spec for name, spec in client.run(find_spec, "tasks").items()}
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"--address {address}: no Dask scheduler answers there ({type(error).__name__}); start one with `python -m dask scheduler` and "
            "`python -m dask worker ADDRESS`, both in the project's root, or leave --address out for a cluster on this machine."
        ) from error
    for who, spec in seen.items():
        if spec is None or spec.origin is None or Path(spec.origin).resolve() != CODE / "tasks" / "__init__.py":
            found = "" if spec is None or spec.origin is None else f", but {Path(spec.origin).parent.parent}"
            raise InputError(
                f"--address {address}: {who} does not see this project, {CODE}{found}; start it in the project's root with "
                "`python -m dask scheduler` or `python -m dask worker ADDRESS` (`dask` alone does not look there)."
            )


def local_cluster(workers: int) -> Any:
    """Return a Dask cluster on this machine, a process per worker, one step at a time each; with GPUs one each, in turn."""
    from distributed import Nanny, Scheduler, SpecCluster

    from cartograph.models.isolation import available_gpus

    gpus = available_gpus()
    own = [{VISIBLE: gpus[place % len(gpus)]} if gpus else {} for place in range(workers)]
    options = {"nthreads": 1, "memory_limit": 0, "dashboard": False}
    here = {"host": "127.0.0.1", "dashboard": False, "dashboard_address": None}
    spec = {place: {"cls": Nanny, "options": options | {"env": env}} for place, env in enumerate(own)}
    return SpecCluster(workers=spec, scheduler={"cls": Scheduler, "options": here}, silence_logs="ERROR")
