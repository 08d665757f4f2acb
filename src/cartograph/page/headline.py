"""The sentence at the top of the page: how many labels are wrong or why that is not known, and what was checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cartograph.clean.cleaning import RECIPE
from cartograph.ingest.label_forms import forms_condition
from cartograph.page.audit import Audit
from cartograph.page.blind import blind_number
from cartograph.page.cleaning_effect import advice_of, sure_enough
from cartograph.page.step_results import Cleaning
from cartograph.page.unknown_number import not_estimated, why_unknown
from cartograph.schema import REGIONS
from cartograph.wording import about, count, counted, labels_wrong, probability, share

HARD = REGIONS[2]

PRECISION = 0.8
"""From which probability on a suspect is changed without a person where nothing else is asked for, as the section ``clean`` has it."""

MOST_TAKEN = 0.5
"""Share of a class's rows that is taken at most, as the section ``clean`` has it."""

FEW, _NO_MATTER_WHICH = 10, ("leaked", "outcome", "one class")
"""Suspects below which they are few; and why the number is not known where doubts say nothing of further rows either."""


def headline(audit: Audit) -> tuple[str, str]:
    """Return the sentence at the top of the page in two: the numbers that a reader came for, and what else there is to say.

    What is wrong with the training comes before all that follows from it: after the rest where that is the map alone, since suspects are by
    models that did not see the row.
    """
    numbers, then = _doubt(audit)
    then += f"; {_checked(audit)}{_usable(audit)}."
    learning = audit.training.get("learning", {})
    if not (sentence := learning.get("sentence")):
        return numbers, then
    map_alone = learning.get("state") == "by heart" and audit.suspects is not None and audit.suspects.record.get("detector") == "committee"
    return (numbers, f"{then} {sentence}") if map_alone else (f"{sentence} {numbers}", then)


def _doubt(audit: Audit) -> tuple[str, str]:
    """Return how many labels are wrong and how many rows are suspects, and what follows from that, as clauses one after the other."""
    if audit.suspects is not None:
        if "impossible" in audit.suspects.record:
            return f"None of {counted(audit.rows, 'label')} could be judged", ""
        number = len(audit.flagged)
        wrong = audit.suspects.record.get("wrong")
        if wrong is not None and audit.suspects.record["calibrated"]:
            one = "label" if audit.several else "row"
            what = counted(number, one) if number else f"no {'' if audit.reviewed is None else 'further '}{one}"
            sure, then = _changed(audit) if number else ("", "")
            suspects = f"{what} {'is a suspect' if number < 2 else 'are suspects'}{_open_wrong(audit) if number else ''}{sure}"
            return _capital(f"{wrong_clause(audit, wrong)}; {suspects}"), then
        looked = looked_at(audit)
        if why := why_unknown(audit.suspects.record, audit.rows // audit.labels_a_row):
            of = "the others" if looked else counted(audit.rows, "label")
            worth = f"{looked}{count(number)} of {of} {'is' if number == 1 else 'are'} worth a second look"
            many = (
                f"how many of {'all' if number else 'the'} others are wrong"
                if looked
                else f"how many {'of all ' if number else ''}are wrong"
            )
            unknown, then = not_estimated(many, audit.suspects.record, why, audit.reviewed)
            if read := blind_number(audit):
                unknown, then = read, "; none is sure enough to change automatically"
            if audit.cleaning is not None and audit.cleaning.version.get("weighted"):
                then += f"; each row is weighted by how doubtful its label is{_not_recommended(audit)}"
            if not number:
                return _capital(f"{looked}{unknown}") if looked or read else f"Of {counted(audit.rows, 'label')}, {unknown}", then
            return _capital(f"{worth}; {unknown}"), then
        of = "the others" if looked else counted(audit.rows, "label")
        looked += f"{read}; " if (read := blind_number(audit)) else ""
        if not number:
            return _capital(f"{looked}none of {of} looks wrong"), ""
        looks = "looks" if number == 1 else "look"
        assumed = ", by an assumption stated below" if audit.suspects.record["assumption"] else ""
        return _capital(f"{looked}{count(number)} of {of} {looks} wrong ({share(number, audit.rows)}){assumed}"), ""
    if audit.disagreeing is None:
        rows = audit.members(HARD)
        highest = probability(float(audit.confidence[rows].max())) if len(rows) else "0"
        return f"The {count(len(rows))} hardest of {counted(audit.rows, 'row')} have a confidence of {highest} or less", ""
    other = int(np.count_nonzero(audit.disagreeing))
    part = f"{count(other)} of {counted(audit.rows, 'row')} ({share(other, audit.rows)})"
    return f"Over its training the model preferred another label for {part}", ""


def _open_wrong(audit: Audit) -> str:
    """Return how many of several suspects are wrong by what people found, as a clause; empty where they looked at none."""
    found = audit.reviewed
    if found is None or found.open_wrong is None or len(audit.flagged) < 2:
        return ""
    some = about(found.open_wrong)
    return f", {'hardly any' if some == '0' else f'about {some}'} of them wrong by what people found"


def _capital(said: str) -> str:
    return said[0].upper() + said[1:]


def looked_at(audit: Audit) -> str:
    """Return how many labels people decided about and how many of them they changed, as a clause before another; else nothing."""
    found = audit.reviewed
    if found is None:
        return ""
    changed = f"changed or dropped {count(found.changed) if found.changed else 'none'}"
    return f"people looked at {count(found.rows)} of {counted(audit.rows, 'label')} and {changed}; "


def wrong_clause(audit: Audit, wrong: Mapping[str, Any]) -> str:
    """Return about how many labels are wrong, by people who read some blind where that says more, else by models and what people found."""
    read = blind_number(audit)
    return f"{looked_at(audit)}{read}" if read else number_of_wrong(audit, wrong)


def number_of_wrong(audit: Audit, wrong: Mapping[str, Any]) -> str:
    """Return about how many labels are wrong, with the interval; of a set that people have looked at, about how many of the others."""
    expected, low, high, scattered = number_left(audit, wrong)
    of = "the others" if audit.reviewed is not None else counted(audit.rows, "label")
    said = labels_wrong(expected, low, high, f"of {of}", scattered)
    return f"{looked_at(audit)}{_inside(on_condition(audit), audit)}{said}"


def _inside(condition: str, audit: Audit) -> str:
    """Return a condition as it stands inside a sentence, where something stands before it."""
    return condition if audit.reviewed is None else condition[:1].lower() + condition[1:]


def number_left(audit: Audit, wrong: Mapping[str, Any]) -> tuple[float, float, float, float | None]:
    """Return how many labels are wrong of those that people did not look at, both ends of the interval, and the upper end if scattered."""
    found = audit.reviewed
    if found is None or found.expected is None or found.low is None or found.high is None:
        return wrong["expected"], wrong["low"], wrong["high"], wrong.get("scattered")
    return found.expected, found.low, found.high, found.scattered


def on_condition(audit: Audit) -> str:
    """Return the condition that stands before the number where classes differ in their form only; empty where none do."""
    condition = forms_condition(audit.class_counts)
    return f"{condition}, " if condition else ""


def few_of_unknown(audit: Audit) -> bool:
    """Return whether suspects are few though nobody knows how many labels are wrong, so that those doubted next are worth a look, too."""
    if audit.suspects is None or audit.suspects.record.get("unknown") in _NO_MATTER_WHICH:
        return False
    return 0 < len(audit.flagged) < FEW and len(audit.doubted_most) > 1 and bool(why_unknown(audit.suspects.record, audit.rows))


def _changed(audit: Audit) -> tuple[str, str]:
    """Return how many suspects are sure enough to drop or to change, and what became of them instead, as clauses."""
    if audit.cleaning is None:
        return (f", {sure_suspects(audit)}" if audit.flagged.size and not audit.several else ""), ""
    sure, weighted = sure_enough(audit.cleaning), audit.cleaning.version.get("weighted")
    number, at = sum(by.startswith(RECIPE) for by in audit.cleaning.changes["by"].to_pylist()), _at(audit)
    if weighted:
        then = f"; instead, each row is weighted by how likely its label is right{_not_recommended(audit)}"
        return f", {_sure(sure, len(audit.flagged))} to drop{at}", then
    if sure and not number:
        return f", {_sure(sure, len(audit.flagged))} to drop{at} but kept", f", {_why_kept(audit.cleaning, sure)}"
    return f", {_sure(number, len(audit.flagged))} to change automatically{at}", ""


def _not_recommended(audit: Audit) -> str:
    """Return that the original rows are recommended in place of weighted ones, where retrained models say so, as the end of a clause."""
    advice = advice_of(audit)
    if advice is None or advice.version == "cleaned":
        return ""
    found = "worse" if advice.outcome == "worse" else "no better"
    return f", but retrained models are {found} for it, so that the original rows are recommended"


def _sure(number: int, of: int) -> str:
    """Return how many of some suspects are sure enough, in words."""
    some = "none of them" if not number else "all of them" if number == of else f"{count(number)} of them"
    return f"{some} sure enough" if of > 1 else f"{'' if number else 'not '}sure enough"


def sure_suspects(audit: Audit) -> str:
    """Return how many suspects are sure enough to drop without a person, and from which probability on, as a clause."""
    assert audit.suspects is not None
    precision = _precision(audit)
    likely = audit.suspects.rows["probability"].to_numpy()[audit.flagged] >= precision
    # Cleaning leaves these classes to people: those that models do not know, and those of which too many rows would go.
    given, rows = audit.gold[audit.flagged], np.bincount(audit.gold, minlength=len(audit.info.labels))
    most = float(audit.how_made.parameters.get("clean", {}).get("max_class_change", MOST_TAKEN))
    halved = np.flatnonzero(np.bincount(given[likely], minlength=len(rows)) > most * rows)
    likely &= ~np.isin(given, [*audit.unknown, *halved.tolist()])
    number = int(np.count_nonzero(likely)) if audit.suspects.record["calibrated"] else 0
    return f"{_sure(number, len(audit.flagged))} to drop{_at(audit)}"


def _precision(audit: Audit) -> float:
    return float(audit.how_made.parameters.get("clean", {}).get("precision", PRECISION))


def _at(audit: Audit) -> str:
    """Return from which probability on a suspect is changed; a call of the library, or its command, has no parameter for it."""
    called = "clean" not in audit.how_made.parameters
    return f" (at {_precision(audit):g} or more)" if called else f" (clean.precision: {_precision(audit):g})"


def _why_kept(cleaning: Cleaning, sure: int) -> str:
    """Return why rows that are sure enough to drop were not dropped: it was asked for, or models are none the better for it."""
    if cleaning.arms is not None and cleaning.arms.get("asked") == "decisions-only":
        return "since clean.recipe is decisions-only"
    return f"since models trained without {'it' if sure == 1 else 'them'} are not measurably better"


def _checked(audit: Audit) -> str:
    """Return how the checks of the data went, as a clause before another; nothing where none were run, as by the library."""
    failed, critical, total = failed_checks(audit)
    if not total:
        return ""
    if not failed:
        return f"all {count(total)} checks of the data passed, and " if total > 1 else "the one check of the data passed, and "
    grave = "none" if not critical else count(critical)
    return f"{count(failed)} of {counted(total, 'check')} of the data failed ({grave} critical), and "


def _usable(audit: Audit) -> str:
    unusable = audit.quarantine.num_rows
    return f"{counted(unusable, 'row')} could not be used" if unusable else "every row could be used"


def failed_checks(audit: Audit) -> tuple[int, int, int]:
    """Return how many checks of the data failed, how many of those are critical, and how many were run."""
    checks = [check for entry in audit.validation.get("sets", []) for check in entry["checks"]]
    failed = [check for check in checks if not check["passed"]]
    return len(failed), sum(check["severity"] == "critical" for check in failed), len(checks)
