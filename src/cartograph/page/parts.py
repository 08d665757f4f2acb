"""The style sheets and scripts that pages are made of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files


@cache
def asset(name: str) -> str:
    """Return the content of a file of the page; of a script, its lines without indentation and comments."""
    text = (files("cartograph.page") / "assets" / name).read_text(encoding="utf-8")
    if not name.endswith(".js"):
        return text
    # No text of a script goes over several lines.
    lines = (line.strip() for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


def script(names: Sequence[str]) -> str:
    """Return scripts as one, which leaves no name behind that it does not mean to."""
    modules = "\n".join(asset(f"{name}.js") for name in names)
    return f'"use strict";\n(() => {{\n{modules}}})();\n'
