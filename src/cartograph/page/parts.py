"""The style sheets and scripts that pages are made of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files


@cache
def asset(name: str) -> str:
    """Return the content of a file of the page."""
    return (files("cartograph.page") / "assets" / name).read_text(encoding="utf-8")


def script(names: Sequence[str]) -> str:
    """Return scripts as one, which leaves no name behind that it does not mean to."""
    modules = "\n".join(asset(f"{name}.js") for name in names)
    return f'"use strict";\n(() => {{\n{modules}}})();\n'
