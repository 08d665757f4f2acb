"""What detectors read: columns of measures and of the committee, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cartograph.errors import InputError
from cartograph.maps.measures import Measures
from cartograph.suspects.columns import column_table, detector_columns, feature_sets
from cartograph.suspects.label_doubt import label_doubt
from tests.label_errors import committee_of, planted_set, without_committee


def test_columns_are_the_measures_and_the_committees_doubt() -> None:
    measures = Measures(np.array([0.2, 0.9]), np.array([0.1, 0.1]), np.array([0.0, 1.0]))
    chances = np.array([[0.1, 0.6, 0.3], [0.8, 0.1, 0.1]])
    labels = np.array([0, 0])
    columns = detector_columns(measures, committee_of(chances, labels))
    assert set(columns) == {"confidence", "variability", "correctness", "doubt"}
    assert columns["doubt"][0] > columns["doubt"][1]
    np.testing.assert_allclose(1 / (1 + np.exp(-columns["doubt"])), label_doubt(chances, labels).score)


def test_a_certain_committee_gives_finite_columns() -> None:
    measures = Measures(np.ones(2), np.zeros(2), np.ones(2))
    labels = np.array([0, 1])
    columns = detector_columns(measures, committee_of(np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), labels))
    assert all(np.isfinite(values).all() for values in columns.values())


def test_a_candidate_reads_the_columns_that_are_known() -> None:
    original, _, _, _ = planted_set()
    assert feature_sets(original.columns) == {
        "confidence": ("confidence",),
        "measures": ("confidence", "variability", "correctness", "aum", "el2n", "loss"),
        "committee": ("doubt",),
    }
    assert "committee" not in feature_sets(without_committee(original).columns)
    coordinates = replace(
        original, measures=Measures(*(getattr(original.measures, name) for name in ("confidence", "variability", "correctness")))
    )
    assert feature_sets(coordinates.columns)["committee"] == ("doubt",)


@pytest.mark.parametrize(
    ("columns", "names", "message"),
    [
        ({"confidence": np.ones(20)}, ["confidence", "aum"], "the measure 'aum' is not in the table; it has confidence"),
        (
            {"aum": np.array([1.0] * 18 + [np.nan] * 2)},
            ["aum"],
            r"the measure 'aum' has the value nan in row 19 \(2 such rows\), where a finite",
        ),
        ({"a": np.ones(20), "b": np.ones(19)}, ["a", "b"], "the measure 'b' has 19 rows and 'a' has 20"),
        ({"a": np.ones(19)}, ["a"], "there are 19 rows of measures, but 20 are expected; both must be of the same rows"),
    ],
)
def test_the_error_names_the_column_that_is_wrong(columns: dict[str, np.ndarray], names: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        column_table(columns, names, 20)
