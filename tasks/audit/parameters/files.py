"""Files as params.yaml names them, for the sections that read files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from cartograph.config import Section


def listed(value: Any) -> Any:
    """Let a key take one value where it takes a list."""
    return [value] if isinstance(value, str | Mapping) else value


def _path(value: Any) -> Any:
    return {"path": value} if isinstance(value, str) else value


class FileEntry(Section):
    """One source: a bare path in params.yaml, or a mapping where a file is not like the others."""

    path: str = Field(min_length=1)
    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = Field(None, min_length=1, max_length=1)
    quoting: Literal["standard", "none"] | None = None
    columns: tuple[str, ...] = ()
    split: str | None = None
    sha256: str | None = Field(None, pattern="^[0-9a-f]{64}$")

    @model_validator(mode="after")
    def _one_checksum_for_one_file(self) -> Self:
        if self.sha256 is not None and (self.path.startswith("hub:") or "=" in self.path.partition("://")[0]):
            raise ValueError("`sha256` is of one file; a hub's data set, or a file per field, has none")
        return self


Files = Annotated[tuple[Annotated[FileEntry, BeforeValidator(_path)], ...], BeforeValidator(listed)]
"""One entry or a list of them."""
