"""The process in which a table of a lake is written to: all rows of one audit in one commit, which replaces what it has of that audit.

It is a process of its own so that it can be ended when its time is over: what was not committed is then not there. What the environment
says of credentials stays out of all that is said. Only a table that has these very columns is written to.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.read.answering import Refused, Request, answer_one
from cartograph.read.lake_process import catalog_of, hidden_of
from cartograph.write.tables import AUDIT, LABEL_TABLES, TABLES, one_table, whole_schema


def main() -> None:
    """Answer a request to write."""
    answer_one(_answer, hidden_of, done="written to", needs="a package", extra=lambda _: "lake")


def _answer(request: Request, address: str) -> dict[str, Any]:
    rows = one_table({name: pq.read_table(Path(request["folder"]) / f"{name}.parquet") for name in request["tables"]})
    if request["format"] == "delta":
        write_delta(request["table"], request["audit"], rows)
    else:
        write_iceberg(request["table"], request["audit"], rows, request["catalog"], address)
    return {"rows": rows.num_rows}


def write_delta(path: str, audit: str, rows: pa.Table) -> None:
    """Write the rows of an audit to a Delta table in one commit, in place of what is there of it; make the table where it is missing.

    Args:
        path: of the table, or its URL.
        audit: its fingerprint.
        rows: as ``tables.one_table`` has them.

    Raises:
        Refused: the table has other columns.
    """
    from deltalake import DeltaTable, write_deltalake
    from deltalake.exceptions import TableNotFoundError

    try:
        table = DeltaTable(path)
    except TableNotFoundError:
        table = DeltaTable.create(path, schema=rows.schema)
    _check(pa.schema(table.schema().to_arrow()).names, rows)
    write_deltalake(table, rows, mode="overwrite", predicate=f"{AUDIT} = '{audit}'")


def write_iceberg(name: str, audit: str, rows: pa.Table, catalog: str | None, address: str) -> None:
    """Write the rows of an audit to an Iceberg table in one commit, in place of what is there of it; make the table where it is missing.

    Args:
        name: ``NAMESPACE.NAME``; the namespace is there.
        audit: its fingerprint.
        rows: as ``tables.one_table`` has them.
        catalog: the catalogue's name in PyIceberg's own configuration; None where ``address`` has its properties.
        address: its address, or its properties as JSON.

    Raises:
        Refused: the table has other columns, or there is no such namespace.
    """
    from pyiceberg.catalog import load_catalog
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
    from pyiceberg.expressions import EqualTo

    if "." not in name:
        raise Refused("is named without its namespace; write NAMESPACE.NAME")
    known, properties = catalog_of(catalog, address)
    lake = load_catalog(known, **properties)
    try:
        table = lake.load_table(name)
    except NoSuchTableError:
        try:
            table = lake.create_table(name, rows.schema)
        except NoSuchNamespaceError:
            raise Refused("is in a namespace that does not exist; make that first, or correct its name") from None
    _check([field.name for field in table.schema().fields], rows)
    transaction = table.transaction()
    if table.current_snapshot() is not None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Delete operation did not match any records")  # the first time there are none
            transaction.delete(EqualTo(AUDIT, audit))
    transaction.append(rows)
    transaction.commit_transaction()


def _check(columns: list[str], rows: pa.Table) -> None:
    if sorted(columns) != sorted(rows.schema.names):
        for kind, names in (("one label", TABLES), ("several labels", LABEL_TABLES)):
            if sorted(columns) == sorted(whole_schema(names).names):
                raise Refused(f"holds the findings of audits whose rows have {kind}, in other columns; name another in `publish.tables`")
        shown = ", ".join(sorted(columns))[:200]
        raise Refused(f"is not a table of Cartograph's (its columns are {shown}), and is left as it is; name another in `publish.tables`")


if __name__ == "__main__":
    main()
