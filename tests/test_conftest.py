"""The options of our own that a run of the tests takes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.checkout import ROOT


@pytest.mark.slow
@pytest.mark.parametrize(("name", "left_out"), [("integration/test_fault_bench.py", 1), ("unit/test_wording.py", 0)])
def test_slow_tests_that_would_begin_too_late_are_skipped_and_say_so(name: str, left_out: int) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--slow-within", "0", f"tests/{name}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert ("minutes of slow tests are over" in done.stdout, f"{left_out} skipped" in done.stdout) == (left_out > 0, left_out > 0)
    assert (" passed" in done.stdout) == (not left_out)
