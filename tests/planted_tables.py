"""The map, the planted truth and the suspects of five rows, for the tests of their score."""

from __future__ import annotations

import pyarrow as pa

from cartograph import schema


def measures(rows: list[tuple[str, float, float, str]]) -> pa.Table:
    filled = [
        dict.fromkeys(schema.MEASURES.names, 0)
        | {"uid": uid, "confidence": mu, "variability": sigma, "region": region, "never_learnt": False}
        for uid, mu, sigma, region in rows
    ]
    return pa.Table.from_pylist(filled, schema=schema.MEASURES)


def truth(rows: list[tuple[str, str, str, str | None, str | None, bool]]) -> pa.Table:
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
        ("a", "train", "flipped", "neutral", "slip", True),
        ("b", "train", "ambiguous", None, None, False),
        ("c", "train", "flipped", "entailment", "one-way", False),
        ("d", "train", "plain", "neutral", None, True),
        ("e", "train", "plain", "neutral", None, True),
        ("z", "validation", "plain", "neutral", None, True),
    ]
)


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
