from __future__ import annotations

import pytest

from cartograph.ingest.label_forms import forms_phrase, forms_sentence, other_forms


@pytest.mark.parametrize("other", ["TRUE", "T rue".replace(" ", ""), "tr\u200bue", "\ufefftrue", " true", "\uff54rue"])
def test_forms_of_one_name_are_found(other: str) -> None:
    assert other_forms({"true": 9, other: 2, "false": 3}) == {other: "true"}


def test_other_names_and_classes_without_rows_are_not() -> None:
    assert other_forms({"true": 9, "untrue": 2, "tru": 3, "TRUE": 0}) == {}
    assert other_forms({"caf\u00e9": 3, "cafe": 2}) == {}


def test_forms_of_a_misspelt_name_are_all_of_the_name_that_is_meant() -> None:
    counts = {"Positive": 40, "positive": 500, "psoitive": 2, "Psoitive": 1, "negative": 300, "Negatvie": 1}
    assert other_forms(counts) == {"Positive": "positive", "psoitive": "positive", "Psoitive": "positive", "Negatvie": "negative"}
    assert forms_phrase(other_forms(counts), counts) == (
        "`Positive` 40 rows, `psoitive` 2, `Psoitive` 1, `positive` 500; `Negatvie` 1 row, `negative` 300; if they are one class, set "
        'ingest.label_names: {"Positive": "positive", "psoitive": "positive", "Psoitive": "positive", "Negatvie": "negative"}'
    )


def test_invisible_differences_are_shown_with_escapes_and_few_are_listed() -> None:
    counts = {"caf\u00e9": 3, "cafe\u0301": 2} | {f"{letter}x": 2 for letter in "abcd"} | {f"{letter}X": 1 for letter in "abcd"}
    phrase = forms_phrase(other_forms(counts), counts)
    assert phrase.startswith("`cafe\\u0301` 2 rows, `caf\\u00e9` 3; `aX` 1 row, `ax` 2; ")
    assert "; and 2 more classes; if they are one class, set ingest.label_names: {" in phrase and phrase.endswith(', "dX": "dx"}')
    many = {f"{letter}x": 2 for letter in "abcdefghijklm"} | {f"{letter}X": 1 for letter in "abcdefghijklm"}
    assert forms_phrase(other_forms(many), many).endswith(', "lX": "lx", …}')


def test_without_a_workspace_the_way_out_is_the_data() -> None:
    assert forms_sentence({"net": 9, "Net": 2, "other": 3}) == (
        "Some classes may be the same under different names: `Net` 2 rows, `net` 9; if they are one class, write them alike in the data."
    )
    assert forms_sentence({"net": 9, "other": 3}) == ""


def test_a_whole_number_has_one_name_with_or_without_its_point() -> None:
    assert other_forms({"1": 90, "1.0": 10, "0.00": 5, "0": 95, "-1.0": 3, "1.5": 4}) == {"0.00": "0", "1.0": "1"}
    assert other_forms({"1.1": 50, "1.10": 50, "v1.0": 9, "v1": 9, "01": 3}) == {}


def test_ways_to_write_true_and_false_are_forms_of_each_other_only_where_all_classes_are() -> None:
    assert other_forms({"Yes": 9, "no": 8, "1": 3, "0": 2, "TRUE": 1}) == {"1": "Yes", "TRUE": "Yes", "0": "no"}
    assert other_forms({"yes": 9, "no": 8, "1": 3, "2": 2}) == other_forms({"0": 9, "1": 8}) == other_forms({"yes": 4, "no": 3}) == {}
