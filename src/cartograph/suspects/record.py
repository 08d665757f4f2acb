"""The noise experiment in numbers: what was planted, which detector is used and why, how many suspects it found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from cartograph.features.telling import Telling
from cartograph.statistics.prior import PRIOR
from cartograph.suspects.class_forms import ClassForms
from cartograph.suspects.detector import Detector, DetectorChoice
from cartograph.suspects.flips import Flips
from cartograph.suspects.label_doubt import Doubt
from cartograph.suspects.listing import Suggestions


def noise_record(
    flips: Flips,
    choice: DetectorChoice,
    suggestions: Suggestions,
    suspects: pa.Table,
    doubt: Doubt | None,
    *,
    asked: Mapping[str, Any],
    assumption: str | None,
) -> dict[str, Any]:
    """Return the experiment as JSON values.

    Args:
        flips: what was planted.
        choice: the detectors, and which is used.
        suggestions: where suggested labels come from.
        suspects: ``schema.NOISE`` of all rows.
        doubt: the committee's, of the given labels; None where there is no committee.
        asked: ``detector`` and ``threshold`` as the user set them.
        assumption: what was assumed instead of learnt; None where nothing was.
    """
    detectors = {
        name: {
            "features": list(detector.features),
            "f1": round(detector.f1, 6),
            "average_precision": round(detector.average_precision, 6),
            "weights": [round(float(weight), 6) for weight in detector.model.weights],
        }
        for name, detector in choice.candidates.items()
    }
    chosen = choice.chosen
    return {
        "rows": suspects.num_rows,
        "suspects": int(np.count_nonzero(suspects["flagged"].to_numpy(zero_copy_only=False))),
        "threshold": asked["threshold"],
        "flips": len(flips.rows),
        "asked": asked["detector"],
        "detector": choice.name,
        "reason": choice.reason,
        "assumption": assumption,
        "calibrated": chosen.calibrated and doubt is not None and doubt.wrong is not None,
        "explained": None if doubt is None else round(doubt.explained, 6),
        "unknown": None if doubt is None else doubt.unknown,
        **_labelling(doubt),
        "wrong": None if doubt is None or doubt.wrong is None else _rounded(doubt),
        "between": None if doubt is None else rounded_between(doubt),
        "confidence_below": round(_cut(chosen, float(asked["threshold"])), 6) if choice.name == "confidence" else None,
        "detectors": detectors,
        "f1_variability": round(choice.variability_f1, 6),
        "tested_on": chosen.tested_on,
        "left_out": choice.left_out,
        "suggestions": {"from": suggestions.source, "right": {name: round(share, 6) for name, share in suggestions.right.items()}},
    }


def committee_record(suspects: pa.Table, doubt: Doubt, threshold: float) -> dict[str, Any]:
    """Return what ``noise_record`` does where no flips were planted: the committee's doubt alone says which labels are suspect.

    Args:
        suspects: ``schema.NOISE`` of all rows.
        doubt: the committee's, of the given labels.
        threshold: probability from which on a row is flagged.
    """
    return {
        "rows": suspects.num_rows,
        "suspects": int(np.count_nonzero(suspects["flagged"].to_numpy(zero_copy_only=False))),
        "threshold": threshold,
        "flips": 0,
        "detector": "committee",
        "assumption": None,
        "calibrated": doubt.wrong is not None,
        "explained": round(doubt.explained, 6),
        "unknown": doubt.unknown,
        **_labelling(doubt),
        "wrong": None if doubt.wrong is None else _rounded(doubt),
        "between": rounded_between(doubt),
    }


def without_number(record: Mapping[str, Any], telling: Telling, forms: ClassForms, outcome: str = "") -> dict[str, Any]:
    """Return a record without the number of wrong labels where it would say nothing, and why; as it is elsewhere.

    Args:
        record: of ``noise_record`` or ``committee_record``.
        telling: columns or words that tell the label by themselves (``what_tells``): where they are right, no label looks wrong.
        forms: of the classes; where all are forms of one, the number would be of labels written otherwise.
        outcome: the label's column where it is an outcome (``DatasetInfo.outcome``), whose exceptions would be counted; else empty.
    """
    if telling.nearly_all:
        why = {"unknown": "leaked", "leaked_by": telling.names, "leaked_words": telling.words}
    elif forms.alone:
        why = {"unknown": "one class"}
    elif outcome:
        why = {"unknown": "outcome", "outcome": outcome}
    else:
        return dict(record)
    return {**record, "calibrated": False, "wrong": None, "between": None, **why}


def _labelling(doubt: Doubt | None) -> dict[str, Any]:
    """Return whether doubt follows who labelled a row, where that was looked at, and which stretches and classes it sets apart, if any."""
    if doubt is None:
        return {}
    who = {} if doubt.labellers_differ is None else {"labellers_differ": doubt.labellers_differ}
    found = {"stretches": doubt.stretches, "indistinct": doubt.indistinct}
    return who | {name: [list(one) for one in every] for name, every in found.items() if every}


def rounded_between(doubt: Doubt) -> dict[str, float] | None:
    """Return between which numbers that of the wrong labels lies, where no number is estimated: ``low``, ``high``, ``most``; else None."""
    return None if doubt.between is None else {name: round(value, 3) for name, value in doubt.between._asdict().items()}


def _rounded(doubt: Doubt) -> dict[str, Any]:
    habits = [] if doubt.transition is None else doubt.transition.tolist()
    return {name: round(value, 3) for name, value in vars(doubt.wrong).items()} | {
        "transition": [[round(share, 6) for share in row] for row in habits],
        "pairs": [{name: round(value, 3) for name, value in vars(pair).items()} for pair in doubt.pairs],
    }


def noise_metrics(record: Mapping[str, Any]) -> dict[str, float]:
    """Return the experiment as flat numbers.

    ``suspects``, ``suspects.share``, ``flips``, ``assumed`` (1 where nothing was trained again), and of each detector ``f1.<name>`` and
    ``average_precision.<name>``; ``f1.variability`` for comparison; ``suggestions.<source>``, the share of the flips whose
    right label is suggested; ``wrong.expected``, ``.low`` and ``.high``: how many labels are estimated to be wrong, where that is
    possible (else ``.low`` and ``.high`` alone, where it lies between), ``wrong.scattered``, how many at most if errors do not gather on
    hard rows, and ``wrong.most``, how many if nearly all hard rows have a wrong label.
    """
    metrics: dict[str, float] = {"suspects": record["suspects"], "suspects.share": round(record["suspects"] / record["rows"], 6)}
    metrics |= {"flips": record["flips"], "f1.variability": record["f1_variability"], "assumed": int(record["assumption"] is not None)}
    metrics |= wrong_metrics(record)
    for name, detector in record["detectors"].items():
        metrics |= {f"f1.{name}": detector["f1"], f"average_precision.{name}": detector["average_precision"]}
    metrics |= {f"suggestions.{source}": share for source, share in record["suggestions"]["right"].items()}
    return metrics


def wrong_metrics(record: Mapping[str, Any]) -> dict[str, float]:
    """Return how many labels are wrong, as the part ``wrong`` of ``noise_metrics``."""
    number = record["wrong"] or record["between"] or {}
    return {f"wrong.{name}": number[name] for name in ("expected", "low", "high", "scattered", "most") if name in number}


def _cut(detector: Detector, threshold: float) -> float:
    """Return the confidence at which a detector of confidence alone gives the threshold's probability."""
    odds = np.log(threshold / (1.0 - threshold)) - np.log(PRIOR / (1.0 - PRIOR))
    model = detector.model
    return float(model.centre[0] + (odds - model.bias) / model.weights[0] * model.scale[0])
