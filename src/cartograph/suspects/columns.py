"""The columns that detectors of label errors read: measures of the map, and the doubt of a committee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from cartograph.data.arrays import Floats, Reals
from cartograph.errors import InputError
from cartograph.maps.measures import Measures
from cartograph.suspects.committee import Committee

Columns = Mapping[str, Reals]
"""Name -> values, ``(n_examples,)``."""

Candidate = Literal["confidence", "measures", "committee"]
"""A detector by what it reads: the paper's single measure, all measures of the map, or the committee's doubt."""

_HELD_OUT = ("out_of_fold_confidence", "out_of_fold_variability", "out_of_fold_margin")
_MAP = ("confidence", "variability", "correctness", "aum", "el2n", "loss", *_HELD_OUT)


def detector_columns(measures: Measures, committee: Committee | None) -> dict[str, Floats]:
    """Return what detectors may read, each ``(n_examples,)``: the map's measures, and the committee's doubt.

    ``doubt`` is the log odds of the committee's doubt (higher = more suspect). K-fold training adds its measures to the map's.

    Args:
        measures: of the map; those that are None are left out.
        committee: of the same rows and labels; None where there is nothing for one to read.
    """
    columns = {name: np.asarray(values, dtype=np.float64) for name in _MAP if (values := getattr(measures, name)) is not None}
    return columns if committee is None else columns | doubt_column(committee)


def doubt_column(committee: Committee) -> dict[str, Floats]:
    """Return the committee's doubt as the column that its detector reads, log odds, ``(n_examples,)``."""
    return {"doubt": log_odds_of(committee.doubt.score)}


def log_odds_of(doubt: Floats) -> Floats:
    """Return log(p / (1 − p)) of probabilities, ``(n_examples,)``, held at 1e-9 and 1 − 1e-9."""
    held = np.clip(doubt, 1e-9, 1.0 - 1e-9)
    odds: Floats = np.log(held / (1.0 - held))
    return odds


def feature_sets(columns: Columns) -> dict[Candidate, tuple[str, ...]]:
    """Return which columns each candidate reads; a candidate whose columns are missing is left out.

    The committee's is its doubt alone: what is learnt from flips of easy rows, which are even and easily found, would undo what the doubt
    knows of how labels go wrong here (Subj with a fifth of the labels wrong in one direction: average precision .94 by doubt, .30 so).
    """
    sets: dict[Candidate, tuple[str, ...]] = {"confidence": ("confidence",), "measures": tuple(name for name in _MAP if name in columns)}
    if "doubt" in columns:
        sets["committee"] = ("doubt",)
    return sets


def column_table(columns: Columns, names: Sequence[str], rows: int | None = None) -> Floats:
    """Return some columns side by side, ``(n_examples, n_names)``.

    Args:
        columns: of the rows.
        names: one or more of them.
        rows: how many rows there must be; None = any number.

    Raises:
        InputError: a column is missing, not finite, or of another number of rows.
    """
    for name in names:
        if name not in columns:
            raise InputError(f"the measure {name!r} is not in the table; it has {', '.join(columns)}.")
        bad = ~np.isfinite(np.asarray(columns[name], dtype=np.float64))
        if bad.any():
            row = int(bad.argmax())
            raise InputError(
                f"the measure {name!r} has the value {columns[name][row]} in row {row + 1} ({int(bad.sum()):,} such rows), where a finite "
                "number is needed; leave that measure out, or fill it in."
            )
        if len(bad) != len(columns[names[0]]):
            raise InputError(
                f"the measure {name!r} has {len(bad):,} rows and {names[0]!r} has {len(columns[names[0]]):,}; give each one a row."
            )
    table = np.stack([np.asarray(columns[name], dtype=np.float64) for name in names], axis=1)
    if rows is not None and len(table) != rows:
        raise InputError(f"there are {len(table):,} rows of measures, but {rows:,} are expected; both must be of the same rows.")
    return table
