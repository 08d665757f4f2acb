"""What a step leaves on data that it cannot be run on: whole outputs without findings, and a sentence that says why.

An audit of two rows, or of one class, still ends with a page; ``impossible`` in a step's record is what the page says of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cartograph.data.json_files import read_json, write_json

if TYPE_CHECKING:
    import pyarrow as pa

KEY = "impossible"
_FLIPS = 4


def no_flips(by_uid: pa.Table, easy: int) -> str | None:
    """Return why no labels can be flipped to learn from; None where they can.

    Args:
        by_uid: the train set (``schema.examples_schema``).
        easy: how many rows are easy to learn.
    """
    from cartograph.suspects.not_looked_for import all_alike

    if len(classes := by_uid["label"].unique()) < 2:
        return all_alike(by_uid.num_rows)
    if easy < _FLIPS or by_uid.num_rows < 2 * _FLIPS:
        return (
            f"Wrong labels could not be looked for: {by_uid.num_rows:,} rows of {len(classes)} classes are too few to learn from what they "
            f"look like (that takes {_FLIPS} easy rows, and there {'is' if easy == 1 else 'are'} {easy}). Add rows."
        )
    return None


def leave_no_suspects(reason: str, by_uid: pa.Table, asked: Mapping[str, Any], data: Path, metrics: Path, figures: Iterable[Path]) -> str:
    """Write what the step `noise` writes, without suspects; return its summary."""
    from cartograph.data.parquet import write_parquet
    from cartograph.suspects.figures import EXPERIMENT
    from cartograph.suspects.not_looked_for import not_looked_for

    suspects, record = not_looked_for(by_uid, reason, asked)
    write_parquet(suspects, data / "noise.parquet")
    write_parquet(EXPERIMENT.empty_table(), data / "experiment.parquet")
    write_json(data / "noise.json", record)
    write_json(metrics, {"suspects": 0, "suspects.share": 0.0, "flips": 0, "assumed": 0})
    draw_reason(reason, figures)
    return f"not looked for: {by_uid.num_rows:,} rows are too few, or all of one class"


def draw_reason(reason: str, figures: Iterable[Path]) -> None:
    """Draw the sentence in place of a step's figure."""
    from textwrap import fill

    from matplotlib.figure import Figure

    from cartograph.figures.saving import figure_style, save_figure

    with figure_style():
        figure = Figure(figsize=(9.6, 1.2), dpi=100, facecolor="white")
        figure.text(0.5, 0.5, fill(reason, 110), ha="center", va="center")
    for path in figures:
        save_figure(figure, path)


def reasons(*records: Path) -> list[str]:
    """Return what the records of steps say could not be done; one that is not there says nothing."""
    return [content[KEY] for path in records if path.exists() and KEY in (content := read_json(path))]
