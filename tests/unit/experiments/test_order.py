"""Which rows come first, and from when on the goal counts as reached."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

from cartograph.experiments import order
from cartograph.experiments.experiment import Material


def test_easy_first_begins_with_the_rows_of_highest_confidence(trained: Material, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, np.ndarray | None]] = []
    curves = {"None": [0.5, 0.8, 0.8], "easy": [0.75, 0.76, 0.7], "hard": [0.4, 0.5, 0.77], "twice": [0.1, 0.2, 0.3]}

    def history(
        recipe: object, train: object, evaluation: object, folder: Path, *, rank: np.ndarray | None = None, twice: np.ndarray | None = None
    ) -> list[dict[str, object]]:
        asked.append((recipe.seed, rank))  # type: ignore[attr-defined]
        confidence = trained.measures.take(pc.index_in(trained.examples["uid"], trained.measures["uid"].combine_chunks()))["confidence"]
        best = np.argmax(confidence.to_numpy())
        name = "twice" if twice is not None else "None" if rank is None else "easy" if np.argmin(rank) == best else "hard"
        assert rank is None or (np.argmax(rank) == best) == (name == "hard")
        return [{"set": "held", "accuracy": value} for value in curves[name]] + [{"set": "other", "accuracy": 1.0}]

    monkeypatch.setattr("cartograph.experiments.trainings.ordered_history", history)
    found = order.run(replace(trained, folder=tmp_path))
    rows = {(row["order"], row["seed"]): row for row in found.tables["epochs"].to_pylist()}
    assert {seed for seed, _ in asked} == {5, 6}
    # The goal is 95 % of 0.8.
    assert found.numbers["order.goal"] == pytest.approx(0.76)
    assert [rows[name, 5]["epochs"] for name in ("shuffled", "easy first", "hard first")] == [2, 2, 3]
    assert rows["easy first", 6]["best"] == 0.76 and rows["easy first", 6]["last"] == 0.7
