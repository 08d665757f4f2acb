"""What a page says where its script may not run: its head, its sections and the first rows of their tables, as plain HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape

import pyarrow as pa

from cartograph.features.unusual import shown_values
from cartograph.page.audit import Audit
from cartograph.page.blocks import Cell, CellKind, Checks, Command, Definitions, Facts, Section, Table
from cartograph.page.chart_blocks import Picture
from cartograph.page.row_blocks import Regions, SuspectTable
from cartograph.page.verdict import Verdict
from cartograph.schema import ROW, SOURCE
from cartograph.wording import count, counted, cut, percent, probability

MOST_ROWS, _LONGEST, _SURELY = 50, 200, 0.995
"""Rows of a table, and characters of a row's text; and the probability above which none is written, as on the page itself."""

_CODE, _AS_CODE = re.compile("`([^`]+)`"), r"<code>\1</code>"

_WRITTEN: dict[CellKind, Callable[[float], str]] = {
    "count": lambda value: count(int(value)),
    "probability": probability,
    "share": percent,
    "points": lambda value: f"{round(value, 1) + 0.0:.1f}".replace("-", "\u2212"),
}


def still_text(top: Verdict, sections: Sequence[Section], audit: Audit | None = None) -> str:
    """Return the page's text as HTML elements without a script, every value escaped.

    Charts are left out, and so are the lists of rows that are neither suspects nor a table of values.

    Args:
        top: the sentence, lines and figures above the sections.
        sections: in their order.
        audit: whose rows sections refer to; None where they refer to none.
    """
    figures = [(figure.label, f"{figure.value} ({figure.note})" if figure.note else figure.value) for figure in top.figures]
    parts = [_element("h1", top.sentence), *(_element("p", line) for line in top.lines), _facts(figures)]
    for section in sections:
        parts.append(_element("h2", section.title))
        parts += [_element("p", text) for text in (section.lead, section.why and f"Not available. {section.why}") if text]
        parts += [text for block in section.blocks if (text := _block(block, audit))]
    # Half of a surrogate pair, as in the name of a file that is no text, cannot be written.
    return "\n".join(part for part in parts if part).encode(errors="replace").decode()


def _block(block: object, audit: Audit | None) -> str:
    match block:
        case Table():
            head = [column.title for column in block.columns]
            kinds = [column.cell for column in block.columns]
            rows = [[_cell(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in block.cells]
            return _table(block.caption, head, rows)
        case SuspectTable():
            return "" if audit is None else _suspects(block, audit)
        case Regions():
            cells = [(region.name, f"{counted(region.rows, 'row')}, {region.share}; {region.meaning}") for region in block.regions]
            return _facts(cells)
        case Checks():
            failed = [check for check in block.checks if not check.passed]
            rows = [[check.set, check.check, check.expected, f"{check.found} {check.where}".strip()] for check in failed]
            return _table("Failed checks", ["Set", "Check", "Expected", "Found"], rows) if rows else ""
        case Facts():
            return _facts(block.facts)
        case Definitions():
            return _facts(block.items)
        case Picture():
            return _element("p", f"{block.title}: {block.text} {block.note}".strip())
        case Command():
            return f"<pre>{escape(block.text)}</pre>"
        case _:
            return ""


def _suspects(block: SuspectTable, audit: Audit) -> str:
    shown = block.suspects[:MOST_ROWS]
    labels = audit.info.labels
    rows = audit.examples.take(pa.array([suspect.place for suspect in shown], type=pa.int64()))
    cells = [
        [
            count(suspect.rank),
            place,
            content,
            labels[int(audit.gold[suspect.place])],
            labels[suspect.suggested],
            "> 0.99" if suspect.probability > _SURELY else probability(suspect.probability),
            suspect.reason,
        ]
        for suspect, place, content in zip(shown, _rows(rows), _contents(rows, audit), strict=True)
    ]
    head = ["Rank", "Row", "Content", "Label", "Suggestion", "Probability" if block.calibrated else "Score", "Why"]
    return _table(block.caption, head, cells, len(block.suspects))


def _rows(rows: pa.Table) -> list[str]:
    """Return in which row of which file each stands."""
    return [f"{file}, row {row}" for file, row in zip(rows[SOURCE].to_pylist(), rows[ROW].to_pylist(), strict=True)]


def _contents(rows: pa.Table, audit: Audit) -> list[str]:
    """Return what each row says, cut short; of an image nothing."""
    fields = [rows[name].to_pylist() for name in audit.info.fields if name not in audit.info.images]
    if audit.info.features:
        names = [feature.name for feature in audit.info.features]
        fields += [[f"{name} = {value}" for value in column] for name, column in zip(names, shown_values(rows), strict=True)]
    return [cut("; ".join(str(field[row]) for field in fields), _LONGEST) for row in range(len(rows))]


def _cell(value: Cell, kind: CellKind) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, str) or kind not in _WRITTEN else _WRITTEN[kind](value)


def _table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]], total: int | None = None) -> str:
    total = total or len(rows)
    left_out = f" (the first {MOST_ROWS} of {count(total)})" if total > MOST_ROWS else ""
    lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows[:MOST_ROWS]]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    return f"<table>\n<caption>{escape(caption + left_out)}</caption>\n<tr>{titles}</tr>\n{body}\n</table>"


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"<p>{escape(name)}: {escape(value)}</p>" for name, value in facts)


def _element(tag: str, text: str) -> str:
    return f"<{tag}>{_CODE.sub(_AS_CODE, escape(text))}</{tag}>"
