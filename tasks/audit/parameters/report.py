"""The section `report` of params.yaml."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from cartograph.config import Section
from tasks.audit.parameters.files import listed

_Codes = Annotated[tuple[Annotated[str, Field(pattern="^[a-z]{2,3}$")], ...], BeforeValidator(listed)]


class Report(Section):
    """How much the page shows, and what its reader should know of the data that the data do not say."""

    examples: int = Field(3, ge=1, le=20, description="example rows shown of each region")
    listed: int = Field(50, ge=1, le=1000, description="rows listed at each edge of the map")
    text_characters: int = Field(300, ge=20, le=2000, description="most characters of a text shown in a list")
    license: str | None = Field(
        None,
        pattern=r"^[a-z0-9][a-z0-9.+-]{0,60}$",
        description="of the data, as the Hugging Face Hub calls it (cc-by-4.0); null: not known",
    )
    language: _Codes = Field((), description="codes of the data's languages, such as [en]; empty: not known")
