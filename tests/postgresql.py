"""A real PostgreSQL server on a loopback port, of the system's own binaries."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

PASSWORD = "pl4nted-s3cret"


@dataclass(frozen=True)
class Server:
    """A running server; ``address`` holds the password of its only user."""

    port: int

    @property
    def address(self) -> str:
        return f"postgresql://auditor:{PASSWORD}@127.0.0.1:{self.port}/postgres"

    def run(self, *statements: str) -> None:
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.address) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            connection.commit()

    def ask(self, query: str) -> list[tuple[object, ...]]:
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(self.address) as connection, connection.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())


def _binaries() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [Path(shutil.which("initdb") or "")]
    if not found[-1].is_file():
        pytest.skip("needs PostgreSQL's server, such as Debian's package postgresql, which is not installed")
    return found[-1].parent


@contextmanager
def server() -> Iterator[Server]:
    """Run a server until the block ends; it accepts a password alone."""
    # Not in pytest's folders, which root alone may enter.
    with TemporaryDirectory(prefix="postgresql-") as folder, _running(_binaries(), Path(folder)) as found:
        yield found


@contextmanager
def _running(binaries: Path, folder: Path) -> Iterator[Server]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # PostgreSQL does not run as root.
    user = "postgres" if getpass.getuser() == "root" else None
    password = folder / "password"
    password.write_text(PASSWORD)
    if user:
        shutil.chown(folder, user)
        shutil.chown(password, user)
    data = folder / "data"

    def call(*command: str) -> None:
        done = subprocess.run(
            command, user=user, cwd=folder, env={"PATH": os.environ["PATH"], "LC_ALL": "C"}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr + done.stdout

    call(str(binaries / "initdb"), "-D", str(data), "-U", "auditor", "-A", "scram-sha-256", f"--pwfile={password}", "-E", "UTF8")
    options = f"-p {port} -h 127.0.0.1 -k {folder} -c fsync=off"
    call(str(binaries / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log"), "-o", options, "start")
    try:
        yield Server(port)
    finally:
        call(str(binaries / "pg_ctl"), "-D", str(data), "-w", "-m", "immediate", "stop")
