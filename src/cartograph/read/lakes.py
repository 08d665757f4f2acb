"""Tables of a lake (Delta Lake, Apache Iceberg): one version of a table, kept as a Parquet file; which version is the newest.

Credentials are those that the libraries find in the environment; a catalogue of Iceberg is named by the environment variable that holds its
address or properties. They are in no file and no message. A table is only read, in a process of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cartograph.errors import InputError
from cartograph.read.databases import ask_process
from cartograph.read.remote import check_for_secrets, is_remote

PREFIX = "table://"
_CONTAINERS = ("abfs:", "abfss:")
_VARIABLE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
_CATALOG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_PROCESS = "cartograph.read.lake_process"

Format = Literal["delta", "iceberg"]
WORDS: dict[Format, tuple[str, str]] = {"delta": ("Delta", "version"), "iceberg": ("Iceberg", "snapshot")}
"""Format -> its name, and what it calls a version."""


@dataclass(frozen=True)
class LakeTable:
    """A table of a lake.

    Attributes:
        table: path or URL of a Delta table, or ``NAMESPACE.NAME`` of an Iceberg table.
        format: of the table.
        version: of a Delta table, or the snapshot's id of an Iceberg table; None: the newest.
        catalog: Iceberg's: ``env:NAME`` of the variable that holds its address or its properties as JSON, or a catalogue's name in
            PyIceberg's own configuration. None for Delta.
        columns: those that are read; empty for all.
    """

    table: str
    format: Format
    version: int | None = None
    catalog: str | None = None
    columns: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """What stands for it where files have their path: a digest of all that it says, and the table's name."""
        said = json.dumps([self.table, self.format, self.version, self.catalog, self.columns])
        name = re.sub(r"[^\w.-]", "_", self.table.rstrip("/").rpartition("/")[2]).lstrip(".") or "table"
        return f"{PREFIX}{hashlib.sha256(said.encode()).hexdigest()[:8]}/{name}.parquet"

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"the {WORDS[self.format][0]} table {self.table}"

    @property
    def where(self) -> str:
        """The name of its version in params.yaml: ``version`` or ``snapshot``."""
        return WORDS[self.format][1]

    def below(self, root: Path) -> LakeTable:
        """Return the table with a path on disk from a folder on."""
        if self.format == "iceberg" or is_remote(self.table):
            return self
        return LakeTable(str(root / Path(self.table).expanduser()), self.format, self.version, self.catalog, self.columns)


@dataclass(frozen=True)
class State:
    """A table at one version.

    Attributes:
        version: of a Delta table, or the snapshot's id.
        identity: the table's own id; another table at the same place has another.
        columns: names of those that are read.
    """

    version: int
    identity: str
    columns: tuple[str, ...]

    @property
    def mark(self) -> str:
        """What changes whenever the rows may have changed."""
        return json.dumps({"table": self.identity, "version": self.version})


def check_table(table: LakeTable) -> None:
    """Check that a table is written as it can be read, without a secret.

    Raises:
        InputError: its address holds a secret, or its catalogue is written otherwise; what was written is not shown then.
    """
    if table.format == "delta":
        if is_remote(table.table):
            check_for_secrets(table.table, container=table.table.startswith(_CONTAINERS))
    elif table.catalog is None or not (_VARIABLE.fullmatch(table.catalog) or _CATALOG.fullmatch(table.catalog)):
        raise InputError(
            "the `catalog` of an Iceberg table is written env:NAME, where NAME is the environment variable that holds its address or "
            "properties, or is a name in PyIceberg's own configuration."
        )


def look_at(table: LakeTable, seconds: float) -> State:
    """Return a table's state at its version, or at its newest, without reading rows.

    Raises:
        InputError: there is no such table, version or column, or it cannot be read in the time.
    """
    answer = _ask(table, None, 0, seconds)
    return State(answer["version"], answer["identity"], tuple(answer["columns"]))


def mark_of_version(version: int) -> str:
    """Return the mark of a version that an entry names, whichever table has it."""
    return json.dumps({"version": version})


def version_in(mark: str) -> int:
    """Return the version that a mark is of."""
    return int(json.loads(mark)["version"])


def snapshot(table: LakeTable, target: Path, *, max_bytes: int, seconds: float) -> int:
    """Write the rows of one version of a table to a Parquet file; return how many there are.

    Args:
        table: with its version.
        target: the file to write.
        max_bytes: the most that is read, as Arrow holds it.
        seconds: the longest that it may take.

    Raises:
        InputError: there is no such table, version or column, or it cannot be read within the limits.
    """
    rows: int = _ask(table, target, max_bytes, seconds)["rows"]
    return rows


def _ask(table: LakeTable, target: Path | None, max_bytes: int, seconds: float) -> dict[str, Any]:
    variable = _VARIABLE.fullmatch(table.catalog or "")
    if variable and not os.environ.get(variable[1]):
        raise InputError(
            f"{table.title} cannot be read: the environment variable {variable[1]} is not set; set it to the catalogue's address, such as "
            "sqlite:///FILE or https://HOST, or to its properties as JSON."
        )
    request = {
        "format": table.format,
        "table": table.table,
        "version": table.version,
        "variable": variable[1] if variable else None,
        "catalog": None if variable else table.catalog,
        "columns": table.columns,
        "target": None if target is None else str(target),
        "max_bytes": max_bytes,
    }
    return ask_process(_PROCESS, request, table.title, seconds)
