"""The sets that an audit ingests, and where they stand, for the steps that read them."""

from __future__ import annotations

from cartograph.config import Settings
from tasks.audit.parameters.ingest import Sources


def ingested_sets(settings: Settings) -> tuple[str, ...]:
    """Return the declared names of the ingested sets: ``train`` first, then the evaluation sets by name."""
    return tuple(f"data/ingest/{name}.parquet" for name in settings.of(Sources).sets())


def is_built_in(settings: Settings) -> bool:
    """Return whether the audited data comes with the project, so that the errors planted in it are known."""
    return settings.of(Sources).is_built_in
