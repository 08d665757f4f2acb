"""Equal rows of a table are copies only where hardly any would agree by chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cartograph.data.coincidences import MOST_BY_CHANCE, agreeing_by_chance


@pytest.mark.parametrize("shown", ["as they are", "each category as a column of its own"])
def test_rows_of_few_values_may_be_equal_by_chance_and_rows_with_a_measurement_not(shown: str) -> None:
    rng = np.random.default_rng(1)
    few = pd.DataFrame(
        {"colour": rng.choice(list("abcd"), 500), "size": rng.choice(list("SML"), 500), "day": rng.choice(list("1234567"), 500)}
    )
    if shown != "as they are":
        few = pd.get_dummies(few)
    assert few.duplicated(keep=False).mean() > 0.9
    assert (agreeing_by_chance(few) > MOST_BY_CHANCE).all()
    measured = pd.concat([few.assign(weight=rng.normal(0, 1, 500))] * 2)
    assert (agreeing_by_chance(measured) < MOST_BY_CHANCE).all()


def test_a_table_without_rows_or_with_one_column_has_answers_too() -> None:
    assert agreeing_by_chance(pd.DataFrame({"size": []})).tolist() == []
    assert agreeing_by_chance(pd.DataFrame({"size": [1.0, 1.0, 2.0]})).tolist() == [3.0, 3.0, 3.0]
