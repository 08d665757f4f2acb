"""Worker processes: a GPU each, one that is killed takes nothing else with it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from cartograph.errors import InputError
from flows.engine.processes import Processes
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
