"""How many labels are wrong, as the section of the suspects explains it: what the number rests on, what it leaves out, which classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cartograph.page.audit import Audit
from cartograph.page.beyond_number import at_most_a_quarter, if_all_hard_rows
from cartograph.page.blind import blind_number, blind_shares
from cartograph.page.gathered import labellers_sentence
from cartograph.page.headline import wrong_clause
from cartograph.page.stretches import careless_sentence
from cartograph.page.unknown_number import between_left, why_unknown
from cartograph.page.wrong_by_class import most_often
from cartograph.statistics.prior import PRIOR
from cartograph.wording import between_ends, count, percent


def number_facts(audit: Audit, record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what is known of the number of wrong labels, as names and values; those of which there is nothing to say are left out.

    Args:
        audit: whose suspects they are.
        record: of the suspects.
    """
    if "impossible" in record:
        return []
    calibrated, read = bool(record.get("calibrated")), blind_number(audit)
    estimated = calibrated and not read
    facts = [
        ("How many are wrong", _read(audit, read) if read else _estimated(audit, record) if calibrated else _unknown(audit, record)),
        ("Most often", most_often(audit, record["wrong"].get("pairs", ())) if estimated and audit.reviewed is None else []),
        ("Who labelled", [said for said in (labellers_sentence(audit), careless_sentence(audit)) if said]),
        ("Not in the number", ["Errors that follow a rule: models learn them."] if estimated else []),
        ("How to measure it", _measured(audit, record)),
        ("How they were found" if record["assumption"] else "How detectors were tested", _tested(record)),
    ]
    return [(name, " ".join(sentences)) for name, sentences in facts if sentences]


def _read(audit: Audit, read: str) -> list[str]:
    """Return the number by what people read blind."""
    return [f"{read[0].upper()}{read[1:]}: {blind_shares(audit)}."]


def _estimated(audit: Audit, record: Mapping[str, Any]) -> list[str]:
    """Return the number that models came to, and what it rests on; up to how many there can be, unless people looked."""
    wrong, estimate = record["wrong"], wrong_clause(audit, record["wrong"])
    estimate = f"{estimate[0].upper()}{estimate[1:]}"
    if audit.reviewed is not None:
        return [f"{estimate}, by the committee's models, which never saw the row they score, and by what people found."]
    given = audit.how_made.command.startswith("cartograph.from_dynamics(")
    models = "the given probabilities are taken for those of models that" if given else "the committee's models"
    how = f"{models} never saw the row they score, and the rows they are surest about show how often labels go wrong"
    sentences = [f"{estimate}: {how}.{at_most_a_quarter(wrong['high'], audit.rows)}"]
    return [*sentences, f"It is {more}."] if (more := if_all_hard_rows(wrong)) else sentences


def _unknown(audit: Audit, record: Mapping[str, Any]) -> list[str]:
    """Return between which numbers that of the wrong labels lies, where that is known, and what the scores rest on."""
    unknown, ends = record.get("unknown"), between_left(record, audit.reviewed)
    by_hand = "no row is dropped or relabelled automatically."
    if unknown in ("leaked", "one class", "outcome"):
        return [f"That cannot be estimated: {why_unknown(record, audit.rows)}. Nothing is changed automatically."]
    if unknown == "much noise":
        scores = (
            "The labels of the surest rows contradict the models often. Whether those labels are wrong or those rows hard is not known: "
            f"scores lie between what these rows show and what {percent(PRIOR)} of wrong labels would mean, and {by_hand}"
        )
    elif unknown == "roughly known":
        scores = (
            "The models explain too little of the labels to know whether those that contradict the surest rows are wrong or those rows "
            f"hard: scores lie between what these rows show and what {percent(PRIOR)} of wrong labels would mean, and {by_hand}"
        )
    else:
        most = "at most " if unknown in ("few rows", "hard rows") else ""
        known = "cannot be estimated here" if ends is None else "is not known more closely"
        scores = f"The scores assume that {most}{percent(PRIOR)} of the labels are wrong: the number {known}, so {by_hand}"
    return [*([] if ends is None else [_between(audit, ends)]), scores]


def _between(audit: Audit, ends: Mapping[str, float]) -> str:
    of, most = "all labels" if audit.reviewed is None else "the labels that nobody looked at", if_all_hard_rows(ends)
    assumed = at_most_a_quarter(ends["high"], audit.rows) if audit.reviewed is None else ""
    return f"Of {of}, {between_ends(ends['low'], ends['high'], ends['scattered'])}{most and f', {most}'}.{assumed}"


def _measured(audit: Audit, record: Mapping[str, Any]) -> list[str]:
    """Return the command by which people measure the number of all wrong labels, where they can and have not."""
    review = "" if audit.several or audit.blind is not None else audit.how_made.review
    known = record.get("unknown") != "one class" and (record.get("calibrated") or record.get("unknown"))
    return [f"`{review} --blind`: people read rows drawn at random, also those that look right to models."] if review and known else []


def _tested(record: Mapping[str, Any]) -> list[str]:
    if record["assumption"]:
        return [f"They were found {record['assumption']}: the map was imported, so no model could be trained on flipped labels."]
    if record["flips"]:
        return [
            f"{count(record['flips'])} labels of easy rows were flipped and the model trained again; detectors that have to learn what a "
            "wrong label looks like learnt it from these."
        ]
    return []
