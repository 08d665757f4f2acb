"""The top of the page: one sentence with numbers, what to do about it, and four figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cartograph.features.rule_words import rule_sentence
from cartograph.features.telling import telling_sentence
from cartograph.page.audit import Audit
from cartograph.page.beyond_number import beyond_interval, outcomes, words_alone
from cartograph.page.blind import blind_lines
from cartograph.page.class_names import class_names, indistinct_sentence, too_many_classes, whole_classes
from cartograph.page.cleaning_effect import cleaning_lines
from cartograph.page.gathered import catch_all_sentence, contradicting_sentence, gathered_sentence
from cartograph.page.headline import HARD, failed_checks, few_of_unknown, headline
from cartograph.page.sections.evaluation_labels import evaluation_lines
from cartograph.page.sections.planted_truth import found_among_hardest, found_among_suspects
from cartograph.page.stretches import filled_sentence, shifted_sentence
from cartograph.wording import count, counted, cut, listing, probability, share

_ELSEWHERE = ("failed_", "training_")


@dataclass(frozen=True)
class Figure:
    """A number with its name and a line about it; ``state`` is ``good``, ``bad`` or empty."""

    label: str
    value: str
    note: str
    state: str = ""


@dataclass(frozen=True)
class Verdict:
    """The sentence, the lines under it, and the figures.

    Attributes:
        sentence: at the top.
        lines: most important first.
        figures: beneath the lines.
        numbers: how the sentence begins, with the numbers that a reader came for: this is set in bold. Empty: all of it.
    """

    sentence: str
    lines: tuple[str, ...]
    figures: tuple[Figure, ...]
    numbers: str = ""


def verdict(audit: Audit) -> Verdict:
    """Return what the audit found, most important first."""
    third = _hardest(audit) if audit.suspects is None else _suspects(audit)
    numbers, then = headline(audit)
    return Verdict(f"{numbers}{then}", _lines(audit), (_rows(audit), _quarantined(audit), third, _validation(audit)), numbers)


def _lines(audit: Audit) -> tuple[str, ...]:
    """Return what was found, how sure that is, what to do about it, and the gates."""
    parts = (
        _first_look(audit),
        audit.impossible,
        class_names(audit),
        [telling_sentence(audit.telling) or rule_sentence(audit.rule, audit.info.labels)],
        _criticals(audit),
        _since(audit),
        [indistinct_sentence(audit), *whole_classes(audit), too_many_classes(audit)],
        [] if audit.cleaning is None else audit.cleaning.version.get("passed_over", []),
        [
            shifted_sentence(audit),
            filled_sentence(audit),
            contradicting_sentence(audit),
            gathered_sentence(audit),
            catch_all_sentence(audit),
        ],
        blind_lines(audit),
        beyond_interval(audit),
        outcomes(audit),
        words_alone(audit),
        _truth(audit),
        evaluation_lines(audit),
        cleaning_lines(audit),
        [audit.how_made.cleaned and f"{audit.how_made.cleaned}."],
        _start(audit),
        _gates(audit),
    )
    return tuple(line for part in parts for line in part if line)


def _first_look(audit: Audit) -> list[str]:
    if not audit.whole_page:
        return []
    written = "This is a first look, written as soon as the map and the suspects were ready."
    return [f"{written} When the audit has ended, the full page is {audit.whole_page} in the same folder."]


def _gates(audit: Audit) -> list[str]:
    """Return the sentences of the gates that failed or warned, in that order; checks and trainings are reported elsewhere."""
    words = {"failed": "This fails the audit", "warned": "Warning"}
    beyond = [gate for outcome in words for gate in audit.gates if gate["outcome"] == outcome and not gate["gate"].startswith(_ELSEWHERE)]
    return [f"{words[gate['outcome']]}: {cut(gate['sentence'], 400)}" for gate in beyond[:3]]


def _since(audit: Audit) -> list[str]:
    if audit.since_last_audit is None:
        return []
    new = int(audit.since_last_audit.numbers["suspects.new"])
    return [f"Since the last audit, {counted(new, 'label')} became suspect." if new else "Since the last audit, no label became suspect."]


def _truth(audit: Audit) -> list[str]:
    flips_found, total = (0, 0) if audit.score is None else found_among_hardest(audit.score)
    if audit.score is None or not total:
        return []
    among = f"the {count(total)} least confident rows"
    suspects = found_among_suspects(audit.score)
    if suspects is not None:
        flips_found, among = suspects[0], f"the {counted(suspects[1], 'suspect')}"
    precision = audit.metrics.get("score", {}).get("average_precision")
    ranked = "" if precision is None else f" (average precision {probability(precision)}, where 1 is a perfect ranking)"
    return [
        f"This is built-in data, whose planted errors are known: {count(flips_found)} of its {count(total)} flipped labels "
        f"{'is' if flips_found == 1 else 'are'} among {among}{ranked}."
    ]


def _criticals(audit: Audit) -> list[str]:
    lines = []
    for entry in audit.validation.get("sets", []):
        for check in entry["checks"]:
            if not check["passed"] and check["severity"] == "critical":
                lines.append(
                    f"Critical, in {cut(str(entry['set']), 40)}: {cut(str(check['check']), 120)}: {cut(str(check['found']), 160)}."
                )
    return lines[:3]


def _start(audit: Audit) -> list[str]:
    if number := len(audit.flagged):
        each = "suspect: it has" if number == 1 else f"{count(number)} suspects: each has"
        return [f"Start with the {each} a suggested label and a reason.{_go_on(audit)}"]
    ranked = audit.suspects is not None and audit.suspects.record.get("unknown") != "little explained"
    if ranked and (number := len(audit.doubted_most)) > 1:
        what = counted(number, "answer" if audit.several else "row")
        if len(audit.listed):
            return [f"All suspects are decided. Go on with the {what} doubted most below them, the first of the “Rows to read”."]
        why = "none is a suspect, but where labels are wrong, these are the likeliest"
        return [f"Start with the {what} doubted most, the first of the “Rows to read”: {why}."]
    if audit.training.get("learning", {}).get("state") in ("failed", "diverged", "by heart"):
        review = "" if audit.several or audit.suspects is None or audit.blind is not None else audit.how_made.review
        # Of a model that learnt nothing, or its rows by heart, the hardest rows are any.
        return [f"Start with rows drawn at random (`{review} --blind`): nothing says which labels are wrong."] if review else []
    rows = audit.members(HARD)
    if not len(rows):
        return []
    mean = probability(float(audit.confidence[rows].mean()))
    if len(rows) == 1:
        other = ", and it preferred another" if audit.disagreeing is not None and audit.disagreeing[rows[0]] else ""
        return [f"Start with the one hard-to-learn row: the model gave its label a probability of {mean}{other}."]
    other = ""
    if audit.disagreeing is not None:
        other = f", and it preferred another for {count(int(np.count_nonzero(audit.disagreeing[rows])))} of them"
    what = "answers" if audit.several else "rows"
    return [
        f"Start with the {count(len(rows))} hard-to-learn {what}: the model gave their labels a probability of {mean} on average{other}."
    ]


def _go_on(audit: Audit) -> str:
    """Return what to read after suspects that are few though nobody knows how many labels are wrong; empty elsewhere."""
    if not few_of_unknown(audit):
        return ""
    what = counted(len(audit.doubted_most), "answer" if audit.several else "row")
    return (
        f" Go on with the {what} doubted most below, the first of the “Rows to read”: that suspects are few does not say that errors are."
    )


def _rows(audit: Audit) -> Figure:
    names = {"id": "in distribution", "ood": "out of distribution"}
    domains = [entry["domain"] for entry in audit.validation.get("sets", [])]
    other = [f"{domains.count(domain)} {name}" for domain, name in names.items() if domain in domains]
    evaluated = f"; evaluation sets: {listing(other)}" if other else ""
    if audit.several:
        return Figure("Rows", count(audit.rows // audit.labels_a_row), f"{counted(audit.labels_a_row, 'label')} each, yes or no")
    return Figure("Rows", count(audit.rows), f"{counted(len(audit.info.labels), 'class', 'classes')}{evaluated}")


def _quarantined(audit: Audit) -> Figure:
    number = audit.quarantine.num_rows
    read = sum(int(entry["rows_read"]) for entry in audit.validation.get("sets", []))
    reasons = audit.validation.get("quarantine", {})
    most = max(reasons, key=lambda reason: (reasons[reason], reason)) if reasons else ""
    note = (
        "every row that was read could be used" if not number else f"{share(number, read)} of the rows read; mostly: {cut(str(most), 60)}"
    )
    return Figure("Quarantined", count(number), note)


def _hardest(audit: Audit) -> Figure:
    rows = audit.members(HARD)
    if audit.disagreeing is None:
        highest = probability(float(audit.confidence[rows].max())) if len(rows) else "0"
        return Figure("Hard to learn", count(len(rows)), f"confidence at most {highest}")
    other = int(np.count_nonzero(audit.disagreeing[rows]))
    return Figure("Hard to learn", count(len(rows)), f"the model prefers another label for {count(other)}")


def _suspects(audit: Audit) -> Figure:
    number = len(audit.flagged)
    record: Mapping[str, Any] = audit.suspects.record if audit.suspects is not None else {}
    none = "none stands out from hard rows" if record.get("unknown") else f"none at {record.get('threshold', 0.5):g} or more"
    if len(audit.listed):
        none = f"all {count(len(audit.listed))} are decided"
    labels = f"{share(number, audit.rows)} of the labels" if number else none
    if "impossible" in record:
        return Figure("Suspects", "none", "no label could be judged")
    if record["assumption"]:
        return Figure("Suspects", count(number), f"{labels}; by assumption, not learnt")
    by = "models that never saw the row" if record["detector"] == "committee" else f"the detector {record['detector']}"
    return Figure("Suspects", count(number), f"{labels}; by {by}")


def _validation(audit: Audit) -> Figure:
    """Return how many checks passed; of an audit without any, as of a file, how many classes or labels there are."""
    failed, critical, total = failed_checks(audit)
    if not total:
        if audit.several:
            most = max(label.rows for label in audit.several)
            return Figure(
                "Labels", count(len(audit.several)), f"the most frequent is on {share(most * audit.labels_a_row, audit.rows)} of the rows"
            )
        counts = audit.class_counts
        return Figure("Classes", count(len(counts)), f"the largest has {share(max(counts.values(), default=0), audit.rows)} of the rows")
    value = f"{count(total - failed)} of {count(total)}"
    note = (
        "checks passed" if not failed else f"checks passed; {count(failed)} failed, {'none' if not critical else count(critical)} critical"
    )
    return Figure("Validation", value, note, "bad" if critical else "" if failed else "good")
