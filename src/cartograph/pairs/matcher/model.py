"""A matcher: what turns features of a pair into a probability; data on disk, never code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit

from cartograph.data.arrays import Array, Floats
from cartograph.data.json_files import read_json, write_json
from cartograph.errors import InputError
from cartograph.pairs.matcher.blocked import Blocked
from cartograph.pairs.matcher.ensemble import Ensemble, label_free_odds
from cartograph.pairs.matcher.features import MISSING

CONFIG, ARRAYS = "matcher.json", "matcher.npz"
NOT_PROPOSED = -1000.0
"""Log odds from which pairs that blocking does not propose are ranked, by their label-free score: below all others."""


@dataclass(frozen=True)
class Gain:
    """How much better trees rank labelled pairs, each under trees that did not learn from it, than the label-free score does.

    Attributes:
        value: difference of the areas under the ROC curve, in [−1, 1].
        error: its standard error, by drawing the pairs with replacement.
    """

    value: float
    error: float


@dataclass(frozen=True)
class Matcher:
    """A matcher, trained or not.

    Attributes:
        prior: the label-free score that it begins from: a name in ``Blocked.scores``.
        names: features that its trees read, in their order; empty where it ranks by the label-free score alone.
        ensemble: its trees; None where it has none.
        slope: of the calibration: log odds = slope · raw + learnt · cosine + intercept.
        intercept: of the calibration.
        learnt: weight of the cosine under learnt vectors; 0 without any.
        gain: on the labels that it was trained on; None without trees, and where it was read from disk.
    """

    prior: str
    names: tuple[str, ...] = ()
    ensemble: Ensemble | None = None
    slope: float = 1.0
    intercept: float = 0.0
    learnt: float = 0.0
    gain: Gain | None = None

    @property
    def trained(self) -> bool:
        """Whether its ranking is learnt from labels."""
        return self.ensemble is not None

    @property
    def calibrated(self) -> bool:
        """Whether labels have a part in its probabilities."""
        return self.trained or (self.slope, self.intercept) != (1.0, 0.0)

    def score(self, pairs: Blocked) -> Floats:
        """Return (n_pairs,) calibrated log odds of being positive; pairs that blocking does not propose are below all others."""
        prior = pairs.scores[self.prior]
        score, kept = NOT_PROPOSED + prior, np.flatnonzero(pairs.blocked)
        raw = label_free_odds(prior[kept]) if self.ensemble is None else self.ensemble.log_odds(self._read(pairs)[kept], prior[kept])
        score[kept] = self.slope * raw + self.intercept
        if self.learnt:
            score[kept] += self.learnt * pairs.learnt[kept]
        return score

    def _read(self, pairs: Blocked) -> Array:
        names, table = pairs.whole
        if names != self.names:
            here = {name.partition(": ")[0] for name in names}
            lacking = [name for name in self.names if name not in names]
            # Where no record has a number, a code or a year, there is no feature of them: that is a missing value, not a missing field.
            unknown = [name for name in lacking if name.partition(": ")[0] not in here or "encoder" in name.partition(": ")[2]]
            if unknown:
                raise InputError(
                    f"the matcher reads {len(unknown)} features that these records do not have, such as `{unknown[0]}`; give the columns "
                    "that it was trained on."
                )
            table = np.concatenate([table, np.full((len(table), 1), MISSING, table.dtype)], axis=1)
            places = {name: place for place, name in enumerate(_numbered(names))}
            table = table[:, [places.get(name, -1) for name in _numbered(self.names)]]
        return table

    def save(self, folder: Path) -> None:
        """Write it into an existing folder: JSON, and arrays without pickle."""
        config = {"model": "matcher", "prior": self.prior, "names": self.names, "slope": self.slope, "intercept": self.intercept}
        config["learnt"] = self.learnt
        write_json(folder / CONFIG, config)
        if self.ensemble is not None:
            with (folder / ARRAYS).open("wb") as file:
                np.savez(file, allow_pickle=False, **self.ensemble.arrays())

    @classmethod
    def load(cls, folder: Path) -> Matcher:
        """Return what ``save`` wrote."""
        config = read_json(folder / CONFIG)
        ensemble = None
        if (folder / ARRAYS).exists():
            with np.load(folder / ARRAYS, allow_pickle=False) as arrays:
                ensemble = Ensemble.from_arrays(arrays)
        return cls(config["prior"], tuple(config["names"]), ensemble, config["slope"], config["intercept"], config["learnt"])


def _numbered(names: Sequence[str]) -> list[tuple[str, int]]:
    """Return names with how often each has come before: a field may be called as the whole text is."""
    before: Counter[str] = Counter()
    found = []
    for name in names:
        found.append((name, before[name]))
        before[name] += 1
    return found


def probability(score: Array) -> Floats:
    """Return the probability of being positive of calibrated log odds."""
    share: Floats = expit(np.asarray(score, np.float64))
    return share
