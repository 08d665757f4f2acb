from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from cartograph.page.audit import Audit
from cartograph.page.gathered import (
    catch_all_sentence,
    contradicting_sentence,
    gathered_sentence,
    gathered_table,
    labellers_sentence,
    labellers_table,
)
from cartograph.page.stretches import careless_sentence, filled_sentence, shifted_sentence
from cartograph.page.verdict import verdict
from cartograph.schema import examples_schema
from tests.page_audits import audit_of_texts, with_suspects


@pytest.fixture(scope="module")
def texts() -> Audit:
    return with_suspects(audit_of_texts(400), flagged=tuple(range(20)))


def with_parts(audit: Audit, **columns: list[str]) -> Audit:
    named = {name.replace("_", " "): pa.array(parts).dictionary_encode() for name, parts in columns.items()}
    return replace(audit, strata=pa.table({"uid": audit.measures["uid"], **named}))


def with_labellers(audit: Audit, who: list[str] | list[str | None], name: str = "labelled by who") -> Audit:
    return replace(audit, strata=pa.table({"uid": audit.measures["uid"], name: pa.array(who).dictionary_encode()}))


def test_the_sentence_names_where_suspects_gather_and_the_table_all_of_it(texts: Audit) -> None:
    parted = with_parts(texts, column_who=["<b>eve</b>"] * 40 + ["ann"] * 360, order=["1 to 18"] * 18 + ["19 to 400"] * 382)
    assert gathered_sentence(parted) == (
        "Suspects gather where `who` is <b>eve</b> (20 of the 20, among 10\u00a0% of the rows); and in the rows 0 to 19 of the file (20): "
        "ask first how these rows were labelled. If `who` says who labelled, name it (labelled_by): more may be found then."
    )
    table = gathered_table(parted)
    assert table is not None and table.cells[0][:4] == ["who: <b>eve</b>", 20, 40, 0.5]
    assert table.cells[1][:4] == ["rows 0 to 19", 20, 20, 1.0]
    assert table.cells[0][4] == pytest.approx(2, abs=1)
    file = with_parts(texts, file=["a.csv"] * 40 + ["b.csv"] * 360)
    assert gathered_sentence(file).startswith("Suspects gather in the file a.csv (20 of the 20")


def test_nothing_is_said_where_they_gather_nowhere_or_no_stratum_is_known(texts: Audit) -> None:
    spread = with_parts(texts, column_who=np.where(np.arange(400) % 2, "ann", "bo").tolist())
    assert (gathered_sentence(spread), gathered_table(spread)) == ("", None)
    assert (gathered_sentence(texts), gathered_table(texts)) == ("", None)


def test_who_labelled_is_a_table_and_a_sentence(texts: Audit) -> None:
    assert (labellers_table(texts), labellers_sentence(texts)) == (None, "")
    named = with_labellers(texts, ["eve"] * 40 + ["ann"] * 360)
    assert gathered_sentence(named).endswith("of the rows): ask first how these rows were labelled.")
    table = labellers_table(named)
    assert table is not None and [column.title for column in table.columns] == ["Labelled by", "Rows", "Suspects", "Of the rows"]
    assert table.cells == [["eve", 40, 20, 0.5], ["ann", 360, 0, 0.0]]
    unnamed = with_labellers(texts, ["eve"] * 40 + [None] * 360)
    table = labellers_table(unnamed)
    assert table is not None and [line[0] for line in table.cells] == ["eve", "(nobody named)"]
    assert "doubted more" in labellers_sentence(with_suspects(named, flagged=(0,), labellers_differ=True))
    assert "does not measurably count" in labellers_sentence(with_suspects(named, flagged=(0,), labellers_differ=False))


def test_a_careless_stretch_is_named_by_its_rows_and_more_are_counted(texts: Audit) -> None:
    assert careless_sentence(texts) == ""
    said = careless_sentence(with_suspects(texts, flagged=(0,), stretches=[[10, 49], [100, 149], [200, 249]]))
    number = texts.examples["row"].to_numpy()
    rows = np.sort(number)[[10, 49, 100, 149]].tolist()
    assert said == (
        "Labels in the rows {} to {} and {} to {} and 1 more stretch contradict the models far more often than all others do: they are "
        "doubted more for it, and the others less.".format(*rows)
    )


def test_how_many_labels_agree_is_a_table_and_a_sentence(texts: Audit) -> None:
    agreeing = with_labellers(texts, ["2 of 3"] * 40 + ["3 of 3"] * 360, "agreeing of r+s+t")
    assert (gathered_sentence(agreeing), gathered_table(agreeing)) == ("", None)
    table = labellers_table(agreeing)
    assert table is not None and (table.caption, table.columns[0].title) == ("How many agree", "Labels that agree")
    assert table.cells == [["2 of 3", 40, 20, 0.5], ["3 of 3", 360, 0, 0.0]]
    assert "where people differ" in labellers_sentence(with_suspects(agreeing, flagged=(0,), labellers_differ=True))
    assert "does not measurably count" in labellers_sentence(with_suspects(agreeing, flagged=(0,), labellers_differ=False))


def test_a_column_that_is_named_like_who_labelled_is_asked_about_unless_one_is_named(texts: Audit) -> None:
    parts = np.where(np.arange(400) % 2, "ann", "bo").tolist()
    asked = (
        "If `Annotator` says who labelled, name it (labelled_by: Annotator): labels of somebody who is more often wrong are doubted more."
    )
    assert labellers_sentence(with_parts(texts, column_shop=parts, column_Annotator=parts)).startswith(asked)
    assert labellers_sentence(with_parts(texts, column_shop=parts)) == ""
    named = with_labellers(texts, parts)
    assert named.strata is not None
    both = replace(named, strata=named.strata.append_column("column Annotator", pa.array(parts).dictionary_encode()))
    assert labellers_sentence(both) == ""


def test_of_many_labellers_those_with_the_largest_share_of_suspects_are_listed(texts: Audit) -> None:
    many = with_labellers(texts, [f"w{row // 4}" for row in range(400)])
    table = labellers_table(with_suspects(many, flagged=tuple(range(8)), calibrated=True))
    assert table is not None and table.caption == "Who labelled, the 20 with the largest share of suspects of 100"
    assert [line[:3] for line in table.cells[:3]] == [["w0", 4, 4], ["w1", 4, 4], ["w2", 4, 0]]
    assert table.columns[-1].title == "Wrong"


def with_classes(audit: Audit, gold: list[int], suggested: list[int]) -> Audit:
    """Return the audit with five classes, the last of which is `other`, and suggestions for its suspects."""
    info = replace(audit.info, labels=("a", "b", "c", "d", "other"))
    label, place = pa.array(gold, pa.int32()), audit.examples.schema.get_field_index("label")
    examples = audit.examples.set_column(place, audit.examples.schema.field("label"), label)
    examples = examples.replace_schema_metadata(examples_schema(info, annotators=True).metadata)
    measures = audit.measures.set_column(audit.measures.schema.get_field_index("gold"), "gold", label)
    found = replace(audit, examples=examples, measures=measures)
    assert found.suspects is not None
    rows, where = found.suspects.rows, found.suspects.rows.schema.get_field_index("suggested")
    column = pa.array([*suggested, *rows["suggested"].to_pylist()[len(suggested) :]], pa.int32())
    return replace(found, suspects=replace(found.suspects, rows=rows.set_column(where, "suggested", column)))


def test_a_class_that_may_take_what_fits_nowhere_else_is_named_as_such(texts: Audit) -> None:
    rest = [row % 4 for row in range(340)]
    gold = [*[4] * 14, *[0, 1, 2, 3, 0, 1], *[4] * 40, *rest]
    scattered = with_classes(texts, gold, [row % 4 for row in range(14)] + [1, 2, 3, 0, 1, 2])
    assert catch_all_sentence(scattered) == (
        "Suspects gather in the class `other` (14 of the 20), and models would give these rows to 4 other classes: if it takes what fits "
        "nowhere else, their labels may well be right."
    )
    assert catch_all_sentence(scattered) in verdict(scattered).lines
    assert catch_all_sentence(with_classes(texts, gold, [0] * 9 + [1, 1, 2, 2, 3] + [1, 2, 3, 0, 1, 2])) == "", "most would be one class"
    assert catch_all_sentence(with_classes(texts, gold, [row % 3 for row in range(14)] + [1, 2, 3, 0, 1, 2])) == "", "three classes"
    common = [*[4] * 14, *[0, 1, 2, 3, 0, 1], *[4] * 240, *rest[:140]]
    assert catch_all_sentence(with_classes(texts, common, [row % 4 for row in range(14)] + [1, 2, 3, 0, 1, 2])) == "", "it has most rows"
    assert catch_all_sentence(texts) == ""
    # Even errors bring each class as many suspects: a rare class is full of them.
    rare = [*[4] * 6, *[row % 4 for row in range(14)], *[4] * 4, *[row % 4 for row in range(376)]]
    even = [row % 4 for row in range(6)] + [(row + 1) % 4 for row in range(14)]
    assert catch_all_sentence(with_classes(texts, rare, even)) == ""


@pytest.mark.parametrize(("offset", "where"), [(1, "next row"), (-1, "row before")])
def test_labels_that_a_join_shifted_by_a_row_are_said_to_be(texts: Audit, offset: int, where: str) -> None:
    true = np.random.default_rng(2).integers(0, 6, 400)
    given = true.copy()
    given[100:150] = np.roll(true, offset)[100:150]
    rows = np.flatnonzero(given != true).tolist()
    place = texts.examples.schema.get_field_index("label")
    examples = texts.examples.set_column(place, texts.examples.schema.field("label"), pa.array(given, pa.int32()))
    six = replace(texts.info, labels=("a", "b", "c", "d", "e", "f"))
    examples = examples.replace_schema_metadata(examples_schema(six, annotators=True).metadata)
    # The page's rows stand in another order than the file's.
    order = pa.array(np.random.default_rng(3).permutation(400))
    found = with_suspects(replace(texts, examples=examples), flagged=tuple(rows))
    assert found.suspects is not None
    named = found.suspects.rows.set_column(3, found.suspects.rows.schema.field(3), pa.array(true, pa.int32()))
    shuffled = replace(
        found, examples=examples.take(order), measures=found.measures.take(order), suspects=replace(found.suspects, rows=named.take(order))
    )
    said = shifted_sentence(shuffled)
    number, first, last = len(rows) - 1, rows[0] + (offset < 0), rows[-1] - (offset > 0)
    assert said.startswith(f"Labels look shifted by one row: the label that models expect stands on the {where} of {number} of the ")
    assert said.endswith(f"{len(rows)} suspects (rows {first} to {last}): see how labels were joined to rows.")
    assert said in verdict(shuffled).lines
    source = examples.schema.get_field_index("source")
    two = examples.set_column(source, examples.schema.field("source"), pa.array(["a.csv"] * 60 + ["b.csv"] * 340)).take(order)
    assert f"(rows {first} to {last} of b.csv): see" in shifted_sentence(replace(shuffled, examples=two))
    # Among many errors of another kind it is seen where it is known in which stretch labels are wrong more often.
    astray = [row for row in range(400) if not 90 <= row < 160]
    every = with_suspects(replace(texts, examples=examples), flagged=tuple(sorted(rows + astray)))
    assert every.suspects is not None
    other = np.where(np.isin(np.arange(400), astray), (true + 1 + np.arange(400) % 5) % 6, true)
    named = every.suspects.rows.set_column(3, every.suspects.rows.schema.field(3), pa.array(other, pa.int32()))
    many = replace(every, suspects=replace(every.suspects, rows=named))
    assert shifted_sentence(many) == ""
    known = replace(every, suspects=replace(every.suspects, rows=named, record={**every.suspects.record, "stretches": [[95, 155]]}))
    assert shifted_sentence(known).startswith(said[: said.index(" of the ")])
    assert shifted_sentence(texts) == ""


def test_a_label_that_was_filled_down_is_named_with_its_rows_and_is_no_catch_all(texts: Audit) -> None:
    true = np.random.default_rng(4).integers(0, 8, 400)
    given = true.copy()
    given[220:270] = 5
    given[40:60] = 2
    rows = np.flatnonzero(given != true).tolist()
    place = texts.examples.schema.get_field_index("label")
    examples = texts.examples.set_column(place, texts.examples.schema.field("label"), pa.array(given, pa.int32()))
    eight = replace(texts.info, labels=tuple("abcdefgh"))
    examples = examples.replace_schema_metadata(examples_schema(eight, annotators=True).metadata)
    found = with_suspects(replace(texts, examples=examples), flagged=tuple(rows))
    assert found.suspects is not None
    named = found.suspects.rows.set_column(3, found.suspects.rows.schema.field(3), pa.array(true, pa.int32()))
    filled = with_parts(replace(found, suspects=replace(found.suspects, rows=named)), order=[f"{row // 40}" for row in range(400)])
    said = filled_sentence(filled)
    first, last = 220 - (given[219] == 5), 269 + (given[270] == 5)
    assert said.startswith(
        f"Suspects gather in the rows {first} to {last} ({np.count_nonzero(true[220:270] != 5)} of the {len(rows)}), all "
    )
    assert "of which have the label `f`, and in " in said and "(`c`, " in said
    assert said in verdict(filled).lines
    assert (gathered_sentence(filled), catch_all_sentence(filled)) == ("", ""), "the same rows are not named again, nor said to be right"
    assert filled_sentence(texts) == ""


def test_rows_of_equal_texts_under_other_labels_are_said_from_a_hundredth_on(texts: Audit) -> None:
    def contradicted(number: int | None) -> Audit:
        return replace(texts, validation={"passed": True, "sets": [{"contradicted": number, "checks": []}]})

    said = contradicting_sentence(contradicted(4))
    assert said.startswith("4 of the 400 rows have the text of another row under another label: ")
    assert contradicting_sentence(contradicted(3)) == contradicting_sentence(contradicted(None)) == contradicting_sentence(texts) == ""
