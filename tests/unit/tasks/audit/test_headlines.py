"""The headline numbers: their names, their order, and what they average."""

from __future__ import annotations

import pytest

from tasks.audit.headlines import headlines

DOMAINS = {"dev": "id", "far": "ood", "farther": "ood"}


def test_numbers_of_a_domain_are_averaged_and_retrained_models_come_first() -> None:
    metrics = {"cleaned_minus_original.far.accuracy": 0.02, "cleaned_minus_original.farther.accuracy": 0.04, "far.accuracy": 0.1}
    metrics |= {"original.far.accuracy.mean": 0.5, "dev.accuracy": 0.9, "wrong.expected": 160.0, "dropped": 3.0}
    found = headlines(metrics, DOMAINS)
    assert found["03.accuracy.ood.cleaned_minus_original"] == pytest.approx(0.03)
    assert (found["05.accuracy.ood.original"], found["06.accuracy.id.original"]) == (0.5, 0.9)
    assert (found["02.labels_wrong.expected"], found["07.rows.dropped"]) == (160.0, 3.0)
    assert "04.accuracy.id.cleaned_minus_original" not in found


def test_they_sort_before_every_other_number() -> None:
    names = {
        "suspects.share": 0.1,
        "quarantined.share": 0.0,
        "validation.failed": 1.0,
        "region.hard-to-learn.share": 0.3,
        "aflite.kept": 1.0,
    }
    found = headlines(names, DOMAINS)
    assert sorted({**names, **found})[: len(found)] == list(found)
    assert list(found) == sorted(found)
