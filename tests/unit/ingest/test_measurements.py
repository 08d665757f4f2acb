from __future__ import annotations

import numpy as np
import pytest

from cartograph.ingest.measurements import measurements_sentence


def test_prices_are_measurements_and_classes_without_rows_do_not_count() -> None:
    prices = np.random.default_rng(5).gamma(2.0, 40.0, 300)
    counts = dict.fromkeys((f"{price:.2f}" for price in prices), 2) | {"9000.5": 0}
    lowest, highest = min(prices), max(prices)
    said = measurements_sentence(counts)
    start = f"The labels look like measurements, not classes: {len(counts) - 1} numbers from {lowest:.2f} to {highest:.2f}; here each is a "
    assert said.startswith(start) and said.endswith("or name another column.")


def test_whole_numbers_are_where_they_leave_out_most_of_their_range_and_hardly_repeat() -> None:
    salaries = {str(1_000 * number + 7 * number**2): 2 for number in range(20, 60)}
    assert measurements_sentence(salaries)
    assert measurements_sentence({**salaries, "20000": 4_000}) == ""


@pytest.mark.parametrize(
    "names",
    [
        [str(number) for number in range(1, 90)],
        [str(number / 2) for number in range(10)],
        [f"{number}.0" for number in range(60)],
        [f"v{number}.5" for number in range(60)],
        [*(f"{number}.5" for number in range(60)), "other"],
    ],
)
def test_ids_grades_few_numbers_and_other_names_are_classes(names: list[str]) -> None:
    assert measurements_sentence(dict.fromkeys(names, 3)) == ""
