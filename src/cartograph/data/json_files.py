"""JSON files: written the same way everywhere, in UTF-8."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_json(path: Path, content: Any, *, sort_keys: bool = True) -> None:
    """Write JSON values with an indent of one space, so that a change of one value is a change of one line.

    Args:
        path: of the file.
        content: JSON values.
        sort_keys: False where the order of the keys means something.
    """
    path.write_text(json_text(content, sort_keys=sort_keys), encoding="utf-8")


def json_text(content: Any, *, sort_keys: bool = True) -> str:
    """Return JSON values as ``write_json`` writes them."""
    return json.dumps(content, indent=1, sort_keys=sort_keys, ensure_ascii=False) + "\n"


def read_json(path: Path) -> Any:
    """Return the values of a JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))
