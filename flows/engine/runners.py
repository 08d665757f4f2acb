"""Where the steps of a flow are computed: in the flow's own process, in several processes, or on a Dask cluster.

A step's task waits and is reported in the flow's process wherever its step is computed. Prefect's own runners for processes and Dask
cannot do this: they look at only as many waiting tasks as there are workers, or hand them all to Dask; a killed process ends every task of
its pool, and Prefect has no state for them; and neither lets a task go on after an upstream task that failed.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal

from cartograph.errors import InputError
from flows.engine.automatic import AsManyAsPay
from flows.engine.dask_cluster import DaskCluster, check_scheduler
from flows.engine.processes import Processes
from flows.engine.runner import OwnProcess, Runner
from tasks.engine.workspace import Workspace

RUNNERS = ("local", "dask")

Workers = int | Literal["auto"]


def open_runner(workspace: Workspace, name: str = "local", workers: Workers = "auto", address: str | None = None) -> Runner:
    """Return where steps are computed.

    Args:
        workspace: whose steps are computed.
        name: ``local`` or ``dask``.
        workers: how many steps that train may run at once; 1 on ``local``: in this process, else in as many processes; ``auto``: as many as
            pay (``AsManyAsPay``). On ``dask`` the size of a local cluster, where no address is given (``auto``: as many as cores). On a
            machine with GPUs each process or worker has one.
        address: of the scheduler of a running Dask cluster, ``tcp://HOST:PORT``; its workers see this project under the same path.

    Raises:
        InputError: as ``check_runner`` says.
    """
    check_runner(name, address)
    if name == "dask":
        from cartograph.models.isolation import available_threads

        return DaskCluster(available_threads() if workers == "auto" else workers, address)
    if workers == "auto":
        return AsManyAsPay(workspace)
    return OwnProcess() if workers == 1 else Processes(workers)


def workers_of(text: str) -> Workers:
    """Return what ``--workers`` was given.

    Raises:
        InputError: it is neither a number of at least 1 nor ``auto``.
    """
    if text == "auto":
        return "auto"
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"--workers {text}: expected a number of at least 1, or auto (as many as pay).")
    return int(text)


def check_runner(name: str, address: str | None) -> None:
    """Check that there is such a runner.

    Raises:
        InputError: an unknown name, an address without Dask, no scheduler at the address, or a scheduler or worker there that does not
            see this project.
    """
    if name not in RUNNERS:
        raise InputError(f"--runner {name}: there is no such runner; there are {', '.join(RUNNERS)}.")
    if name == "local" and address is not None:
        raise InputError("--address is of a Dask scheduler; add --runner dask.")
    if name == "dask" and find_spec("distributed") is None:
        raise InputError(
            "--runner dask needs the library `distributed`, which is not installed here; `pip install -c constraints.txt -e '.[dask]'`, or "
            "use --workers N without Dask."
        )
    if address is not None:
        check_scheduler(address)
