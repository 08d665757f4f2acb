"""The params.yaml of a new workspace: every key with a comment that says what it is."""

from __future__ import annotations

import re
from typing import Any

import yaml

from tasks.workspace import ROOT

RECIPES: dict[str, dict[str, object]] = {
    "bow": {},
    "tiny": {"learning_rate": 0.001},
    "transformer": {"epochs": 5, "batch_size": 32, "learning_rate": 0.00002},
}
"""Keys of the section ``train`` that a model needs otherwise than the default audit has them."""

COMMENTS = {
    "source": "files: those named under `train` and `evaluation`; planted-nli: the built-in generated corpus",
    "train": "files of the train set, read one after the other; paths from the project's root",
    "evaluation": "evaluation sets by name: files, and id = in distribution or ood = out of distribution",
    "text": "text columns: one for single texts and multiple choice, two for pairs; a list in the list = alternative names",
    "options": "option columns of multiple choice; else empty",
    "label": "label column, or alternative names; for multiple choice the option's number, index, letter, name or text",
    "uid": "column that identifies a row; null, or an evaluation set without it: made from the content",
    "annotators": "column with the annotators' labels; null: none",
    "format": "csv, tsv, jsonl, parquet, label-first, lines, huggingface or hub; null: told from name and content",
    "encoding": "of text files; null: utf-8",
    "label_separator": "a label ends before it (`:` makes DESC of DESC:manner); null: labels are taken whole",
    "label_names": "given label -> class name, where sets name the same classes otherwise",
    "labels": "class names in the order of their ids; empty: numeric, else alphabetical order of those in train",
    "unlabelled": "label values that mean that there is no gold label",
    "quarantine_limit": "largest share of a set's rows that may be unusable before the audit fails",
    "min_class_count": "rows; a class of the train set with fewer raises a warning",
    "max_characters": "characters; longer texts raise a warning",
}


def recipe(model: str, pretrained: str) -> dict[str, object]:
    """Return the keys of the section ``train`` for a model."""
    keys = {"model": model, **RECIPES.get(model, {})}
    return {**keys, "pretrained": pretrained} if pretrained else keys


def render(ingest: dict[str, Any], train: dict[str, object]) -> str:
    """Return the text of a params.yaml: every key with its comment.

    Args:
        ingest: keys of the section ``ingest``; the others have their defaults.
        train: keys of the section ``train`` that differ from the default audit's, whose other sections are taken over.
    """
    from tasks.ingest import Params

    defaults = Params().model_dump(mode="json")
    lines = ["# The parameters of this audit: one section per step. Every key may be left out but those that name the data.", "ingest:"]
    for key, comment in COMMENTS.items():
        value = ingest.get(key, defaults[key])
        if key in ("train", "evaluation") and value:
            lines.append(f"  {key}:  # {comment}")
            block = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
            lines += [f"    {line}" for line in block.splitlines()]
        else:
            lines.append(f"{f'  {key}: {_inline(value)}':<28} # {comment}")
    sections = re.split(r"^(?=\w+:)", (ROOT / "params.yaml").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for section in sections:
        if section.startswith("train:"):
            section = _with_keys(section, train)
        if not section.startswith("ingest:"):
            lines.append(section.rstrip("\n"))
    return "\n".join(lines) + "\n"


def _inline(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10_000).strip().removesuffix("...").strip()


def _with_keys(section: str, values: dict[str, object]) -> str:
    for key, value in values.items():
        line = re.compile(rf"^  {key}: (\S+)(?P<space>\s+)", re.MULTILINE)
        found = line.search(section)
        if found:
            text = f"  {key}: {_inline(value)}"
            section = section[: found.start()] + text.ljust(len(found[0]) - 1) + " " + section[found.end() :]
        else:
            section = section.rstrip("\n") + f"\n  {key}: {_inline(value)}\n"
    return section
