"""Tasks from stated pairs: presets' formats, ids, splits, and every way in which the input can be wrong."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cartograph.errors import InputError, WaitingError
from cartograph.pairs.answers import answer_sheet, read_answers
from cartograph.pairs.rounds import require_budget
from cartograph.pairs.stated_pairs import BuiltTask, PairColumns, StatedFile, build_task, entity_side
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


def answering() -> tuple[Any, np.ndarray]:
    task = build(pairs(("=a", "b", "1"), ("b", "c", "1"), ("d", "e", "1"), split="train")).task
    return task, np.array([1, 2, 7], np.int64)


def filled(task: Any, keys: np.ndarray, *words: str) -> bytes:
    header, *lines = answer_sheet(task, keys).decode("utf-8-sig").splitlines()
    return "\n".join([header, *(f"{line.removesuffix(',,')},{word}," for line, word in zip(lines, words, strict=True))]).encode()


def test_answers_come_back_as_people_write_them() -> None:
    task, keys = answering()
    sheet = answer_sheet(task, keys)
    assert b"'=a" in sheet
    assert read_answers(filled(task, keys, "Yes", " no", "skip"), "review/round-01.csv", task, keys).tolist() == [1, 0, -1]


@pytest.mark.parametrize(
    ("delimiter", "end", "encoding"),
    [(",", "\r\n", "utf-8-sig"), (";", "\r\n", "utf-8-sig"), ("\t", "\r\n", "utf-16"), (",", "\n", "utf-8")],
)
def test_answers_come_back_as_spreadsheets_save_them(delimiter: str, end: str, encoding: str) -> None:
    rows = (("=1+1; é", 'so "quoted", ünd', "1"), ("两个\nlines", "-5", "0"), ("0012", "naïve", "1"))
    task = build(pairs(*rows, split="train")).task
    keys = np.array([1, 6 * 2 + 3, 6 * 4 + 5], np.int64)
    table = [*csv.reader(io.StringIO(answer_sheet(task, keys).decode("utf-8-sig")))]
    for row, word in zip(table[1:], ("YES", "No", " skip "), strict=True):
        row[3] = word
    saved = io.StringIO(newline="")
    csv.writer(saved, delimiter=delimiter, lineterminator=end).writerows([*table, ["", "", "", "", ""]])
    assert read_answers(saved.getvalue().encode(encoding), "s.csv", task, keys).tolist() == [1, 0, -1]


def test_answers_about_other_data_are_refused() -> None:
    task, keys = answering()
    sheet = filled(task, keys, "yes", "no", "no")
    changed = build(pairs(("=a", "b", "1"), ("b", "z", "1"), ("d", "e", "1"), split="train")).task
    wanted = "s.csv line 3 shows another right text for pair p2 than the data has now (“z”): the data changed since the sheet was written"
    with pytest.raises(InputError, match=f"^{re.escape(wanted)}"):
        read_answers(sheet, "s.csv", changed, keys)
    without_texts = b"pair,label\np1,yes\np2,no\np7,no\np9999,yes\n"
    assert read_answers(without_texts, "s.csv", changed, keys).tolist() == [1, 0, 0]


def test_letters_that_an_old_encoding_lacks_do_not_count() -> None:
    task = build(pairs(("Zürich 两个", "b", "1"), split="train")).task
    sheet = b"pair,left,right,label\np1,Z?rich  ??,b,yes\n"
    assert read_answers(sheet, "s.csv", task, np.array([1])).tolist() == [1]
    with pytest.raises(InputError, match=r"^s\.csv line 2 shows another left text for pair p1"):
        read_answers("pair,left,right,label\np1,Zürich 三个,b,yes\n".encode(), "s.csv", task, np.array([1]))


def test_known_answers_are_filled_in_on_the_sheet() -> None:
    task, keys = answering()
    sheet = answer_sheet(task, keys, {1: 0, 2: -1})
    with pytest.raises(WaitingError, match=r"^s\.csv: 1 of the 3 pairs have no answer yet"):
        read_answers(sheet, "s.csv", task, keys)
    assert read_answers(sheet, "s.csv", task, keys[:2]).tolist() == [0, -1]


@pytest.mark.parametrize(
    ("words", "kind", "wanted"),
    [
        (("yes", "", ""), WaitingError, "s.csv: 2 of the 3 pairs have no answer yet"),
        (("yes", "perhaps", "no"), InputError, "s.csv line 3: `perhaps` is no answer; write yes, no, or skip."),
    ],
)
def test_words_that_are_no_answer_are_named(words: tuple[str, ...], kind: type[Exception], wanted: str) -> None:
    task, keys = answering()
    with pytest.raises(kind, match=f"^{re.escape(wanted)}"):
        read_answers(filled(task, keys, *words), "s.csv", task, keys)


def test_contradictory_answers_are_named() -> None:
    task, keys = answering()
    twice = filled(task, keys, "yes", "no", "no") + b"\np1,'=a,b,no,\n"
    with pytest.raises(InputError, match=r"^s\.csv line 5 answers pair p1 otherwise than line 2; correct one\.$"):
        read_answers(twice, "s.csv", task, keys)
    same = filled(task, keys, "yes", "no", "no") + b"\np1,'=a,b,yes,\n"
    assert read_answers(same, "s.csv", task, keys).tolist() == [1, 0, 0]


def test_a_row_that_is_gone_is_an_open_question_and_a_sheet_of_other_pairs_is_refused() -> None:
    task, keys = answering()
    sheet = filled(task, keys, "yes", "no", "no")
    with pytest.raises(
        WaitingError, match=r"^s\.csv: 1 of the 2 pairs have no answer yet; .* 1 of them are no longer on it, such as p3; rename"
    ):
        read_answers(sheet, "s.csv", task, np.array([1, 3]))
    with pytest.raises(InputError, match=r"^s\.csv has none of the 1 pairs that this round asks about, such as p3"):
        read_answers(sheet, "s.csv", task, np.array([3]))


def test_all_words_that_are_no_answers_are_named_at_once() -> None:
    task, keys = answering()
    with pytest.raises(InputError, match=r"^s\.csv line 2: `maybe`, line 4: `=1` are no answers; write yes, no, or skip\.$"):
        read_answers(filled(task, keys, "maybe", "no", "=1"), "s.csv", task, keys)


def test_a_sheet_as_excel_saves_it_in_the_west_is_read() -> None:
    task, keys = answering()
    sheet = filled(task, keys, "Sí", "FALSCH", "1,0").decode("utf-8-sig").encode("cp1252")
    assert read_answers(sheet, "s.csv", task, keys).tolist() == [1, 0, 1]


def test_a_stated_pair_without_a_label_is_left_out() -> None:
    built = build(pairs(("a", "b", "1"), ("c", "d", ""), ("e", "f", "skip"), ("g", "h", "Nein")))
    assert built.dropped["without a label"] == 2
    assert built.task.stated_label.tolist() == [1, 0]


def test_connected_entities_are_split_by_the_left_ones() -> None:
    rows = [(f"a{n}", f"b{n}", "1") for n in range(40)] + [(f"a{n}", f"b{n + 1}", "0") for n in range(39)]
    task = build(pairs(*rows), symmetric=False).task
    assert np.bincount(task.split).tolist() == [20, 10, 10]
    assert sum(len(task.positives(split)) for split in ("train", "dev", "test")) == 40
