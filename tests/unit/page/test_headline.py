from __future__ import annotations

import re
from dataclasses import replace

import pyarrow as pa

from cartograph.clean.reviewed import DECIDED
from cartograph.page.audit import Audit
from cartograph.page.sections.suspects import suspects_section
from cartograph.page.verdict import verdict
from tests.page_audits import said_of, with_cleaning, with_suspects


def looked_at(audit: Audit, found: Audit, changed: dict[str, bool]) -> Audit:
    """Return the audit with these suspects and decisions of people."""
    decided = pa.table([list(changed), list(changed.values())], schema=DECIDED)
    return replace(found, cleaning=replace(with_cleaning(audit).cleaning, decided=decided))


def test_what_people_looked_at_stands_first_and_the_number_is_of_the_others(audit: Audit) -> None:
    wrong = {"expected": 3.0, "low": 1.5, "high": 6.0, "most": 9.0}
    found = with_suspects(audit, flagged=(1, 0, 3), calibrated=True, wrong=wrong)
    probability = found.suspects.rows["probability"].to_numpy()
    seen = looked_at(audit, found, {"u1": True, "u0": False})
    left = float(probability.sum() - probability[0] - probability[1])
    assert verdict(seen).sentence.startswith(f"People looked at 2 of 8 labels and changed or dropped 1; about {left:.0f} of the others ")
    assert "; 1 row is a suspect, " in verdict(seen).sentence and "3 rows are suspects" not in verdict(seen).sentence
    section = suspects_section(seen)
    assert f"People looked at 2 of 8 labels and changed or dropped 1; about {left:.0f} of the others " in said_of(section)
    assert "up to about 9" not in said_of(section) and not any("up to 9" in line for line in verdict(seen).lines)
    assert seen.flagged.tolist() == [3]


def test_where_people_find_other_numbers_than_were_estimated_that_is_said(audit: Audit) -> None:
    wrong = {"expected": 3.0, "low": 2.9, "high": 3.1, "most": 9.0}
    found = with_suspects(audit, flagged=(1, 0, 3), calibrated=True, wrong=wrong)
    kept = looked_at(audit, found, dict.fromkeys(("u0", "u1", "u3"), False))
    line = (
        "People changed 0 of the 3 labels that they looked at, where 3 were estimated to be wrong: the number of the others follows what "
        "they found."
    )
    assert line in verdict(kept).lines
    assert not any("looked at" in said for said in verdict(looked_at(audit, found, dict.fromkeys(("u0", "u1", "u3"), True))).lines)


def test_how_many_of_the_suspects_left_are_wrong_follows_what_people_found(audit: Audit) -> None:
    wrong = {"expected": 4.0, "low": 3.9, "high": 4.1, "most": 9.0}
    found = with_suspects(audit, flagged=(1, 0, 3, 2, 4, 5), calibrated=True, wrong=wrong)
    sure = found.suspects.rows.set_column(1, "probability", pa.array([0.9] * 6 + [0.02] * 2))
    found = replace(found, suspects=replace(found.suspects, rows=sure))
    right = looked_at(audit, found, dict.fromkeys(("u0", "u1", "u3", "u2"), True))
    assert "; 2 rows are suspects, about 2 of them wrong by what people found, " in verdict(right).sentence
    assert "of them wrong by" not in verdict(looked_at(audit, found, dict.fromkeys(("u0", "u1", "u2", "u3", "u4"), True))).sentence
    few = looked_at(audit, found, dict.fromkeys(("u0", "u1", "u3", "u2"), False))
    assert few.reviewed is not None and few.reviewed.open_wrong is not None and few.reviewed.open_wrong < 1.2


def test_where_people_found_more_the_number_of_the_others_is_higher_than_models_see(audit: Audit) -> None:
    wrong = {"expected": 0.2, "low": 0.1, "high": 0.3, "most": 9.0}
    found = with_suspects(audit, flagged=(1, 0, 3), calibrated=True, wrong=wrong)
    few = found.suspects.rows.set_column(1, "probability", pa.array([0.02] * 8))
    seen = looked_at(audit, replace(found, suspects=replace(found.suspects, rows=few)), dict.fromkeys(("u0", "u1", "u3"), True))
    start = "People looked at 3 of 8 labels and changed or dropped 3; about "
    assert verdict(seen).sentence.startswith(start)
    assert seen.reviewed is not None and seen.reviewed.expected is not None and seen.reviewed.expected > 0.2
    assert any(line.endswith("the number of the others follows what they found.") for line in verdict(seen).lines)


def test_where_people_changed_the_last_labels_of_the_list_the_next_rows_are_named(audit: Audit) -> None:
    found = with_suspects(audit, flagged=(1, 0, 3))
    every = looked_at(audit, found, dict.fromkeys(("u0", "u1", "u3"), True))
    said = "People changed 3 of the last 3 labels down the list: errors go on below it."
    assert said in verdict(replace(every, how_made=replace(every.how_made, command="cartograph.audit(...)"))).lines
    made = replace(every, how_made=replace(every.how_made, command="make audit WORKSPACE=workspaces/own"))
    way = "`python -m tasks review --workspace workspaces/own --further 50` asks about the next rows."
    assert f"{said} {way}" in verdict(made).lines
    right = looked_at(audit, found, dict.fromkeys(("u0", "u1", "u3"), False))
    assert not any("go on" in line for line in verdict(right).lines)


def test_without_a_number_people_and_what_is_left_to_look_at_are_said(audit: Audit) -> None:
    found = with_suspects(audit)
    few = replace(found, suspects=replace(found.suspects, record={**found.suspects.record, "unknown": "few rows"}))
    seen = looked_at(audit, few, {"u1": True})
    start = "People looked at 1 of 8 labels and changed or dropped 1; 1 of the others is worth a second look; how many of all others "
    assert verdict(seen).sentence.startswith(start)
    every = looked_at(audit, few, {"u0": True, "u1": False})
    start = "People looked at 2 of 8 labels and changed or dropped 1; how many of the others are wrong cannot be estimated: 8 rows are too"
    assert verdict(every).sentence.startswith(start)


def test_what_people_changed_is_taken_off_both_ends_of_an_interval_alone(audit: Audit) -> None:
    def after(changed: dict[str, bool], **ends: float) -> str:
        found = with_suspects(audit, calibrated=False, wrong=None, unknown="hard rows", between=ends)
        seen = looked_at(audit, found, changed)
        section = suspects_section(seen)
        assert section is not None
        return f"{verdict(seen).sentence} {said_of(section)}"

    said = after({"u1": True, "u2": True, "u3": False}, low=1.0, high=5.0, most=8.0)
    assert "0 to 3 of all others are wrong (95\u00a0% CI), and no closer number can be estimated: " in said
    assert (
        "How many are wrong: Of the labels that nobody looked at, 0 to 3 (95\u00a0% CI), up to 5 if nearly all hard rows are wrong." in said
    )
    said = after({"u1": True, "u2": True}, low=4.0, high=5.0, most=6.0)
    assert "; 2 to 3 of all others are wrong (95\u00a0% CI), and" in said
    said = after({f"u{row}": False for row in range(6)}, low=0.0, high=6.0, most=7.0)
    assert "; 0 to 2 of the others are wrong (95\u00a0% CI), and" in said, "no more than there are others"
    said = after({"u1": True, "u2": True, "u3": True}, low=0.0, high=2.4, most=4.0)
    assert "how many of all others are wrong cannot be estimated: " in said and "Of the labels" not in said, "more than could be wrong"


def test_labels_that_were_not_looked_at_are_not_said_to_look_right(audit: Audit) -> None:
    found = with_suspects(audit)
    unseen = replace(found, suspects=replace(found.suspects, record={**found.suspects.record, "impossible": "All rows have one label."}))
    assert verdict(unseen).sentence.startswith("None of 8 labels could be judged; ")


def test_it_counts_the_wrong_the_listed_and_those_sure_enough_to_change(audit: Audit) -> None:
    wrong = {"expected": 3.0, "low": 1.0, "high": 5.0, "most": 9.0}
    found = with_suspects(audit, flagged=(1, 0, 3), calibrated=True, wrong=wrong)
    start = "About 3 of 8 labels are wrong (95\u00a0% CI 1 to 5); 3 rows are suspects, "
    assert verdict(found).sentence.startswith(f"{start}2 of them sure enough to drop (at 0.8 or more); ")
    strict = replace(found, how_made=replace(found.how_made, parameters={"clean": {"precision": 0.999}}))
    assert verdict(strict).sentence.startswith(f"{start}none of them sure enough to drop (clean.precision: 0.999); ")
    left = replace(found, how_made=replace(found.how_made, parameters={"clean": {"max_class_change": 0.1}}))
    assert verdict(left).sentence.startswith(f"{start}none of them sure enough"), "too many rows of both classes would go"


def test_of_checks_that_were_not_run_nothing_is_said(audit: Audit) -> None:
    assert "checks of the data" in verdict(audit).sentence or "check of the data" in verdict(audit).sentence
    without = verdict(replace(audit, validation=audit.validation | {"sets": []})).sentence
    assert "of the data" not in without and re.search(r"; (\d+ rows? could not|every row could) be used\.$", without)


def test_where_all_suspects_are_decided_the_section_says_so(audit: Audit) -> None:
    found = with_suspects(audit, flagged=(1, 0), calibrated=True, wrong={"expected": 3.0, "low": 1.5, "high": 6.0, "most": 9.0})
    assert suspects_section(looked_at(audit, found, {"u1": True, "u0": False})).lead == "All 2 suspects are decided."
    assert suspects_section(with_suspects(audit, flagged=())).lead == "No label of 8 reaches 0.50, from which on rows are listed."


def test_the_sentence_begins_with_the_numbers_and_goes_on_with_what_follows_from_them(audit: Audit) -> None:
    def begins(found: Audit) -> str:
        top = verdict(found)
        assert top.sentence.startswith(top.numbers) and top.sentence != top.numbers
        return top.numbers

    wrong = {"expected": 3.0, "low": 1.5, "high": 6.0, "most": 9.0}
    sure = with_suspects(audit, flagged=(1, 0, 3), calibrated=True, wrong=wrong)
    assert begins(sure).endswith("3 rows are suspects, 2 of them sure enough to drop (at 0.8 or more)")
    ends = {"low": 1.0, "high": 5.0, "most": 8.0}
    some = with_suspects(audit, calibrated=False, wrong=None, unknown="hard rows", between=ends)
    assert begins(some) == "2 of 8 labels are worth a second look; 1 to 5 of all are wrong (95\u00a0% CI)"
    failed = {"learning": {"state": "failed", "sentence": "The model learnt nothing."}}
    assert begins(replace(some, training=failed)).startswith("The model learnt nothing. 2 of 8 labels are ")
    by_heart = {"learning": {"state": "by heart", "sentence": "The model knows its rows by heart."}}
    assert begins(replace(some, training=by_heart)) == begins(some), "the suspects are by models that did not see the row"
    assert verdict(replace(some, training=by_heart)).sentence.endswith("The model knows its rows by heart.")
