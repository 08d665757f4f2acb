"""What rows that people read blind say of all labels, beside what models say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cartograph.page.audit import Audit
from cartograph.wording import about, count, labels_wrong


def blind_number(audit: Audit) -> str:
    """Return how many labels are wrong by the blind check, as a clause; empty without one, or where the models' number agrees with it."""
    found, wrong = audit.blind, models_number(audit)
    if found is None or (wrong is not None and _agrees(found, wrong)):
        return ""
    return f"by a blind check of {_read(found)} rows, {_wrong(found)}"


def blind_lines(audit: Audit) -> list[str]:
    """Return what the blind check and the models' number say of each other; nothing where there is but one of them."""
    found, wrong = audit.blind, models_number(audit)
    if found is None or wrong is None:
        return []
    if _agrees(found, wrong):
        return [f"A blind check of {_read(found)} rows agrees: {_wrong(found)}."]
    models = f"To the models, {labels_wrong(wrong['expected'], wrong['low'], wrong['high'])}"
    if wrong["expected"] < found["labels.mislabelled"]:
        return [f"{models}: errors that follow a rule or gather on hard rows look right to them."]
    return [f"{models}: hard rows look wrong to them."]


def models_number(audit: Audit) -> Mapping[str, float] | None:
    """Return how many labels are wrong by the models alone, before people looked: ``expected``, ``low``, ``high``; None where unknown."""
    record: Mapping[str, Any] = audit.suspects.record if audit.suspects is not None else {}
    return record.get("wrong") if record.get("calibrated") else None


def _agrees(found: Mapping[str, float], wrong: Mapping[str, float]) -> bool:
    return found["labels.low"] <= wrong["expected"] <= found["labels.high"]


def _read(found: Mapping[str, float]) -> str:
    return count(int(found["predicted_noise.rows"] + found["predicted_clean.rows"]))


def _wrong(found: Mapping[str, float]) -> str:
    some, low, high = (about(found[f"labels.{name}"]) for name in ("mislabelled", "low", "high"))
    every = count(int(found["labels.rows"]))
    return f"about {some} of {every} labels {'is' if some == '1' else 'are'} wrong (95\u00a0% CI {low} to {high})"
