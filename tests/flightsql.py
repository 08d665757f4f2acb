"""A real server of Flight SQL on a loopback port: ROAPI, which answers queries of Parquet files."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

PASSWORD = "pl4nted-s3cret"
_SECONDS = 30


@contextmanager
def server(folder: Path, **tables: pa.Table) -> Iterator[str]:
    """Run a server with tables until the block ends, and give its address; it accepts a password alone."""
    program = shutil.which("roapi", path=str(Path(sys.executable).parent)) or shutil.which("roapi")
    if program is None:
        pytest.skip("needs ROAPI, the server of Flight SQL that pip installs, which is not installed")
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    ports = _free(3)
    settings = {
        "addr": {kind: f"127.0.0.1:{port}" for kind, port in zip(("flight_sql", "http", "postgres"), ports, strict=True)},
        "flight_sql_config": {"auth_basic": {"username": "auditor", "password": PASSWORD}},
        "tables": [{"name": name, "uri": str(folder / f"{name}.parquet")} for name in tables],
    }
    (folder / "roapi.yml").write_text(yaml.safe_dump(settings))
    with (folder / "log").open("w") as log, subprocess.Popen([program, "-c", "roapi.yml"], cwd=folder, stdout=log, stderr=log) as process:
        try:
            _wait(ports[0], process, folder / "log")
            yield f"grpc://auditor:{PASSWORD}@127.0.0.1:{ports[0]}"
        finally:
            process.kill()


def _free(count: int) -> list[int]:
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    pytest.fail(f"the server of Flight SQL does not start: {log.read_text()}")
