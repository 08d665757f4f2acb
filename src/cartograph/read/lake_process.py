"""The process in which a table of a lake is read: one version of it, its rows streamed into one Parquet file.

It is a process of its own so that reading can be ended when its time is over. What the environment says of credentials stays out of
all that is said.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from cartograph.read.answering import Refused, Request, answer_one
from cartograph.read.database_process import without_secrets, write_rows

_SECRET = re.compile(r"secret|token|passw|pwd|key|credential|^pyiceberg_catalog__|connection_string", re.IGNORECASE)
_SHORTEST = 4
_PLAIN = ("type", "name")
"""Properties of a catalogue that hold no secret."""


@dataclass(frozen=True)
class Opened:
    """A table at one version: what ``State`` says of it, and its rows."""

    version: int
    identity: str
    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


def main() -> None:
    """Answer a request to read."""
    answer_one(_answer, hidden_of, done="read", needs="a package", extra=lambda _: "lake")


def _answer(request: dict[str, Any], address: str) -> dict[str, Any]:
    opened = _delta(request) if request["format"] == "delta" else _iceberg(request, address)
    if request["target"] is None:
        return {"version": opened.version, "identity": opened.identity, "columns": opened.schema.names}
    return {"rows": write_rows(opened.schema, opened.batches, Path(request["target"]), request["max_bytes"])}


def _wanted(names: list[str], wanted: list[str], version: str) -> list[str]:
    """Return the columns to read.

    Raises:
        Refused: one is not there.
    """
    missing = [name for name in wanted if name not in names]
    if missing:
        raise Refused(f"has no column `{missing[0]}` at {version}; it has {', '.join(names)}: correct `columns`")
    return wanted or names


def _typed(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield batches with the types that the table states, where an engine reads others."""
    for batch in batches:
        yield from pa.Table.from_batches([batch]).select(schema.names).cast(schema).to_batches()


def _delta(request: dict[str, Any]) -> Opened:
    from deltalake import DeltaTable, QueryBuilder
    from deltalake.exceptions import DeltaError, TableNotFoundError

    path, version = request["table"], request["version"]
    try:
        table = DeltaTable(path, version=version)
    except TableNotFoundError:
        raise Refused("does not exist, or may not be read; correct its path, or set the credentials of its store") from None
    except DeltaError as error:
        newest = None if version is None else DeltaTable(path).version()
        if newest is None:
            raise
        if version > newest:
            raise Refused(f"has no version {version}; its newest is {newest}") from None
        raise Refused(f"can no longer be read at version {version}, its newest is {newest} ({str(error).splitlines()[0]})") from None
    whole = pa.schema(table.schema().to_arrow())
    names = _wanted(whole.names, request["columns"], f"version {table.version()}")
    # One after the other, so that the same version has the same order; its own engine reads deletion vectors and renamed columns too.
    engine = QueryBuilder({"datafusion.execution.target_partitions": "1"})
    quoted = ", ".join('"{}"'.format(name.replace('"', '""')) for name in names)
    rows = engine.register("lake", table).execute(f"select {quoted} from lake")  # noqa: S608
    schema = pa.schema([whole.field(name) for name in names])
    batches = _typed(pa.RecordBatchReader.from_stream(rows), schema)
    return Opened(table.version(), str(table.metadata().id), schema, batches)


def _iceberg(request: dict[str, Any], address: str) -> Opened:
    from pyiceberg.catalog import load_catalog
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
    from pyiceberg.expressions import AlwaysTrue
    from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow

    name, properties = catalog_of(request["catalog"], address)
    if "." not in request["table"]:
        raise Refused("is named without its namespace; write NAMESPACE.NAME")
    try:
        table = load_catalog(name, **properties).load_table(request["table"])
    except (NoSuchTableError, NoSuchNamespaceError):
        raise Refused("does not exist in the catalogue; correct its name, or the catalogue's") from None
    newest, wanted = table.current_snapshot(), request["version"]
    if newest is None:
        raise Refused("has no snapshot: nothing has been written to it yet")
    version = newest.snapshot_id if wanted is None else wanted
    if table.snapshot_by_id(version) is None:
        raise Refused(f"has no snapshot {version}, or no longer; its newest is {newest.snapshot_id}")
    scan = table.scan(snapshot_id=version)
    names = _wanted([field.name for field in scan.projection().fields], request["columns"], f"snapshot {version}")
    projection = scan.select(*names).projection() if request["columns"] else scan.projection()
    schema = schema_to_pyarrow(projection, include_field_ids=False)
    rows = ArrowScan(table.metadata, table.io, projection, AlwaysTrue())

    def batches() -> Iterator[pa.RecordBatch]:
        # File after file: all at once they would be in memory.
        for task in scan.plan_files():
            yield from _typed(rows.to_record_batches([task]), schema)

    return Opened(version, str(table.metadata.table_uuid), schema, batches())


def catalog_of(name: str | None, address: str) -> tuple[str, dict[str, str]]:
    """Return a catalogue's name and properties; of one in PyIceberg's own configuration, its name and what keeps it from being changed.

    Args:
        name: in PyIceberg's own configuration; None where ``address`` has the properties.
        address: its address, or its properties as JSON.

    Raises:
        Refused: the properties cannot be read, or its file is not there.
    """
    # An address of a SQL catalogue makes its tables where they are missing.
    only_read = {"init_catalog_tables": "false"}
    if name is not None:
        return name, only_read
    properties = _properties(address)
    if address.lstrip().startswith("{") and properties == {"uri": address}:
        raise Refused('has a catalogue whose properties are no JSON; write them as in {"uri": "…", "warehouse": "…"}')
    file = re.fullmatch(r"sqlite(?:\+\w+)?:///([^?]+)", str(properties.get("uri", "")))
    if file and not Path(file[1]).is_file():
        raise Refused("has a catalogue in a SQLite file that does not exist")
    return str(properties.pop("name", "default")), {key: str(value) for key, value in properties.items()} | only_read


def hidden_of(text: str, request: Request, address: str) -> str:
    """Return what ``hidden`` does, of the catalogue that a request names: what ``answer_one`` says of a lake."""
    return hidden(text, request["catalog"], address)


def hidden(text: str, catalog: str | None, address: str) -> str:
    """Return a text on one line, without what the environment and the catalogue's configuration keep secret.

    Args:
        text: what is to be said.
        catalog: a catalogue's name in PyIceberg's own configuration; None where ``address`` has its properties.
        address: its address or its properties as JSON; empty without a catalogue.
    """
    properties = _configured(catalog) if catalog else _properties(address)
    held = [value for name, value in os.environ.items() if _SECRET.search(name)]
    held += [str(value) for key, value in properties.items() if key not in _PLAIN]
    for secret in sorted((one for one in held if len(one) >= _SHORTEST), key=len, reverse=True):
        text = text.replace(secret, "…")
    return without_secrets(re.sub(r"\x1b\[[0-9;]*m", "", text), str(properties.get("uri", "")))


def _properties(address: str) -> dict[str, Any]:
    try:
        properties = json.loads(address)
    except ValueError:
        return {"uri": address}
    return properties if isinstance(properties, dict) else {"uri": address}


def _configured(catalog: str) -> dict[str, Any]:
    try:
        from pyiceberg.utils.config import Config

        return dict(Config().get_catalog_config(catalog) or {})
    except Exception:
        return {}


if __name__ == "__main__":
    main()
