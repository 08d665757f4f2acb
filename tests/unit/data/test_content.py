from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from cartograph.data.content import content_digest, profile
from cartograph.schema import DatasetInfo, examples_schema
from tests.training_sets import small_images

ROWS = [
    {"uid": "a", "text": "one", "label": 0, "source": "x.csv", "row": 1},
    {"uid": "b", "text": "zwölf", "label": 1, "source": "x.csv", "row": 2},
    {"uid": "c", "text": "", "label": 1, "source": "x.csv", "row": 3},
]


def table(rows: list[dict[str, Any]], labels: tuple[str, ...] = ("no", "yes"), name: str = "train") -> pa.Table:
    return pa.Table.from_pylist(rows, schema=examples_schema(DatasetInfo(name, "train", "single", ("text",), (), labels)))


def test_the_digest_is_of_the_rows_content_alone() -> None:
    digest = content_digest(table(ROWS))
    assert len(digest) == 64
    moved = [row | {"source": "y.csv", "row": 9} for row in reversed(ROWS)]
    assert content_digest(table(moved, name="other")) == digest
    chunked = pa.concat_tables([table(ROWS[:1]), table(ROWS[1:])])
    assert content_digest(chunked) == digest
    renumbered = [row | {"label": 1 - int(row["label"])} for row in ROWS]
    assert content_digest(table(renumbered, labels=("yes", "no"))) == digest


@pytest.mark.parametrize("change", [{"uid": "z"}, {"text": "One"}, {"label": 1}])
def test_any_change_of_the_content_changes_the_digest(change: dict[str, Any]) -> None:
    assert content_digest(table([ROWS[0] | change, *ROWS[1:]])) != content_digest(table(ROWS))


def test_text_cannot_slip_from_one_row_into_the_next() -> None:
    one = table([ROWS[0] | {"text": 'a","b'}, ROWS[1] | {"text": "c"}])
    two = table([ROWS[0] | {"text": "a"}, ROWS[1] | {"text": 'b","c'}])
    assert content_digest(one) != content_digest(two)


def test_the_profile_counts_rows_and_classes() -> None:
    assert profile(table(ROWS, labels=("no", "yes", "maybe"))) == {
        "num_rows": 3,
        "classes": {"no": 1, "yes": 2, "maybe": 0},
        "mean_characters": {"text": 2.7},
    }
    assert profile(table([]))["num_rows"] == 0


def test_a_foreign_table_is_refused() -> None:
    with pytest.raises(ValueError, match="not written by the ingest step"):
        content_digest(pa.table({"uid": ["a"]}))


def test_contents_of_images_have_a_digest_and_a_profile() -> None:
    rows = small_images(6)
    assert content_digest(rows) == content_digest(rows.take([5, 4, 3, 2, 1, 0])) != content_digest(small_images(6, seed=1))
    assert profile(rows)["mean_pixels"] == {"image": 80.0} and "mean_characters" not in profile(rows)
