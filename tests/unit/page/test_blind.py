"""What the page says of a blind check, beside the models' number."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from cartograph.clean.reviewed import DECIDED
from cartograph.page.audit import Audit
from cartograph.page.dataset_card import dataset_card
from cartograph.page.read_verdict import BEYOND
from cartograph.page.sections.suspects import suspects_section
from cartograph.page.verdict import verdict
from tests.page_audits import said_of, with_cleaning, with_suspects

WRONG = {"expected": 3.0, "low": 1.0, "high": 5.0, "most": 7.5}


def read_blind(audit: Audit, wrong: float, low: float, high: float) -> Audit:
    """Return the audit with rows that people read: as many labels are wrong."""
    found = {"predicted_noise.rows": 3, "predicted_clean.rows": 5, "labels.rows": 8}
    found |= {"predicted_noise.mislabelled": 2 / 3, "predicted_clean.mislabelled": 0.2}
    return replace(audit, blind=found | {"labels.mislabelled": wrong, "labels.low": low, "labels.high": high})


@pytest.fixture
def known(audit: Audit) -> Audit:
    return with_suspects(audit, flagged=(1, 0, 3), calibrated=True, wrong=WRONG)


def test_what_people_read_stands_at_the_head_where_the_models_number_does_not_fit_it(known: Audit) -> None:
    more = read_blind(known, 7.0, 6.0, 8.0)
    assert verdict(more).sentence.startswith(
        "By a blind check of 8 rows, about 7 of 8 labels are wrong (95\u00a0% CI 6 to 8); 3 rows are suspects, "
    )
    models = "To the models, about 3 labels are wrong (95\u00a0% CI 1 to 5): "
    assert f"{models}errors that follow a rule or gather on hard rows may look right to them." in verdict(more).lines
    assert not any(line.startswith(BEYOND) for line in verdict(more).lines)
    fewer = read_blind(known, 0.5, 0.0, 0.9)
    assert verdict(fewer).sentence.startswith("By a blind check of 8 rows, at most 1 of 8 labels is wrong (95\u00a0% CI); ")
    assert f"{models}hard rows may look wrong to them." in verdict(fewer).lines
    for seen in (more, fewer):
        section = suspects_section(seen)
        assert section is not None and "by a blind check of 8 rows" in said_of(section).lower() and "Most often" not in said_of(section)
        shares = "people found 67\u00a0% of 3 rows that models doubt and 20\u00a0% of 5 others mislabelled."
        assert shares in said_of(section) and "never saw the row they score" not in said_of(section)
        unread = {**seen.blind, "predicted_noise.rows": 0}
        del unread["predicted_noise.mislabelled"]
        none = said_of(suspects_section(replace(seen, blind=unread)))
        assert ": people found 20\u00a0% of 5 others mislabelled." in none, "of what nobody read nothing is said"
        cleaning = with_cleaning(seen).cleaning
        assert cleaning is not None
        cleaned = replace(
            seen, cleaning=replace(cleaning, version={**cleaning.version, "digest": "e", "parent_digest": "d", "recipe": "relabel"})
        )
        assert "by a blind check of 8 rows" in dataset_card(cleaned, pa.schema([("text", pa.string())])).lower()


def test_of_two_numbers_that_do_not_contradict_each_other_the_narrower_one_stands_at_the_head(known: Audit) -> None:
    wide = read_blind(known, 4.0, 0.0, 7.9)
    assert verdict(wide).sentence == verdict(known).sentence
    lines = verdict(wide).lines
    said = "By a blind check of 8 rows, about 4 of 8 labels are wrong (95\u00a0% CI 0 to 8), which does not contradict that."
    assert said in lines and any(line.startswith(BEYOND) for line in lines), "so few rows rule nothing out"
    narrow = read_blind(known, 4.0, 3.5, 4.5)
    assert verdict(narrow).sentence.startswith("By a blind check of 8 rows, about 4 of 8 labels are wrong")
    assert "To the models, about 3 labels are wrong (95\u00a0% CI 1 to 5), which does not contradict that." in verdict(narrow).lines


def test_without_a_number_of_the_models_the_check_has_the_only_one(audit: Audit) -> None:
    unknown = with_suspects(audit, flagged=(1, 0, 3), unknown="much noise", calibrated=False, wrong=None)
    said = verdict(read_blind(unknown, 2.0, 1.0, 4.0)).sentence
    assert "; by a blind check of 8 rows, about 2 of 8 labels are wrong (95\u00a0% CI 1 to 4); none is sure enough " in said
    assert "cannot be estimated" not in said and "without that number" not in said
    assert not any("blind check" in line for line in verdict(read_blind(unknown, 2.0, 1.0, 4.0)).lines)
    none = with_suspects(audit, flagged=(), unknown="much noise", calibrated=False, wrong=None)
    assert verdict(read_blind(none, 2.0, 1.0, 4.0)).sentence.startswith("By a blind check of 8 rows, about 2 of 8 labels are wrong")
    assumed = with_suspects(audit, flagged=(1, 0), assumption="by assumption", calibrated=False, wrong=None)
    assert verdict(read_blind(assumed, 2.0, 1.0, 4.0)).sentence.startswith("By a blind check of 8 rows, about 2 of 8 labels are wrong")


def test_after_people_decided_the_check_is_of_the_labels_as_they_were_given(known: Audit) -> None:
    decided = with_cleaning(read_blind(known, 7.0, 6.0, 8.0))
    assert decided.cleaning is not None
    seen = replace(decided, cleaning=replace(decided.cleaning, decided=pa.table([["u0", "u1", "u3"], [False] * 3], schema=DECIDED)))
    assert "; by a blind check of 8 rows, about 7 of the 8 labels as they were given are wrong" in verdict(seen).sentence
    assert not any("the number of the others follows" in line for line in verdict(seen).lines)
