"""Files as params.yaml names them, for the sections that read files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from cartograph.config import Section
from cartograph.errors import InputError

if TYPE_CHECKING:
    from cartograph.read.databases import Query
    from cartograph.read.lakes import LakeTable

_TABLE_KEYS = {"table", "catalog", "version", "snapshot"}
_TABLE = "a lake table is written `{table: PATH, format: delta}` or `{table: NAMESPACE.NAME, format: iceberg, catalog: 'env:NAME'}`"


def listed(value: Any) -> Any:
    """Let a key take one value where it takes a list."""
    return [value] if isinstance(value, str | Mapping) else value


def _path(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


class FileEntry(Section):
    """One source: a bare path in params.yaml, or a mapping where it is not like the others, or a query of a database, or a lake table.

    The ``path`` of a query or a table is not given, but made of it. ``columns`` of a table are those that are read.
    """

    path: str = Field(min_length=1)
    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = Field(None, min_length=1, max_length=1)
    quoting: Literal["standard", "none"] | None = None
    columns: tuple[str, ...] = ()
    split: str | None = None
    sha256: str | None = Field(None, pattern="^[0-9a-f]{64}$")
    query: str | None = Field(None, min_length=1)
    database: str | None = None
    watermark: str | None = Field(None, min_length=1)
    table: str | None = Field(None, min_length=1)
    catalog: str | None = Field(None, min_length=1)
    version: int | None = Field(None, ge=0)
    snapshot: int | None = None

    @model_validator(mode="before")
    @classmethod
    def _path_of_a_query(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not {"query", "database", "watermark"} & {
            key for key, value in data.items() if value is not None
        }:
            return data
        from cartograph.read.databases import Query

        if not isinstance(data.get("query"), str) or not isinstance(data.get("database"), str):
            raise ValueError("a query is written `{query: SELECT …, database: 'env:NAME'}`")
        try:
            path = Query(data["database"], data["query"]).path
        except InputError as error:
            raise ValueError(str(error).rstrip(".")) from None
        if data.get("path", path) != path:
            raise ValueError("name a `path`, or a `query` and its `database`, not both")
        return {**data, "path": path}

    @model_validator(mode="before")
    @classmethod
    def _path_of_a_table(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not _TABLE_KEYS & {key for key, value in data.items() if value is not None}:
            return data
        from cartograph.read.lakes import Format, LakeTable, check_table

        name, catalog = data.get("table"), data.get("catalog")
        kinds: dict[Any, Format] = {None: "delta" if catalog is None else "iceberg", "delta": "delta", "iceberg": "iceberg"}
        kind = kinds.get(data.get("format"))
        if kind is None or data.get("query") is not None or not isinstance(name, str) or not name:
            raise ValueError(_TABLE)
        if any(data.get(key) is not None for key in (("catalog", "snapshot") if kind == "delta" else ("version",))):
            raise ValueError(f"{_TABLE}; a Delta table has a `version`, an Iceberg table a `snapshot`")
        columns = tuple(listed(data.get("columns") or ()))
        table = LakeTable(name, kind, data.get("version" if kind == "delta" else "snapshot"), catalog, columns)
        try:
            check_table(table)
        except InputError as error:
            raise ValueError(str(error).rstrip(".")) from None
        if data.get("path", table.path) != table.path:
            raise ValueError("name a `path`, or a `table`, not both")
        return {**data, "format": kind, "columns": columns, "path": table.path}

    @property
    def asked(self) -> Query | LakeTable | None:
        """The query or the table that it is, or None for a file."""
        from cartograph.read.databases import Query
        from cartograph.read.lakes import LakeTable

        if self.table is not None:
            kind: Literal["delta", "iceberg"] = "iceberg" if self.format == "iceberg" else "delta"
            return LakeTable(self.table, kind, self.version if kind == "delta" else self.snapshot, self.catalog, self.columns)
        return None if self.query is None or self.database is None else Query(self.database, self.query, self.watermark)

    @model_validator(mode="after")
    def _one_checksum_for_one_file(self) -> Self:
        if self.sha256 is not None and (self.path.startswith("hub:") or "=" in self.path.partition("://")[0]):
            raise ValueError("`sha256` is the checksum of a single file; hub data sets and one-file-per-field sets have none")
        return self


Files = Annotated[tuple[Annotated[FileEntry, BeforeValidator(_path)], ...], BeforeValidator(listed)]
"""One entry or a list of them."""
