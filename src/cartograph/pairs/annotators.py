"""What several annotators agree on, pair by pair, and how far they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from cartograph.pairs.answers import WORDS
from cartograph.pairs.tables import SKIPPED
from cartograph.statistics.annotator_agreement import cohen_kappa, raw_agreement


@dataclass(frozen=True)
class Agreed:
    """What annotators agree on.

    Attributes:
        answers: key -> 1, 0 or −1, of every pair that somebody answered and nobody answered otherwise; skipping is no other answer.
        disputed: key -> who said what, of pairs that were answered yes and no.
    """

    answers: Mapping[int, int]
    disputed: Mapping[int, str]


def agreed(answers: Mapping[str, Mapping[int, int]]) -> Agreed:
    """Return what annotators agree on, and where they differ.

    >>> both = agreed({"Ann": {1: 1, 2: 1, 3: -1}, "Bob": {1: 1, 2: 0, 3: 0}})
    >>> both.answers, both.disputed
    ({1: 1, 3: 0}, {2: 'Ann: yes; Bob: no'})

    Args:
        answers: annotator -> key -> 1, 0 or −1.
    """
    alike: dict[int, int] = {}
    disputed: dict[int, str] = {}
    for key in dict.fromkeys(key for own in answers.values() for key in own):
        said = {who: own[key] for who, own in sorted(answers.items()) if key in own}
        meant = set(said.values()) - {SKIPPED}
        if len(meant) > 1:
            disputed[key] = "; ".join(f"{who}: {WORDS[answer]}" for who, answer in said.items())
        else:
            alike[key] = next(iter(meant), SKIPPED)
    return Agreed(alike, disputed)


def agreement_lines(answers: Mapping[str, Mapping[int, int]]) -> list[str]:
    """Return a sentence for each two annotators who said yes or no to the same pairs: how many, share alike, and Cohen's kappa."""
    lines = []
    for one, other in combinations(sorted(answers), 2):
        both = [key for key, answer in answers[one].items() if answer != SKIPPED and answers[other].get(key, SKIPPED) != SKIPPED]
        if both:
            left, right = ([WORDS[answers[who][key]] for key in both] for who in (one, other))
            alike = 100 * raw_agreement(left, right)
            lines.append(
                f"{one} and {other} both answered {len(both):,} pairs and agree on {alike:.0f} % of them "
                f"(Cohen's kappa {cohen_kappa(left, right):.2f})."
            )
    return lines
