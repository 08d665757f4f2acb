from __future__ import annotations

from tasks.commands.given_files import by_position, names_in


def test_a_comma_that_belongs_to_a_name_has_a_backslash_before_it() -> None:
    assert by_position(r"id,,weight\, kg, text") == ["id", "", "weight, kg", "text"]
    assert by_position(" ") == []
    assert names_in(r"weight\, kg") == "weight, kg"
    assert names_in(r"a,,weight\, kg") == ["a", "weight, kg"]
