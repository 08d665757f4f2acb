"""What every selection is: a strategy that takes the best rows of a train set by some score, an exact number of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cartograph.data.arrays import Array, Bools, Floats, Floats32, Integers, Objects
from cartograph.data.lots import lots, lowest
from cartograph.data.progress import Progress
from cartograph.errors import InputError

SUSPECT, ACQUISITION, RESISTANCE = "suspect", "acquisition", "resistance"
"""What a strategy may need besides columns of ``schema.MEASURES``."""


@dataclass(frozen=True)
class Acquisition:
    """Predictions and features of all rows by a model that was trained on a small random share of them.

    Attributes:
        probabilities: (n_examples, n_classes), in [0, 1].
        features: (n_examples, width): the input of the model's last layer.
        seen: (n_examples,): whether the model was trained on the row.
    """

    probabilities: Floats
    features: Floats32
    seen: Bools

    def take(self, rows: Integers) -> Acquisition:
        """Return those of these rows, in this order."""
        return Acquisition(self.probabilities[rows], self.features[rows], self.seen[rows])


@dataclass(frozen=True)
class Candidates:
    """The rows that a selection chooses from.

    Attributes:
        uids: (n_examples,) unique strings.
        labels: (n_examples,) label ids.
        measures: name of a column of ``schema.MEASURES`` -> (n_examples,); a column that was not measured is absent. Beside them
            ``RESISTANCE`` to the filter, as ``aflite.tables.resistance`` has it, where there is one.
        suspect: (n_examples,): whether the label is doubted; None where suspects were not looked for.
        acquisition: by a model of a random share; None where no such model was trained.
        progress: called by a strategy that takes long with (rows chosen, rows to choose).
    """

    uids: Objects
    labels: Integers
    measures: Mapping[str, Array] = field(default_factory=dict)
    suspect: Bools | None = None
    acquisition: Acquisition | None = None
    progress: Progress | None = None

    def __len__(self) -> int:
        return len(self.uids)

    def take(self, rows: Integers) -> Candidates:
        """Return these rows, in this order."""
        return replace(
            self,
            uids=self.uids[rows],
            labels=self.labels[rows],
            measures={name: values[rows] for name, values in self.measures.items()},
            suspect=None if self.suspect is None else self.suspect[rows],
            acquisition=None if self.acquisition is None else self.acquisition.take(rows),
        )

    def has(self, need: str) -> bool:
        """Return whether a strategy's need is met."""
        known = {SUSPECT: self.suspect is not None, ACQUISITION: self.acquisition is not None}
        return known.get(need, need in self.measures)


@dataclass(frozen=True)
class Picks:
    """What a strategy chose.

    Attributes:
        rows: (n,) places among the candidates, the best first, each once.
        scores: (n,) what they were chosen by; which way is better, the strategy's ``meaning`` says.
        reasons: (n,) why, in words.
        tied: rows that have exactly the score of the last one chosen, some of them chosen and some not, by lot; 0 where the cut parts
            no equals.
    """

    rows: Integers
    scores: Floats
    reasons: Sequence[str]
    tied: int = 0


Choose = Callable[..., Picks]


@dataclass(frozen=True)
class Strategy:
    """One way to choose rows.

    Attributes:
        name: as in params.yaml.
        meaning: what it keeps, in one line.
        choose: ``(candidates, n, rng)``, for a strategy with a share also ``share=``; returns exactly n picks. What it keeps with a
            smaller n and the same generator should be the first of what it keeps with a larger one, where the definition allows it.
        needs: columns of ``schema.MEASURES``, ``SUSPECT``, ``ACQUISITION`` or ``RESISTANCE``.
        share: for a strategy that mixes two kinds of rows, how much of the selection is of the second kind.
    """

    name: str
    meaning: str
    choose: Choose
    needs: tuple[str, ...] = ()
    share: float | None = None

    def pick(self, candidates: Candidates, n: int, rng: np.random.Generator) -> Picks:
        """Choose n rows.

        Raises:
            InputError: what the strategy needs was not recorded, or fewer than n rows may be chosen.
        """
        for need in self.needs:
            if not candidates.has(need):
                raise InputError(_missing(self.name, need))
        if self.share is None:
            return self.choose(candidates, n, rng)
        return self.choose(candidates, n, rng, share=self.share)


def _missing(name: str, need: str) -> str:
    if need == SUSPECT:
        return f"selection `{name}` leaves suspects out, but the step `noise` has not looked for any; run it, or choose another strategy."
    if need == ACQUISITION:
        return f"selection `{name}` needs a model trained on a random share of the rows, which is missing; train one, or choose another."
    if need == RESISTANCE:
        return f"selection `{name}` takes what AFLite keeps, but nothing was filtered; set `aflite.enabled`, or choose another strategy."
    return (
        f"selection `{name}` needs `{need}` of every row, which takes training dynamics, but only coordinates were imported; "
        "train here (`train.dynamics: null`), import a folder of dynamics, or choose another strategy."
    )


def highest(candidates: Candidates, values: Array, n: int, rng: np.random.Generator, sign: float = 1.0) -> tuple[Integers, int]:
    """Return the n rows of the highest ``sign * values``, ties by lot, the best first; and how many rows tie at the cut."""
    return lowest(-sign * values, n, lots(candidates.uids, rng))
