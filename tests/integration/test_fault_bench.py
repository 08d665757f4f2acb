"""A small draw of the fault bench: nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_draw_of_every_kind_of_fault_loses_nothing() -> None:
    kills, seed, each = "1", "7", "1"
    command = [sys.executable, str(ROOT / "benchmarks" / "faults.py"), kills, seed, each]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    rows = {line[:32].strip(): [int(word) for word in line[32:].split()[:3]] for line in done.stdout.splitlines()[1:]}
    tried, survived, lost = rows["all"]
    assert (lost, survived) == (0, tried) and tried >= 16
    assert len(rows) == 6 and all(row[0] >= 1 for row in rows.values())
