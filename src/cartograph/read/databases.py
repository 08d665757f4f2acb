"""Queries of databases: kept as a Parquet file, asked whether they have changed.

The address is in an environment variable that the entry names (``env:REVIEWS_DB``), as ``postgresql://…``, ``sqlite:///FILE``,
``duckdb:///FILE``, ``snowflake://…``, ``bigquery:///…`` or ``grpc+tls://…`` (Flight SQL); it is in no file and no message. A query runs in
a process of its own, in a read-only transaction where the database has one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cartograph.errors import InputError

PREFIX = "query://"
_GRACE = 3
"""Seconds that a process has to start and end besides."""
_VARIABLE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True)
class Query:
    """A query of a database.

    Attributes:
        database: the environment variable that holds the address, as ``env:NAME``.
        query: one statement that returns rows.
        watermark: a cheap query that returns another row whenever the rows have changed; None without one.
    """

    database: str
    query: str
    watermark: str | None = None

    @property
    def variable(self) -> str:
        """The name of the environment variable."""
        return variable_of(self.database)

    @property
    def path(self) -> str:
        """What stands for it where files have their path: a digest of the query, and the variable's name."""
        digest = hashlib.sha256(f"{self.database}\n{self.query}".encode()).hexdigest()[:8]
        return f"{PREFIX}{digest}/{self.variable}.parquet"


def variable_of(database: str) -> str:
    """Return the environment variable's name in ``env:NAME``.

    Raises:
        InputError: it is written otherwise; what was written, which may be a secret, is not shown.
    """
    match = _VARIABLE.fullmatch(database)
    if match is None:
        raise InputError("a database is written env:NAME, where NAME is the environment variable that holds its address.")
    return match[1]


def mark_of(query: Query, seconds: float) -> str | None:
    """Return what the watermark says now; None where the query has none.

    Raises:
        InputError: as ``snapshot``.
    """
    if query.watermark is None:
        return None
    first = _ask(query, query.watermark, None, 0, seconds)["first"]
    return json.dumps([query.watermark, *first], ensure_ascii=False)


def snapshot(query: Query, target: Path, *, max_bytes: int, seconds: float) -> int:
    """Write a query's rows to a Parquet file; return how many there are.

    Args:
        query: of a database.
        target: the file to write.
        max_bytes: the most that is read, as Arrow holds it.
        seconds: the longest that it may take.

    Raises:
        InputError: the variable is not set, the database cannot be read, or the query fails, takes too long, or returns too much.
    """
    rows: int = _ask(query, query.query, target, max_bytes, seconds)["rows"]
    return rows


def _ask(query: Query, statement: str, target: Path | None, max_bytes: int, seconds: float) -> dict[str, Any]:
    name = f"the database of {query.database}"
    if not os.environ.get(query.variable):
        raise InputError(
            f"{name} cannot be read: the environment variable {query.variable} is not set; set it to an address such as "
            "postgresql://USER@HOST/NAME or sqlite:///FILE."
        )
    request = {
        "variable": query.variable,
        "query": statement,
        "target": None if target is None else str(target),
        "max_bytes": max_bytes,
        "seconds": seconds,
    }
    return ask_process("cartograph.read.database_process", request, name, seconds)


def ask_process(module: str, request: dict[str, Any], name: str, seconds: float, *, limit: str = "fetch.max_seconds") -> dict[str, Any]:
    """Return what a process that runs a module answers to a request: JSON both.

    Args:
        module: reads the request from standard input and prints the answer; ``error`` in it is how a sentence about ``name`` goes on.
        request: what is asked.
        name: what messages call the source.
        seconds: the longest that it may take.
        limit: the key of params.yaml that says so.

    Raises:
        InputError: it answers with an error, takes too long, or ends without an answer.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-m", module],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            check=False,
            # A server ends its statement itself, where it can.
            timeout=seconds + _GRACE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"{name}: it took longer than {seconds:,.0f} seconds, which `{limit}` allows; raise that, or select less."
        ) from None
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise InputError(f"{name} cannot be used: its driver ended with {done.returncode}; try it without Cartograph.") from None
    if "error" in answer:
        raise InputError(f"{name} {answer['error']}.")
    return answer
