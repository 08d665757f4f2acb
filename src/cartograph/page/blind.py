"""What rows that people read blind say of all labels, beside what models say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cartograph.page.audit import Audit
from cartograph.wording import count, labels_said_wrong, labels_wrong, percent


def blind_number(audit: Audit) -> str:
    """Return how many labels are wrong by the blind check, as a clause; empty without one, or where the models' number says more.

    It does where both intervals have some number in common, and the models' is the narrower one.
    """
    found, wrong = audit.blind, models_number(audit)
    if found is None:
        return ""
    wider = wrong is not None and found["labels.high"] - found["labels.low"] > wrong["high"] - wrong["low"]
    return "" if wrong is not None and _meet(found, wrong) and wider else f"by a blind check of {_read(found)} rows, {_wrong(audit, found)}"


def blind_shares(audit: Audit) -> str:
    """Return which shares of the rows that people read blind are mislabelled, as a clause; empty without a blind check."""
    if audit.blind is None:
        return ""
    shares = []
    for kind, of in (("predicted_noise", "rows that models doubt"), ("predicted_clean", "others")):
        # A kind of which no row was read, such as suspects where there are none, has no share.
        if rows := int(audit.blind[f"{kind}.rows"]):
            shares.append(f"{percent(audit.blind[f'{kind}.mislabelled'])} of {count(rows)} {of}")
    return f"people found {' and '.join(shares)} mislabelled"


def blind_lines(audit: Audit) -> list[str]:
    """Return whichever of the blind check's and the models' number is not at the head, and how they go together; nothing without both."""
    found, wrong = audit.blind, models_number(audit)
    if found is None or wrong is None:
        return []
    if not blind_number(audit):
        return [f"By a blind check of {_read(found)} rows, {_wrong(audit, found)}, which does not contradict that."]
    models = f"To the models, {labels_said_wrong(wrong)}"
    if _meet(found, wrong):
        return [f"{models}, which does not contradict that."]
    if wrong["expected"] < found["labels.mislabelled"]:
        return [f"{models}: errors that follow a rule or gather on hard rows may look right to them."]
    return [f"{models}: hard rows may look wrong to them."]


def models_number(audit: Audit) -> Mapping[str, float] | None:
    """Return how many labels are wrong by the models alone, before people looked: ``expected``, ``low``, ``high``; None where unknown."""
    record: Mapping[str, Any] = audit.suspects.record if audit.suspects is not None else {}
    return record.get("wrong") if record.get("calibrated") else None


def _meet(found: Mapping[str, float], wrong: Mapping[str, float]) -> bool:
    return found["labels.low"] <= wrong["high"] and wrong["low"] <= found["labels.high"]


def _read(found: Mapping[str, float]) -> str:
    return count(int(found["predicted_noise.rows"] + found["predicted_clean.rows"]))


def _wrong(audit: Audit, found: Mapping[str, float]) -> str:
    some, low, high = (found[f"labels.{name}"] for name in ("mislabelled", "low", "high"))
    every = f"{count(int(found['labels.rows']))} labels"
    return labels_wrong(some, low, high, f"of {every}" if audit.reviewed is None else f"of the {every} as they were given")
