"""What people decided: read, checked row by row, and brought together."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartograph.clean.decisions import Decision, merge_decisions, read_decisions, settle, write_decisions
from cartograph.errors import InputError

GIVEN = {"a": "yes", "b": "no", "c": "yes", "=d": "no", "007": "no"}
LABELS = ("no", "yes", "true")


def read(*lines: str, by: str = "") -> list[Decision]:
    return read_decisions("\n".join(("uid,decision,new_label,by,comment", *lines)).encode(), "d.csv", GIVEN, LABELS, by)


def test_decisions_are_read_and_rows_without_one_are_passed_over() -> None:
    found = read("a,Keep,,Ann,", "b,relabel,YES,Bob,twice", "c,,,Ann,not sure", "'=d,drop,,Ann,", "'007,relabel,TRUE,Ann,")
    assert found == [
        Decision("a", "keep", None, "Ann"),
        Decision("b", "relabel", "yes", "Bob", "twice"),
        Decision("=d", "drop", None, "Ann"),
        Decision("007", "relabel", "true", "Ann"),
    ]
    assert found[1].place == "d.csv line 3"
    assert read("a,drop,,,", by="Eve") == [Decision("a", "drop", None, "Eve")]
    assert read("a,drop,,Ann,", by="Eve") == [Decision("a", "drop", None, "Ann")]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a,drop,,Ann,", "x,keep,,Ann,", "y,keep,,Ann,"], r"^d\.csv line 3: uid 'x' is not in the train set \(and 1 more\); correct it"),
        (
            ["x,drop,,Ann,", "y,keep,,Ann,", "z,,,,"],
            r"^d\.csv is about another dataset: none of its 2 decisions names a uid of the 5 train rows \(the first, line 2: 'x'\)",
        ),
        ([",drop,,Ann,"], r"^d\.csv line 2: there is a decision and no uid"),
        (
            ["a,,yes,Ann,"],
            r"^d\.csv line 2 \(uid 'a'\): `new_label` is 'yes', but `decision` is empty; write `relabel` there, or clear both\.",
        ),
        (
            ["b,relabel,,Ann,"],
            r"^d\.csv line 2 \(uid 'b'\): `decision` is relabel, but `new_label` is empty; name the class: no, yes, true\.",
        ),
        (["b,drop,yes,Ann,"], r"^d\.csv line 2 \(uid 'b'\): `decision` is drop, but `new_label` is 'yes'; clear it, or write `relabel` as"),
        (["a,delete,,Ann,"], r"^d\.csv line 2 \(uid 'a'\): `decision` is 'delete', expected keep, drop or relabel\."),
        (["a,relabel,maybe,Ann,"], r"^d\.csv line 2 \(uid 'a'\): there is no class 'maybe' to relabel to; the classes are no, yes, true\."),
        (["a,drop,,,"], r"^d\.csv line 2 \(uid 'a'\): `by` is empty; write who decided, or import the file with .* --by NAME`\."),
    ],
)
def test_what_cannot_be_used_is_named_with_its_line(lines: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(*lines)


def test_the_line_is_the_files_own_under_texts_with_line_breaks() -> None:
    content = b'uid,text,decision,by\na,"one\ntwo",,\nb,"three\nfour",delete,Ann\n'
    with pytest.raises(InputError, match=r"^d\.csv line 4 \(row 3 of a spreadsheet\) \(uid 'b'\): `decision` is 'delete'"):
        read_decisions(content, "d.csv", GIVEN, LABELS)


def test_classes_that_differ_by_case_alone_are_distinguished() -> None:
    with pytest.raises(InputError, match="there is no class 'YES'"):
        read_decisions(b"uid,decision,new_label,by\na,relabel,YES,Ann\n", "d.csv", GIVEN, ("yes", "Yes"))


def test_two_decisions_that_end_differently_are_named_with_both_places() -> None:
    message = r"^d\.csv line 4: uid 'b' is decided twice, as relabel to 'yes' by Ann, and as drop by Bob in d\.csv line 2; settle it"
    with pytest.raises(InputError, match=message):
        settle(read("b,drop,,Bob,", "a,drop,,Bob,", "b,relabel,yes,Ann,"), GIVEN)


def test_two_people_who_decide_alike_are_one_decision_in_whatever_order() -> None:
    decisions = read("b,relabel,no,Bob,fine", "a,drop,,Bob,", "b,keep,,Ann,so it is", "a,drop,,Ann,", "a,drop,,Ann,")
    expected = {"a": Decision("a", "drop", None, "Ann; Bob"), "b": Decision("b", "keep", None, "Ann; Bob", "fine; so it is")}
    for order in itertools.permutations(decisions):
        assert settle(order, GIVEN) == expected
        assert list(settle(order, GIVEN)) == ["a", "b"]


def test_a_newer_decision_replaces_ones_own_and_nobody_elses() -> None:
    old = read("a,drop,,Ann,", "a,drop,,Bob,", "b,keep,,Ann,")
    assert merge_decisions(old, read("a,keep,,Ann,")) == [*read("a,keep,,Ann,", "a,drop,,Bob,", "b,keep,,Ann,")]
    assert merge_decisions(old, read("a,keep,,Ann; Bob,")) == read("a,keep,,Ann; Bob,", "b,keep,,Ann,")
    assert merge_decisions(old, old) == old


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(str.strip)


@given(
    st.lists(st.tuples(st.sampled_from(sorted(GIVEN)), st.sampled_from(["keep", "drop", "relabel"]), NAMES.filter(bool), NAMES), max_size=6)
)
def test_decisions_come_back_as_they_were_written(rows: list[tuple[str, str, str, str]]) -> None:
    decisions = [Decision(uid, what, "yes" if what == "relabel" else None, by, comment) for uid, what, by, comment in rows]
    assert read_decisions(write_decisions(decisions), "d.csv", GIVEN, LABELS) == decisions


def test_decisions_about_rows_that_are_gone_are_kept_where_they_were_checked_before() -> None:
    content = b"uid,decision,new_label,by,comment\na,drop,,Ann,\ngone,relabel,old class,Bo,\n"
    found = read_decisions(content, "d.csv", GIVEN, LABELS, kept=True)
    assert [one.uid for one in found] == ["a", "gone"]
    assert write_decisions(found).decode("utf-8-sig").splitlines()[2] == "gone,relabel,old class,Bo,"
    with pytest.raises(InputError, match="uid 'gone' is not in the train set"):
        read_decisions(content, "d.csv", GIVEN, LABELS)
    assert len(read_decisions(b"uid,decision,new_label,by\ngone,drop,,Bo\n", "d.csv", GIVEN, LABELS, kept=True)) == 1
