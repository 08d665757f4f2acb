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


PAPER: dict[str, dict[str, object]] = {
    "snli": {"epochs": 6, "batch_size": 96, "learning_rate": 1.0709e-5, "schedule_epochs": 23},
    "multinli": {"epochs": 5, "batch_size": 96, "learning_rate": 1.0993e-5, "schedule_epochs": 24},
    "qnli": {"epochs": 5, "batch_size": 96, "learning_rate": 2.4722e-5, "schedule_epochs": 20},
    "winogrande": {"epochs": 6, "batch_size": 64, "learning_rate": 1.1235e-5, "schedule_epochs": 20},
}
"""Preset -> keys of the section ``train`` by which Swayamdipta et al. trained RoBERTa-large (2020, App. A.3), without warm-up and with at
most 128 tokens. Rates and lengths of the linear decay are those of their published code, which plans more epochs than the paper trains."""


def recipe_keys(recipe: str, preset: str, model: str) -> dict[str, object]:
    """Return the keys of the section ``train`` of a published recipe.

    Raises:
        InputError: there is no such recipe, the preset has none, or it is for another model.
    """
    if recipe != "paper":
        raise InputError(f"--recipe {recipe}: there is no such recipe; there is paper.")
    if preset not in PAPER:
        raise InputError(f"--recipe paper is of the tasks of a preset; name one with --preset: {', '.join(PAPER)}.")
    if model != "transformer":
        raise InputError(
            f"--recipe paper fine-tunes a pretrained encoder, and the model is {model}; add --model transformer --pretrained FOLDER "
            "(the paper's is RoBERTa-large)."
        )
    return PAPER[preset]


def preset_keys(name: str) -> dict[str, Any]:
    """Return the keys of the section ``ingest`` that a preset sets.

    Raises:
        InputError: no preset has that name.
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
    from cartograph.read.compression import open_bytes

    try:
        with open_bytes(path) as file:
            return file.read(1 << 16).removeprefix(codecs.BOM_UTF8)
    except (OSError, EOFError, lzma.LZMAError, zlib.error):
        return b""
