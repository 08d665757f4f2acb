"""The params.yaml of a new workspace: every key with a comment that says what it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from cartograph.config import Section
from cartograph.models.registry import FROM_A_FOLDER

RECIPES: dict[str, dict[str, object]] = {
    "bow": {},
    "lstm": {"learning_rate": 0.002},
    "esim": {"learning_rate": 0.002},
    "tiny": {"learning_rate": 0.001},
    "probe": {},
    "mlp": {"learning_rate": 0.003},
    "boosting": {"learning_rate": 0.2},
    "cnn": {"learning_rate": 0.002},
    "vision": {"batch_size": 32, "learning_rate": 0.00005},
    "transformer": {"batch_size": 32, "learning_rate": 0.00002},
}
"""Model -> keys of the section ``train`` whose defaults do not suit it."""

BUILT_IN_ONLY = {("ingest", "rows"), ("ingest", "seed"), ("pairs", "rows")}
"""Keys that say nothing about a user's own files."""


def recipe(model: str, pretrained: str) -> dict[str, object]:
    """Return the keys of the section ``train`` for a model."""
    keys = {"model": model, **RECIPES.get(model, {})}
    return {**keys, "pretrained": pretrained} if pretrained and model in FROM_A_FOLDER else keys


def usual_reading(*, image: bool, table: bool) -> tuple[str, dict[str, object]]:
    """Return the model and the keys of the section ``features`` that suit images, a table of features, or else texts."""
    if image:
        return "cnn", {"source": "pixels"}
    return ("mlp", {"source": "columns"}) if table else ("bow", {})


def encoder(model: str, pretrained: str) -> dict[str, object]:
    """Return the keys of the section ``embed``, where a step of its own makes vectors by the encoder as it is: for suspects.

    Of a `transformer` too, from before it is trained: its early epoch and these vectors find more wrong labels together than either does
    (``benchmarks/tuned_noise.py``). Of images that was not measured.
    """
    return {"pretrained": pretrained} if pretrained and model != "vision" else {}


def render(given: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of an audit's params.yaml: every key of every step with its comment, which is its field's description.

    Args:
        given: section -> keys that differ from their defaults.
    """
    from tasks.pipelines import STEPS

    return render_sections("audit", {step.name: step.params for step in STEPS}, given)


def render_sections(what: str, models: Mapping[str, type[Section]], given: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of a params.yaml.

    Args:
        what: what its workspace is: an audit, or a collection.
        models: section -> model.
        given: section -> keys that differ from their defaults.
    """
    lines = [f"# The parameters of this {what}: one section per step. Every key may be left out but those that name the data."]
    for name, model in models.items():
        if not model.model_fields:
            continue
        values = model.model_construct().model_dump(mode="json", warnings=False) | dict(given.get(name, {}))
        lines.append(f"{name}:")
        for key, field in model.model_fields.items():
            if (name, key) not in BUILT_IN_ONLY:
                lines += _key(key, values[key], field.description or "")
    return "\n".join(lines) + "\n"


def _key(key: str, value: Any, comment: str) -> list[str]:
    if isinstance(value, dict | list) and any(isinstance(item, dict) for item in (value.values() if isinstance(value, dict) else value)):
        block = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
        return [f"  {key}:  # {comment}", *(f"    {line}" for line in block.splitlines())]
    return [f"{f'  {key}: {inline(value)}':<28} # {comment}"]


def inline(value: Any) -> str:
    """Return a value as params.yaml has it on one line."""
    return yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10_000).strip().removesuffix("...").strip()
