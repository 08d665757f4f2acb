"""What the page says of a blind check, beside the models' number."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cartograph.page.audit import Audit
from cartograph.page.headline import headline
from cartograph.page.verdict import verdict
from tests.page_audits import with_suspects

WRONG = {"expected": 3.0, "low": 1.0, "high": 5.0, "most": 7.5}


def read_blind(audit: Audit, wrong: float, low: float, high: float) -> Audit:
    """Return the audit with rows that people read: as many labels are wrong."""
    found = {"predicted_noise.rows": 3, "predicted_clean.rows": 5, "labels.rows": 8}
    return replace(audit, blind=found | {"labels.mislabelled": wrong, "labels.low": low, "labels.high": high})


@pytest.fixture
def known(audit: Audit) -> Audit:
    return with_suspects(audit, flagged=(1, 0, 3), calibrated=True, wrong=WRONG)


def test_what_people_read_stands_at_the_head_where_the_models_number_does_not_fit_it(known: Audit) -> None:
    more = read_blind(known, 6.0, 4.0, 7.0)
    assert headline(more).startswith(
        "By a blind check of 8 rows, about 6 of 8 labels are wrong (95\u00a0% CI 4 to 7); 3 rows are suspects, "
    )
    models = "To the models, about 3 labels are wrong (95\u00a0% CI 1 to 5): "
    assert f"{models}errors that follow a rule or gather on hard rows look right to them." in verdict(more).lines
    fewer = read_blind(known, 1.0, 0.0, 2.0)
    assert headline(fewer).startswith("By a blind check of 8 rows, about 1 of 8 labels is wrong (95\u00a0% CI 0 to 2); ")
    assert f"{models}hard rows look wrong to them." in verdict(fewer).lines


def test_a_check_that_agrees_is_said_to(known: Audit) -> None:
    seen = read_blind(known, 2.0, 1.0, 4.0)
    assert headline(seen) == headline(known)
    lines = verdict(seen).lines
    assert "A blind check of 8 rows agrees: about 2 of 8 labels are wrong (95\u00a0% CI 1 to 4)." in lines
    assert any("Two kinds of errors" in line for line in verdict(known).lines) and not any("Two kinds of errors" in line for line in lines)


def test_without_a_number_of_the_models_the_check_has_the_only_one(audit: Audit) -> None:
    unknown = with_suspects(audit, flagged=(1, 0, 3), unknown="much noise", calibrated=False, wrong=None)
    said = headline(read_blind(unknown, 2.0, 1.0, 4.0))
    assert (
        "; by a blind check of 8 rows, about 2 of 8 labels are wrong (95\u00a0% CI 1 to 4); " in said and "cannot be estimated" not in said
    )
    assert not any("blind check" in line for line in verdict(read_blind(unknown, 2.0, 1.0, 4.0)).lines)
