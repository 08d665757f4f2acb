"""From files to canonical tables: labels, uids, quarantine, and what bad input says."""

from __future__ import annotations

import json
import random
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from cartograph.errors import GateError, InputError
from cartograph.ingest.canonical import reasons_phrase
from cartograph.ingest.identity import content_uids, contradicting, keys_of, known_among, normalised_keys, repeated, repeats
from cartograph.ingest.labels import Labelling, chosen_options, class_names, classes
from cartograph.schema import QUARANTINE, TRUTH, DatasetInfo, dataset_info, examples_schema
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.sources import FileEntry, source_names
from tests.ingesting import run_ingest, some_rows, write_csv


def ingest_rows(folder: Path, *lines: str, header: str = "text,label", **params: Any) -> Any:
    path = write_csv(folder / "train.csv", header, *lines)
    return run_ingest(folder, source="files", train=path, **{"text": "text", **params})


def test_canonical_table(tmp_path: Path) -> None:
    done = ingest_rows(tmp_path, *some_rows())
    info = DatasetInfo("train", "train", "single", ("text",), (), ("bad", "good"))
    assert done.table("train").schema.equals(examples_schema(info), check_metadata=True)
    assert dataset_info(done.table("train").schema) == info
    first = done.rows("train")[0]
    assert first | {"uid": ""} == {"uid": "", "text": "this is sentence number 0", "label": 0, "source": "train.csv", "row": 1}
    assert len(set(done.table("train")["uid"].to_pylist())) == 40
    assert done.table("quarantine").schema.equals(QUARANTINE)
    assert done.summary == "40 rows, 2 classes, 0 quarantined"
    assert done.metrics == {
        "rows.train": 40,
        "classes": 2,
        "quarantined": 0,
        "quarantined.share": 0.0,
        "validation.passed": 1,
        "validation.failed": 0,
    }


def test_same_files_same_bytes(tmp_path: Path) -> None:
    lines = [*some_rows(), ",good", "alone,"]
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        ingest_rows(folder, *lines, quarantine_limit=0.1)
    for name in ("train.parquet", "quarantine.parquet", "validation.json"):
        first, second = (folder / "out" / "data" / "ingest" / name for folder in folders)
        assert first.read_bytes() == second.read_bytes(), name


def test_built_in_corpus_takes_the_same_path(tmp_path: Path) -> None:
    done = run_ingest(tmp_path, rows=240)
    assert done.summary == "240 rows, 3 classes, 0 quarantined"
    info = dataset_info(done.table("challenge").schema)
    assert (info.domain, info.task, info.text) == ("ood", "pair", ("premise", "hypothesis"))
    truth = pq.read_table(done.folder / "data" / "truth" / "truth.parquet")
    assert truth.schema.equals(TRUTH)
    assert set(done.table("train")["uid"].to_pylist()) <= set(truth["uid"].to_pylist())


def test_every_kind_of_unusable_row_is_kept_with_its_reason(tmp_path: Path) -> None:
    bad = ["  \t,good,71", ",good,72", "no label,,73", "undecided,-,74", "no uid,good,", "first,good,75", "second,bad,75", "short,good"]
    lines = [f"{line},{index}" for index, line in enumerate(some_rows(60))]
    done = ingest_rows(tmp_path, *lines, *bad, header="text,label,id", uid="id", quarantine_limit=0.2)
    found = [(row["row"], row["column"], row["value"], row["reason"]) for row in done.rows("quarantine")]
    assert found == [
        (61, "text", "  \t", "empty text"),
        (62, "text", "", "empty text"),
        (63, "label", "", "no label"),
        (64, "label", "-", "no majority label"),
        (65, "uid", "", "no uid"),
        (67, "uid", "75", "duplicate uid"),
        (68, None, "2 fields instead of 3", "wrong number of fields"),
    ]
    assert json.loads(done.rows("quarantine")[5]["record"]) == {"text": "second", "label": "bad", "id": "75"}
    assert json.loads(done.rows("quarantine")[6]["record"]) == "short,good"
    assert done.rows("train")[-1]["text"] == "first"
    entry = done.validation["sets"][0]
    assert (entry["rows_read"], entry["rows_used"], entry["quarantined"]) == (68, 61, 7)
    assert done.validation["quarantine"]["empty text"] == 2


def test_what_stands_beside_no_text_alone_is_no_class(tmp_path: Path) -> None:
    done = ingest_rows(tmp_path, *some_rows(60), ",60 rows", quarantine_limit=0.2)
    assert dataset_info(done.table("train").schema).labels == ("bad", "good") and done.summary == "60 rows, 2 classes, 1 quarantined"
    assert [(row["row"], row["reason"]) for row in done.rows("quarantine")] == [(61, "empty text")]


def test_label_unseen_in_train_is_set_aside_in_evaluation(tmp_path: Path) -> None:
    other = write_csv(tmp_path / "dev.csv", "text,label", *some_rows(19), "what is this,maybe")
    done = ingest_rows(tmp_path, *some_rows(), evaluation={"dev": {"files": other, "domain": "ood"}})
    (row,) = done.rows("quarantine")
    assert (row["set"], row["row"], row["value"], row["reason"]) == ("dev", 20, "maybe", "label not in train")
    assert dataset_info(done.table("dev").schema).labels == ("bad", "good")


def test_beyond_the_quarantine_limit_the_audit_stops_and_keeps_the_rows(tmp_path: Path) -> None:
    with pytest.raises(GateError) as error:
        ingest_rows(tmp_path, *some_rows(), ",good", ",bad", "text,", quarantine_limit=0.05)
    path = tmp_path / "failed" / "quarantine.parquet"
    assert str(error.value) == (
        "train: 3 of 43 rows (7\u00a0%) cannot be used, more than the 5\u00a0% of `ingest.quarantine_limit`: 2 empty text, 1 no label. "
        f"They are listed in {path}; correct the file, or raise `ingest.quarantine_limit` in params.yaml to go on without them."
    )
    assert len(pq.read_table(path)) == 3


@pytest.mark.parametrize(
    ("lines", "params", "message"),
    [
        (
            [",x", " ,y"],
            {},
            "train (train.csv): all 2 texts of column `text` are empty; name the column that holds the text in `ingest.text`.",
        ),
        (["a,", "b,-"], {}, "train (train.csv): none of its 2 rows can be used: 1 no label, 1 no majority label."),
        (some_rows(), {"text": "txt"}, "train.csv has no column `txt`; its columns are text, label; did you mean `text`?"),
        (
            ["Reviews,", ",", "Body , Verdict", *some_rows()],
            {"text": "Body"},
            "train.csv has no column `Body`; its columns are text, label. `Body` stands in record 3: if that is the header, delete the "
            "rows above it.",
        ),
        (some_rows(), {"text": ["Review", "Body"]}, "train.csv has no column `Review`; its columns are text, label."),
        (
            some_rows(),
            {"label": ["gold", "Labels"]},
            "train.csv has no column `gold` or `Labels`; its columns are text, label; did you mean `label`?",
        ),
        (
            some_rows(),
            {"uid": "label"},
            "train (train.csv): column `label` does not identify rows: 38 of 40 repeat an earlier value; "
            "name another column in `ingest.uid`, or leave it out and uids are made from the content.",
        ),
        (
            [f"text {index},label {index}" for index in range(30)],
            {},
            "the label column of train has 30 different values in 30 rows, such as 'label 0', 'label 1', 'label 10'; expected the names "
            "of a few classes: name another column (--label, or `ingest.label` in params.yaml), or cut the labels with "
            "`ingest.label_separator`; rows with several labels each are audited by `cartograph audit FILE --text COLUMN --labels COLUMN`, "
            "in a workspace made with `init --labels COLUMN`.",
        ),
        (
            [f"text {index},{index / 7}" for index in range(30)],
            {},
            "the label column of train has 30 different values in 30 rows, such as '0.0', '0.14285714285714285', '0.2857142857142857'; "
            "expected the names of a few classes (numbers are no classes: divide them into a few ranges first): name another column "
            "(--label, or `ingest.label` in params.yaml), or cut the labels with `ingest.label_separator`; rows with several labels each "
            "are audited by `cartograph audit FILE --text COLUMN --labels COLUMN`, in a workspace made with `init --labels COLUMN`.",
        ),
        (
            some_rows(),
            {"annotators": "text"},
            "train (train.csv): column `text` holds no class, but `this is sentence number 0` and the like, where `ingest.annotators` "
            "(--annotators) names a column of annotators' labels; a column that says who gave a row's one label is named in "
            "`ingest.labelled_by` (--labelled-by).",
        ),
    ],
)
def test_bad_input_is_refused_with_the_reason(tmp_path: Path, lines: list[str], params: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        ingest_rows(tmp_path, *lines, **({"label": "label"} | params))
    assert str(error.value) == message


def test_parts_of_a_column_that_is_named_as_a_whole_are_suggested(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape("did you mean `message.body` or `message.lang`?")):
        ingest_rows(tmp_path, *(f"{row},en" for row in some_rows()), header="message.body,label,message.lang", text="message")


@pytest.mark.parametrize(("label", "missing"), [("a+b+ratr", "`ratr`"), ("a+x+y", "`x` or `y`"), ("x+y", "`x+y`"), ("a++", "`a++`")])
def test_of_a_majority_the_columns_are_named_that_are_not_there(tmp_path: Path, label: str, missing: str) -> None:
    lines = [f"text {row},good,bad" for row in range(20)]
    with pytest.raises(InputError, match=re.escape(f"has no column {missing}; its columns are text, a, b")):
        ingest_rows(tmp_path, *lines, header="text,a,b", label=label)


def test_evaluation_set_with_other_names_for_the_classes(tmp_path: Path) -> None:
    other = write_csv(tmp_path / "dev.csv", "text,label", "fine,1", "awful,0")
    params = {"evaluation": {"dev": {"files": other}}}
    with pytest.raises(InputError, match=r"dev \(dev\.csv\): none of its 2 rows can be used: 2 label not in train \(`0`, `1`\)\."):
        ingest_rows(tmp_path, *some_rows(), **params)
    done = ingest_rows(tmp_path, *some_rows(), **params, label_names={1: "good", 0: "bad"})
    assert [row["label"] for row in done.rows("dev")] == [1, 0]


def test_alternatives_per_file_and_several_files_of_one_name(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    first = write_csv(tmp_path / "a" / "x.csv", "premise,hypothesis,gold", "p1,h1,yes", "p2,h2,no")
    (tmp_path / "b" / "x.csv").write_text("sentence1\tsentence2\tlabel\np3\th3\tyes\n")
    second = {"path": str(tmp_path / "b" / "x.csv"), "format": "tsv"}
    text = [["premise", "sentence1"], ["hypothesis", "sentence2"]]
    done = run_ingest(tmp_path, source="files", train=[first, second], text=text, label=["gold", "label"])
    assert [(row["premise"], row["source"], row["row"]) for row in done.rows("train")] == [
        ("p1", "a/x.csv", 1),
        ("p2", "a/x.csv", 2),
        ("p3", "b/x.csv", 1),
    ]


def test_reserved_names_do_not_collide(tmp_path: Path) -> None:
    lines = [f"words {index},more {index},{index % 2}" for index in range(30)]
    done = ingest_rows(tmp_path, *lines, header="source,row,label", text=["source", "row"])
    assert done.table("train").column_names == ["uid", "source_text", "row_text", "label", "source", "row"]
    assert done.rows("train")[3] | {"uid": ""} == {
        "uid": "",
        "source_text": "words 3",
        "row_text": "more 3",
        "label": 1,
        "source": "train.csv",
        "row": 4,
    }


def test_annotators_in_a_list_in_text_and_in_several_columns(tmp_path: Path) -> None:
    rows = [{"text": f"t{index}", "label": "e" if index % 2 else "n", "votes": ["e", "n ", ""]} for index in range(20)]
    (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    files = {"source": "files", "train": str(tmp_path / "train.jsonl"), "text": "text", "label_names": {"e": "entailment", "n": "neutral"}}
    done = run_ingest(tmp_path, **files, annotators="votes")
    assert done.rows("train")[0]["annotator_labels"] == ["entailment", "neutral"]
    lines = [f"t{index},{index % 2},0,,1,0;1" for index in range(20)]
    done = ingest_rows(tmp_path, *lines, header="text,label,l1,l2,l3,joined", annotators="l1+l2+l3")
    assert done.rows("train")[0]["annotator_labels"] == ["0", "1"]
    done = ingest_rows(tmp_path, *lines, header="text,label,l1,l2,l3,joined", annotators="joined")
    assert done.rows("train")[0]["annotator_labels"] == ["0", "1"]


def test_a_row_without_a_majority_is_set_aside_whatever_values_mean_no_label(tmp_path: Path) -> None:
    lines = [f"t{index},{'xy'[index % 2]},{'xy'[index % 2]}" for index in range(20)]
    dev = write_csv(tmp_path / "dev.csv", "text,a,b", *lines, "undecided,x,y")
    files = {"header": "text,a,b", "label": "a+b", "evaluation": {"dev": {"files": dev}}, "quarantine_limit": 0.2}
    done = ingest_rows(tmp_path, *lines, "undecided,x,y", "blank,?,?", unlabelled=["?"], **files)
    assert dataset_info(done.table("train").schema).labels == ("x", "y")
    found = [(row["set"], row["row"], row["value"], row["reason"]) for row in done.rows("quarantine")]
    undecided = [("train", 21, "-", "no majority label"), ("dev", 21, "-", "no majority label")]
    assert found == [undecided[0], ("train", 22, "?", "no label"), undecided[1]]


def test_an_evaluation_set_may_lack_uids_and_annotators(tmp_path: Path) -> None:
    other = write_csv(tmp_path / "dev.csv", "text,label", *some_rows(6))
    lines = [f"{row},{index},good" for index, row in enumerate(some_rows())]
    columns = {"header": "text,label,id,votes", "uid": "id", "annotators": "votes"}
    done = ingest_rows(tmp_path, *lines, evaluation={"dev": {"files": other}}, **columns)
    assert done.rows("train")[7]["uid"] == "7"
    assert done.table("dev").column_names == ["uid", "text", "label", "source", "row"]
    assert len(done.rows("dev")[0]["uid"]) == 20
    with pytest.raises(InputError, match=r"train\.csv has no column `nr`"):
        ingest_rows(tmp_path, *lines, **(columns | {"uid": "nr"}))


def test_labels_are_cut_named_and_ordered() -> None:
    given = pa.chunked_array([[" DESC:manner", "NUM", None, ":", "e"]])
    assert class_names(given, Labelling(separator=":", names={"e": "entailment"})).to_pylist() == ["DESC", "NUM", None, None, "entailment"]
    assert classes(pa.chunked_array([["10", "9", "-", "-1", None]]), Labelling()) == ("-1", "9", "10")
    assert classes(pa.chunked_array([["b", "2", "a"]]), Labelling()) == ("2", "a", "b")
    assert classes(pa.chunked_array([["b", "a"]]), Labelling(order=("b", "a", "c"))) == ("b", "a", "c")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["1", "2", "2"], ["x", "y", "y"]),
        (["0", "1", "1"], ["x", "y", "y"]),
        (["A", "B", "B"], ["x", "y", "y"]),
        (["x", "y", "y"], ["x", "y", "y"]),
        (["left 0", "right 1", " right 2 "], ["x", "y", "y"]),
        (["1", "2", "7"], ["x", "y", None]),
    ],
)
def test_the_right_option_may_be_a_number_a_letter_a_name_or_a_text(labels: list[str], expected: list[str | None]) -> None:
    table = pa.table({"x": [f"left {index}" for index in range(3)], "y": [f"right {index}" for index in range(3)]})
    assert chosen_options(pa.chunked_array([labels]), table, ["x", "y"]).to_pylist() == expected


def test_multiple_choice_rows_have_options_and_the_index_of_the_right_one(tmp_path: Path) -> None:
    lines = [f"the _ is {index},cup {index},box {index},{index % 2 + 1}" for index in range(30)]
    done = ingest_rows(tmp_path, *lines, "the _,cup,box,3", header="text,first,second,label", options=["first", "second"])
    info = dataset_info(done.table("train").schema)
    assert (info.task, info.options, info.labels) == ("choice", ("first", "second"), ("first", "second"))
    assert done.rows("train")[1]["label"] == 1
    (row,) = done.rows("quarantine")
    assert (row["value"], row["reason"]) == ("3", "label not among the classes")


rows_of_texts = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y", None])), min_size=1, max_size=12)


def as_table(rows: list[tuple[str, str | None]]) -> pa.Table:
    return pa.table({"text": pa.array([row[0] for row in rows], pa.string()), "label": pa.array([row[1] for row in rows], pa.string())})


@given(rows_of_texts, st.randoms(use_true_random=False))
def test_uids_do_not_depend_on_position(rows: list[tuple[str, str | None]], rng: random.Random) -> None:
    def named(order: list[tuple[str, str | None]]) -> set[tuple[str, str, str | None]]:
        uids = content_uids(as_table(order), ["text"], "label").to_pylist()
        assert len(set(uids)) == len(order)
        return {(uid, *row) for uid, row in zip(uids, order, strict=True)}

    shuffled = rows.copy()
    rng.shuffle(shuffled)
    assert named(rows) == named(shuffled)


def test_uids_stay_the_same_from_version_to_version() -> None:
    table = as_table([("a", "x"), ("a", "x"), ("a", "y"), ("a", "x")])
    first = content_uids(table, ["text"], "label").to_pylist()
    assert first[1:] == [f"{first[0]}-2", first[2], f"{first[0]}-3"]
    assert (first[0], first[2]) == ("d7b536b2005f2bf5e26e", "734277aadfdf4cbbca92")


@given(rows_of_texts)
def test_contradictions_and_repeats_against_every_pair(rows: list[tuple[str, str | None]]) -> None:
    keys, labels = keys_of(row[0] for row in rows), pd.Series([row[1] for row in rows], dtype="str")
    doubtful, again = [False] * len(rows), [False] * len(rows)
    for (i, one), (j, other) in combinations(enumerate(rows), 2):
        if one[0] == other[0] and None not in (one[1], other[1]) and one[1] != other[1]:
            doubtful[i] = doubtful[j] = True
        again[j] = again[j] or one == other
    assert contradicting(keys, labels).tolist() == doubtful
    assert repeated(keys, labels).tolist() == again


@given(st.lists(st.sampled_from(["a", "b", "", "é"])), st.lists(st.sampled_from(["a", "b", "", "é", "z"])))
def test_the_first_equal_text_and_earlier_ones_against_every_pair(keys: list[str], others: list[str]) -> None:
    mine, theirs = keys_of(keys), keys_of(others)
    assert known_among(mine, theirs).tolist() == [others.index(key) if key in others else -1 for key in keys]
    assert repeats(mine).tolist() == [key in keys[:place] for place, key in enumerate(keys)]


def test_texts_are_the_same_whatever_their_case_and_white_space() -> None:
    table = pa.table({"text": ["A  Dog\n", " a dog", "a cat", None]})
    keys = normalised_keys(table, ["text"]).to_pylist()
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"source": "files"}, r"`source: files` needs `train: \[PATH, …\]`"),
        ({"source": "files", "train": "a.csv", "evaluation": {"dev": "id"}}, "evaluation set `dev` needs"),
        ({"train": "a.csv"}, "takes no files; set `source: files`"),
        ({"evaluation": {"dev": "id"}}, "has the sets train, validation, challenge and takes no files"),
        ({"source": "files", "train": "a.csv", "evaluation": {"a/b": {"files": "x"}}}, "a set named 'a/b'"),
        ({"source": "files", "train": "a.csv", "evaluation": {"train": {"files": "x"}}}, "a set named 'train'"),
        ({"evaluation": {"validation": "odd"}}, "Input should be 'id' or 'ood'"),
        ({"text": ["a", "b", "c"]}, "not 3 and 0"),
        ({"text": ["a", "b"], "options": ["c", "d"]}, "not 2 and 2"),
        ({"text": ["a", "a"]}, "must name different columns"),
        ({"text": "label"}, "must name different columns"),
        ({"labels": ["only"]}, "`labels` must name two or more classes"),
        ({"quarantine_limit": 1.5}, "less than or equal to 1"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(section: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Ingest.model_validate(section)


def test_parameters_in_short_and_in_full() -> None:
    short = Ingest.model_validate({"source": "files", "train": "a.csv", "text": "body", "evaluation": {"dev": ["b.csv"]}, "labels": [0, 1]})
    full = Ingest.model_validate(short.model_dump(mode="json"))
    assert short == full
    assert short.sets() == {"train": ("train", (FileEntry(path="a.csv"),)), "dev": ("id", (FileEntry(path="b.csv"),))}
    assert short.text == (("body",),)
    assert short.labels == ("0", "1")


def test_names_of_sources() -> None:
    def names(*paths: str) -> list[str]:
        return source_names([FileEntry(path=path) for path in paths])

    assert names("a/x.csv", "b/y.csv") == ["x.csv", "y.csv"]
    assert names("a/x.csv", "b/x.csv") == ["a/x.csv", "b/x.csv"]
    assert names("text=a/s1.dev,label=a/l.dev", "hub:set:train") == ["s1.dev+l.dev", "hub:set:train"]
    assert source_names([FileEntry(path="d/set", split="train"), FileEntry(path="d/set", split="test")]) == ["set:train", "set:test"]
    with pytest.raises(InputError, match=r"a/x\.csv is listed twice in one set"):
        names("a/x.csv", "b/x.csv", "a/x.csv")


# --- what links rows


def test_a_column_that_links_rows_is_kept_as_numbers_in_the_train_set_alone(tmp_path: Path) -> None:
    lines = [f"{line},{('ann', 'bo', '', ' ann ')[row % 4]}" for row, line in enumerate(some_rows())]
    with_it = write_csv(tmp_path / "with.csv", "text,label,speaker", *[f"other {line},bo" for line in some_rows()])
    without = write_csv(tmp_path / "without.csv", "text,label", *[f"another {line}" for line in some_rows()])
    sets = {"with": {"files": with_it}, "without": {"files": without}}
    done = ingest_rows(tmp_path, *lines, header="text,label,speaker", linked="speaker", evaluation=sets)
    assert done.table("train")["linked"].to_pylist() == [0, 1, None, 0] * 10
    info = DatasetInfo("train", "train", "single", ("text",), (), ("bad", "good"))
    assert done.table("train").schema.equals(examples_schema(info, linked=True), check_metadata=True)
    assert all("linked" not in done.table(name).column_names for name in sets)
    assert done.validation["sets"][0]["linked"] == "Rows with the same `speaker` are held out together: 30 of 40 in 2 groups."


def test_of_rows_that_are_set_aside_nothing_is_linked(tmp_path: Path) -> None:
    lines = [*(f"{line},s{row}" for row, line in enumerate(some_rows())), ",good,s0"]
    done = ingest_rows(tmp_path, *lines, header="text,label,speaker", linked="speaker", quarantine_limit=0.1)
    assert done.table("train")["linked"].to_pylist() == list(range(40))
    assert done.validation["sets"][0]["linked"] == "`speaker` links no rows."


@pytest.mark.parametrize("kind", ["pair", "choice"])
def test_rows_of_pairs_and_of_multiple_choice_are_linked_too(tmp_path: Path, kind: str) -> None:
    columns = {"text": ["a", "b"]} if kind == "pair" else {"text": "a", "options": ["b", "c"]}
    lines = [f"one {row},two {row},three {row},{1 + row % 2},s{row // 4}" for row in range(40)]
    done = ingest_rows(tmp_path, *lines, header="a,b,c,label,speaker", linked="speaker", **columns)
    assert done.table("train")["linked"].to_pylist() == [row // 4 for row in range(40)]


def test_the_linking_column_may_be_called_as_the_projects_own_and_a_text_too(tmp_path: Path) -> None:
    done = ingest_rows(
        tmp_path, *(f"{line},{row // 2}" for row, line in enumerate(some_rows())), header="linked,label,row", text="linked", linked="row"
    )
    assert done.rows("train")[3]["linked_text"] == "this is sentence number 3"
    assert done.rows("train")[3]["linked"] == 1


def test_a_linking_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"train\.csv has no column `speakers`; its columns are text, label, speaker; did you mean `speaker`\?"
    ):
        ingest_rows(tmp_path, *(f"{line},ann" for line in some_rows()), header="text,label,speaker", linked="speakers")


def test_a_column_whose_name_stands_twice_is_asked_for_by_its_number(tmp_path: Path) -> None:
    twice = r"train\.csv has no column `label`; its columns are text, label \(1\), label \(2\); more than one column has that name: choose "
    with pytest.raises(InputError, match=twice + r"`label \(1\)`, `label \(2\)` or a later one"):
        ingest_rows(tmp_path, *(f"{line},a" for line in some_rows()), header="text,label,label")


@pytest.mark.parametrize(
    ("read", "linked"),
    [
        ({"text": "text"}, "text"),
        ({"text": "text"}, "label"),
        ({"text": "text", "label": "one+two"}, "two"),
        ({"text": ["text", "other"]}, "other"),
        ({"text": [["text", "other"]]}, "other"),
        ({"text": "text", "options": ["one", "two"]}, "one"),
        ({"image": "photo"}, "photo"),
        ({"features": ["age", "job"]}, "job"),
    ],
)
def test_what_links_rows_is_not_read_of_them(read: dict[str, Any], linked: str) -> None:
    with pytest.raises(ValidationError, match=f"`linked` names column `{linked}`, which is also a text, an option, an image, a feature or"):
        Ingest.model_validate({"source": "files", "train": "train.csv", "linked": linked, **read})


@pytest.mark.parametrize(("line", "more"), [("one, two, and three,yes", True), ("one", False)])
def test_of_records_with_too_many_fields_the_first_is_named_and_why(tmp_path: Path, line: str, more: bool) -> None:
    quarantine = ingest_rows(tmp_path, *some_rows(), line, quarantine_limit=0.1).table("quarantine")
    why = " (as in row 41, 4 fields instead of 2: a field with the separator in it has to stand in double quotes)"
    assert reasons_phrase(quarantine) == "1 wrong number of fields" + (why if more else "")


def test_names_of_many_classes_are_labels_and_as_many_numbers_are_measurements() -> None:
    names = [f"class {row}" for row in range(80)] + ["class 0"] * 20
    assert len(classes(pa.chunked_array([names]), Labelling())) == 80
    numbers = pa.chunked_array([[str(row / 8) for row in range(80)] + ["0.0"] * 20])
    with pytest.raises(InputError, match=r"has 80 different values in 100 rows.*numbers are no classes"):
        classes(numbers, Labelling())
    nearly_all = pa.chunked_array([[f"class {row}" for row in range(95)] + ["class 0"] * 5])
    with pytest.raises(InputError, match="has 95 different values in 100 rows"):
        classes(nearly_all, Labelling())
