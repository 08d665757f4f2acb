from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cartograph.errors import InputError
from cartograph.maps.measures import Measures, compute_measures, gold_probabilities
from cartograph.maps.regions import Regions, assign_regions
from cartograph.maps.stability import burn_out
from cartograph.maps.table import BURN_OUT, burn_out_table, coordinates, density_table, map_metrics, map_table
from cartograph.schema import MEASURES

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "tiny_map.json"


def tiny() -> tuple[list[dict], list[str], np.ndarray, Measures, Regions]:
    rows = json.loads(GOLDEN.read_text(encoding="utf-8"))
    rows = rows[3:] + rows[:3]
    uids = [row["uid"] for row in rows]
    gold = np.array([row["gold"] for row in rows], np.int32)
    measures = compute_measures(uids, np.array([row["logits"] for row in rows], np.float32), gold)
    shares = {"easy": 1 / 3, "ambiguous": 1 / 3, "hard": 1 / 6}
    return (
        rows,
        uids,
        gold,
        measures,
        assign_regions(uids, measures.confidence, measures.variability, **shares, rng=np.random.default_rng(0)),
    )


def test_the_tiny_map_is_as_it_was_worked_out() -> None:
    rows, uids, gold, measures, regions = tiny()
    table = map_table(uids, gold, measures, regions)
    assert table.schema.equals(MEASURES)
    expected = sorted(rows, key=lambda row: row["uid"])
    for row, found in zip(expected, table.to_pylist(), strict=True):
        row.pop("logits")
        assert found == {name: pytest.approx(value, abs=1e-11) if isinstance(value, float) else value for name, value in row.items()}


def test_metrics_are_numbers_that_add_up() -> None:
    _, _, _, measures, regions = tiny()
    metrics = map_metrics(measures, regions)
    assert json.loads(json.dumps(metrics, allow_nan=False)) == metrics
    assert sum(value for name, value in metrics.items() if name.startswith("region.") and name.endswith(".count")) == metrics["rows"] == 6
    assert metrics["region.hard-to-learn.count"] == 1
    assert metrics["region.hard-to-learn.max_confidence"] == pytest.approx(0.044026, abs=1e-6)
    assert metrics["region.ambiguous.min_variability"] == pytest.approx(0.401468, abs=1e-6)
    assert metrics["region.easy-to-learn.min_confidence"] == pytest.approx(0.963969, abs=1e-6)
    # Of the two most confident rows, one is as near to the ambiguous corner: confidence .62, variability .26.
    assert [metrics[f"region.easy-to-learn.{name}"] for name in ("listed", "count", "elsewhere")] == [2, 1, 0]
    assert metrics["confidence.p50"] == pytest.approx((0.468956 + 0.507975) / 2, abs=2e-6)
    assert (metrics["never_learnt.count"], metrics["forgotten.count"]) == (2, 2)


def test_measures_out_of_fold_are_columns_of_their_own() -> None:
    _, uids, gold, measures, regions = tiny()
    logits = np.array([[[2.0, 0, 0]], [[0, 0, 0]], [[0, 0, 3]], [[1, 0, 0]], [[0, 5, 0]], [[0, 0, 1]]], np.float32)
    both = measures.with_out_of_fold(compute_measures(uids, logits, gold))
    table = map_table(uids, gold, both, regions)
    margins = dict(zip(table.column("uid").to_pylist(), table.column("out_of_fold_margin").to_pylist(), strict=True))
    for uid, label, scores in zip(uids, gold, logits[:, 0], strict=True):
        assert margins[uid] == pytest.approx(scores[label] - np.delete(scores, label).max())
    plain = map_table(uids, gold, measures, regions)
    untouched = [name for name in MEASURES.names if not name.startswith("out_of_fold_")]
    assert table.select(untouched).equals(plain.select(untouched))
    metrics = map_metrics(both, regions)
    assert metrics["out_of_fold_margin.mean"] == pytest.approx(np.mean(list(margins.values())), abs=1e-6)
    assert metrics["out_of_fold_variability.mean"] == 0
    assert not [name for name in map_metrics(measures, regions) if name.startswith("out_of_fold")]


def test_a_map_of_coordinates_has_null_where_logits_are_needed() -> None:
    table = pa.table({"uid": ["b", "a"], "confidence": [0.5, 1.0], "variability": [0.5, 0.0], "correctness": [0.5, 1.0]})
    measures = coordinates(table)
    regions = assign_regions(
        ["b", "a"], measures.confidence, measures.variability, easy=0.5, ambiguous=0.2, hard=0.3, rng=np.random.default_rng(0)
    )
    written = map_table(["b", "a"], np.array([0, 1], np.int32), measures, regions)
    assert written.schema.equals(MEASURES)
    assert written.column("uid").to_pylist() == ["a", "b"]
    assert written.column("threshold_closeness").to_pylist() == [0.0, 0.25]
    for name in ("predicted", "forgetting", "never_learnt", "aum", "el2n", "loss", "out_of_fold_confidence", "out_of_fold_margin"):
        assert written.column(name).null_count == 2
    assert not [name for name in map_metrics(measures, regions) if name.startswith(("aum", "el2n", "loss", "never_learnt", "forgotten"))]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("correctness", 5.0, r"uid 'b' has correctness 5, where 0 to 1 is expected \(1 such\); correctness must be the fraction of epochs"),
        ("confidence", float("nan"), r"uid 'b' has confidence nan, where 0 to 1 is expected"),
        ("variability", 0.7, r"uid 'b' has variability 0\.7, where 0 to 0\.5 is expected"),
        ("variability", -0.1, r"uid 'b' has variability -0\.1"),
    ],
)
def test_coordinates_outside_their_range_are_named(column: str, value: float, message: str) -> None:
    columns = {"uid": ["a", "b"], "confidence": [0.5, 0.5], "variability": [0.1, 0.1], "correctness": [1.0, 1.0]}
    columns[column][1] = value
    with pytest.raises(InputError, match=message):
        coordinates(pa.table(columns))


def test_the_burn_out_table_has_null_where_there_is_no_correlation() -> None:
    rows, uids, gold, _, _ = tiny()
    logits = np.array([row["logits"] for row in rows], np.float32)
    table = burn_out_table(burn_out(gold_probabilities(uids, logits, gold)))
    assert table.schema.equals(BURN_OUT)
    assert table.column("epochs").to_pylist() == [1, 2, 3, 4]
    assert table.column("variability").to_pylist()[0] is None
    assert table.column("confidence").to_pylist()[-1] == pytest.approx(1)
    assert burn_out_table(None).num_rows == 0


def test_densities_count_every_row_once_per_measure() -> None:
    _, uids, gold, measures, regions = tiny()
    found = density_table(map_table(uids, gold, measures, regions)).to_pylist()
    shares = {name: sum(row["share"] for row in found if row["measure"] == name) for name in ("confidence", "variability", "correctness")}
    assert shares == pytest.approx(dict.fromkeys(shares, 1), abs=1e-6)
    values = measures.confidence
    expected = np.count_nonzero((values >= 0.5) & (values < 0.525)) / 6
    assert [row["share"] for row in found if row["measure"] == "confidence" and row["value"] == 0.5125] == [pytest.approx(expected)]
    assert {row["value"] for row in found if row["measure"] == "correctness"} == {round(value, 6) for value in measures.correctness}


def test_a_map_without_regions_has_those_of_the_default_shares() -> None:
    rng = np.random.default_rng(0)
    uids = [f"u{row:03d}" for row in rng.permutation(100)]
    gold = np.zeros(100, np.int32)
    measures = Measures(confidence=rng.random(100), variability=rng.random(100) / 2, correctness=rng.random(100))
    regions = assign_regions(
        uids, measures.confidence, measures.variability, easy=0.33, ambiguous=0.33, hard=0.1, rng=np.random.default_rng(13)
    )
    assert map_table(uids, gold, measures).equals(map_table(uids, gold, measures, regions))
