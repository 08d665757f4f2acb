"""Files as params.yaml names them, for the sections that read files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from cartograph.config import Section
from cartograph.errors import InputError

if TYPE_CHECKING:
    from cartograph.read.databases import Query


def listed(value: Any) -> Any:
    """Let a key take one value where it takes a list."""
    return [value] if isinstance(value, str | Mapping) else value


def _path(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


class FileEntry(Section):
    """One source: a bare path in params.yaml, or a mapping where a file is not like the others, or where it is a query of a database.

    The ``path`` of a query is not given, but made of it.
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

    @model_validator(mode="before")
    @classmethod
    def _path_of_a_query(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not {"query", "database", "watermark"} & {
            key for key, value in data.items() if value is not None
        }:
            return data
        from cartograph.read.databases import Query

        if not isinstance(data.get("query"), str) or not isinstance(data.get("database"), str):
            raise ValueError("a query is written `{query: SELECT …, database: env:NAME}`")
        try:
            path = Query(data["database"], data["query"]).path
        except InputError as error:
            raise ValueError(str(error).rstrip(".")) from None
        if data.get("path", path) != path:
            raise ValueError("name a `path`, or a `query` and its `database`, not both")
        return {**data, "path": path}

    @property
    def asked(self) -> Query | None:
        """The query that it is, or None for a file."""
        from cartograph.read.databases import Query

        return None if self.query is None or self.database is None else Query(self.database, self.query, self.watermark)

    @model_validator(mode="after")
    def _one_checksum_for_one_file(self) -> Self:
        if self.sha256 is not None and (self.path.startswith("hub:") or "=" in self.path.partition("://")[0]):
            raise ValueError("`sha256` is of one file; a hub's data set, or a file per field, has none")
        return self


Files = Annotated[tuple[Annotated[FileEntry, BeforeValidator(_path)], ...], BeforeValidator(listed)]
"""One entry or a list of them."""
