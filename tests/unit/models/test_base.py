from __future__ import annotations

from cartograph.models.base import Side, sides_of
from tests.training_sets import info_of, table


def test_a_choice_is_cut_at_the_blank() -> None:
    info = info_of("choice")
    columns = {
        "sentence": ["Ann told Bea that _ was late.", "No blank here"],
        "option1": ["Ann", "x"],
        "option2": ["Bea", "y"],
    }
    assert sides_of(table(info, columns, [0, 1]), info) == [
        Side("Ann told Bea that", "Ann was late."),
        Side("Ann told Bea that", "Bea was late."),
        Side("No blank here", "x"),
        Side("No blank here", "y"),
    ]
