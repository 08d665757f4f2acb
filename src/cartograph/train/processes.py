"""Several processes that train together on one machine: started with torchrun, watched, and ended with the process that started them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import torch

from cartograph.errors import CartographError, InputError
from cartograph.models.isolation import available_threads
from cartograph.train.recipe import Recipe

_PROGRESS = "progress"
_BETWEEN = 0.1


def process_count(recipe: Recipe, wanted: int | None) -> int:
    """Return how many processes train: as many as wanted, or one per GPU.

    Raises:
        InputError: more than there are GPUs, where GPUs are used.
    """
    gpus = 0 if recipe.device == "cpu" else torch.cuda.device_count()
    if wanted is None:
        return max(gpus, 1)
    if gpus and wanted > gpus:
        seen = f"{gpus} GPU" + "s" * (gpus > 1)
        raise InputError(f"{wanted} processes are asked for, and this machine has {seen}; set `processes` to auto, or device to `cpu`.")
    return wanted


def launch(
    recipe: Recipe,
    train: Path,
    evaluation: Mapping[str, Path],
    folder: Path,
    processes: int,
    progress: Callable[[int, int], None] | None,
    held_out: Path | None = None,
) -> None:
    """Train in several processes and wait for them.

    Raises:
        InputError: as one of them raised it.
        CartographError: one of them ended otherwise.
    """
    folder.mkdir(parents=True, exist_ok=True)
    job, failure = folder / "job.json", folder / "error.json"
    failure.unlink(missing_ok=True)
    sets = {name: str(path) for name, path in evaluation.items()}
    content = {"recipe": recipe.to_json(), "train": str(train), "evaluation": sets, "folder": str(folder), "starter": os.getpid()}
    job.write_text(json.dumps(content | {"held_out": None if held_out is None else str(held_out)}))
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1", f"--nproc-per-node={processes}"]
    log = folder / "processes.log"
    command = [*torchrun, "-m", "cartograph.train.fit", str(job)]
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=_environment(processes)) as running,
    ):
        try:
            _follow(running, progress)
        finally:
            running.terminate()
    if running.returncode:
        if failure.exists():
            raise InputError(json.loads(failure.read_text(encoding="utf-8"))["message"])
        last = " / ".join(line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()[-3:])
        raise CartographError(f"training in {processes} processes ended with code {running.returncode}: {last} (all of it in {log}).")


def _follow(running: subprocess.Popen[str], progress: Callable[[int, int], None] | None) -> None:
    for line in running.stdout or ():
        words = line.split()
        if progress is not None and len(words) == 3 and words[0] == _PROGRESS:
            progress(int(words[1]), int(words[2]))
    running.wait()


def _environment(processes: int) -> dict[str, str]:
    environment = dict(os.environ)
    environment["OMP_NUM_THREADS"] = str(available_threads(processes))
    if Path("/sys/class/net/lo").exists():
        environment |= {"GLOO_SOCKET_IFNAME": "lo", "NCCL_SOCKET_IFNAME": "lo"}
    return environment


def run_worker(job: Path, fit: Callable[..., Any]) -> int:
    """Do one process's part of a job that ``launch`` wrote; return the exit code."""
    content = json.loads(job.read_text(encoding="utf-8"))
    folder = Path(content["folder"])
    _end_with(content["starter"])
    tables = {name: pq.ParquetFile(path).read() for name, path in content["evaluation"].items()}
    held_out = None if content["held_out"] is None else pq.ParquetFile(content["held_out"]).read()
    progress = _ProgressLines() if os.environ.get("RANK") == "0" else None
    try:
        fit(Recipe(**content["recipe"]), pq.ParquetFile(content["train"]).read(), tables, folder, progress=progress, held_out=held_out)
    except CartographError as error:
        failure = folder / f"error.{os.environ.get('RANK', '0')}.tmp"
        failure.write_text(json.dumps({"message": str(error)}), encoding="utf-8")
        failure.replace(folder / "error.json")
        return error.exit_code
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
    return 0


class _ProgressLines:
    """Progress as lines of standard output, which ``_follow`` reads; at most one every tenth of a second."""

    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._last >= _BETWEEN or done == total:
            self._last = now
            sys.stdout.write(f"{_PROGRESS} {done} {total}\n")
            sys.stdout.flush()


def _end_with(starter: int) -> None:
    """End this process soon after the one that started the training, however that one ended."""

    def watch() -> None:
        while True:
            try:
                os.kill(starter, 0)
            except ProcessLookupError:
                os._exit(1)
            time.sleep(_BETWEEN)

    threading.Thread(target=watch, daemon=True).start()
