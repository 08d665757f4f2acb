"""Tables of an audit to write, and a process that writes them and is killed on the way."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Mapping

import pyarrow as pa

from cartograph.write.tables import TABLES

FIRST, SECOND = "ab12" * 16, "cd34" * 16


def tables(audit: str, rows: int = 3, label: str = "good", of: Mapping[str, pa.Schema] = TABLES) -> dict[str, pa.Table]:
    """Tables of an audit with so many rows each."""

    def value(field: pa.Field, row: int) -> object:
        if field.name in ("audit", "uid", "label"):
            return {"audit": audit, "uid": f"{row}", "label": label}[field.name]
        return {pa.string(): "it's", pa.int64(): row, pa.float64(): 0.5}[field.type]

    return {
        name: pa.table([pa.array([value(field, row) for row in range(rows)], field.type) for field in schema], schema=schema)
        for name, schema in of.items()
    }


def killed(script: str, *arguments: str) -> None:
    """Run a script that ends by a kill of its own process, which nothing can catch."""
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
