"""Griffe's extension that shows the examples in docstrings as code: paragraphs that begin with `>>>`."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_EXAMPLE = re.compile(r"(?m)^>>> (?:.+\n?)+")


class Doctests(Extension):
    """Puts a fence around every example."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Rewrite an object's docstring before it is parsed."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", obj.docstring.value)
