"""The top of the page: one sentence with numbers, what to do about it, and four figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cartograph.clean.cleaning import unknown_classes
from cartograph.clean.recommended import WEIGHABLE
from cartograph.clean.reviewed import Reviewed, errors_go_on
from cartograph.features.rule_words import rule_sentence
from cartograph.features.telling import telling_sentence
from cartograph.ingest.joined_labels import joined_sentence
from cartograph.ingest.label_forms import ONE_FORM, SAME, forms_sentence
from cartograph.ingest.measurements import measurements_sentence
from cartograph.ingest.placeholders import MISSING_LABEL, NO_PLACEHOLDER, placeholders_sentence
from cartograph.page.audit import Audit
from cartograph.page.blind import blind_lines, blind_number
from cartograph.page.cleaning_effect import cleaning_lines
from cartograph.page.gathered import catch_all_sentence, contradicting_sentence, gathered_sentence
from cartograph.page.headline import HARD, failed_checks, headline
from cartograph.page.read_verdict import BEYOND
from cartograph.page.sections.evaluation_labels import evaluation_lines
from cartograph.page.sections.planted_truth import found_among_hardest, found_among_suspects
from cartograph.page.stretches import filled_sentence, shifted_sentence
from cartograph.wording import about, count, counted, cut, listing, probability, share

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
    """The sentence, the lines under it, and the figures."""

    sentence: str
    lines: tuple[str, ...]
    figures: tuple[Figure, ...]


def verdict(audit: Audit) -> Verdict:
    """Return what the audit found, most important first."""
    third = _hardest(audit) if audit.suspects is None else _suspects(audit)
    return Verdict(headline(audit), _lines(audit), (_rows(audit), _quarantined(audit), third, _validation(audit)))


def _lines(audit: Audit) -> tuple[str, ...]:
    """Return what was found, how sure that is, what to do about it, and the gates."""
    parts = (
        _first_look(audit),
        audit.impossible,
        _class_names(audit),
        [telling_sentence(audit.telling) or rule_sentence(audit.rule, audit.info.labels)],
        _criticals(audit),
        _since(audit),
        whole_classes(audit),
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
        _words_alone(audit),
        _truth(audit),
        evaluation_lines(audit),
        cleaning_lines(audit),
        _start(audit),
        _gates(audit),
    )
    return tuple(line for part in parts for line in part if line)


def _first_look(audit: Audit) -> list[str]:
    if not audit.whole_page:
        return []
    written = "This is a first look, written as soon as the map and the suspects were ready."
    return [f"{written} When the audit has ended, the full page is {audit.whole_page} in the same folder."]


def _class_names(audit: Audit) -> list[str]:
    """Return which classes may be one under two names, none, several or measurements, and the way out; the page's checks show all."""
    joined = [] if audit.several else [joined_sentence(audit.class_counts), measurements_sentence(audit.class_counts)]
    if not failed_checks(audit)[2] and not audit.several:
        return [forms_sentence(audit.class_counts), placeholders_sentence(audit.class_counts), *joined]
    checks = [check for entry in audit.validation.get("sets", []) for check in entry["checks"] if not check["passed"]]
    begins = {ONE_FORM: SAME, NO_PLACEHOLDER: MISSING_LABEL}
    found = [f"{begin}: {cut(str(check['found']), 500)}." for name, begin in begins.items() for check in checks if check["check"] == name]
    return [*found, *joined]


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


def beyond_interval(audit: Audit) -> list[str]:
    """Return which errors are not in the interval: those that follow from the rows; once people have looked, what they show."""
    record: Mapping[str, Any] = audit.suspects.record if audit.suspects is not None else {}
    wrong = record.get("wrong") if record.get("calibrated") else record.get("between")
    if audit.reviewed is not None:
        return ["" if blind_number(audit) else contradicted(audit.reviewed), _errors_go_on(audit)]
    if wrong is None or wrong["most"] < wrong["high"] + 2 or blind_number(audit):
        return []
    hard = f"those that gather on hard rows (with them up to {about(wrong['most'])})"
    rule = "those that follow a rule, as in labels that a program, a word list or another model gave, which models learn like right ones"
    return [f"{BEYOND} {hard}, and {rule}."]


def outcomes(audit: Audit) -> list[str]:
    """Return, where some labels look wrong for sure, what nobody can see from the rows: that labels may follow from something else."""
    record: Mapping[str, Any] = audit.suspects.record if audit.suspects is not None else {}
    wrong = record.get("wrong") if record.get("calibrated") or audit.info.features else None
    if wrong is None or not len(audit.flagged):
        return []
    if audit.info.features:
        return [
            "If these labels are outcomes, such as a decision or a result, or follow from something that no column records, exceptions "
            "look like wrong labels."
        ]
    if audit.info.images or audit.several or round(wrong["low"]) < 1:
        return []
    return [
        "If these labels are facts that the texts do not decide, such as where a thing was filed or what was done, exceptions look like "
        "wrong labels."
    ]


def _words_alone(audit: Audit) -> list[str]:
    """Return how more could be known of texts whose words say little about their labels; nothing where an encoder had its say."""
    record: Mapping[str, Any] = audit.suspects.record if audit.suspects is not None else {}
    if record.get("unknown") not in WEIGHABLE or audit.info.task not in ("single", "pair", "choice"):
        return []
    made = audit.how_made
    embed, train = made.parameters.get("embed", {}), made.parameters.get("train", {})
    if "vectors=" in made.command or embed.get("pretrained") or embed.get("file") or train.get("pretrained"):
        return []
    way = "`embed.pretrained` in params.yaml" if made.command.startswith("make audit") else "`vectors=` of `cartograph.audit`"
    return [f"No encoder read the texts: of such labels the vectors of a pretrained encoder often say far more ({way})."]


def contradicted(found: Reviewed) -> str:
    """Return that people found far more or fewer wrong labels than were estimated; empty where they did not."""
    if found.contradicted is None or found.foreseen is None:
        return ""
    foreseen = about(found.foreseen)
    return (
        f"People changed {count(found.changed)} of the {counted(found.rows, 'label')} that they looked at, where {foreseen} were estimated "
        "to be wrong: the number of the others follows what they found."
    )


def _errors_go_on(audit: Audit) -> str:
    """Return that errors go on below the list, and how to ask about the next rows; empty where people have not found that."""
    if audit.suspects is None or audit.cleaning is None:
        return ""
    found, review = errors_go_on(audit.suspects.rows, audit.cleaning.decided), audit.how_made.review
    return f"{found} `{review} --further 50` asks about the next rows." if found and review else found


def whole_classes(audit: Audit) -> list[str]:
    """Return which classes are suspect nearly row for row: the models do not know them, and their rows' doubt follows from that alone."""
    if not len(audit.flagged) or audit.several:
        return []
    names = audit.info.labels
    rows, suspects = (np.bincount(labels, minlength=len(names)) for labels in (audit.gold, audit.gold[audit.flagged]))
    whole = unknown_classes(audit.gold, np.isin(np.arange(audit.rows), audit.flagged), len(names))
    if not len(whole):
        return []
    whole = whole[np.argsort(-rows[whole], kind="stable")]
    of = [f"{count(int(suspects[one]))} of the {count(int(rows[one]))} rows" if rows[one] > 1 else "the only row" for one in whole[:3]]
    named = [f"{part} of `{cut(names[one], 40)}`" for part, one in zip(of, whole, strict=False)]
    more = f", and nearly all of {counted(len(whole) - 3, 'more class', 'more classes')}" if len(whole) > 3 else ""
    what = "this class" if len(whole) == 1 else "these classes"
    return [
        f"The suspects include {listing(named)}{more}: the models do not know {what} from the others, whether the labels are right or not; "
        "cleaning leaves these rows to people."
    ]


def _start(audit: Audit) -> list[str]:
    if len(audit.flagged):
        if len(audit.flagged) == 1:
            return ["Start with the suspect: it has a suggested label and a reason."]
        return [f"Start with the {count(len(audit.flagged))} suspects: each has a suggested label and a reason."]
    ranked = audit.suspects is not None and audit.suspects.record.get("unknown") != "little explained"
    if ranked and (number := len(audit.doubted_most)) > 1:
        what = counted(number, "answer" if audit.several else "row")
        if len(audit.listed):
            return [f"All suspects are decided. Go on with the {what} doubted most below them, the first of the “Rows to read”."]
        why = "none is a suspect, but where labels are wrong, these are the likeliest"
        return [f"Start with the {what} doubted most, the first of the “Rows to read”: {why}."]
    if audit.training.get("learning", {}).get("state") in ("failed", "diverged"):
        return []  # Of a model that learnt nothing, the hardest rows are any.
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
    failed, critical, total = failed_checks(audit)
    if not total:
        return Figure("Validation", "none", "no check was run")
    value = f"{count(total - failed)} of {count(total)}"
    note = (
        "checks passed" if not failed else f"checks passed; {count(failed)} failed, {'none' if not critical else count(critical)} critical"
    )
    return Figure("Validation", value, note, "bad" if critical else "" if failed else "good")
