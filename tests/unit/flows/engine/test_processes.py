"""Worker processes: a GPU each, one that is killed takes nothing else with it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from cartograph.data.progress import Progress
from cartograph.errors import CartographError, InputError
from flows.engine.processes import Processes, in_children
from flows.engine.runner import VISIBLE, LostProcessError, OwnProcess, compute


@pytest.fixture
def three_for_two_gpus(monkeypatch: pytest.MonkeyPatch) -> Iterator[Processes]:
    monkeypatch.setenv(VISIBLE, "3,GPU-5a")
    with Processes(3) as processes:
        yield processes


def test_workers_have_gpus_in_turn_and_one_that_is_replaced_has_the_same(three_for_two_gpus: Processes) -> None:
    seen = [three_for_two_gpus.run(partial(os.getenv, VISIBLE)) for _ in range(3)]
    assert seen == ["3", "GPU-5a", "3"]
    three_for_two_gpus.run(os.getpid)
    with pytest.raises(LostProcessError, match="BrokenProcessPool"):
        three_for_two_gpus.run(partial(os._exit, 1))
    assert [three_for_two_gpus.run(partial(os.getenv, VISIBLE)) for _ in range(3)] == ["3", "3", "GPU-5a"]
    assert os.environ[VISIBLE] == "3,GPU-5a", "in the flow's own process nothing changes"


def wait_for(path: Path) -> str:
    while not path.exists():
        time.sleep(0.01)
    return "done"


def there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_process_that_is_killed_takes_no_other_step_with_it_and_none_while_it_has_nothing_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VISIBLE, "")
    go = tmp_path / "go"
    with Processes(2) as processes, ThreadPoolExecutor() as threads:
        other = threads.submit(processes.run, partial(wait_for, go))
        while processes._free.qsize() == 2:
            time.sleep(0.01)
        with pytest.raises(LostProcessError):
            processes.run(partial(os._exit, 1))
        idle = processes.run(os.getpid)
        os.kill(idle, 9)
        while there(idle):
            time.sleep(0.01)
        assert processes.run(os.getpid) != idle
        go.touch()
        assert other.result() == "done"


def test_a_step_that_runs_alone_waits_for_the_others_and_lets_none_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VISIBLE, "")
    go, order = tmp_path / "go", []
    with Processes(2) as processes, ThreadPoolExecutor() as threads:
        first = threads.submit(processes.run, partial(wait_for, go))
        while processes._free.qsize() == 2:
            time.sleep(0.01)
        alone = threads.submit(processes.run, os.getpid, alone=True)
        alone.add_done_callback(lambda _: order.append("alone"))
        while processes._free.qsize():
            time.sleep(0.01)
        after = threads.submit(processes.run, os.getpid)
        after.add_done_callback(lambda _: order.append("after"))
        time.sleep(0.1)
        assert not alone.done() and not after.done()
        go.touch()
        assert first.result() == "done"
        after.result()
    assert order == ["alone", "after"]


class Odd(Exception):
    def __init__(self, number: int, text: str) -> None:
        super().__init__(text)


def raise_odd() -> None:
    raise Odd(3, "three")


def raise_key() -> None:
    raise KeyError("three")


def raise_for_the_user() -> None:
    raise InputError("no such file")


def test_an_error_for_the_user_comes_back_as_it_is_and_any_other_as_one_that_every_process_can_read() -> None:
    with pytest.raises(RuntimeError, match=r"^Odd: three$"):
        compute(raise_odd)
    with pytest.raises(RuntimeError, match=r"^KeyError: 'three'$"):
        compute(raise_key)
    with pytest.raises(InputError, match="no such file"):
        compute(raise_for_the_user)


def test_in_the_flows_own_process_a_step_is_computed_in_the_thread_that_asks() -> None:
    with OwnProcess() as runner:
        assert runner.run(os.getpid, alone=True) == os.getpid()
        assert runner.at_once == 1


def piece_of_work(number: int, progress: Progress | None) -> tuple[int, int]:
    if progress is not None:
        progress(1, 1)
    if number < 0:
        os._exit(1)
    if number > 9:
        raise InputError(f"piece {number} is too large")
    # Those that were submitted first end last.
    time.sleep(0.2 - 0.05 * number)
    return number, os.getpid()


def test_pieces_of_a_step_are_computed_in_processes_of_their_own_and_come_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VISIBLE, "")
    heard: list[int] = []
    found = list(
        in_children(2, [partial(piece_of_work, number) for number in range(4)], lambda number: lambda done, total: heard.append(number))
    )
    assert [number for number, _ in found] == [0, 1, 2, 3]
    assert len({process for _, process in found}) == 2
    assert os.getpid() not in {process for _, process in found}
    assert heard == [], "what is computed elsewhere is not heard of"


@pytest.mark.parametrize(("workers", "gpus"), [(1, ""), (2, "0,1")])
def test_one_process_and_processes_that_would_share_a_gpu_compute_none(workers: int, gpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VISIBLE, gpus)
    heard: list[int] = []
    found = in_children(
        workers, [partial(piece_of_work, number) for number in (2, 3)], lambda number: lambda done, total: heard.append(number)
    )
    assert list(found) == [(2, os.getpid()), (3, os.getpid())]
    assert heard == [0, 1]


def test_a_piece_that_fails_or_is_killed_ends_the_step_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VISIBLE, "")
    with pytest.raises(InputError, match="piece 12 is too large"):
        list(in_children(2, [partial(piece_of_work, number) for number in (1, 12)]))
    with pytest.raises(CartographError, match=r"perhaps for want of memory .* with --workers 1"):
        list(in_children(2, [partial(piece_of_work, number) for number in (1, -1)]))
