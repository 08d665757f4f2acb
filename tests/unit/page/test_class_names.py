"""What the page says of classes that models cannot tell apart."""

from __future__ import annotations

import pytest

from cartograph.page.audit import Audit
from cartograph.page.class_names import indistinct_sentence
from cartograph.page.verdict import verdict
from tests.page_audits import with_suspects


def test_classes_that_are_not_told_apart_are_named(audit: Audit) -> None:
    one, other = audit.info.labels[:2]
    found = with_suspects(audit, indistinct=[[0, 1]])
    sentence = indistinct_sentence(found)
    assert sentence == (
        f"Models tell `{one}` from `{other}` hardly better than by chance: labels of one that should be the other are not found. "
        "If they mean the same, make them one class; if not, very many of their labels have been swapped, or what tells them apart is not "
        "in what is read."
    )
    assert sentence in verdict(found).lines
    assert indistinct_sentence(with_suspects(audit)) == indistinct_sentence(audit) == ""


def test_of_a_far_smaller_class_it_is_said_that_its_labels_may_be_wrong(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cartograph.page.class_names.in_smaller", lambda given, _: given == 1)
    sentence = indistinct_sentence(with_suspects(audit, indistinct=[[0, 1]]))
    assert sentence.endswith(
        f"is not in what is read, or most labels of `{audit.info.labels[1]}` are wrong: its rows come right after the suspects."
    )


def test_at_most_three_pairs_are_named(audit: Audit) -> None:
    named = " from ".join(f"`{name}`" for name in audit.info.labels[:2])
    assert indistinct_sentence(with_suspects(audit, indistinct=[[0, 1]] * 5)).startswith(
        f"Models tell {named}, {named}, {named} and 2 more pairs hardly better than by chance: "
    )
