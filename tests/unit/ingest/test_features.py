"""Which columns of a data set are features."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from cartograph.errors import InputError
from cartograph.ingest.canonical import IngestedSet, RawSet, ingest
from cartograph.ingest.columns import ALL, Columns, File
from cartograph.ingest.labels import Labelling
from cartograph.read.source import Batch
from cartograph.schema import VALUES, Feature

ROWS = 40


def raw(name: str, **columns: list[str | None]) -> RawSet:
    table = pa.table({key: pa.array(values) for key, values in columns.items()})
    batch = Batch(table, pa.array(range(1, len(table) + 1)))
    return RawSet(name, "train" if name == "train" else "id", (File(f"{name}.csv", batch),))


def people(name: str = "train", rows: int = ROWS) -> RawSet:
    return raw(
        name,
        number=[str(row) for row in range(rows)],
        person=[f"person {row}" for row in range(rows)],
        age=[str(20 + row % 30) for row in range(rows)],
        job=[("clerk", "cook", None)[row % 3] for row in range(rows)],
        code=[str(row % 4) for row in range(rows)],
        income=[("low", "high")[row % 2] for row in range(rows)],
    )


def ingested(*sets: RawSet, **columns: tuple[str, ...]) -> list[IngestedSet]:
    return ingest(sets, Columns((), (), ("income",), **columns), Labelling(None, {}, (), ("-",)))


def test_all_columns_but_the_label_and_those_that_name_or_number_rows() -> None:
    [train] = ingested(people(), features=ALL)
    assert train.info.task == "table" and train.info.text == ("features",)
    assert train.info.features == (Feature("age", "number"), Feature("job", "category"), Feature("code", "number"))
    assert train.left_out == ("number", "person")
    assert train.examples["features"][0].as_py() == "age=20; job=clerk; code=0"
    assert len(train.examples) == ROWS


def test_a_column_of_texts_is_one_and_a_column_of_names_or_codes_is_none() -> None:
    rows = people()
    said = [f"pays on the {row}th of a month" if row % 4 else None for row in range(ROWS)]
    more = {
        "said": said,
        "order": [f"order {row} of 40" for row in range(ROWS)],
        "often": [("late again and again", "no")[row % 2] for row in range(ROWS)],
    }
    kept = rows.files[0].batch.table
    for name, values in more.items():
        kept = kept.append_column(name, [values])
    files = (File("train.csv", Batch(kept, rows.files[0].batch.rows)),)
    [train] = ingested(RawSet("train", "train", files), features=ALL)
    kinds = {feature.name: feature.kind for feature in train.info.features}
    assert (kinds["said"], kinds["often"], train.left_out) == ("text", "category", ("number", "person", "order"))
    assert train.examples[VALUES][1].as_py()["said"] == said[1] and train.examples[VALUES][0].as_py()["said"] is None
    [train] = ingested(RawSet("train", "train", files), features=("said",), categories=("said",))
    assert train.info.features == (Feature("said", "category"),)


def test_who_labelled_is_no_feature_unless_it_is_asked_for() -> None:
    rows = people()
    who = [("ann", "bo")[row % 2] for row in range(ROWS)]
    files = tuple(File(file.name, Batch(file.batch.table.append_column("Rated by", [who]), file.batch.rows)) for file in rows.files)
    [train] = ingested(RawSet("train", "train", files), features=ALL)
    assert "Rated by" in train.left_out and "Rated by" not in [feature.name for feature in train.info.features]
    [train] = ingested(RawSet("train", "train", files), features=("age", "Rated by"))
    assert [feature.name for feature in train.info.features] == ["age", "Rated by"]


def test_a_list_is_taken_as_it_is_and_codes_can_be_categories() -> None:
    [train] = ingested(people(), features=("number", "code"), categories=("code",))
    assert train.info.features == (Feature("number", "number"), Feature("code", "category"))
    assert train.examples[VALUES][5].as_py() == {"number": 5.0, "code": "1"}


def test_an_evaluation_set_is_read_as_the_train_set_is_and_only_equal_rows_are_in_both() -> None:
    other = raw("validation", age=["20", "old"], job=["clerk", "pilot"], code=["0", "1"], income=["low", "high"])
    train, validation = ingested(people(), other, features=ALL)
    assert validation.info.features == train.info.features
    assert validation.examples[VALUES][1].as_py() == {"age": None, "job": "pilot", "code": 1.0}
    assert validation.leakage is not None and validation.leakage.counts == {"exact": 1, "normalised": 0, "near": 0}


def test_a_row_without_any_value_is_set_aside() -> None:
    [train] = ingested(raw("train", age=["1", "?", "3"], income=["low", "low", "high"]), features=ALL)
    assert train.reasons == {"no values": 1} and len(train.examples) == 2


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"features": ("age", "income")}, "`income` is named as a feature and as label"),
        (
            {"features": ("age", "job"), "linked": ("job",)},
            "`job` is named as a feature and as label",
        ),
        ({"features": ("years",)}, "train.csv has no column `years`"),
        ({"features": ("age",), "categories": ("job",)}, "`categories` names `job`, which is no feature"),
    ],
)
def test_columns_that_cannot_be_features(columns: dict[str, tuple[str, ...]], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        ingested(people(), **columns)


def test_a_table_without_a_column_beside_the_label() -> None:
    with pytest.raises(InputError, match="no column beside the label can be a feature"):
        ingested(raw("train", income=["low", "high"]), features=ALL)


def test_what_links_rows_is_no_feature() -> None:
    [train] = ingested(people(), features=ALL, linked=("job",))
    assert [feature.name for feature in train.info.features] == ["age", "code"]
    assert "job" not in train.left_out
    assert train.linkage is not None and train.linkage.groups == 2
    assert train.examples["linked"].to_pylist()[:4] == [0, 1, None, 0]
