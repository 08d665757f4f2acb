from __future__ import annotations

import pyarrow as pa
import pytest

from cartograph.compare.recommendation import Recommendation, recommend
from cartograph.compare.versions import DIFFERENCES


def advice(*rows: dict[str, object]) -> Recommendation:
    usual = {"subset": "cleaned", "against": "original", "set": "test", "domain": "id", "rows": 500, "metric": "accuracy", "seeds": 3}
    found = recommend(pa.Table.from_pylist([usual | row for row in rows], schema=DIFFERENCES))
    assert found is not None
    return found


GAIN = {"low": 0.01, "difference": 0.02, "high": 0.03}
NONE = {"low": -0.01, "difference": 0.002, "high": 0.02}
LOSS = {"low": -0.03, "difference": -0.02, "high": -0.01}


@pytest.mark.parametrize(
    ("rows", "version", "outcome"),
    [
        ([GAIN], "cleaned", "better"),
        ([NONE], "cleaned", "no difference"),
        ([LOSS], "original", "worse"),
        ([GAIN, {**LOSS, "metric": "macro_f1"}], "original", "worse"),
        ([{**LOSS, "set": "far", "domain": "ood"}, NONE], "cleaned", "no difference"),
        ([{**LOSS, "set": "far", "domain": "ood"}], "original", "worse"),
        ([{**LOSS, "set": "test/Logic"}, GAIN], "cleaned", "better"),
        ([{**LOSS, "against": "random"}, GAIN], "cleaned", "better"),
        ([{"low": 0.0, "difference": 0.0, "high": 0.0}], "original", "unchanged"),
    ],
)
def test_the_original_is_recommended_where_cleaning_is_measurably_worse_in_distribution(
    rows: list[dict[str, object]], version: str, outcome: str
) -> None:
    found = advice(*rows)
    assert (found.version, found.outcome) == (version, outcome)


def test_the_sentence_names_what_is_worse_and_asks_for_a_third_seed() -> None:
    found = advice({**LOSS, "metric": "macro_f1", "seeds": 2}, {**NONE, "seeds": 2})
    assert found.sentence == (
        "Recommended: the original rows, since models trained on the cleaned ones are measurably worse (macro F1 on test). "
        "With 2 seeds the interval says little about other seeds: train with a third (`retrain.seeds`)."
    )
    assert advice({**NONE, "seeds": 1}).sentence.endswith(
        "With one seed the interval says nothing about other seeds: train with three (`retrain.seeds`)."
    )
    assert "seed" not in advice(NONE).sentence
    assert found.content()["worse"] == [["test", "macro_f1"]]


def test_nothing_compared_is_no_recommendation() -> None:
    assert recommend(DIFFERENCES.empty_table()) is None
