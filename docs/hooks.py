"""Hooks of the documentation's build: formulas become MathML, which browsers draw themselves; no page fetches from elsewhere."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(((?!\w+:)[^)#]+)\)")
_FETCHED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc=\"?(?:https?:)?//[^\"\s>]+"
    r"|<link\b(?=[^>]*\brel=\"?(?:stylesheet|icon|preload|preconnect|dns-prefetch|modulepreload))[^>]*\bhref=\"?(?:https?:)?//[^\"\s>]+"
)
_FETCHED_BY_STYLE = re.compile(r"(?:@import\s+|url\()[\"']?(?:https?:)?//[^\"')\s]+")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Keep the text alone of links to the project's other files, which are not among the pages."""
    docs = Path(page.file.abs_src_path).parents[len(Path(page.file.src_uri).parts) - 1]
    here = Path(page.file.abs_src_path).parent

    def text_of(found: re.Match[str]) -> str:
        target = (here / found[2]).resolve()
        return found[1] if target.exists() and not target.is_relative_to(docs.resolve()) else found[0]

    return _LINK.sub(text_of, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Turn the formulas of a page into MathML."""
    return _FORMULA.sub(_mathml, html)


def _mathml(found: re.Match[str]) -> str:
    formula = unescape(found[2]).strip()
    markup = convert(formula, display="block" if found[1] == "div" else "inline")
    if "\\" in markup:
        raise PluginError(f"the formula {formula!r} has a command that becomes no MathML")
    return markup


def on_post_build(config: Any) -> None:
    """Check that no page and no style sheet has the browser fetch anything from another machine.

    Raises:
        PluginError: one does; the message names it and what it fetches.
    """
    for path in sorted(Path(config["site_dir"]).rglob("*")):
        pattern = {".html": _FETCHED, ".css": _FETCHED_BY_STYLE}.get(path.suffix)
        found = pattern.search(path.read_text(encoding="utf-8")) if pattern else None
        if found:
            raise PluginError(f"{path} has the browser fetch {found[0]!r}; a page must need nothing from elsewhere")
