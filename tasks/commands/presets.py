"""The presets of `init`: columns, classes and conversions of well-known data sets."""

from __future__ import annotations

import codecs
import json
import lzma
import zlib
from pathlib import Path
from typing import Any

from cartograph.errors import InputError

_NLI: dict[str, Any] = {
    "text": [["sentence1", "premise", "Premise"], ["sentence2", "hypothesis", "Hypothesis"]],
    "label": ["gold_label", "label", "Label"],
    "uid": ["pairID"],
    "annotators": ["annotator_labels", "label1+label2+label3+label4+label5"],
    "labels": ["entailment", "neutral", "contradiction"],
    "groups": ["Lexical Semantics", "Predicate-Argument Structure", "Logic", "Knowledge"],
}
PRESETS: dict[str, dict[str, Any]] = {
    "snli": _NLI,
    "multinli": _NLI,
    "qnli": {
        "text": ["question", "sentence"],
        "label": ["label"],
        "uid": ["index"],
        "labels": ["entailment", "not_entailment"],
    },
    "winogrande": {
        "text": ["sentence"],
        "options": ["option1", "option2"],
        "label": ["answer"],
        "uid": ["guid", "qID"],
        # A third of the Winograd schemas has no two candidates, and is set aside with that reason.
        "quarantine_limit": 0.4,
    },
}
"""Name -> keys of the section ``ingest``; the NLI diagnostics' four categories are groups of their set."""


def preset_keys(name: str) -> dict[str, Any]:
    """Return the keys of the section ``ingest`` that a preset sets.

    Raises:
        InputError: there is none of that name.
    """
    if name not in PRESETS:
        raise InputError(f"--preset {name}: there is no such preset; there are {', '.join(PRESETS)}.")
    return dict(PRESETS[name])


def converted(name: str, entry: Any, found: Path) -> Any:
    """Return an entry of ``train`` or ``files``, with the format of a conversion where the file is one that the preset converts.

    ``winogrande`` takes the Winograd schemas in SuperGLUE's format as cloze rows, ``qnli`` questions in SQuAD's format as pairs.

    Args:
        name: the preset's.
        entry: as `init` would write it.
        found: the file.
    """
    if name not in ("winogrande", "qnli") or not isinstance(entry, str) or not found.is_file():
        return entry
    start = _start(found)
    if name == "qnli":
        return {"path": entry, "format": "squad"} if start.lstrip()[:1] == b"{" and b'"paragraphs"' in start else entry
    try:
        first = json.loads(start.splitlines()[0])
    except (ValueError, IndexError):
        return entry
    return {"path": entry, "format": "wsc"} if isinstance(first, dict) and "target" in first else entry


def _start(path: Path) -> bytes:
    """Return how a file begins, decompressed and without a byte order mark; nothing where that cannot be read, which its reader says."""
    from cartograph.read.source import open_bytes

    try:
        with open_bytes(path) as file:
            return file.read(1 << 16).removeprefix(codecs.BOM_UTF8)
    except (OSError, EOFError, lzma.LZMAError, zlib.error):
        return b""
