from __future__ import annotations

import pyarrow as pa
import pytest

from cartograph.audits.record import record_rows
from cartograph.errors import InputError
from cartograph.schema import RECORD
from tests.audit_records import BEFORE, EASY, NOW
from tests.cleaning import make_examples, make_noise


def test_records_follow_one_another() -> None:
    second = NOW.after(BEFORE)
    assert (second.number, second.earlier, second.trend) == (2, (BEFORE.numbers,), (BEFORE.numbers, NOW.numbers))
    assert second.identity == NOW.identity != BEFORE.identity


def test_a_record_has_no_text_and_the_given_labels() -> None:
    examples = make_examples([(f"u{number}", f"text {number // 2}", number % 3) for number in range(8)])
    noise = make_noise(examples, {examples["uid"][2].as_py(): (1, 0.9)})
    size = examples.num_rows
    measures = pa.table({"uid": examples["uid"], "confidence": [0.3] * size, "variability": [0.2] * size, "region": [EASY] * size})
    rows = record_rows(examples, measures, noise)
    assert rows.schema.equals(RECORD)
    assert rows["uid"].to_pylist() == sorted(examples["uid"].to_pylist())
    assert sum(rows["suspect"].to_pylist()) == 1
    assert len(set(rows["content"].to_pylist())) == 4, "a key for each text"
    assert rows["label"].to_pylist()[:3] == ["bad", "good", "odd"]
    assert not record_rows(examples, measures, None)["suspect"].to_pylist()[2]
    with pytest.raises(InputError, match="the train set and the data map are not of the same rows \\(8 and 7\\)"):
        record_rows(examples, measures.slice(1), noise)
