"""What `make` shows while it installs: read from pip's own lines."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / ".ci" / "install.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = spec_from_file_location("install", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_packages_are_counted_and_large_downloads_named(script: ModuleType) -> None:
    done = script.Installation(expected=300)
    lines = [
        "Obtaining file:///home/reader/cartograph",
        "Collecting numpy==2.4.6 (from -c constraints.txt (line 3))",
        "  Downloading https://files.example/numpy-2.4.6-cp311-manylinux_x86_64.whl (16.6 MB)",
        "Collecting torch",
        "  Downloading torch-2.13.0-cp311-manylinux_x86_64.whl (1.2 GB)",
        "Collecting torch",
    ]
    assert [done.read(line) for line in lines] == [None, None, None, None, "downloading torch (1,200 MB)", None]
    assert done.state(2) == "2 of about 300 packages found"
    done.read("Installing collected packages: numpy, torch, cartograph")
    assert done.state(1) == "1 of 3 packages installed"


def test_pips_complaint_and_its_exit_code_come_through(tmp_path: Path) -> None:
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("numpy==2.4.6\ntorch==2.13.0\n")
    command = [sys.executable, str(SCRIPT), "-c", str(constraints), "--no-index", "no-package-has-this-name"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "no-package-has-this-name" in done.stderr and "ready" not in done.stdout
