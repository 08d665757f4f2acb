"""Several processes that train together on one machine: started with torchrun, watched, and ended with the process that started them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import torch

from cartograph.errors import InputError
from cartograph.models.isolation import available_threads
from cartograph.schema import ROW, SOURCE
from cartograph.train.child_process import ProgressLines, answer, run_child
from cartograph.train.recipe import Recipe


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
    job = folder / "job.json"
    sets = {name: str(path) for name, path in evaluation.items()}
    content = {"recipe": recipe.to_json(), "train": str(train), "evaluation": sets, "folder": str(folder), "starter": os.getpid()}
    job.write_text(json.dumps(content | {"held_out": None if held_out is None else str(held_out)}))
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1", f"--nproc-per-node={processes}"]
    command = [*torchrun, "-m", "cartograph.train.fit", str(job)]
    run_child(command, folder / "processes.log", f"training in {processes} processes", progress, _environment(processes))


def _environment(processes: int) -> dict[str, str]:
    environment = dict(os.environ)
    environment["OMP_NUM_THREADS"] = str(available_threads(processes))
    if Path("/sys/class/net/lo").exists():
        environment |= {"GLOO_SOCKET_IFNAME": "lo", "NCCL_SOCKET_IFNAME": "lo"}
    return environment


def read_set(path: Path) -> pa.Table:
    """Return a set without where its rows stood in their files, which no model reads."""
    file = pq.ParquetFile(path)
    return file.read([name for name in file.schema_arrow.names if name not in (SOURCE, ROW)])


def run_worker(job: Path, fit: Callable[..., Any]) -> int:
    """Do one process's part of a job that ``launch`` wrote; return the exit code."""

    def work(content: dict[str, Any]) -> None:
        tables = {name: read_set(Path(path)) for name, path in content["evaluation"].items()}
        held_out = None if content["held_out"] is None else read_set(Path(content["held_out"]))
        train, folder = read_set(Path(content["train"])), Path(content["folder"])
        progress = ProgressLines() if os.environ.get("RANK") == "0" else None
        fit(Recipe(**content["recipe"]), train, tables, folder, progress=progress, held_out=held_out)

    try:
        return answer(job, work)
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
