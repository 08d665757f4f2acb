"""All selections by name: which rows of a train set are worth training on."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches

from cartograph.errors import InputError
from cartograph.selection import al_greedy_k, by_score, compose, mix, random
from cartograph.selection.strategy import Strategy

STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy for strategy in (random.STRATEGY, *by_score.STRATEGIES, al_greedy_k.STRATEGY, mix.STRATEGY, compose.STRATEGY)
}
"""Name -> strategy."""

_WITH_SHARE = re.compile(r"(.+)-(\d*\.\d+|\d+)")


def strategy_named(name: str) -> Strategy:
    """Return a strategy; one that mixes two kinds of rows may carry its share in its name: ``mix-0.2``.

    Raises:
        InputError: there is no strategy of that name, or the share is not between 0 and 1.

    >>> strategy_named("ambiguous").name, strategy_named("mix").share, strategy_named("mix-0.25").share
    ('ambiguous', 0.1, 0.25)
    """
    if name in STRATEGIES:
        return STRATEGIES[name]
    found = _WITH_SHARE.fullmatch(name)
    base = STRATEGIES.get(found[1]) if found else None
    if found is None or base is None or base.share is None:
        near = get_close_matches(name, list(STRATEGIES), n=1)
        raise InputError(
            f"no selection is called `{name}`; " + (f"did you mean `{near[0]}`?" if near else f"known: {', '.join(STRATEGIES)}.")
        )
    share = float(found[2])
    if not 0 < share < 1:
        raise InputError(f"selection `{name}`: the share of easy rows must be above 0 and below 1, but is {share:g}.")
    return replace(base, name=name, share=share)
