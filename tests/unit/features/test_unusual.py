"""Which columns of a row are unusual for its label."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import numpy as np

from cartograph.features.unusual import FAR, held_values, rarity, shown_values, usual_values
from cartograph.schema import FEATURES, VALUES, Feature
from tests.training_sets import info_of, table

DAY = datetime(2024, 3, 1)


def rows() -> tuple[list[dict[str, object]], list[int]]:
    """A hundred small red rows, one of them large and blue; a hundred large blue ones, one with no size."""
    small = [{"size": 1 + row / 1000, "colour": "red", "seen": DAY} for row in range(100)]
    small[7] = {"size": 9.0, "colour": "blue", "seen": DAY}
    large = [{"size": 9 + row / 1000, "colour": "blue", "seen": DAY} for row in range(100)]
    large[3] = {"size": None, "colour": "blue", "seen": DAY}
    return [*small, *large], [0] * 100 + [1] * 100


def made() -> object:
    values, labels = rows()
    return table(info_of("table"), {FEATURES: ["x"] * len(values), VALUES: values}, labels)


def test_what_few_rows_of_the_label_have_is_unusual() -> None:
    share = rarity(made())
    assert share[7, 0] < FAR and share[7, 1] == 0.01 and share[7, 2] >= FAR
    assert share[103, 0] < FAR and share[103, 1] == 1
    assert (share[[50, 150]] >= FAR).all()
    assert np.argsort(share[7])[:2].tolist() in ([0, 1], [1, 0])


def test_a_rare_category_is_unusual_only_where_the_others_are_frequent() -> None:
    values = [{"size": 1.0, "colour": f"shade {row // 2}", "seen": DAY} for row in range(100)]
    frequent = [{"size": 1.0, "colour": "red" if row > 1 else "blue", "seen": DAY} for row in range(100)]
    share = rarity(table(info_of("table"), {FEATURES: ["x"] * 200, VALUES: [*values, *frequent]}, [0] * 100 + [1] * 100))
    assert (share[:100, 1] == 1).all()
    assert (share[100:102, 1] == 0.02).all() and (share[102:, 1] == 1).all()


def test_values_as_they_are_shown() -> None:
    sizes, colours, days = shown_values(made())
    assert (sizes[7], colours[7], days[7]) == ("9", "blue", "2024-03-01") and sizes[103] == ""
    assert [column[0] for column in usual_values(made())] == ["1.051", "red", "2024-03-01"]
    assert usual_values(made())[1] == ["red", "blue"]


def test_no_text_is_unusual_and_none_is_usual() -> None:
    info = replace(info_of("table"), features=(Feature("said", "text"),))
    texts = ["never twice the same " * 40, *(f"so it was said {row} times" for row in range(8)), None]
    said = table(info, {FEATURES: ["x"] * 10, VALUES: [{"said": text} for text in texts]}, [0] * 5 + [1] * 5)
    assert (rarity(said) == 1).all() and usual_values(said) == [["", ""]] and held_values(said) == ["10\u00a0% missing"]
    [shown] = shown_values(said)
    assert shown[1] == texts[1] and shown[9] == "" and len(shown[0]) <= 501


def test_what_a_column_holds_in_a_line() -> None:
    assert held_values(made()) == ["1 to 9.099; 0.5\u00a0% missing", "2 values", "2024-03-01"]
    nothing = [{"size": None, "colour": None, "seen": None}] * 4
    empty = table(info_of("table"), {FEATURES: ["x"] * 4, VALUES: nothing}, [0, 0, 1, 1])
    assert held_values(empty) == ["100\u00a0% missing"] * 3
