"""What the experiment `fractions` says it found."""

from __future__ import annotations

from cartograph.experiments.fractions import _answer


def test_a_share_at_which_trainings_failed_is_not_called_better() -> None:
    found = [
        ("random", 0.05, 0.2, 0),
        ("ambiguous", 0.05, 0.3, 4),  # of the one seed that learnt something
        ("random", 0.1, 0.2, 1),
        ("ambiguous", 0.1, 0.3, 0),
        ("random", 0.2, 0.4, 0),
        ("ambiguous", 0.2, None, 5),
    ]
    means = [
        {"strategy": strategy, "fraction": fraction, "easy": 0, "rows": 9, "set": "test", "mean": mean, "sd": None, "failed": failed}
        for strategy, fraction, mean, failed in found
    ]
    said = "on test ambiguous rows are above as many random ones at 10\u00a0% of 2; 10 trainings ended at the largest class"
    assert _answer(means, ["test"]) == said
