"""Whether cleaning raised or lowered a metric, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from cartograph.clean.reviewed import all_by_people
from cartograph.compare.markdown import METRIC_NAMES, digits, in_points, points
from cartograph.compare.recommendation import Recommendation, recommend
from cartograph.compare.versions import HELD_OUT
from cartograph.page.audit import Audit
from cartograph.page.step_results import Cleaning
from cartograph.schema import UID
from cartograph.wording import count, counted, cut, listing

Row = Mapping[str, Any]

_LONGEST = 40
_ALSO = " and of the search for suspects among the others"


def cleaning_effect(
    differences: pa.Table, cleaning: str = "Cleaning", *, against: str = "original", metric: str = "accuracy", weighted: bool = False
) -> str:
    """Return a sentence per outcome (raised, lowered, no measurable difference) with its evaluation sets, out of distribution first.

    Args:
        differences: ``compare.versions.DIFFERENCES``.
        cleaning: what was done to the train set, as ``cleaning_phrase`` says it.
        against: ``original`` or ``random``.
        metric: of ``compare.versions.METRICS``.
        weighted: whether the cleaned rows have weights, and the random ones the same, shuffled.

    Returns:
        Empty where the two versions were not compared.
    """
    rows = [row for row in differences.to_pylist() if (row["subset"], row["against"], row["metric"]) == ("cleaned", against, metric)]
    outcomes: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["domain"] != "ood"):
        outcomes.setdefault(outcome_of(row), []).append(row)
    chance = "the same weights in random order" if weighted else "a random sample of the same size"
    first = f"Compared with {chance}, {cleaning[:1].lower()}{cleaning[1:]}" if against == "random" else cleaning
    subjects = (first, "It", "It")
    return " ".join(
        _sentence(subject, outcome, own, METRIC_NAMES[metric]) for subject, (outcome, own) in zip(subjects, outcomes.items(), strict=False)
    )


def advice_of(audit: Audit) -> Recommendation | None:
    """Return which version of the train set to use; None where the two were not compared."""
    if audit.comparison is None:
        return None
    cleaning, record = audit.cleaning, None if audit.suspects is None else audit.suspects.record
    weighted = cleaning is not None and bool(cleaning.version.get("weighted"))
    decided = 0 if cleaning is None else all_by_people(cleaning.changes, weighted=weighted)
    return recommend(audit.comparison.differences, record, decided, weighted=weighted)


def cleaning_lines(audit: Audit) -> list[str]:
    """Return a line, or none, for the top of the page: cleaning's worth by the first metric and those that disagree, and the advice."""
    if audit.comparison is None:
        return []
    differences, cleaning = audit.comparison.differences, cleaning_phrase(audit)
    rows = [row for row in differences.to_pylist() if (row["subset"], row["against"]) == ("cleaned", "original")]
    if not rows:
        return _all_failed(audit.comparison.summary)
    advice = advice_of(audit)
    if advice is not None and advice.outcome == "unchanged" and not advice.decided:
        return [_unchanged(audit, advice)]
    outcome = {(row["set"], row["metric"]): outcome_of(row) for row in rows}
    first, *others = dict.fromkeys(row["metric"] for row in rows)
    disagreeing = [metric for metric in others if any(outcome[name, metric] != outcome[name, first] for name, _ in outcome)]
    effects = [cleaning_effect(differences, cleaning, metric=metric) for metric in (first, *disagreeing)]
    if any(row["set"] == HELD_OUT for row in rows):
        committee = audit.suspects is not None and audit.suspects.record.get("detector") == "committee"
        effects.append(
            f"There is no evaluation set: these are train rows held out of training{_ALSO if committee else ''}, under their given labels; "
            "those without suspects flatter cleaning, since the models that found the suspects agree with the labels that are left."
        )
    return [" ".join([*effects, *([] if advice is None else [advice.sentence])])]


def _all_failed(summary: pa.Table) -> list[str]:
    """Return that no training came far enough to show what cleaning is worth; nothing where some did."""
    trained = {row["subset"]: (row["failed"], row["failed"] + row["seeds"]) for row in summary.to_pylist()}
    failed, number = (sum(part) for part in zip(*trained.values(), strict=True)) if trained else (0, 0)
    if not failed or failed < number:
        return []
    every = f"all {counted(number, 'training')}" if number > 1 else "the one training"
    return [
        f"What cleaning is worth is not known: {every} that would show it ended no better than chance, or stopped "
        "with an error; recommended: the original rows."
    ]


def sure_enough(cleaning: Cleaning) -> int:
    """Return how many rows are sure enough to drop without a person, where dropping was compared with the original; else 0."""
    arms = cleaning.arms["arms"] if cleaning.arms is not None else {}
    # What people decided is part of every arm.
    return arms["drop"]["changed"] - arms["original"]["changed"] if "drop" in arms else 0


def cleaned_rows_differ(audit: Audit) -> bool:
    """Return whether cleaning changed or weighted any row, so that models with the same scores have not seen the same rows."""
    return audit.cleaning is not None and bool(audit.cleaning.version.get("weighted") or audit.cleaning.changes.num_rows)


def _unchanged(audit: Audit, advice: Recommendation) -> str:
    """Return the advice where cleaning changed nothing: what it could have changed, and how to have that done all the same."""
    if cleaned_rows_differ(audit):
        where = listing([cut(name, _LONGEST) for name in advice.sets])
        return f"Recommended: the original rows; models trained on the cleaned ones are right on the same rows of {where}."
    sure = 0 if audit.cleaning is None else sure_enough(audit.cleaning)
    if audit.cleaning is None or audit.cleaning.arms is None or not sure or audit.cleaning.arms["recommended"] != "original":
        return advice.sentence
    score = audit.cleaning.arms["arms"]["drop"]
    gain = points(100 * score["difference"], 1, signed=True)
    return (
        f"Recommended: the original rows. Dropping the {count(sure)} surest, relabelling them, or down-weighting doubtful rows does "
        f"not make models measurably better (dropping: {gain} points by cross-validation on the train set), so nothing was changed; "
        "clean.recipe: drop-flagged drops them anyway."
    )


def outcome_of(row: Row) -> str:
    """Return ``raised``, ``lowered`` or ``no difference`` of a row of ``compare.versions.DIFFERENCES``."""
    return "raised" if row["low"] > 0 else "lowered" if row["high"] < 0 else "no difference"


def cleaning_phrase(audit: Audit) -> str:
    """Return what cleaning did, as the subject of a sentence: ``Dropping the suspects`` where it did exactly that."""
    if audit.cleaning is None or audit.suspects is None:
        return "Cleaning"
    changes = audit.cleaning.changes
    if audit.cleaning.version.get("weighted") and not changes.num_rows:
        return "Weighting rows by how likely their labels are right"
    changed, flagged = changes[UID].to_pylist(), audit.measures[UID].take(audit.listed).to_pylist()
    verb = {("drop",): "Dropping", ("relabel",): "Relabelling"}.get(tuple(changes["what"].unique().to_pylist()))
    return f"{verb} the suspects" if verb and sorted(changed) == sorted(flagged) else "Cleaning"


def _sentence(subject: str, outcome: str, rows: Sequence[Row], metric: str) -> str:
    parts = []
    for place, row in enumerate(rows):
        numbers = in_points(row)
        decimals = digits(*numbers[1:])
        if outcome == "no difference":
            shown = [points(value, decimals, signed=True) for value in numbers]
        else:
            difference, *ends = map(abs, numbers)
            shown = [points(value, decimals) for value in (difference, *sorted(ends))]
        unit, interval = (" points", "95 % CI ") if not place else ("", "")
        parts.append(f"{shown[0]}{unit} ({interval}{shown[1]} to {shown[2]}) on {cut(row['set'], _LONGEST)}")
    if outcome == "no difference":
        return f"{subject} made no measurable difference to {metric}: {', '.join(parts)}."
    return f"{subject} {outcome} {metric} by {listing(parts)}."
