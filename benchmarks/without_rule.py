"""What the committee says of texts' labels, and what it says without one of its rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import numpy as np


def doubts(words: Any, characters: Any, labels: np.ndarray, classes: int, rule: str, nothing: object) -> Iterator[Any]:
    """Yield the doubt about labels as an audit has it, then without a rule.

    Args:
        words, characters: features of the texts, as an audit reads them.
        labels: ids, one a text.
        classes: how many there are.
        rule: the function that is the rule, by the path of its name where it is called.
        nothing: what it returns where it finds nothing.
    """
    from cartograph.suspects.committee import committee_scores

    names = [str(label) for label in range(classes)]
    for rules in (nullcontext(), patch(rule, return_value=nothing)):
        with rules:
            yield committee_scores(words, labels, names, np.random.default_rng(13), characters=characters).doubt
