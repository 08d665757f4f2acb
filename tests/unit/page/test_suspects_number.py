from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from cartograph.clean.reviewed import DECIDED
from cartograph.page.audit import Audit
from cartograph.page.suspects_number import number_facts
from tests.page_audits import with_cleaning, with_several_labels, with_suspects

WRONG = {"expected": 3.0, "low": 1.0, "high": 5.0, "most": 9.0}


def names_of(audit: Audit) -> list[str]:
    return [name for name, _ in number_facts(audit, audit.suspects.record)]


def test_an_estimate_is_said_with_what_it_rests_on_and_what_it_leaves_out(audit: Audit) -> None:
    found = with_suspects(audit, calibrated=True, wrong={**WRONG, "pairs": [{"given": 0, "true": 1, "expected": 6.0}]})
    facts = dict(number_facts(found, found.suspects.record))
    assert list(facts) == ["How many are wrong", "Most often", "Not in the number", "How to measure it", "How detectors were tested"]
    assert facts["How many are wrong"].startswith("About 3 of 8 labels are wrong (95\u00a0% CI 1 to 5): the committee's models never saw")
    first, second = audit.info.labels
    assert facts["Most often"] == f"`{first}` should be `{second}` (about 6)."
    assert "2 labels of easy rows were flipped" in facts["How detectors were tested"]


@pytest.mark.parametrize(
    ("unknown", "said"),
    [
        ("hard rows", "The scores assume that at most 10\u00a0% of the labels are wrong"),
        ("much noise", "The labels of the surest rows contradict the models often."),
        (
            "one class",
            "That cannot be estimated: its classes may all be one under different names. Nothing is changed",
        ),
    ],
)
def test_without_an_estimate_it_is_said_what_the_scores_rest_on(audit: Audit, unknown: str, said: str) -> None:
    found = with_suspects(audit, calibrated=False, wrong=None, unknown=unknown)
    assert dict(number_facts(found, found.suspects.record))["How many are wrong"].startswith(said)
    assert ("How to measure it" in names_of(found)) == (unknown != "one class")
    assert not {"Not in the number", "Most often"} & set(names_of(found))


def test_where_no_row_can_be_judged_nothing_is_said_of_a_number(audit: Audit) -> None:
    found = with_suspects(audit)
    impossible = replace(found, suspects=replace(found.suspects, record={**found.suspects.record, "impossible": "One class."}))
    assert names_of(impossible) == []


def test_the_number_is_said_to_rest_on_what_it_rests_on(audit: Audit) -> None:
    found = with_suspects(audit, calibrated=True, wrong=WRONG)

    def many(seen: Audit) -> str:
        return dict(number_facts(seen, seen.suspects.record))["How many are wrong"]

    own = replace(found, how_made=replace(found.how_made, command="cartograph.from_dynamics(…)"))
    assert ": the given probabilities are taken for those of models that never saw the row they score, " in many(own)
    cleaning = with_cleaning(audit).cleaning
    seen = replace(found, cleaning=replace(cleaning, decided=pa.table([["u1"], [True]], schema=DECIDED)))
    assert "the committee's models, which never saw the row they score, and by what people found." in many(seen)
    assert "Not in the number" in names_of(seen) and "How to measure it" in names_of(seen), "people who follow a list do not measure it"


def test_what_people_cannot_measure_is_not_offered(audit: Audit) -> None:
    found = with_suspects(audit, calibrated=True, wrong=WRONG)
    assert "How to measure it" in names_of(found)
    assert "How to measure it" not in names_of(with_several_labels(found)), "a blind check asks which one label a row has"
