"""Steps computed in several processes on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from queue import SimpleQueue
from threading import Lock

from cartograph.data.progress import Progress
from cartograph.data.spread import Found, in_turn
from cartograph.errors import CartographError
from flows.engine.parent_death import end_with_parent
from flows.engine.runner import VISIBLE, LostProcessError, Result, Runner, compute
from tasks.engine.surroundings import prepare


class Processes(Runner):
    """Several processes on this machine, one step at a time each; with GPUs one each, in turn.

    Each is a pool of its own, so that one that is killed takes no other step with it.
    """

    def __init__(self, workers: int) -> None:
        from cartograph.models.isolation import available_gpus

        gpus = available_gpus()
        self.at_once = workers
        self.spread = partial(in_children, workers)
        # A process ends with the thread that started it: this one lives as long as all of them.
        self._starter = ThreadPoolExecutor(1, "starter")
        self._all = [_Process(gpus[place % len(gpus)] if gpus else None, self._starter) for place in range(workers)]
        self._free: SimpleQueue[_Process] = SimpleQueue()
        for process in self._all:
            self._free.put(process)
        self._door = Lock()

    def run(self, work: Callable[[], Result], *, alone: bool = False) -> Result:
        """Compute it in the next free process; alone: once all processes are free."""
        # Whoever waits for several processes lets nobody else in before.
        with self._door:
            held = [self._free.get() for _ in range(self.at_once if alone else 1)]
        try:
            return held[0].run(work)
        finally:
            for process in held:
                self._free.put(process)

    def close(self) -> None:
        """End the processes, each after what it computes."""
        for process in self._all:
            process.end()
        self._starter.shutdown()


class _Process:
    """A worker process, started when first needed and replaced when killed, always with the same GPU."""

    def __init__(self, gpu: str | None, starter: ThreadPoolExecutor) -> None:
        self._gpu = gpu
        self._starter = starter
        self._pool = self._new()

    def _new(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, get_context("spawn"), start_worker, (self._gpu, os.getpid()))

    def _submit(self, work: Callable[[], Result]) -> Future[Result]:
        # What is submitted first starts the process.
        return self._starter.submit(self._pool.submit, compute, work).result()

    def run(self, work: Callable[[], Result]) -> Result:
        try:
            future = self._submit(work)
        except BrokenProcessPool:
            # Killed while it had nothing to do.
            self._replace()
            future = self._submit(work)
        try:
            return future.result()
        except BrokenProcessPool as error:
            self._replace()
            raise LostProcessError(f"{type(error).__name__}: {error}") from error

    def _replace(self) -> None:
        self.end()
        self._pool = self._new()

    def end(self) -> None:
        self._pool.shutdown()


def start_worker(gpu: str | None, parent: int) -> None:
    """Begin a worker process: it ends with its parent; set the libraries' switches, and show it its own GPU alone, where it has one."""
    end_with_parent(parent, signalled=True)
    prepare()
    if gpu is not None:
        os.environ[VISIBLE] = gpu


def in_children(
    workers: int,
    pieces: Sequence[Callable[[Progress | None], Found]],
    heard: Callable[[int], Progress | None] = lambda number: None,
) -> Iterator[Found]:
    """Compute a step's pieces in so many processes of its own at once; see ``Spread``. With a GPU, which they would share, in turn."""
    from cartograph.models.isolation import available_gpus

    number = min(workers, len(pieces))
    if number < 2 or available_gpus():
        yield from in_turn(pieces, heard)
        return
    with ProcessPoolExecutor(number, get_context("spawn"), start_worker, (None, os.getpid())) as pool:
        # All are submitted by the thread that waits for them: the processes end with it.
        for piece in [pool.submit(compute, partial(piece, None)) for piece in pieces]:
            try:
                yield piece.result()
            except BrokenProcessPool as error:
                raise CartographError(
                    f"a process that computed a part of it was ended, perhaps for want of memory ({error}); run it again, which goes on "
                    "where it stopped, with --workers 1."
                ) from error
