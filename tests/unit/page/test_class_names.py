"""What the page says of classes that models cannot tell apart."""

from __future__ import annotations

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
        "If they mean the same, make them one class; else what tells them apart is not in what is read."
    )
    assert sentence in verdict(found).lines
    assert indistinct_sentence(with_suspects(audit)) == indistinct_sentence(audit) == ""


def test_at_most_three_pairs_are_named(audit: Audit) -> None:
    named = " from ".join(f"`{name}`" for name in audit.info.labels[:2])
    assert indistinct_sentence(with_suspects(audit, indistinct=[[0, 1]] * 5)).startswith(
        f"Models tell {named}, {named}, {named} and 2 more pairs hardly better than by chance: "
    )
