"""What an audit leaves for the next one to be compared with: a row each, without its texts, the numbers of the whole, and a summary of each
column of a table of features.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cartograph.audits.columns import Summary
from cartograph.data.content import content_keys
from cartograph.errors import InputError
from cartograph.schema import LABEL, RECORD, UID, dataset_info

MOST_REMEMBERED = 200
"""Earlier audits whose numbers a record carries."""


@dataclass(frozen=True)
class Record:
    """One audit, as a later one sees it.

    Attributes:
        rows: ``schema.RECORD``, sorted by uid.
        numbers: name -> number: what is followed from audit to audit.
        number: 1 for a workspace's first audit; the next one that differs is 2.
        earlier: the numbers of the audits before it, oldest first, at most ``MOST_REMEMBERED``.
        columns: of a table of features, as ``audits.columns.column_summaries`` makes them.
    """

    rows: pa.Table
    numbers: Mapping[str, float]
    number: int = 1
    earlier: tuple[Mapping[str, float], ...] = ()
    columns: tuple[Summary, ...] = ()

    @property
    def identity(self) -> str:
        """SHA-256 of the rows and the numbers: two audits that found the same have the same."""
        hasher = hashlib.sha256(repr(sorted(self.numbers.items())).encode())
        for field in RECORD:
            values = self.rows[field.name]
            if pa.types.is_string(field.type):
                hasher.update("\x1f".join(value or "" for value in values.to_pylist()).encode())
            else:
                hasher.update(values.to_numpy().tobytes())
        return hasher.hexdigest()

    @property
    def trend(self) -> tuple[Mapping[str, float], ...]:
        """The numbers of the audits up to this one, oldest first."""
        return (*self.earlier, self.numbers)

    def facts(self) -> dict[str, Any]:
        """Return all but the rows as JSON values, and a digest of them and the rows: what was damaged since is not taken for an audit."""
        facts: dict[str, Any] = {
            "number": self.number,
            "numbers": dict(self.numbers),
            "earlier": [dict(numbers) for numbers in self.earlier],
        }
        if self.columns:
            facts["columns"] = [dict(summary) for summary in self.columns]
        content = json.dumps([self.identity, facts], sort_keys=True)
        return facts | {"digest": hashlib.sha256(content.encode()).hexdigest()}

    def after(self, previous: Record) -> Record:
        """Return this record as the one that follows ``previous``."""
        return Record(self.rows, self.numbers, previous.number + 1, previous.trend[-MOST_REMEMBERED:], self.columns)


def record_rows(examples: pa.Table, measures: pa.Table, noise: pa.Table | None) -> pa.Table:
    """Return ``schema.RECORD``, a row per training example, sorted by uid.

    Args:
        examples: the train set (``schema.examples_schema``).
        measures: ``schema.MEASURES`` of the same rows.
        noise: ``schema.NOISE`` of the same rows; None where no suspects were looked for: then no row is one.

    Raises:
        InputError: the tables are not of the same rows.
    """
    info = dataset_info(examples.schema)
    examples, measures = examples.sort_by(UID), measures.sort_by(UID)
    _require_same(examples, measures, "the data map")
    names = pa.array(info.labels, pa.string())
    columns: dict[str, Any] = {
        UID: examples[UID],
        "content": pa.array(content_keys(examples), pa.string()),
        LABEL: pc.take(names, examples[LABEL]),
        **{name: measures[name] for name in ("confidence", "variability", "region")},
    }
    if noise is None:
        rows = examples.num_rows
        columns |= {
            "suspect": pa.repeat(False, rows),
            "probability": pa.nulls(rows, pa.float64()),
            "suggested": pa.nulls(rows, pa.string()),
        }
    else:
        noise = noise.sort_by(UID)
        _require_same(examples, noise, "the suspects' table")
        columns |= {"suspect": noise["flagged"], "probability": noise["probability"], "suggested": pc.take(names, noise["suggested"])}
    return pa.table(columns, schema=RECORD).combine_chunks()


def _require_same(examples: pa.Table, other: pa.Table, what: str) -> None:
    if not examples[UID].combine_chunks().equals(other[UID].combine_chunks()):
        raise InputError(
            f"the train set and {what} are not of the same rows ({examples.num_rows:,} and {other.num_rows:,}); "
            "they come from different runs: run the audit again."
        )
