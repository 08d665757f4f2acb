"""The step `publish` of rows with several labels: one MLflow run per audit, as of any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import field_validator

from tasks.audit import publish
from tasks.engine.step import Step


class Publish(publish.Publish):
    """The section ``publish`` of params.yaml where rows have several labels."""

    @field_validator("tables", mode="before")
    @classmethod
    def _no_tables(cls, value: Any) -> Any:
        if value is not None:
            raise ValueError("tables are written for rows with one label; leave `tables` out: reports/suspects.csv has the suspects")
        return value


def step(others: Sequence[Step]) -> Step:
    """Return the step that publishes what these others leave."""
    return replace(publish.step(others), params=Publish)
