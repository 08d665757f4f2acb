from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from cartograph.compare.versions import DIFFERENCES
from cartograph.page.audit import Audit
from cartograph.page.cleaning_effect import cleaning_effect, cleaning_phrase
from cartograph.page.step_results import Cleaning
from cartograph.schema import CHANGES
from tests.page_audits import with_cleaning, with_suspects


def difference(**values: object) -> dict[str, object]:
    row = {"subset": "cleaned", "against": "original", "set": "challenge", "domain": "ood", "rows": 900, "metric": "accuracy", "seeds": 3}
    return row | values


@pytest.mark.parametrize(
    ("low", "middle", "high", "sentence"),
    [
        (0.0061, 0.0139, 0.0223, "Cleaning raised accuracy by 1.4 points (95 % CI 0.6 to 2.2) on challenge."),
        (-0.0223, -0.0139, -0.0061, "Cleaning lowered accuracy by 1.4 points (95 % CI 0.6 to 2.2) on challenge."),
        (0.0003, 0.0139, 0.03, "Cleaning raised accuracy by 1.39 points (95 % CI 0.03 to 3.00) on challenge."),
        (
            -0.0041,
            0.0049,
            0.0132,
            "Cleaning made no measurable difference to accuracy: +0.5 points (95 % CI −0.4 to +1.3) on challenge.",
        ),
        (0.02, 0.09, 0.16, "Cleaning raised accuracy by 9 points (95 % CI 2 to 16) on challenge."),
    ],
)
def test_a_sentence_says_whether_cleaning_raised_or_lowered_accuracy(low: float, middle: float, high: float, sentence: str) -> None:
    table = pa.Table.from_pylist([difference(low=low, difference=middle, high=high)], schema=DIFFERENCES)
    assert cleaning_effect(table) == sentence
    assert cleaning_effect(table, metric="macro_f1") == cleaning_effect(table, against="random") == ""


def test_sets_of_one_outcome_share_a_sentence_and_those_out_of_distribution_come_first() -> None:
    gain, none = {"low": 0.01, "difference": 0.02, "high": 0.03}, {"low": -0.01, "difference": 0.0, "high": 0.01}
    rows = [difference(set="dev", domain="id", **none), difference(**gain), difference(set="hard", **none)]
    assert cleaning_effect(pa.Table.from_pylist(rows, schema=DIFFERENCES), "Dropping the suspects") == (
        "Dropping the suspects raised accuracy by 2.0 points (95 % CI 1.0 to 3.0) on challenge. "
        "It made no measurable difference to accuracy: +0.0 points (95 % CI −1.0 to +1.0) on hard, +0.0 (−1.0 to +1.0) on dev."
    )


def test_a_comparison_with_random_rows_says_so() -> None:
    table = pa.Table.from_pylist([difference(against="random", low=0.01, difference=0.02, high=0.03)], schema=DIFFERENCES)
    assert cleaning_effect(table, "Dropping the suspects", against="random") == (
        "Compared with as many rows picked at random, dropping the suspects raised accuracy by 2.0 points (95 % CI 1.0 to 3.0) "
        "on challenge."
    )


def test_cleaning_is_named_by_what_it_did_where_it_changed_the_suspects_and_no_other_row(audit: Audit) -> None:
    def drops(*uids: str) -> Cleaning:
        rows = [{"uid": uid, "what": "drop", "from": "no", "to": None, "why": "", "by": "recipe drop-flagged"} for uid in uids]
        return Cleaning(pa.Table.from_pylist(rows, schema=CHANGES), {})

    suspects = with_suspects(audit, flagged=(1, 0))
    assert cleaning_phrase(replace(suspects, cleaning=drops("u0", "u1"))) == "Dropping the suspects"
    assert cleaning_phrase(replace(suspects, cleaning=drops("u0"))) == "Cleaning"
    assert cleaning_phrase(replace(suspects, cleaning=drops("u0", "u1", "u2"))) == "Cleaning"
    assert cleaning_phrase(with_cleaning(audit)) == "Cleaning", "it dropped and relabelled"
    assert cleaning_phrase(audit) == "Cleaning"
