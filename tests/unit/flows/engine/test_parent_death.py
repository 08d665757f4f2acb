"""Processes end with the one that started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
WORKERS = """
import time
from functools import partial
from flows.engine.processes import Processes
import os
if __name__ == "__main__":
    with Processes(2) as processes:
        print(processes.run(os.getpid), processes.run(os.getpid), flush=True)
        time.sleep(600)
"""
CHILD = """
import os, time
from flows.engine.parent_death import end_with_parent
end_with_parent(os.getppid())
print(os.getpid(), flush=True)
time.sleep(600)
"""
WATCHED = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {CHILD!r}])"
ENVIRONMENT = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}", "CUDA_VISIBLE_DEVICES": ""}
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")


def is_there(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("script", [WORKERS, WATCHED], ids=["workers", "watchdog alone"])
def test_they_end_when_it_is_killed(tmp_path: Path, script: str) -> None:
    (tmp_path / "started.py").write_text(script)
    started = subprocess.Popen([sys.executable, str(tmp_path / "started.py")], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    children = [int(word) for word in started.stdout.readline().split()]
    assert children and all(map(is_there, children))
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    for _ in range(100):
        if not any(map(is_there, children)):
            break
        time.sleep(0.1)
    assert not any(map(is_there, children))
    started.stdout.close()


def test_one_that_is_only_watched_outlives_the_thread_that_started_it() -> None:
    started: list[subprocess.Popen[str]] = []

    def start() -> None:
        process = subprocess.Popen([sys.executable, "-c", CHILD], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        process.stdout.readline()
        started.append(process)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    with started[0] as process:
        try:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(1)
        finally:
            process.kill()


SIGNALLED = """
import os, time
from flows.engine import parent_death
parent_death._BETWEEN_SECONDS = 600
parent_death.end_with_parent(os.getppid(), signalled=True)
print(os.getpid(), flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux signals it")
def test_one_that_is_signalled_ends_at_once_though_it_does_not_come_to_look() -> None:
    script = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {SIGNALLED!r}])"
    with subprocess.Popen([sys.executable, "-c", script], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        child = int(started.stdout.readline())
        started.kill()
    try:
        for _ in range(100):
            if not is_there(child):
                break
            time.sleep(0.05)
        assert not is_there(child)
    finally:
        if is_there(child):
            os.kill(child, signal.SIGKILL)
