"""The numbers of each method of a collection after its last round, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from cartograph.pairs.comparison import UNTRAINED, RoundResult, balanced_scores, labels_needed
from cartograph.pairs.manual_correction import corrected_precision, published_precision, share_of_real

STATIC = "static-retrieval"


def method_metrics(summary: pa.Table, last: Sequence[RoundResult], seed: int) -> dict[str, float]:
    """Return means with their intervals, those before any label, balanced scores, and the labels that each method needs to reach static
    retrieval.

    Args:
        summary: ``comparison.SUMMARY`` of all rounds.
        last: the results of the last round, by method and seed.
        seed: of the draws behind intervals over seeds.
    """
    metrics: dict[str, float] = {}
    for row in summary.to_pylist():
        if not row["round"]:
            name = f"{UNTRAINED}.{row['measure']}"
            metrics |= {name: row["mean"], f"{name}.low": row["low"], f"{name}.high": row["high"]}
        if row["round"] == last[0].round:
            name = f"{row['method']}.{row['measure']}"
            metrics |= {name: row["mean"], f"{name}.low": row["low"], f"{name}.high": row["high"]}
            metrics |= {f"{row['method']}.labels": row["labels"], f"{row['method']}.positive": row["positive"]}
    by_method = _by_method(last)
    for method, own in by_method.items():
        metrics |= {f"{method}.stated.{name}": value for name, value in balanced_scores(own, seed).items()}
        if "test.stated.pairs" in own[0].numbers:
            metrics |= {f"{method}.stated.{name}": own[0].numbers[f"test.stated.{name}"] for name in ("pairs", "positives")}
    if STATIC in by_method:
        target = metrics[f"{STATIC}.average_precision"]
        needed = {method: labels_needed(summary, method, target) for method in by_method}
        metrics |= {f"{method}.labels_to_static": number for method, number in needed.items() if number is not None}
    return metrics


def corrected_metrics(
    false_positives: Mapping[str, Mapping[str, Sequence[int]]], judged: Mapping[int, int], last: Sequence[RoundResult]
) -> dict[str, float]:
    """Return each method's precision corrected by people's judgements of false positives, and as the paper corrects it.

    A method without any judgement is left out.

    Args:
        false_positives: method -> ``near`` and ``random`` -> the keys that people were asked about.
        judged: key -> people's label.
        last: the results of the last round, by method and seed.
    """
    metrics: dict[str, float] = {}
    by_method = _by_method(last)
    for method, keys_of_kind in false_positives.items():
        shares = {kind: share_of_real(keys, judged) for kind, keys in keys_of_kind.items()}
        if not sum(share.judged for share in shares.values()):
            continue
        names = [f"test.{name}" for name in ("true_positives", "false_positives.near", "false_positives.random")]
        counts = [[result.numbers[name] for name in names] for result in by_method[method]]
        for kind, share in shares.items():
            metrics |= {f"{method}.judged_{kind}": float(share.judged), f"{method}.real_{kind}": share.real}
        # The more of them are real, the lower the precision.
        for end, part in (("", "real"), (".low", "high"), (".high", "low")):
            real = [getattr(shares[kind], part) for kind in ("near", "random")]
            for name, formula in (("corrected", corrected_precision), ("published", published_precision)):
                value = np.mean([formula(*row, *real) for row in counts])
                metrics[f"{method}.precision_at_recall_20.{name}{end}"] = float(value)
    return metrics


def _by_method(results: Sequence[RoundResult]) -> dict[str, list[RoundResult]]:
    found: dict[str, list[RoundResult]] = {}
    for result in results:
        found.setdefault(result.method, []).append(result)
    return found
