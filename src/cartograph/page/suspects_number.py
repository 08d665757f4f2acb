"""How many labels are wrong, as the section of the suspects explains it: what the number rests on, what it leaves out, which classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cartograph.page.audit import Audit
from cartograph.page.beyond_number import at_most_a_quarter, if_all_hard_rows
from cartograph.page.blind import blind_number
from cartograph.page.gathered import labellers_sentence
from cartograph.page.headline import between_left, why_unknown, wrong_clause
from cartograph.page.stretches import careless_sentence
from cartograph.page.wrong_by_class import most_often
from cartograph.statistics.prior import PRIOR
from cartograph.wording import about, between_ends, count, percent


def number_facts(audit: Audit, record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what is known of the number of wrong labels, as names and values; those of which there is nothing to say are left out.

    Args:
        audit: whose suspects they are.
        record: of the suspects.
    """
    if "impossible" in record:
        return []
    calibrated = bool(record.get("calibrated"))
    as_models_see = calibrated and audit.reviewed is None and not blind_number(audit)
    facts = [
        ("How many are wrong", [*(_estimated(audit, record) if calibrated else _assumed(audit, record)), *_between(audit, record)]),
        ("Most often", most_often(audit, record["wrong"].get("pairs", ())) if as_models_see else []),
        ("Who labelled", [said for said in (labellers_sentence(audit), careless_sentence(audit)) if said]),
        ("Not in the number", ["Errors that follow a rule: models learn them."] if as_models_see else []),
        ("How to measure it", _measured(audit, record, as_models_see)),
        ("How they were found", _found(record)),
    ]
    return [(name, " ".join(sentences)) for name, sentences in facts if sentences]


def _estimated(audit: Audit, record: Mapping[str, Any]) -> list[str]:
    """Return the number that was estimated, and up to how many there can be."""
    wrong = record["wrong"]
    estimate = wrong_clause(audit, wrong)
    rests = "the committee's models never saw the row they score, and the rows they are surest about show how often labels go wrong."
    sentences = [f"{estimate[0].upper()}{estimate[1:]}: {rests}"]
    if audit.reviewed is None and not blind_number(audit) and (more := if_all_hard_rows(wrong)):
        assumed = at_most_a_quarter(wrong["high"], audit.rows)
        sentences.append(f"It is {more}: {about(wrong['most'])} labels the models do not predict.{assumed}")
    return sentences


def _assumed(audit: Audit, record: Mapping[str, Any]) -> list[str]:
    """Return what the scores rest on where no number can be estimated."""
    unknown = record.get("unknown")
    by_hand = "no row is dropped or relabelled automatically."
    if unknown == "much noise":
        return [
            "The labels of the surest rows contradict the models often. Whether those labels are wrong or those rows hard is not known: "
            f"the scores lie between what these rows show and {percent(PRIOR)} of wrong labels, and {by_hand}"
        ]
    if unknown == "roughly known":
        return [
            "The models explain too little of the labels to know whether those that contradict the surest rows are wrong or those rows "
            f"hard: the scores lie between what these rows show and {percent(PRIOR)} of wrong labels, and {by_hand}"
        ]
    if unknown in ("leaked", "one class", "outcome"):
        return [f"How many labels are wrong cannot be estimated: {why_unknown(record, audit.rows)}. Nothing is changed automatically."]
    most = "at most " if unknown in ("few rows", "hard rows") else ""
    return [f"The scores assume that {most}{percent(PRIOR)} of the labels are wrong: the number cannot be estimated here, so {by_hand}"]


def _between(audit: Audit, record: Mapping[str, Any]) -> list[str]:
    """Return between which numbers that of the wrong labels lies where no estimate is closer; nothing where people read some blind."""
    ends = between_left(record, audit.reviewed)
    if ends is None or blind_number(audit):
        return []
    of, most = "all labels" if audit.reviewed is None else "the labels that nobody looked at", if_all_hard_rows(ends)
    assumed = at_most_a_quarter(ends["high"], audit.rows) if audit.reviewed is None else ""
    said = f"{between_ends(ends['low'], ends['high'], ends['scattered'])}{most and f', {most}'}"
    return [f"How many of {of} are wrong: {said}.{assumed}"]


def _measured(audit: Audit, record: Mapping[str, Any], as_models_see: bool) -> list[str]:
    """Return the command by which people measure the number of all wrong labels, where they have not."""
    review = audit.how_made.review if audit.blind is None else ""
    asked = as_models_see or (record.get("unknown") and record.get("unknown") != "one class")
    counted = "people read rows drawn at random, so that errors which models learn are counted, too."
    return [f"`{review} --blind`: {counted}"] if review and asked else []


def _found(record: Mapping[str, Any]) -> list[str]:
    if record["assumption"]:
        return [f"They were found {record['assumption']}: the map was imported, so no model could be trained on flipped labels."]
    if record["flips"]:
        return [
            f"To test the detectors, {count(record['flips'])} labels of easy rows were flipped and the model trained again; detectors that "
            "have to learn what a wrong label looks like learned it from these."
        ]
    return []
