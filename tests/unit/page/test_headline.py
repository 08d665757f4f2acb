from __future__ import annotations

from dataclasses import replace

from cartograph.page.audit import Audit
from cartograph.page.headline import headline
from tests.page_audits import with_suspects


def test_where_no_number_can_be_told_the_sentence_says_why(audit: Audit) -> None:
    found = with_suspects(audit)
    few = replace(found, suspects=replace(found.suspects, record={**found.suspects.record, "unknown": "few rows"}))
    start = "2 of 8 labels are worth a second look; how many are wrong cannot be estimated: 8 rows are too few; without that number none "
    assert headline(few).startswith(start)
    weak = replace(
        found, suspects=replace(found.suspects, record={**found.suspects.record, "unknown": "little explained", "explained": 0.1})
    )
    assert "cannot be estimated: the models explain too little of the labels; without that number none is sure enough to " in headline(weak)
    nothing = replace(found, suspects=replace(found.suspects, record={**weak.suspects.record, "explained": -0.01}))
    assert (
        "cannot be estimated: to the models, what they read says hardly anything about the labels; without that number none "
        in headline(nothing)
    )
    hard = replace(found, suspects=replace(found.suspects, record={**found.suspects.record, "unknown": "hard rows"}))
    assert "surest about contradict them, so that hard rows and wrong labels look alike; without that number none is " in headline(hard)
    noisy = replace(found, suspects=replace(found.suspects, record={**found.suspects.record, "unknown": "much noise"}))
    assert "so many labels contradict the models that hard rows and wrong labels look alike; without that number none " in headline(noisy)
    for columns, which in ((["grade"], "`grade` tells"), (["a", "b"], "each of 2 columns tells")):
        record = {**found.suspects.record, "unknown": "leaked", "leaked_by": columns, "calibrated": False, "wrong": None}
        leaked = replace(found, suspects=replace(found.suspects, record=record))
        assert f"cannot be estimated: {which} the label of (nearly) every row by itself, so that wrong labels would" in headline(leaked)


def test_labels_that_were_not_looked_at_are_not_said_to_look_right(audit: Audit) -> None:
    found = with_suspects(audit)
    unseen = replace(found, suspects=replace(found.suspects, record={**found.suspects.record, "impossible": "All rows have one label."}))
    assert headline(unseen).startswith("None of 8 labels could be judged; ")


def test_it_counts_the_wrong_the_listed_and_those_sure_enough_to_change(audit: Audit) -> None:
    wrong = {"expected": 3.0, "low": 1.0, "high": 5.0, "most": 9.0}
    found = with_suspects(audit, flagged=(1, 0, 3), calibrated=True, wrong=wrong)
    start = "About 3 of 8 labels are wrong (95\u00a0% CI 1 to 5); 3 rows are suspects, "
    assert headline(found).startswith(f"{start}2 of them sure enough to change automatically (clean.precision: 0.8); ")
    strict = replace(found, how_made=replace(found.how_made, parameters={"clean": {"precision": 0.999}}))
    assert headline(strict).startswith(f"{start}none of them sure enough to change automatically (clean.precision: 0.999); ")
