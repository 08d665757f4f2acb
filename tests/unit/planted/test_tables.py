"""The built-in tables of features."""

from __future__ import annotations

import pytest

from cartograph.planted.corpus import SLIPS
from cartograph.planted.tables import MOST, generate
from tasks.audit.parameters.ingest import TABLES, Ingest


@pytest.mark.parametrize("name", MOST)
def test_a_table_has_its_rows_once_and_the_flips_that_its_truth_says(name: str) -> None:
    corpus = generate(name, MOST[name], 13)
    train, validation = corpus.sets["train"], corpus.sets["validation"]
    assert len(train) == MOST[name] and not set(train["uid"].to_pylist()) & set(validation["uid"].to_pylist())
    right = {row["uid"]: row["true_label"] for row in corpus.truth.to_pylist()}
    wrong = [row for row in train.select(["uid", "label"]).to_pylist() if right[row["uid"]] != row["label"]]
    assert len(wrong) == round(SLIPS * MOST[name])
    assert {row["error"] for row in corpus.truth.to_pylist() if row["kind"] == "flipped"} == {"slip"}
    assert all(right[row["uid"]] == row["label"] for row in validation.select(["uid", "label"]).to_pylist())
    assert generate(name, MOST[name], 13).sets["train"].equals(train)
    assert TABLES[name] == MOST[name] == Ingest(source=name).rows


def test_more_rows_than_there_are() -> None:
    with pytest.raises(ValueError, match="wine has at most 138 train rows, not 139"):
        generate("wine", 139, 1)
