"""Great Expectations' pages made safe to open: no script, no request to anywhere, one look of their own."""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_POLICY = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
_STYLE = """
:root { color-scheme: light dark; --line: color-mix(in srgb, CanvasText 18%, Canvas); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1, h4 { font-size: 1.3rem; margin: 0 0 .5rem; } h5, strong { font-size: 1rem; } h6 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; overflow-wrap: anywhere; }
tr { border-bottom: 1px solid var(--line); } tr > :first-child { overflow-wrap: normal; min-width: 4.5rem; } i { font-style: normal; }
ul { padding-left: 1.2rem; } .badge { border: 1px solid var(--line); border-radius: .25rem; padding: 0 .3rem; }
.ge-section { border-top: 2px solid var(--line); margin-top: 1.5rem; padding-top: 1rem; }
.ge-success-icon::before { content: "passed"; } .ge-failed-icon::before { content: "failed"; font-weight: 700; }
.fa-check-circle::before { content: "passed"; } .fa-times::before { content: "failed"; font-weight: 700; }
.fa-exclamation-triangle::before { content: "error"; font-weight: 700; }
.cooltip .top, button, .card.mb-3, .card-header { display: none; }
"""
_FOREIGN = (
    r"<script\b.*?</script>",
    r"<style\b.*?</style>",
    r"<link\b[^>]*>",
    r"<footer\b.*?</footer>",
    r"<nav class=\"navbar.*?</nav>\s*</div>\s*</nav>",
    r"<img\b[^>]*>",
    r"\son\w+=\"[^\"]*\"",
)


def escaped(value: Any) -> Any:
    """Return a JSON value with every text in it escaped for HTML, and for the renderer's ``$name`` templates."""
    if isinstance(value, str):
        return html.escape(value).replace("$", "&#36;")
    if isinstance(value, list):
        return [escaped(item) for item in value]
    if isinstance(value, dict):
        return {key: escaped(item) for key, item in value.items()}
    return value


def write(folder: Path, pages: Mapping[str, str], entries: Sequence[Mapping[str, Any]]) -> None:
    """Write one page per set and an index, in place of what the folder held.

    Args:
        folder: replaced.
        pages: set name -> page as Great Expectations renders it.
        entries: per set ``set``, ``domain``, ``rows_read`` and ``checks`` (each with ``passed``), for the index.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(self_contained(page, f"Validation of {name}"), encoding="utf-8")
    (folder / "index.html").write_text(_index(entries), encoding="utf-8")


def self_contained(page: str, title: str) -> str:
    """Return a page of Great Expectations' without its scripts, its fetched styles and images, and its counting pixel."""
    body = page[page.index("<body") : page.rindex("</body>")]
    for pattern in _FOREIGN:
        body = re.sub(pattern, "", body, flags=re.DOTALL)
    body = re.sub(r'<a\b[^>]*href="(?!#)[^"]*"[^>]*>(.*?)</a>', r"\1", body, flags=re.DOTALL)
    return _document(title, f'<p><a href="index.html">All sets</a></p>{body.split(">", 1)[1]}')


def _index(entries: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for entry in entries:
        failed = sum(not check["passed"] for check in entry["checks"])
        name = html.escape(entry["set"])
        state = f"{failed} failed" if failed else "all passed"
        rows.append(
            f'<tr><td><a href="{name}.html">{name}</a></td><td>{entry["domain"]}</td><td>{entry["rows_read"]:,}</td>'
            f"<td>{len(entry['checks'])}</td><td>{state}</td></tr>"
        )
    head = "<tr><th>Set</th><th>Domain</th><th>Rows</th><th>Checks</th><th>Result</th></tr>"
    return _document("Validation", f"<h1>Validation</h1><table>{head}{''.join(rows)}</table>")


def _document(title: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{_POLICY}<title>{html.escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>{body}</body></html>\n'
    )
