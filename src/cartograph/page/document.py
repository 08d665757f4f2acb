"""The page as one HTML file: its data, style, scripts and pictures inside, and a policy that allows no request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from typing import Any

import numpy as np

from cartograph.page.audit import Audit
from cartograph.page.blocks import Section
from cartograph.page.chart_blocks import Picture
from cartograph.page.encode import script_hash, script_json
from cartograph.page.figure import drawn_rows, map_content
from cartograph.page.parts import asset, script
from cartograph.page.rows import carried_rows
from cartograph.page.sections.map import map_section
from cartograph.page.sections.order import SECTIONS
from cartograph.page.verdict import Verdict, verdict
from cartograph.page.without_scripts import still_text
from cartograph.wording import counted

BASE_BYTES = 1_500_000
ROW_BYTES = 200
IMAGE_BYTES = 4_000_000
"""What a page of images may have in addition."""

_SCRIPTS = ("dom", "content", "rows", "chart", "heat", "card", "decisions", "tables", "sections", "axes", "canvas", "map", "top", "page")
_PLAIN = ("dom", "content", "chart", "heat", "tables", "sections", "top", "plain")
_POLICY = "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"


def page(audit: Audit) -> str:
    """Return the report of an audit as one HTML document.

    It stays under 1.5 MB plus 200 bytes a row, and half a megabyte for each experiment that has a
    picture: where the texts of all drawn rows do not fit, those of rows that are not listed are cut shorter. Of images it stays under
    5.5 MB plus 200 bytes a row: pictures are made smaller, then those of rows that are not listed are left out. The same audit gives
    the same bytes.
    """
    sections = [section for build in SECTIONS if (section := build(audit)) is not None]
    return _with_map(audit, sections, verdict(audit), _kind(audit))


def map_page(audit: Audit) -> str:
    """Return the data map alone, with a card for each point, as one HTML document; the same audit gives the same bytes."""
    drawn = min(audit.rows, audit.limits.max_points)
    what = "answer" if audit.several else "row"
    top = Verdict(f"The data map of {audit.how_made.name}: {counted(drawn, 'point')} of {counted(audit.rows, what)}.", (), ())
    return _with_map(audit, [map_section(audit)], top, "Data map")


def _with_map(audit: Audit, sections: Sequence[Section], top: Verdict, kind: str) -> str:
    from cartograph.figures.interactive_map import interactive_map

    listed = set().union(*(section.listed() for section in sections))
    figure = interactive_map(
        audit.measures,
        None,
        max_points=audit.limits.max_points,
        seed=audit.limits.seed,
        labels=audit.info.labels,
        always=sorted(listed.union(audit.suspects_drawn.tolist())),
    )
    drawn = drawn_rows(figure)
    carried = np.union1d(drawn, np.fromiter(listed, dtype=np.int64, count=len(listed)))
    content = {
        "name": audit.how_made.name,
        "kind": kind,
        "verdict": asdict(top),
        "sections": [section.content() for section in sections],
        "map": map_content(figure, carried),
    }
    scripts, text = {"app": script(_SCRIPTS)}, still_text(top, sections, audit)
    without_rows = len(_fill(audit, text, content, None, scripts).encode())
    pictures = sum(len(block.source) for section in sections for block in section.blocks if isinstance(block, Picture))
    most = BASE_BYTES + pictures + ROW_BYTES * audit.rows + (IMAGE_BYTES if audit.info.images else 0)
    rows = carried_rows(audit, drawn, listed, most - without_rows)
    return _fill(audit, text, content, rows, scripts)


def plain_page(name: str, kind: str, top: Verdict, sections: Sequence[Section]) -> str:
    """Return a page without a map as one HTML document; the same values give the same bytes.

    Args:
        name: the workspace's.
        kind: what the page is, such as ``Pair collection``.
        top: the sentence, lines and figures above the sections.
        sections: none of which refers to rows of an audit.
    """
    content = {"name": name, "kind": kind, "verdict": asdict(top), "sections": [section.content() for section in sections]}
    return _filled(f"{name}: {kind.lower()}", "", still_text(top, sections), content, None, {"app": script(_PLAIN)})


def _fill(audit: Audit, text: str, content: dict[str, Any], rows: dict[str, Any] | None, scripts: dict[str, str]) -> str:
    still = f'<img class="still" src="{escape(audit.still)}" alt="Data map">' if audit.still else ""
    return _filled(f"{audit.how_made.name}: {content['kind'].lower()}", still, text, content, rows, scripts)


def _kind(audit: Audit) -> str:
    return "Data audit, first look" if audit.whole_page else "Data audit"


def _filled(title: str, still: str, text: str, content: dict[str, Any], rows: dict[str, Any] | None, scripts: dict[str, str]) -> str:
    parts = {
        "policy": _POLICY.format(scripts=" ".join(script_hash(source) for source in scripts.values())),
        "title": escape(title),
        "style": asset("page.css") + asset("map.css") + asset("print.css"),
        "still": still,
        "text": text,
        "rows": script_json(rows),
        "content": script_json(content),
        **scripts,
    }
    pieces = asset("page.html").split("{{")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, rest = piece.split("}}", 1)
        filled += [parts[name], rest]
    return "".join(filled)
