"""How many labels of each class should be another one, on the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from cartograph.page.audit import Audit
from cartograph.page.sections.suspects import suspects_section
from cartograph.page.wrong_by_class import most_often, wrong_by_class
from tests.page_audits import said_of, with_several_labels, with_suspects

PAIRS = [
    {"given": 1, "true": 0, "expected": 12.4, "low": 6.1, "high": 23.9, "most": 118.0},
    {"given": 0, "true": 1, "expected": 2.2, "low": 0.3, "high": 9.0, "most": 30.0},
]
WRONG: dict[str, Any] = {"expected": 14.6, "low": 8.0, "high": 30.0, "most": 148.0, "pairs": PAIRS}


def test_a_line_for_each_pair_of_classes_with_its_interval(audit: Audit) -> None:
    estimated = with_suspects(audit, calibrated=True, wrong=WRONG)
    table = wrong_by_class(estimated)
    assert table is not None
    names = audit.info.labels
    rows = [int((audit.gold == label).sum()) for label in range(2)]
    assert table.cells == [
        (names[1], names[0], 12, "6 to 24", 12.4 / rows[1], 120),
        (names[0], names[1], 2, "0 to 9", 2.2 / rows[0], 30),
    ]
    assert most_often(estimated, PAIRS) == [f"`{names[1]}` should be `{names[0]}` (about 12)."]
    even = [{**PAIRS[0], "expected": 8.0}, {**PAIRS[1], "expected": 7.0}]
    assert most_often(estimated, even) == [], "errors that go either way alike are no finding"
    section = suspects_section(estimated)
    assert section is not None and table in section.blocks and "Most often: " in said_of(section)


def test_nothing_is_said_of_pairs_without_a_number_or_of_a_handful(audit: Audit) -> None:
    assert wrong_by_class(audit) is None
    assert wrong_by_class(with_suspects(audit, calibrated=False, wrong=None)) is None
    assert wrong_by_class(with_suspects(audit, calibrated=True, wrong={**WRONG, "pairs": []})) is None
    assert wrong_by_class(with_several_labels(with_suspects(audit, calibrated=True, wrong=WRONG))) is None
    assert most_often(audit, [{**PAIRS[0], "expected": 3.0}]) == most_often(audit, []) == []


def test_of_a_class_that_the_models_do_not_know_it_is_not_said_what_it_should_be(audit: Audit) -> None:
    flagged = tuple(np.flatnonzero(audit.gold == 1).tolist())
    estimated = with_suspects(audit, flagged=flagged, calibrated=True, wrong=WRONG)
    table, names = wrong_by_class(estimated), audit.info.labels
    assert table is not None and [line[:2] for line in table.cells] == [(names[0], names[1])]
    assert most_often(estimated, PAIRS) == []
    said = f"`{names[0]}` should be `{names[1]}` (about 7)."
    assert most_often(estimated, [PAIRS[0], {**PAIRS[1], "expected": 7.0}]) == [said]


def test_how_many_at_most_is_a_column_where_that_is_more_than_an_interval_says(audit: Audit) -> None:
    alike = [{**pair, "most": pair["high"]} for pair in PAIRS]
    for pairs, columns in ((PAIRS, 6), (alike, 5)):
        table = wrong_by_class(with_suspects(audit, calibrated=True, wrong={**WRONG, "pairs": pairs}))
        assert table is not None and len(table.columns) == columns == len(table.cells[0])


def test_of_many_pairs_the_most_frequent_are_listed(audit: Audit) -> None:
    many = [{**PAIRS[0], "expected": 50.0 - place} for place in range(45)]
    table = wrong_by_class(with_suspects(audit, calibrated=True, wrong={**WRONG, "pairs": many}))
    assert table is not None and len(table.cells) == 40 and table.cells[0][2] == 50
    assert table.caption == "Wrong labels by class, the 40 most frequent of 45 mistakes"
