"""Rows with several labels from frames and files, and the way back to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cartograph.errors import InputError
from cartograph.frames.label_rows import read_label_rows
from cartograph.ingest.label_rows import MOST_LABELS
from cartograph.models.base import label_matrix
from cartograph.schema import dataset_info
from tests.label_sets import WORDS, film_frame


def test_lists_separated_names_and_columns_of_0_and_1_are_the_same_labels(tmp_path: Path) -> None:
    frame, labels = film_frame(60)
    lists = frame.assign(tags=[cell.split("|") if cell else [] for cell in frame["tags"]])
    lists.to_parquet(tmp_path / "films.parquet")
    lists.to_json(tmp_path / "films.jsonl", orient="records", lines=True)
    frame.to_csv(tmp_path / "films.csv", index=False)
    columns = frame[["text"]].assign(**{name: labels[:, place] for place, name in enumerate(WORDS)})
    sources: list[Any] = [frame, lists, *(tmp_path / f"films.{kind}" for kind in ("parquet", "jsonl", "csv"))]
    for read in [*(read_label_rows(source, "text", "tags") for source in sources), read_label_rows(columns, "text", WORDS)]:
        assert read.names == WORDS and read.left_out == {}
        np.testing.assert_array_equal(read.given[np.argsort(read.places)], labels)
        np.testing.assert_array_equal(label_matrix(read.examples), read.given)
        assert dataset_info(read.examples.schema).labels == WORDS


def test_a_column_links_rows_by_uid() -> None:
    frame = film_frame(60)[0].assign(film=[row // 3 for row in range(60)])
    read = read_label_rows(frame, "text", "tags", linked="film")
    numbers = read.examples["linked"].to_numpy()
    np.testing.assert_array_equal(numbers[np.argsort(read.places)], np.arange(60) // 3)
    with pytest.raises(InputError, match="'tags' is named in `linked` and as what is read of the rows"):
        read_label_rows(frame, "text", "tags", linked="tags")


def test_rare_and_constant_labels_are_left_out_with_the_reason() -> None:
    frame = film_frame(60)[0]
    frame["tags"] = [f"{cell}|film" if cell else "film" for cell in frame["tags"]]
    frame.loc["r7", "tags"] += "|typo"
    read = read_label_rows(frame, "text", "tags")
    assert read.names == WORDS
    assert read.left_out == {"film": "no in 0 rows, of 5 that are needed", "typo": "yes in 1 row, of 5 that are needed"}


def test_rows_without_labels_or_texts_are_set_aside_and_named_as_the_frame_names_them() -> None:
    frame, labels = film_frame(60)
    columns = frame[["text"]].assign(**{name: labels[:, place].astype(object) for place, name in enumerate(WORDS)})
    columns.loc["r3", "sea"], columns.loc["r5", "war"], columns.loc["r9", "text"] = None, "maybe", ""
    read = read_label_rows(columns, "text", WORDS)
    assert read.rows.set_aside[["row", "column", "reason"]].to_numpy().tolist() == [
        ["r3", "sea", "no label"],
        ["r5", "war", "label neither yes nor no"],
        ["r9", "text", "empty text"],
    ]
    assert read.rows.set_aside["value"].tolist()[1] == "maybe"
    assert len(read.given) == 57 and read.rows.ingested.rows_read == 60
    np.testing.assert_array_equal(read.given[np.argsort(read.places)], np.delete(labels, [3, 5, 9], axis=0))


@pytest.mark.parametrize("form", ["separated", "lists", "json", "columns"])
def test_corrected_labels_are_written_as_the_others_are(form: str) -> None:
    frame, labels = film_frame(60)
    if form == "columns":
        frame = frame[["text"]].assign(**{name: np.where(labels[:, place], "yes", "No") for place, name in enumerate(WORDS)})
    elif form != "separated":
        lists = [cell.split("|") if cell else [] for cell in frame["tags"]]
        frame["tags"] = lists if form == "lists" else [json.dumps(names) for names in lists]
    read = read_label_rows(frame, "text", WORDS if form == "columns" else "tags")
    turned = np.zeros(labels.shape, dtype=bool)
    turned[[2, 2, 40], [0, 1, 3]] = True
    by_uid = turned[read.places]
    corrected = read.corrected(by_uid)
    assert corrected.index.tolist() == frame.index.tolist() and corrected.columns.tolist() == frame.columns.tolist()
    again = read_label_rows(corrected, "text", WORDS if form == "columns" else "tags")
    np.testing.assert_array_equal(again.given[np.argsort(again.places)], np.where(turned, 1 - labels, labels))
    untouched = [row for row in range(60) if row not in (2, 40)]
    pd.testing.assert_frame_equal(corrected.iloc[untouched], frame.iloc[untouched], check_dtype=False)
    if form == "columns":
        assert set(corrected["war"]) == {"yes", "No"}
    else:
        assert type(corrected["tags"].iloc[2]) is type(frame["tags"].iloc[0])
    assert read.corrected(np.zeros_like(by_uid)) is not None


def test_the_features_of_a_table_are_all_columns_but_the_labels() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"width": rng.normal(size=40), "kind": rng.choice(["a", "b"], 40), "even": [0, 1] * 20, "big": [0, 0, 1, 1] * 10})
    read = read_label_rows(frame, (), ["even", "big"], features=True)
    assert read.rows.columns == ("width", "kind") and read.names == ("even", "big")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("tag", "the frame has no column 'tag'; its columns are text, tags"),
        (["tags", "tags"], "labels names tags, tags; name one column of lists, or several of 0 and 1, each once"),
        (["tags", "text"], "column `text` is named as a label and as what is read of a row"),
    ],
)
def test_columns_that_are_no_labels_are_refused(labels: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_label_rows(film_frame(60)[0], "text", labels)


def test_labels_none_of_which_can_be_audited_are_refused() -> None:
    with pytest.raises(InputError, match="none of 4 labels can be audited: each needs 5 rows with it and 5 without; of `love`"):
        read_label_rows(film_frame(8)[0], "text", "tags")


def test_more_labels_than_are_audited_at_once_are_refused() -> None:
    frame = pd.DataFrame({"text": [f"text {row}" for row in range(20)]})
    frame["tags"] = ["|".join(f"t{label}" for label in range(MOST_LABELS + 1)) if row % 2 else "" for row in range(20)]
    with pytest.raises(InputError, match="501 labels of 20 rows are more than are audited at once"):
        read_label_rows(frame, "text", "tags")


def test_rows_of_one_label_each_are_said_to_be() -> None:
    texts = [f"text {row}" for row in range(30)]
    one = pd.DataFrame({"text": texts, "tags": [("a", "b", "c")[row % 3] for row in range(30)]})
    assert "every row has exactly one label" in read_label_rows(one, "text", "tags").one_each_sentence
    two = one.assign(tags=one["tags"].where(one.index > 0, "a|b"))
    assert read_label_rows(two, "text", "tags").one_each_sentence == ""
