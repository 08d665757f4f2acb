"""Tasks from stated pairs: presets' formats, ids, splits, and every way in which the input can be wrong."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cartograph.errors import InputError
from cartograph.pairs.rounds import require_budget
from cartograph.pairs.stated_pairs import BuiltTask, build_task
from cartograph.pairs.stated_rows import PairColumns, StatedFile, entity_side
from cartograph.pairs.tables import load_task, save_task
from cartograph.planted.paraphrases import generate
from cartograph.read.source import Batch, Rejected


def batch(**columns: list[str]) -> Batch:
    table = pa.table(columns)
    return Batch(table, pa.array(range(1, table.num_rows + 1)))


def build(*files: StatedFile, columns: PairColumns | None = None, **given: Any) -> BuiltTask:
    how = {"symmetric": True, "transitive": True, "contradictions": "fail", "rng": np.random.default_rng(0), **given}
    return build_task(files, columns or PairColumns("q1", "q2"), **how)


def pairs(*rows: tuple[str, str, str], name: str = "pairs.csv", split: str | None = None) -> StatedFile:
    one, other, label = (list(part) for part in zip(*rows, strict=True))
    return StatedFile(name, batch(q1=one, q2=other, label=label), split)


def test_texts_tell_utterances_apart_unless_ids_do() -> None:
    task = build(pairs(("a", "b", "1"), ("b", "c", "0"), ("c", "d", "1"))).task
    assert list(task.left) == ["a", "b", "c", "d"]
    file = StatedFile("q.tsv", batch(qid1=["1", "3"], qid2=["2", "4"], q1=["a", "a"], q2=["b", "c"], label=["1", "0"]), None)
    task = build(file, columns=PairColumns("q1", "q2", "label", "qid1", "qid2")).task
    assert list(task.left) == ["a", "b", "a", "c"]


def test_no_stated_pair_crosses_a_drawn_split() -> None:
    stated = generate(400, 3).stated
    built = build(StatedFile("x", Batch(stated, pa.array(range(stated.num_rows))), None), columns=PairColumns("left", "right"))
    task = built.task
    assert (task.split[task.stated_left] == task.split[task.stated_right]).all()
    assert built.dropped == {"the same utterance twice": 0, "contradictory": 0, "stated in several splits": 0, "without a label": 0}
    assert set(task.split.tolist()) == {0, 1, 2}


def test_given_splits_are_honoured_pair_by_pair() -> None:
    train, test = (
        pairs(("a", "b", "1"), ("c", "d", "1"), ("a", "c", "0"), split="train"),
        pairs(("b", "e", "1"), name="t.csv", split="test"),
    )
    built = build(train, pairs(("x", "y", "1"), ("c", "d", "1"), name="dev.csv", split="dev"), test)
    task, rows = built.task, {name: row for row, name in enumerate(built.left_ids)}

    def named(split: str) -> set[str]:
        left, right = task.space(split).pairs(task.positives(split))
        return {task.left[one] + task.left[other] for one, other in zip(left.tolist(), right.tolist(), strict=True)}

    # "ae" follows from a train and a test pair, so it belongs to test; "cd" is tested on, so it is not trained on.
    assert {split: named(split) for split in ("train", "dev", "test")} == {"train": {"ab"}, "dev": {"cd", "xy"}, "test": {"be", "ae"}}
    assert built.dropped["stated in several splits"] == 1
    sizes = {split: task.space(split).size for split in ("train", "dev", "test")}
    assert sizes == {"train": 21 - 4, "dev": 21 - 4, "test": 21 - 4}
    foreign = task.space("train").keys(np.array([rows["b"], rows["a"]]), np.array([rows["e"], rows["b"]]))
    assert task.space("train").contains(foreign).tolist() == [False, True]
    drawn = task.space("train").draw(100, np.empty(0, np.int64), np.random.default_rng(0))
    assert len(drawn) == 17
    assert not np.isin(np.concatenate([task.positives("dev"), task.positives("test")]), drawn).any()


def test_every_stated_positive_stays_in_its_split_where_tables_are_paired() -> None:
    columns = PairColumns("", "", "label", "l", "r")
    files = [
        StatedFile(f"{split}.csv", batch(l=left, r=right, label=label), split)
        for split, left, right, label in (
            ("train", ["1", "2"], ["7", "7"], ["1", "0"]),
            ("dev", ["1", "2"], ["8", "8"], ["0", "1"]),
            ("test", ["3", "1"], ["7", "8"], ["1", "0"]),
        )
    ]
    task = build(*files, columns=columns, symmetric=False, tables=entities(), contradictions="drop").task
    assert [len(task.positives(split)) for split in ("train", "dev", "test")] == [1, 1, 1]
    assert [len(task.stated(split)[0]) for split in ("train", "dev", "test")] == [2, 1, 2]  # one pair is in dev and in test, hence in test


def test_positives_alone_are_enough() -> None:
    task = build(StatedFile("p.tsv", batch(q1=list("acegik"), q2=list("bdfhjl")), None), columns=PairColumns("q1", "q2", None)).task
    assert task.stated_label.tolist() == [1] * 6


def test_a_title_goes_before_the_right_text_where_a_file_has_one() -> None:
    titled = StatedFile("dev.tsv", batch(Q=["q"], T=["Cave"], S=["It is cold."], label=["1"]), "dev")
    plain = StatedFile("train.tsv", batch(Q=["p"], S=["It is cold."], label=["1"]), "train")
    other = StatedFile("test.tsv", batch(Q=["r"], T=["Ice"], S=["Warm."], label=["1"]), "test")
    task = build(plain, titled, other, columns=PairColumns("Q", "S", prefix="T"), symmetric=False).task
    assert list(task.right) == ["It is cold.", "Cave It is cold.", "Ice Warm."]
    assert task.split.tolist() == [0, 1, 2]


def entities() -> dict[str, Any]:
    left = entity_side(
        "tableA.csv", batch(id=["1", "2", "3"], name=["sony tv", "lg tv", "pen"], price=["9", "", "1"]), "id", ["name", "price"]
    )
    right = entity_side("tableB.csv", batch(id=["7", "8"], name=["sony television", "biro"]), "id", ["name"])
    return {"left": ("tableA.csv", *left), "right": ("tableB.csv", *right)}


def test_entities_in_no_stated_pair_are_utterances_too() -> None:
    file = StatedFile("train.csv", batch(l=["1", "3"], r=["7", "8"], label=["1", "1"]), None)
    task = build(file, columns=PairColumns("", "", "label", "l", "r"), symmetric=False, tables=entities()).task
    assert list(task.left) == ["sony tv 9", "lg tv", "pen 1"]
    assert list(task.right) == ["sony television", "biro"]
    assert sum(task.space(split).size for split in ("train", "dev", "test")) == 6


def test_a_pair_with_an_unknown_id_is_set_aside() -> None:
    file = StatedFile("train.csv", batch(l=["1", "9", "3"], r=["7", "8", "x"], label=["1", "1", "1"]), None)
    columns = PairColumns("", "", "label", "l", "r")
    built = build(file, columns=columns, symmetric=False, tables=entities())
    assert list(zip(built.task.stated_left, built.task.stated_right, strict=True)) == [(0, 0)]
    found = [(one["row"], one["column"], one["value"], one["reason"]) for one in built.quarantine.to_pylist()]
    assert found == [(2, "l", "9", "not an id of tableA.csv"), (3, "r", "x", "not an id of tableB.csv")]


def test_contradictory_labels_are_named_in_either_order_of_the_pair() -> None:
    file = pairs(("a", "b", "1"), ("c", "d", "1"), ("b", "a", "0"))
    wanted = "pairs.csv row 3 states a pair as negative, pairs.csv row 1 the same pair as positive; correct one, or set"
    with pytest.raises(InputError, match=f"^{re.escape(wanted)}"):
        build(file)
    built = build(file, contradictions="drop")
    assert built.dropped["contradictory"] == 1
    assert len(built.task.stated_label) == 1


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        (pairs(("a", "b", "0")), "none of the 1 stated pairs is positive; check `pairs.label`, or which pairs were given."),
        (
            pairs(("a", "b", "maybe")),
            "none of the 0 stated pairs is positive; check `pairs.label`, or which pairs were given. 1 rows cannot be used, the first "
            "pairs.csv row 1: label not 1 or 0 (`maybe`).",
        ),
        (StatedFile("p.csv", batch(q1=["a"], text=["b"]), None), "p.csv has no column `q2`; its columns are q1, text."),
    ],
)
def test_wrong_columns_ids_and_labels_are_named(file: StatedFile, wanted: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(wanted)}$"):
        build(file)


def test_rows_that_cannot_be_used_are_set_aside_with_their_reason() -> None:
    rows = batch(q1=["a", "", "é", "g"], q2=["b", "d", "f", ""], label=["1", "0", "perhaps", "1"])
    read = Batch(rows.table, pa.array([1, 2, 4, 5]), (Rejected(3, "not in the file's encoding", "0xe9 is not UTF-8", "caf\\xe9,x,1"),))
    built = build(StatedFile("p.csv", read, "train"))
    assert built.task.stated_label.tolist() == [1]
    assert list(built.left_ids) == ["a", "b"]
    assert [list(one.values()) for one in built.quarantine.to_pylist()] == [
        ["train", "p.csv", 2, "q1", "", "no left utterance", '{"q1": "", "q2": "d", "label": "0"}'],
        ["train", "p.csv", 3, None, "0xe9 is not UTF-8", "not in the file's encoding", '"caf\\\\xe9,x,1"'],
        ["train", "p.csv", 4, "label", "perhaps", "label not 1 or 0", '{"q1": "é", "q2": "f", "label": "perhaps"}'],
        ["train", "p.csv", 5, "q2", "", "no right utterance", '{"q1": "g", "q2": "", "label": "1"}'],
    ]


def test_an_id_twice_in_an_entity_table_is_named() -> None:
    with pytest.raises(InputError, match=r"^a\.csv row 2: id `1` is there twice; ids must be unique\.$"):
        entity_side("a.csv", batch(id=["1", "1"], name=["x", "y"]), "id", ["name"])


def test_a_budget_above_the_pool_is_refused() -> None:
    task = build(pairs(("a", "b", "1"), ("c", "d", "1"), split="train")).task
    wanted = "the budget is 7 labels, but the train split has only 6 pairs; lower `collect.first_round` or `collect.rounds`."
    with pytest.raises(InputError, match=f"^{re.escape(wanted)}$"):
        require_budget(task, [4, 3])


def test_tasks_survive_their_files(tmp_path) -> None:  # type: ignore[no-untyped-def]
    built = build(pairs(("a", "b", "1"), ("c", "d", "0")))
    save_task(built.task, built.left_ids, built.right_ids, tmp_path)
    again = load_task(tmp_path)
    assert again.left == list(built.task.left)
    assert again.symmetric
    assert again.transitive
    assert again.right is again.left
    assert again.positives("train").tolist() == built.task.positives("train").tolist()


def test_a_stated_pair_without_a_label_is_left_out() -> None:
    built = build(pairs(("a", "b", "1"), ("c", "d", ""), ("e", "f", "skip"), ("g", "h", "Nein")))
    assert built.dropped["without a label"] == 2
    assert built.task.stated_label.tolist() == [1, 0]


def test_connected_entities_are_split_by_the_left_ones() -> None:
    rows = [(f"a{n}", f"b{n}", "1") for n in range(40)] + [(f"a{n}", f"b{n + 1}", "0") for n in range(39)]
    task = build(pairs(*rows), symmetric=False).task
    assert np.bincount(task.split).tolist() == [20, 10, 10]
    assert sum(len(task.positives(split)) for split in ("train", "dev", "test")) == 40
