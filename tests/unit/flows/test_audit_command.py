"""The command line of an audit, up to where a flow begins."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(("name", "message"), [("missing.csv", "does not exist"), ("rows.csv", "has no column `txt`")])
def test_a_file_that_is_not_as_it_was_said_to_be_is_refused_before_prefect_is_imported(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("text,label\ngood,a\nbad,b\n")
    command = [sys.executable, "-X", "importtime", "-m", "flows.audit", "--data", str(tmp_path / name), "--text", "txt"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.splitlines() if not line.startswith("import time:")]
    assert done.returncode == 2 and message in " ".join(said)
    assert " cartograph.errors" in done.stderr and " prefect" not in done.stderr and " torch" not in done.stderr
