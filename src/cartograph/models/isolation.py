"""Global state of a training: seeds, threads, determinism and silence while it runs, all of it restored afterwards."""

from __future__ import annotations

import importlib.util
import logging
import os
import random
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch
from accelerate.state import AcceleratorState, GradientState
from huggingface_hub.utils import logging as hub_logging
from transformers.utils import logging as transformers_logging

from cartograph.errors import InputError

_ONE_AT_A_TIME = threading.Lock()
_LOOKED_FOR = "lomo_optim"
_VARIABLES = ("ACCELERATE_", "CUBLAS_WORKSPACE_CONFIG", "TORCHDYNAMO_")


@contextmanager
def isolated(seed: int, threads: int) -> Iterator[None]:
    """Run the block with seeded global generators, this many CPU threads, deterministic algorithms, TF32 on GPUs and no log lines.

    Trainings in several threads of one process take turns: torch's generator is the whole process's. The number of
    CPU threads is set in the calling thread, because OpenMP keeps it per thread; so a training in a worker thread
    computes the same bytes as one in the main thread.
    """
    numbers = (_generators(), _threads(threads), _determinism(), _products())
    with _ONE_AT_A_TIME, ExitStack() as stack:
        for part in (*numbers, _environment(), _silence(), _accelerate(), _known_absent()):
            stack.enter_context(part)
        seed_everything(seed)
        yield


def seed_everything(*key: int) -> None:
    """Seed Python's, NumPy's and torch's global generators from a key such as (seed, epoch, rank)."""
    state = int(np.random.SeedSequence(key).generate_state(1, np.uint64)[0] >> np.uint64(1))
    random.seed(state)
    np.random.seed(state % 2**32)  # noqa: NPY002 - Hugging Face's code draws from the global generator
    torch.manual_seed(state)


def available_threads(processes: int = 1) -> int:
    """Return the CPU cores that this process may use, shared among the processes of a training."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(cores // processes, 1)


def available_gpus() -> list[str]:
    """Return the names of the GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them; empty without a GPU."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [name for name in named.split(",") if name]
    return [str(place) for place in range(torch.cuda.device_count())]


def require_device(device: str, instead: str = "`auto` or `cpu`") -> None:
    """Check that there is a GPU where ``cuda`` is asked for.

    Raises:
        InputError: torch sees no GPU; the message proposes what to set ``instead``.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError(f"device is `cuda`, but torch sees no GPU here; set it to {instead}.")


@contextmanager
def _generators() -> Iterator[None]:
    python, numpy, cpu = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
        torch.set_rng_state(cpu)
        if cuda:
            torch.cuda.set_rng_state_all(cuda)


@contextmanager
def _environment() -> Iterator[None]:
    before = {name: value for name, value in os.environ.items() if name.startswith(_VARIABLES)}
    if torch.cuda.is_available():
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    try:
        yield
    finally:
        for name in [name for name in os.environ if name.startswith(_VARIABLES) and name not in before]:
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def _threads(number: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _determinism() -> Iterator[None]:
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    memory: Any = torch.utils.deterministic
    fill, benchmark = memory.fill_uninitialized_memory, torch.backends.cudnn.benchmark
    kernels: Any = torch.backends.cuda
    attention = kernels.cudnn_sdp_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    memory.fill_uninitialized_memory = False
    torch.backends.cudnn.benchmark = False
    # cuDNN's attention adds in no order; torch's own can be required to (``backward``).
    kernels.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        memory.fill_uninitialized_memory = fill
        torch.backends.cudnn.benchmark = benchmark
        kernels.enable_cudnn_sdp(attention)


@contextmanager
def _products() -> Iterator[None]:
    """Have GPUs multiply numbers of float32 by TF32, which keeps three digits of them and adds in float32; a CPU does not."""
    if not torch.cuda.is_available():
        yield
        return
    matmul: Any = torch.backends.cuda.matmul
    # Before torch 2.9 the setting had another name.
    name, wanted = ("fp32_precision", "tf32") if hasattr(matmul, "fp32_precision") else ("allow_tf32", True)
    before = getattr(matmul, name)
    setattr(matmul, name, wanted)
    try:
        yield
    finally:
        setattr(matmul, name, before)


@contextmanager
def _silence() -> Iterator[None]:
    verbosity, bars = transformers_logging.get_verbosity(), transformers_logging.is_progress_bar_enabled()
    hub = hub_logging.get_verbosity()
    transformers_logging.set_verbosity_error()
    hub_logging.set_verbosity(logging.ERROR)
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        hub_logging.set_verbosity(hub)
        if bars:
            transformers_logging.enable_progress_bar()


@contextmanager
def _accelerate() -> Iterator[None]:
    _forget_accelerate()
    try:
        yield
    finally:
        _forget_accelerate()


def _forget_accelerate() -> None:
    AcceleratorState._reset_state(reset_partial_state=True)
    GradientState._reset_state()


@contextmanager
def _known_absent() -> Iterator[None]:
    """Have the import system remember that a package is not installed: accelerate looks for it on the disk twice a step."""
    absent = _LOOKED_FOR not in sys.modules and importlib.util.find_spec(_LOOKED_FOR) is None
    if absent:
        sys.modules[_LOOKED_FOR] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        if absent:
            del sys.modules[_LOOKED_FOR]
