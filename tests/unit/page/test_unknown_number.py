from __future__ import annotations

from dataclasses import replace

import pytest

from cartograph.page.audit import Audit
from cartograph.page.verdict import verdict
from tests.page_audits import with_suspects


def test_where_no_number_can_be_told_the_sentence_says_why(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    found = with_suspects(audit)
    few = replace(found, suspects=replace(found.suspects, record={**found.suspects.record, "unknown": "few rows"}))
    start = "2 of 8 labels are worth a second look; how many of all are wrong cannot be estimated: 8 rows are too few; without that number "
    assert verdict(few).sentence.startswith(start)
    weak = replace(
        found, suspects=replace(found.suspects, record={**found.suspects.record, "unknown": "little explained", "explained": 0.1})
    )
    assert (
        "cannot be estimated: the models explain too little of the labels; without that number none is sure enough to "
        in verdict(weak).sentence
    )
    ends: dict[str, object] = {"unknown": "roughly known", "between": {"low": 0.2, "high": 341.0, "most": 433.0}}
    some = replace(found, suspects=replace(found.suspects, record={**weak.suspects.record, **ends}))
    assert (
        "worth a second look; 0 to 340 of all are wrong (95\u00a0% CI), and no closer number can be estimated: the models explain too "
        "little of the labels; without a closer number none is sure enough to change automatically" in verdict(some).sentence
    )
    # Of an interval that ends at hardly any label its end is told.
    hardly = {**few.suspects.record, "rows": 800, "between": {"low": 0.0, "high": 1.2, "most": 3.0}}
    said = verdict(replace(found, suspects=replace(found.suspects, record=hardly))).sentence
    assert "; at most about 1 is wrong (95\u00a0% CI), and no closer number can be estimated: 8 rows are too few; without a closer" in said
    several = {**hardly, "between": {"low": 0.0, "high": 3.2, "most": 3.2}}
    assert "at most about 3 are wrong (95" in verdict(replace(found, suspects=replace(found.suspects, record=several))).sentence
    known = replace(found, suspects=replace(found.suspects, record={**some.suspects.record, "explained": 0.02}))
    assert (
        "CI), and no closer number can be estimated: so many labels contradict the models that hard rows and wrong "
        in verdict(known).sentence
    )
    nothing = replace(found, suspects=replace(found.suspects, record={**weak.suspects.record, "explained": -0.01}))
    few_rows = "8 rows are too few for models to know more of labels than how many each class has; without that number none "
    assert few_rows in verdict(nothing).sentence
    monkeypatch.setattr("cartograph.page.unknown_number.VERY_FEW", 8)
    assert "cannot be estimated: the models know little more of labels than how many each class has, since " in verdict(nothing).sentence
    assert "since what they read hardly says or very many are wrong; without that number none " in verdict(nothing).sentence
    hard = replace(found, suspects=replace(found.suspects, record={**found.suspects.record, "unknown": "hard rows"}))
    assert (
        "surest about contradict them, so that hard rows and wrong labels look alike; without that number none is "
        in verdict(hard).sentence
    )
    noisy = replace(found, suspects=replace(found.suspects, record={**found.suspects.record, "unknown": "much noise"}))
    assert (
        "so many labels contradict the models that hard rows and wrong labels look alike; without that number none "
        in verdict(noisy).sentence
    )
    for columns, which in ((["grade"], "`grade` tells"), (["a", "b"], "each of 2 columns tells")):
        record = {**found.suspects.record, "unknown": "leaked", "leaked_by": columns, "calibrated": False, "wrong": None}
        leaked = replace(found, suspects=replace(found.suspects, record=record))
        assert (
            f"cannot be estimated: {which} the label of (nearly) every row by itself, so that wrong labels would"
            in verdict(leaked).sentence
        )
    words = {"unknown": "leaked", "leaked_by": [": git"], "leaked_words": True, "calibrated": False, "wrong": None}
    leaked = replace(found, suspects=replace(found.suspects, record={**found.suspects.record, **words}))
    assert (
        "cannot be estimated: a word per class, such as `: git`, tells the label of most rows by itself, so that"
        in verdict(leaked).sentence
    )
