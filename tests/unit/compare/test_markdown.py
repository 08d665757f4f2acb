from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartograph.compare import markdown as comparison_text
from cartograph.compare.markdown import broken_lines, differences_line, digits, in_points, mean_text, plus_minus, points


def test_the_examples_in_its_docstrings_hold() -> None:
    assert doctest.testmod(comparison_text).failed == 0


@given(st.floats(-100, 100), st.floats(0, 50))
def test_an_interval_never_seems_to_touch_what_it_excludes(low: float, wide: float) -> None:
    high = low + wide
    decimals = digits(low, high)
    for end in (low, high):
        if abs(end) >= 0.0006:
            assert float(points(end, decimals).replace("−", "-")) != 0


def test_what_is_written_as_0_has_no_sign() -> None:
    assert [points(value, 1) for value in (-0.04, 0.0, -0.06)] == ["0.0", "0.0", "−0.1"]
    assert points(-0.04, 1, signed=True) == "+0.0"


def test_names_are_no_markup() -> None:
    row = {"set": "test/[x](javascript:a) | <b>", "domain": "id", "metric": "accuracy", "subset": "original", "seeds": 1, "failed": 0}
    table = comparison_text._means([{**row, "mean": 0.5, "sd": None}], {"original": 10})
    assert "test/\\[x\\]\\(javascript:a\\) \\| &lt;b&gt; (in distribution), accuracy" in table.splitlines()[0]


@pytest.mark.parametrize(
    ("low", "high", "decimals"),
    [(0.0, 10.0, 0), (0.0, 9.9, 1), (-5.0, 5.0, 0), (0.0, 0.1, 1), (0.0, 0.09, 2), (0.04, 3.0, 2), (0.001, 20.0, 3), (1e-5, 20.0, 3)],
)
def test_decimals_go_by_the_width_of_the_interval(low: float, high: float, decimals: int) -> None:
    assert digits(low, high) == decimals


ROW = {
    "subset": "cleaned", "against": "original", "set": "dev", "domain": "ood", "metric": "accuracy",
    "difference": 0.0136, "low": -0.004, "high": 0.02, "seeds": 3,
}  # fmt: skip


def test_a_difference_is_told_in_points_with_half_its_interval() -> None:
    assert in_points(ROW) == pytest.approx((1.36, -0.4, 2.0))
    assert plus_minus(ROW) == "+1.4 ± 1.2"
    assert plus_minus(ROW | {"difference": -0.0136, "low": -0.2, "high": 0.0}) == "−1 ± 10"


def test_the_line_of_differences_is_of_cleaned_and_original_alone() -> None:
    others = [ROW | {"subset": "random"}, ROW | {"against": "random"}, ROW | {"metric": "macro_f1"}]
    assert (
        differences_line([*others, ROW, ROW | {"set": "test"}], "accuracy") == "cleaned − original: dev +1.4 ± 1.2, test +1.4 ± 1.2 points"
    )
    assert differences_line(others, "accuracy") == ""


@pytest.mark.parametrize(
    ("mean", "sd", "seeds", "failed", "text"),
    [
        (None, None, 0, 2, "failed"),
        (0.81249, None, 1, 0, "81.2"),
        (0.8125, 0.0116, 3, 0, "81.2 ± 1.2"),
        (0.5, 0.0, 2, 1, "50.0 ± 0.0 (1 of 3 failed)"),
    ],
)
def test_a_mean_is_told_in_per_cent_with_its_spread_and_what_failed(
    mean: float | None, sd: float | None, seeds: int, failed: int, text: str
) -> None:
    assert mean_text({"mean": mean, "sd": sd, "seeds": seeds, "failed": failed}) == text


def test_differences_are_a_table_in_points() -> None:
    assert comparison_text._differences([ROW]).splitlines() == [
        "| Difference | Set | Metric | Points | 95 % interval | Seeds |",
        "| --- | --- | --- | ---: | ---: | ---: |",
        "| cleaned − original | dev (out of distribution) | accuracy | +1.4 | −0.4 to +2.0 | 3 |",
    ]


def test_means_are_a_table_of_subsets_with_their_rows() -> None:
    def row(subset: str, metric: str, mean: float) -> dict[str, object]:
        return {"set": "dev", "domain": "id", "metric": metric, "subset": subset, "mean": mean, "sd": None, "seeds": 1, "failed": 0}

    summary = [row(subset, metric, mean) for subset, mean in (("original", 0.5), ("cleaned", 0.75)) for metric in ("accuracy", "macro_f1")]
    assert comparison_text._means(summary, {"original": 1200}).splitlines() == [
        "| Trained on | Rows | dev (in distribution), accuracy | dev (in distribution), macro F1 |",
        "| --- | ---: | ---: | ---: |",
        "| original | 1,200 | 50.0 | 50.0 |",
        "| cleaned |  | 75.0 | 75.0 |",
    ]


def test_trainings_that_broke_off_are_a_section_with_their_reasons() -> None:
    assert broken_lines([]) == []
    assert broken_lines([{"subset": "random", "seed": 2, "reason": "out of *memory*"}]) == [
        "## Broken off",
        "",
        "These trainings failed with an error and are left out of the means.",
        "",
        "- `random`, seed 2: out of \\*memory\\*",
        "",
    ]
