"""Columns that tell the label by themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from cartograph.features.telling import Telling, telling_columns, telling_sentence, telling_words, what_tells
from cartograph.schema import FEATURES, DatasetInfo, Feature
from cartograph.suspects.class_forms import ClassForms
from cartograph.suspects.record import without_number
from tests.training_sets import info_of, small_set, small_table, table

ROWS = 120
LABELS = np.arange(ROWS) % 3


def made(kind: str, values: list[object], labels: np.ndarray = LABELS) -> pa.Table:
    info = replace(info_of("table"), labels=("a", "b", "c"), features=(Feature("column", kind),))  # type: ignore[arg-type]
    assert isinstance(info, DatasetInfo)
    return table(info, {FEATURES: ["x"] * len(labels), "values": [{"column": value} for value in values]}, labels.tolist())


@pytest.mark.parametrize(
    ("kind", "values", "tells"),
    [
        ("category", [f"grade {label}" for label in LABELS], True),
        ("category", [f"grade {label} {row % 5}" for row, label in enumerate(LABELS)], True),
        ("category", [None if label == 1 else f"grade {label}" for label in LABELS], True),
        ("category", [f"row {row}" for row in range(ROWS)], False),
        ("category", [f"grade {min(label, 1)}" for label in LABELS], False),
        ("category", ["constant"] * ROWS, False),
        ("number", [float(label) for label in LABELS], True),
        ("number", [label + row / 1000 for row, label in enumerate(LABELS)], True),
        ("number", [float(row) for row in range(ROWS)], False),
        ("number", [float(row % 2) for row in range(ROWS)], False),
        ("number", [None] * ROWS, False),
        ("category", [f"grade {label}" if row % 4 else None for row, label in enumerate(LABELS)], True),
        ("number", [float(label) if row % 3 else None for row, label in enumerate(LABELS)], True),
        ("category", [f"grade {label}" if row % 4 == 0 else None for row, label in enumerate(LABELS)], False),
        ("category", [f"grade {label}" if row % 8 else "all" for row, label in enumerate(LABELS)], False),
    ],
)
def test_what_tells_the_label(kind: str, values: list[object], tells: bool) -> None:
    assert telling_columns(made(kind, values)) == (["column"] if tells else [])


def test_a_row_in_a_thousand_and_one_more_may_differ() -> None:
    labels = LABELS.copy()
    labels[0] = 1
    values: list[object] = [f"grade {label}" for label in LABELS]
    assert telling_columns(made("category", values, labels)) == ["column"]
    labels[3] = 2
    assert telling_columns(made("category", values, labels)) == []


def test_features_that_help_are_not_taken_for_labels_and_few_rows_say_nothing() -> None:
    assert telling_columns(small_table(400)) == []
    few: list[object] = [f"grade {label}" for label in LABELS[:40]]
    assert telling_columns(made("category", few, LABELS[:40])) == []


WORDS = [f"w{number}" for number in range(60)]


def texts(share: float, rows: int = 400, seed: int = 1) -> pa.Table:
    """Texts of random words, a part of which end with the name of their class."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=rows)
    ends = [f"component: {'abc'[label]}" if rng.random() < share else "" for label in labels]
    info = replace(info_of("single"), labels=("a", "b", "c"))
    return table(info, {"text": [f"{' '.join(rng.choice(WORDS, 6))} {end}" for end in ends]}, labels.tolist())


def test_a_word_per_class_that_no_other_class_has_tells_the_label() -> None:
    found = what_tells(texts(0.9))
    assert found.words and 0.85 < found.share < 0.95
    assert sorted(found.names) == [": a", ": b", ": c"] or sorted(found.names) == ["a", "b", "c"]
    assert what_tells(texts(0.3)) == Telling([], words=True)
    assert what_tells(texts(1.0, rows=40)).names == []


def test_a_word_that_another_class_has_too_tells_nothing_but_for_a_row_in_twenty() -> None:
    rows = texts(1.0)
    mixed = rows["label"].to_numpy().copy()
    for label in range(3):
        mixed[np.flatnonzero(rows["label"].to_numpy() == label)[0]] = (label + 1) % 3
    once = rows.schema.get_field_index("label")
    assert what_tells(rows.set_column(once, rows.schema.field("label"), pa.array(mixed, pa.int32()))).names
    for label in range(3):
        mixed[np.flatnonzero(rows["label"].to_numpy() == label)[:12]] = (label + 1) % 3
    place = rows.schema.get_field_index("label")
    assert what_tells(rows.set_column(place, rows.schema.field("label"), pa.array(mixed, pa.int32()))).names == []


def test_signs_alone_and_words_of_nearly_all_rows_tell_nothing() -> None:
    rng = np.random.default_rng(3)
    said = [f"{' '.join(rng.choice(WORDS, 6))}{'?' if row % 2 else '.'}" for row in range(400)]
    assert what_tells(table(info_of("single"), {"text": said}, [row % 2 for row in range(400)])).names == []
    # Of 400 rows four are of the rare class: nearly every word is of the other alone.
    assert what_tells(table(info_of("single"), {"text": said}, [int(row % 100 == 0) for row in range(400)])).names == []


def test_of_half_filled_columns_those_do_not_tell_that_leave_a_handful_of_a_rare_class() -> None:
    rng = np.random.default_rng(4)
    labels = (np.arange(600) % 150 == 0).astype(int)
    info = replace(info_of("table"), labels=("a", "b"), features=tuple(Feature(f"c{column}", "number") for column in range(30)))
    values = [{f"c{column}": float(rng.normal()) if rng.random() < 0.55 else None for column in range(30)} for _ in range(600)]
    assert telling_columns(table(info, {FEATURES: ["x"] * 600, "values": values}, labels.tolist())) == []


def test_of_words_that_tell_most_rows_but_not_nearly_all_wrong_labels_are_counted_all_the_same() -> None:
    some, most = what_tells(texts(0.6)), what_tells(texts(0.9))
    assert some.names and not some.nearly_all and most.nearly_all and not Telling([], words=True).nearly_all
    assert telling_sentence(some).endswith(
        "; if it was written from the label, their wrong labels cannot be found: leave it out of the texts."
    )
    assert "from the label, wrong labels cannot be found" in telling_sentence(most)
    record = {"wrong": {"expected": 3.0}, "between": None, "calibrated": True}
    forms = ClassForms(np.arange(3))
    assert without_number(record, some, forms) == record and without_number(record, most, forms)["unknown"] == "leaked"
    outcome = without_number(record, some, forms, "churned")
    assert (outcome["unknown"], outcome["outcome"], outcome["wrong"], outcome["calibrated"]) == ("outcome", "churned", None, False)
    assert without_number(record, most, forms, "churned")["unknown"] == "leaked"


def test_a_word_per_class_in_a_column_of_texts_tells_the_label_and_their_order_does_not() -> None:
    texts = [f"it was row {row} of kind{label}" for row, label in enumerate(LABELS)]
    found = what_tells(made("text", texts))
    assert found.words and found.nearly_all and len(found.names) == 3
    assert telling_columns(made("text", texts)) == [] == telling_columns(made("text", sorted(texts, key=lambda text: text[-1])))


def test_of_many_rows_some_are_looked_at_and_pairs_are_read_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cartograph.features.telling._ROWS", 150)
    assert what_tells(texts(0.9)).names
    single = texts(0.9)
    info = replace(info_of("pair"), labels=("a", "b", "c"))
    pairs = {"premise": ["the same"] * 400, "hypothesis": single["text"].to_pylist()}
    assert what_tells(table(info, pairs, single["label"].to_pylist())).names


@pytest.mark.parametrize("task", ["single", "pair", "choice", "image", "table"])
def test_nothing_tells_the_labels_of_rows_as_they_are(task: str) -> None:
    assert telling_words(texts(0.0)).names == telling_words(texts(0.0).slice(0, 0)).names == []
    assert not what_tells(small_set(task, rows=120)).names  # type: ignore[arg-type]


def test_texts_without_a_word_that_is_repeated_tell_nothing() -> None:
    rows = table(info_of("single"), {"text": [f"only{row}" for row in range(60)]}, [row % 2 for row in range(60)])
    assert what_tells(rows).names == []


def test_the_sentence_names_three_and_counts_the_rest() -> None:
    assert telling_sentence(Telling([])) == ""
    assert telling_sentence(Telling(list("abcde"))).startswith(
        "`a`, `b`, `c` and 2 more alone each predict the label of (nearly) every row:"
    )


def coded(exceptions: int, rows: int = 600, *, help_of: float = 0.5) -> pa.Table:
    """Labels of three classes, a code of them of which some were changed since, and a column that is right about a share of the rows."""
    rng = np.random.default_rng(3)
    labels = np.arange(rows) % 3
    code = labels.copy()
    changed = rng.choice(rows, exceptions, replace=False)
    code[changed] = (code[changed] + 1) % 3
    other = np.where(rng.random(rows) < help_of, labels, rng.integers(0, 3, rows))
    features = (Feature("other", "category"), Feature("code", "number"), Feature("noise", "number"))
    info = replace(info_of("table"), labels=("a", "b", "c"), features=features)
    assert isinstance(info, DatasetInfo)
    values = [{"other": f"o{one}", "code": float(own), "noise": float(rng.normal())} for one, own in zip(other, code, strict=True)]
    return table(info, {FEATURES: ["x"] * rows, "values": values}, labels.tolist())


def test_a_column_that_tells_nearly_all_labels_is_one_if_all_others_together_tell_far_fewer() -> None:
    found = what_tells(coded(15))
    assert found.names == ["code"] and found.nearly_all and found.share == 0.975 and 0.4 < (found.others or 0) < 0.75
    said = telling_sentence(found).replace("\u00a0", " ")
    assert said.startswith("`code` alone predicts the label of 98 % of the rows, all other columns together of ")
    assert said.endswith(": if it was made from the label, wrong labels cannot be found; leave it out.")
    assert what_tells(coded(15).take(np.random.default_rng(1).permutation(600))) == found
    assert what_tells(coded(15, help_of=0.95)).names == [], "others tell nearly as many"
    assert what_tells(coded(60)).names == [] and what_tells(coded(0)).others is None


def test_tags_of_which_some_were_changed_since_tell_the_labels_where_they_tell_most() -> None:
    rows = texts(1.0)
    labels, place = rows["label"].to_numpy().copy(), rows.schema.get_field_index("label")
    own = np.concatenate([np.flatnonzero(labels == label)[: round(0.03 * (labels == label).sum())] for label in range(3)])
    labels[own] = (labels[own] + 1) % 3
    found = what_tells(rows.set_column(place, rows.schema.field("label"), pa.array(labels, pa.int32())))
    assert found.words and found.nearly_all and len(found.names) == 3
