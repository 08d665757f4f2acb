from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph import schema
from cartograph.config import Settings
from cartograph.errors import InputError
from cartograph.planted.score import SCORE, score
from tasks.audit.ingested_sets import is_built_in
from tasks.audit.noise import Noise
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.score import STEP, Score, run


def measures(rows: list[tuple[str, float, float, str]]) -> pa.Table:
    filled = [
        dict.fromkeys(schema.MEASURES.names, 0)
        | {"uid": uid, "confidence": mu, "variability": sigma, "region": region, "never_learnt": False}
        for uid, mu, sigma, region in rows
    ]
    return pa.Table.from_pylist(filled, schema=schema.MEASURES)


def truth(rows: list[tuple[str, str, str, str | None, bool]]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(schema.TRUTH.names, row, strict=True)) for row in rows], schema=schema.TRUTH)


MAP = measures(
    [
        ("a", 0.1, 0.05, "hard-to-learn"),
        ("b", 0.5, 0.40, "ambiguous"),
        ("c", 0.3, 0.20, "hard-to-learn"),
        ("d", 0.9, 0.10, "easy-to-learn"),
        ("e", 0.2, 0.02, "hard-to-learn"),
    ]
)
PLANTED = truth(
    [
        ("a", "train", "flipped", "neutral", True),
        ("b", "train", "ambiguous", None, False),
        ("c", "train", "flipped", "entailment", False),
        ("d", "train", "plain", "neutral", True),
        ("e", "train", "plain", "neutral", True),
        ("z", "validation", "plain", "neutral", True),
    ]
)


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


def suspects(rows: list[tuple[str, int, bool]]) -> pa.Table:
    filled = [
        {
            "uid": uid,
            "probability": 1 / rank,
            "flagged": flagged,
            "suggested": 0,
            "suggested_probability": 0.5,
            "rank": rank,
            "reason": "why",
        }
        for uid, rank, flagged in rows
    ]
    return pa.Table.from_pylist(filled, schema=schema.NOISE)


FOUND = suspects([("c", 1, True), ("e", 2, True), ("a", 3, False), ("b", 4, False), ("d", 5, False)])


def test_suspects_are_scored_by_their_rank_and_the_flagged_ones_by_their_number() -> None:
    table, metrics = score(MAP, PLANTED, FOUND)
    assert table.schema == SCORE
    assert table.column("suspect_rank").to_pylist() == [3, 4, 1, 5, 2]
    assert table.column("flagged").to_pylist() == [False, False, True, False, True]
    assert metrics["average_precision"] == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert (metrics["precision"], metrics["recall"]) == (0.5, 0.5)
    alone, without = score(MAP, PLANTED)
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


@pytest.fixture
def folders(tmp_path: Path) -> tuple[dict[str, Path], dict[str, Path]]:
    inputs = {"data/truth": tmp_path / "truth", "data/measure": tmp_path / "measure"}
    staged = {"data/score": tmp_path / "score", "reports/score.metrics.json": tmp_path / "score.metrics.json"}
    for folder in (*inputs.values(), staged["data/score"]):
        folder.mkdir()
    pq.write_table(PLANTED, inputs["data/truth"] / "truth.parquet")
    pq.write_table(MAP, inputs["data/measure"] / "measures.parquet")
    return inputs, staged


def test_the_step_writes_table_and_numbers(folders: tuple[dict[str, Path], dict[str, Path]]) -> None:
    inputs, staged = folders
    assert run(Score(), cast(Any, inputs), cast(Any, staged)) == "planted flips: average precision .83"
    assert pq.read_table(staged["data/score"] / "score.parquet").schema == SCORE
    numbers = json.loads(staged["reports/score.metrics.json"].read_text(encoding="utf-8"))
    assert numbers["average_precision"] == pytest.approx(5 / 6)
    assert all(isinstance(value, int | float) for value in numbers.values())


def test_the_step_scores_the_suspects_where_there_are_some(folders: tuple[dict[str, Path], dict[str, Path]]) -> None:
    inputs, staged = folders
    inputs["data/noise"] = inputs["data/measure"]
    pq.write_table(FOUND, inputs["data/noise"] / "noise.parquet")
    assert run(Score(), cast(Any, inputs), cast(Any, staged)) == "planted flips: average precision .83, precision .50, recall .50"
    numbers = json.loads(staged["reports/score.metrics.json"].read_text(encoding="utf-8"))
    assert numbers["low_confidence.average_precision"] == pytest.approx(5 / 6)


def test_the_step_reads_the_suspects_of_an_audit_that_looks_for_some() -> None:
    assert STEP.inputs_of(Settings({"noise": Noise()})) == ("data/truth", "data/measure", "data/noise")
    assert "data/noise" not in STEP.inputs_of(Settings())


def test_the_step_says_what_to_do_about_a_map_of_other_rows(folders: tuple[dict[str, Path], dict[str, Path]]) -> None:
    inputs, staged = folders
    pq.write_table(MAP.slice(1), inputs["data/measure"] / "measures.parquet")
    with pytest.raises(InputError, match=r"the map cannot be scored: .*uid 'a' is in the truth alone; run the audit .*--force ingest"):
        run(Score(), cast(Any, inputs), cast(Any, staged))


def test_only_the_built_in_corpus_is_scored() -> None:
    files = Ingest(source="files", train="train.csv", text="text")
    assert STEP.when is is_built_in
    assert all(is_built_in(Settings({"ingest": Ingest(source=source)})) for source in ("planted-nli", "digits"))
    assert not is_built_in(Settings({"ingest": files}))
