"""The key `publish.tables` of params.yaml: where the audit's tables are written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from pydantic import Field, model_validator

from cartograph.config import Section
from cartograph.errors import InputError

if TYPE_CHECKING:
    from cartograph.read.lakes import LakeTable
    from cartograph.write.destination import Schema

_WRITTEN = (
    "tables are written to `{database: 'env:NAME', into: SCHEMA}`, `{table: PATH, format: delta}` or "
    "`{table: NAMESPACE.NAME, format: iceberg, catalog: 'env:NAME'}`"
)


class Tables(Section):
    """A schema of a database, or a table of a lake."""

    database: str | None = None
    into: str = Field("cartograph", pattern="^[A-Za-z_][A-Za-z0-9_]{0,39}$")
    table: str | None = Field(None, min_length=1)
    format: Literal["delta", "iceberg"] | None = None
    catalog: str | None = Field(None, min_length=1)
    max_seconds: float = Field(600, gt=0)

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        from cartograph.read.databases import variable_of
        from cartograph.read.lakes import check_table

        if (self.database is None) == (self.table is None) or (self.database is not None and (self.format or self.catalog)):
            raise ValueError(_WRITTEN)
        try:
            if self.database is not None:
                variable_of(self.database)
            else:
                check_table(self._lake())
        except InputError as error:
            raise ValueError(str(error).rstrip(".")) from None
        return self

    def _lake(self) -> LakeTable:
        from cartograph.read.lakes import LakeTable

        kind: Literal["delta", "iceberg"] = self.format or ("delta" if self.catalog is None else "iceberg")
        return LakeTable(self.table or "", kind, catalog=self.catalog)

    def target(self, root: Path) -> Schema | LakeTable:
        """Return the place; paths of tables are from a folder on."""
        from cartograph.write.destination import Schema

        return Schema(self.database, self.into) if self.database is not None else self._lake().below(root)
