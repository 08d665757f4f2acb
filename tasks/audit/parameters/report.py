"""The section `report` of params.yaml."""

from __future__ import annotations

from pydantic import Field

from cartograph.config import Section


class Report(Section):
    """How much the page shows."""

    examples: int = Field(3, ge=1, le=20, description="example rows shown of each region")
    listed: int = Field(50, ge=1, le=1000, description="rows listed at each edge of the map")
    text_characters: int = Field(300, ge=20, le=2000, description="most characters of a text shown in a list")
