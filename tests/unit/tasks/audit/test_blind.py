"""What is kept of a blind check, and when it still holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cartograph.clean.blind_check import KINDS, draw, score
from cartograph.errors import InputError
from cartograph.schema import LABEL
from tasks.audit.blind import blind_found, found_text
from tests.training_sets import small_set


def suspects(uids: list[str], flagged: int) -> pa.Table:
    return pa.table({"uid": uids, "flagged": [row < flagged for row in range(len(uids))], "rank": list(range(1, len(uids) + 1))})


@pytest.fixture
def examples() -> pa.Table:
    return small_set(rows=40)


@pytest.fixture
def kept(examples: pa.Table, tmp_path: Path) -> Path:
    """A file of a check in which people found three of ten suspects, and none of the others, wrong."""
    key, _ = draw(examples, suspects(examples["uid"].to_pylist(), 10), np.random.default_rng(1), 10)
    suspect = [item for item in key.items if item.predicted == KINDS[0]]
    answers = {item.item: item.given for item in key.items}
    answers |= {item.item: next(answer for answer in key.answers if answer != item.given) for item in suspect[:3]}
    file = tmp_path / "blind.json"
    file.write_text(found_text(key, score(key, [answers])), encoding="utf-8")
    return file


def test_what_people_found_holds_for_the_same_rows_labels_and_suspects(examples: pa.Table, kept: Path) -> None:
    noise = suspects(examples["uid"].to_pylist(), 10)
    found = blind_found(kept, examples, noise.take(pa.array(np.random.default_rng(2).permutation(40))))
    assert found is not None and found["labels.rows"] == 40 and found["labels.mislabelled"] == pytest.approx(3.0)
    assert blind_found(kept, examples, suspects(examples["uid"].to_pylist(), 11)) is None, "another list"
    assert blind_found(kept, examples.slice(1), noise) is None, "a row is gone"
    place = examples.schema.get_field_index(LABEL)
    turned = examples.set_column(place, examples.schema.field(LABEL), pa.array(1 - examples[LABEL].to_numpy(), pa.int32()))
    assert blind_found(kept, turned, noise) is None, "labels are others"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"found": 3}',
        '{"sheet": "b1", "among": {}, "items": [{}], "found": {}}',
        '{"sheet": "b1", "among": {}, "items": [], "found": {"labels.rows": 3}}',
        '{"among": {}, "items": [{"uid": "a", "predicted": "clean", "given": "b"}], "found": {"labels.mislabelled": 3}}',
        '{"among": {}, "items": [{"uid": "a", "predicted": "clean", "given": "b"}], "found": {"labels.mislabelled": NaN, "labels.low": 1}}',
    ],
)
def test_a_file_that_the_import_did_not_write_is_named(content: str, examples: pa.Table, tmp_path: Path) -> None:
    file = tmp_path / "blind.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"blind\.json does not hold what a blind check found; import the filled sheet again"):
        blind_found(file, examples, suspects(examples["uid"].to_pylist(), 10))
