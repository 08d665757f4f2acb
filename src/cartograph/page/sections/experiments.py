"""The experiments that the audit was asked for, each with its question, answer, figure and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from cartograph.page.audit import Audit
from cartograph.page.blocks import Block, Cell, Column, Section, Table
from cartograph.page.chart_blocks import Picture
from cartograph.page.encode import data_uri
from cartograph.page.step_results import ExperimentAnswer
from cartograph.wording import count, counted, cut, listing

LARGEST_PICTURE = 400_000
"""Most bytes of a picture that the page carries."""

_MOST_ROWS = 25
_LONGEST = 80
_DIGITS = 4


def experiments_section(audit: Audit) -> Section | None:
    """Return the experiments one after another; None where the audit was not asked for any."""
    if not audit.experiments:
        return None
    blocks = [block for answer in audit.experiments for block in _blocks(answer)]
    return Section("experiments", "How robust the map is", _lead(audit), blocks, short="Experiments")


def _lead(audit: Audit) -> str:
    names = [cut(answer.name, _LONGEST) for answer in audit.experiments if not answer.failed]
    failed = [cut(answer.name, _LONGEST) for answer in audit.experiments if answer.failed]
    parts = [f"{counted(len(names), 'experiment')} of Swayamdipta et al. 2020 on this train set: {listing(names)}."] if names else []
    if failed:
        parts.append(f"{listing(failed)} failed; the next audit takes {'it' if len(failed) == 1 else 'them'} up again.")
    return " ".join(parts)


def _blocks(answer: ExperimentAnswer) -> Iterator[Block]:
    title = f"{answer.name}: {answer.question}" if answer.question else answer.name
    if answer.failed:
        yield Picture(title, f"Failed. {answer.answer[:1].upper()}{answer.answer[1:]}")
        return
    text = f"{answer.answer[:1].upper()}{answer.answer[1:]}."
    small = answer.picture is not None and len(answer.picture) <= LARGEST_PICTURE
    note = f"({answer.source})" if small or answer.picture is None else f"({answer.source}; the figure is too large for the page)"
    source = data_uri(answer.picture, "image/png") if answer.picture is not None and small else ""
    yield Picture(title, text, note, source, text, _shown_width(answer.picture or b""))
    for name, table in answer.tables.items():
        yield _table(answer.name, name, table)


def _shown_width(picture: bytes) -> int:
    """Return half the width that a PNG's header says: figures are saved with two pixels to each of a usual screen."""
    return int.from_bytes(picture[16:20], "big") // 2


def _table(experiment: str, name: str, table: pa.Table) -> Table:
    shown = table.slice(0, _MOST_ROWS)
    more = "" if shown.num_rows == table.num_rows else f", the first {_MOST_ROWS} of {count(table.num_rows)} rows"
    columns = [Column(cut(column, _LONGEST)) for column in table.column_names]
    cells = [[_cell(value) for value in row.values()] for row in shown.to_pylist()]
    return Table(f"{experiment}, {name}{more}", columns, cells, folded=True)


def _cell(value: Any) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, float):
        return f"{value:.{_DIGITS}g}".replace("-", "\u2212")
    if value is None or isinstance(value, int):
        return None if value is None else count(value)
    return cut(str(value), _LONGEST)
