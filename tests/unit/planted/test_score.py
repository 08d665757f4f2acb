from __future__ import annotations

import pyarrow as pa
import pytest

from cartograph import schema
from cartograph.planted.score import SCORE, score
from tests.planted_tables import FOUND, MAP, PLANTED, measures, suspects


def test_five_rows_by_hand() -> None:
    table, metrics = score(MAP, PLANTED)
    assert table.schema == SCORE
    assert table.column("uid").to_pylist() == list("abcde")
    assert table.column("rank").to_pylist() == [1, 4, 3, 5, 2]
    assert table.column("flipped").to_pylist() == [True, False, True, False, False]
    assert metrics["average_precision"] == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert metrics["precision"] == metrics["recall"] == 0.5
    assert metrics["kind.flipped.count"] == 2
    assert metrics["kind.flipped.confidence"] == pytest.approx(0.2)
    assert metrics["kind.flipped.confidence.q25"] == pytest.approx(0.15)
    assert metrics["kind.ambiguous.variability.median"] == 0.4
    assert metrics["kind.plain.region.easy-to-learn"] == 0.5
    assert sum(metrics[f"kind.flipped.region.{region}"] for region in schema.REGIONS) == 1


def test_suspects_are_scored_by_their_rank_and_the_flagged_ones_by_their_number() -> None:
    table, metrics = score(MAP, PLANTED, FOUND)
    assert table.schema == SCORE
    assert table.column("suspect_rank").to_pylist() == [3, 4, 1, 5, 2]
    assert table.column("flagged").to_pylist() == [False, False, True, False, True]
    assert metrics["average_precision"] == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert (metrics["precision"], metrics["recall"]) == (0.5, 0.5)
    assert [metrics[f"error.{error}.{name}"] for error in ("slip", "one-way") for name in ("count", "recall")] == [1, 0.0, 1, 1.0]
    alone, without = score(MAP, PLANTED)
    assert "error.slip.recall" not in without
    assert {name: metrics[f"low_confidence.{name}"] for name in ("average_precision", "precision", "recall")} == {
        name: without[name] for name in ("average_precision", "precision", "recall")
    }
    assert table.column("rank").equals(alone.column("rank"))
    assert alone.column("suspect_rank").null_count == alone.column("flagged").null_count == 5


def filtered(kept: dict[str, bool]) -> pa.Table:
    rows = [{"uid": uid, "kept": stays, "n_predictions": 3} for uid, stays in kept.items()]
    return pa.Table.from_pylist([dict.fromkeys(schema.AFLITE.names) | row for row in rows], schema=schema.AFLITE)


def test_the_filters_preference_for_give_away_words() -> None:
    table, metrics = score(MAP, PLANTED, aflite=filtered({"a": False, "b": True, "d": False, "e": True}))
    assert table.column("filtered").to_pylist() == [True, False, None, True, False]
    assert metrics["give_away.odds_ratio"] == pytest.approx((2.5 * 1.5) / (1.5 * 0.5))
    assert metrics["give_away.odds_ratio.low"] < 1 < metrics["give_away.odds_ratio.high"]
    assert (metrics["give_away.filtered"], metrics["no_give_away.filtered"]) == (pytest.approx(2 / 3), 0)
    assert score(MAP, PLANTED)[0].column("filtered").null_count == 5


def test_without_flagged_rows_the_precision_is_zero() -> None:
    none = suspects([(uid, rank, False) for rank, uid in enumerate("acbde", start=1)])
    metrics = score(MAP, PLANTED, none)[1]
    assert (metrics["average_precision"], metrics["precision"], metrics["recall"]) == (1.0, 0.0, 0.0)


def test_suspects_of_other_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="5 train rows, the suspects are of 3, and uid 'a' is in the truth alone"):
        score(MAP, PLANTED, FOUND.take([0, 1, 3]))


def test_rows_in_another_order_score_alike() -> None:
    shuffled = MAP.take([3, 1, 4, 0, 2])
    assert score(shuffled, PLANTED.take([5, 2, 0, 1, 4, 3]))[1] == score(MAP, PLANTED)[1]
    assert score(shuffled, PLANTED, FOUND.take([4, 0, 2, 1, 3]))[1] == score(MAP, PLANTED, FOUND)[1]


def test_equal_confidences_are_ranked_by_uid() -> None:
    flat = measures([(uid, 0.5, 0.1, "ambiguous") for uid in "abcde"])
    assert score(flat, PLANTED)[0].column("rank").to_pylist() == [1, 2, 3, 4, 5]


def test_a_map_of_other_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="5 train rows, the measures are of 4, and uid 'e' is in the truth alone"):
        score(MAP.slice(0, 4), PLANTED)
