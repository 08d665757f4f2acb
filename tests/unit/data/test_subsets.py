from __future__ import annotations

import pyarrow as pa
import pytest

from cartograph.data.subsets import rows_of, take_subset
from cartograph.errors import InputError
from cartograph.schema import SUBSET, dataset_info
from tests.training_sets import small_set


def subset(uids: list[str], labels: list[int]) -> pa.Table:
    return pa.table([pa.array(uids, pa.string()), pa.array(labels, pa.int32())], schema=SUBSET)


def test_a_subset_of_everything_is_the_train_set() -> None:
    rows = small_set(rows=12).take(list(reversed(range(12))))
    assert take_subset(rows, rows.select(["uid", "label"]).cast(SUBSET).sort_by("uid")).equals(rows.combine_chunks())


def test_rows_keep_the_train_sets_order_and_take_the_subsets_labels() -> None:
    rows = small_set(rows=5).take([3, 1, 0, 4, 2])
    given = dict(zip(rows["uid"].to_pylist(), rows["label"].to_pylist(), strict=True))
    taken = take_subset(rows, subset(["u0001", "u0002", "u0003"], [given["u0001"], 1 - given["u0002"], given["u0003"]]))
    assert taken["uid"].to_pylist() == ["u0003", "u0001", "u0002"]
    assert taken["label"].to_pylist() == [given["u0003"], given["u0001"], 1 - given["u0002"]]
    assert taken["text"].to_pylist() == [rows["text"][0].as_py(), rows["text"][1].as_py(), rows["text"][4].as_py()]
    assert taken.schema == rows.schema
    assert dataset_info(taken.schema) == dataset_info(rows.schema)


def test_an_empty_subset_has_no_rows() -> None:
    assert take_subset(small_set(rows=3), subset([], [])).num_rows == 0


@pytest.mark.parametrize(
    ("uids", "labels", "message"),
    [
        (["u0000", "x", "y"], [0, 0, 0], r"random\.parquet names uid 'x', which the train set does not have \(2 such rows\)"),
        (["u0001", "u0000", "u0001"], [0, 0, 1], r"random\.parquet names uid 'u0001' twice"),
        (["u0000", "u0001"], [0, 2], r"random\.parquet has the label id 2, but the train set's labels are 0 to 1"),
        (["u0000", "u0001"], [-1, 0], r"random\.parquet has the label id -1"),
    ],
)
def test_a_subset_of_something_else_is_refused(uids: list[str], labels: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        take_subset(small_set(rows=3), subset(uids, labels), "random.parquet")


def test_weights_may_be_0_but_not_all_of_them_and_not_below() -> None:
    def weighted(*weights: float) -> pa.Table:
        named = subset(["u0002", "u0000"], [0, 1])
        return take_subset(small_set(rows=3), named.append_column("weight", pa.array(weights, pa.float32())), "cleaned.parquet")

    assert weighted(0.0, 2.0)["weight"].to_pylist() == [2.0, 0.0]
    for wrong in (-0.5, float("nan")):
        with pytest.raises(
            InputError, match=r"cleaned\.parquet gives uid 'u0000' the weight .* \(1 such rows\), where a number of 0 or more"
        ):
            weighted(1.0, wrong)
    with pytest.raises(InputError, match=r"cleaned\.parquet gives all 2 rows the weight 0; one at least has to count\."):
        weighted(0.0, 0.0)


def test_rows_are_taken_in_the_order_of_their_uids() -> None:
    table = pa.table({"uid": ["a", "b", "c"], "place": [0, 1, 2]})
    for uids in (pa.array(["c", "a"]), pa.chunked_array([["c"], ["a"]])):
        assert rows_of(table, uids, "the map")["place"].to_pylist() == [2, 0]
    assert rows_of(table, table["uid"], "the map") == table
    with pytest.raises(InputError, match=r"the map names uid 'd', which train\.parquet does not have \(1 such rows\)"):
        rows_of(table, pa.chunked_array([["a", "d"]]), "the map", "train.parquet")
