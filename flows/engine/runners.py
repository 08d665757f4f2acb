"""Where the steps of a flow run: in its own process, in several, or on a Dask cluster."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from prefect.context import FlowRunContext
from prefect.task_runners import ProcessPoolTaskRunner, TaskRunner, ThreadPoolTaskRunner

from cartograph.errors import InputError
from flows.engine.devices import VISIBLE, places, start_worker
from tasks.engine.workspace import CODE
from tasks.presentation import console

RUNNERS = ("local", "dask")
_PATIENCE = 10


def task_runner(name: str = "local", workers: int = 1, address: str | None = None) -> TaskRunner[Any]:
    """Return where steps run.

    Args:
        name: ``local`` or ``dask``.
        workers: how many steps that train may run at once; 1 on ``local``: in this process, else in as many processes. On ``dask`` the
            size of a local cluster, where no address is given. On a machine with GPUs each process or worker has one.
        address: of the scheduler of a running Dask cluster, ``tcp://HOST:PORT``; its workers see this project under the same path.

    Raises:
        InputError: an unknown name, an address without Dask, no scheduler at the address, or one that does not see this project, as a
            worker of its may not.
    """
    if name not in RUNNERS:
        raise InputError(f"--runner {name}: there is no such runner; there are {', '.join(RUNNERS)}.")
    if name == "local":
        if address is not None:
            raise InputError("--address is of a Dask scheduler; add --runner dask.")
        return ThreadPoolTaskRunner() if workers == 1 else local_processes(workers)
    from prefect_dask import DaskTaskRunner

    if address is not None:
        _require_scheduler(address)
        return DaskTaskRunner(address=address)
    return DaskTaskRunner(cluster_class=local_cluster, cluster_kwargs={"workers": workers})


def local_processes(workers: int) -> TaskRunner[Any]:
    """Return as many processes on this machine, one step at a time each; with GPUs one each, in turn."""
    from cartograph.models.isolation import available_gpus

    gpus = available_gpus()
    return ProcessPoolTaskRunner(max_workers=workers, initializer=start_worker, initargs=(places() if gpus else "", gpus))


def restart() -> None:
    """Start the worker processes of the flow that is running anew: a pool of which one was killed takes no more work."""
    context = FlowRunContext.get()
    if context is not None:
        context.task_runner.__exit__(None, None, None)
        context.task_runner.__enter__()


def trainings_at_once(name: str, workers: int, address: str | None) -> int:
    """Return how many steps that may use an accelerator run at the same time: one per worker."""
    if name == "local" or address is None:
        return workers
    from distributed import Client

    with Client(address, timeout=_PATIENCE, set_as_default=False) as client:
        return max(len(client.scheduler_info(n_workers=-1)["workers"]), 1)


def _require_scheduler(address: str) -> None:
    from distributed import Client

    try:
        with Client(address, timeout=_PATIENCE, set_as_default=False) as client:
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
    if len(seen) == 1:
        console.say(f"{address}: there is no worker yet; waiting for the first (`python -m dask worker {address}` in the project's root)")


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
