"""Memory given back: what only a cycle holds, and what the C library keeps."""

from __future__ import annotations

import subprocess
import sys
from weakref import ref

import pytest

from cartograph.data.memory import release_memory


class Node:
    """Refers to itself."""

    def __init__(self) -> None:
        self.itself = self


def test_a_cycle_of_many_rows_is_collected_and_one_of_few_is_left() -> None:
    few = ref(Node())
    release_memory(10)
    assert few() is not None
    release_memory(100_000)
    assert few() is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and asks glibc")
def test_a_process_shrinks() -> None:
    code = """
import numpy as np
from cartograph.data.memory import release_memory
def resident():
    return int(open('/proc/self/statm').read().split()[1]) * 4096
small = [bytes(2_000) for _ in range(100_000)]
kept = small[::1000]
del small
before = resident()
release_memory(100_000)
print(before - resident())
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(found.stdout) > 100e6
