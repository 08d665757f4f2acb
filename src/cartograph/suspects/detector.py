"""The detectors of label errors: the committee's doubt, and logistic classifiers of a row's place on the map, fitted on planted flips.

The committee's probability that a label is wrong is estimated from this data (``label_doubt``). The classifiers are those of
Swayamdipta et al., *Dataset Cartography* (EMNLP 2020), §5: logistic, of one measure (or, here, of all of them), the confidence of the model
trained again on flipped labels, fitted on as many flipped as clean rows and tested on a second such sample. Each candidate is tested so,
by F1, and then fitted on *all* rows of the noised map, flipped and clean weighing the same. That is a world in which every second label
is wrong; for the list of suspects the odds are put to ``PRIOR`` instead. What such a classifier gives is a rank
more than a probability: ``PRIOR`` is assumed, not measured.

Candidates are compared by average precision on the planted flips, cross-validated for those that are fitted on them. Rows that any
candidate flags on the *original* map are left out: they may well be errors, and then to rank them high is no mistake. The comparison is on
record, but it does not choose against the committee: flips are even, and of rows that the model finds easy, so they flatter what reads
the model's own dynamics. Of fifteen kinds of planted errors (three sets of 1,000 rows) the committee ranked thirteen better than
confidence did on words alone, and all with an encoder's vectors, whichever found the flips better. Where the committee cannot estimate how
many labels are wrong, its odds are moved until ``PRIOR`` of them are, so that it still lists what is most doubtful; of few and of hard rows
they are only moved down, so that a tenth of a clean set is not called wrong. With much noise, and where the number is roughly known, they
are moved half as far: of 153 sets of the latter kind with planted errors (texts, pairs and tables) that lists 32 % of them at a precision
of .63, where moved whole it would list 22 % at .64; of 20 without errors it lists 2.7 % of the rows in place of 3.3 %.

Cost: seven fits of O(n_examples · n_features) for each classifier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from cartograph.data.arrays import Bools, Floats, Integers
from cartograph.errors import InputError
from cartograph.statistics.metrics import average_precision
from cartograph.statistics.prior import PRIOR, to_prior
from cartograph.suspects.columns import Candidate, Columns, column_table, feature_sets
from cartograph.suspects.flips import balanced_samples
from cartograph.suspects.label_doubt import Unknown

PREFERRED: tuple[Candidate, ...] = ("committee", "measures", "confidence")
"""Which is used where several are equally good: first the one whose models never saw the row, so that they cannot have memorised an error;
then the one that sees more of the map."""

_PARTS = 5
_MOST_LEFT_OUT = 0.5
# One feature has two parameters and needs no penalty; several that say nearly the same do. The paper's fit has scikit-learn's default.
_ALONE, _SEVERAL, _PAPER = 100.0, 1.0, 1.0


class Logistic(NamedTuple):
    """A fitted logistic classifier of planted flips.

    Attributes:
        centre, scale: mean and standard deviation of each feature in the rows that it was fitted on; a constant's scale is 1.
        weights: of the standardised features; the sign says which end is suspect.
        bias: log odds at the centre.
    """

    centre: Floats
    scale: Floats
    weights: Floats
    bias: float

    def log_odds(self, table: Floats) -> Floats:
        """Return the log odds that a row's label is wrong, ``(n_examples,)``, from its features, ``(n_examples, n_features)``."""
        odds: Floats = ((table - self.centre) / self.scale * self.weights).sum(axis=1) + self.bias
        return odds


_AS_IT_IS = Logistic(np.zeros(1), np.ones(1), np.ones(1), 0.0)


@dataclass(frozen=True)
class Detector:
    """A classifier of label errors, and how well it finds planted ones.

    Attributes:
        features: names of the columns that it reads.
        model: fitted on all rows, flipped and clean weighing the same; of the committee's doubt, which is fitted already, the identity.
        f1: of the paper's fit on one balanced sample, on a second, in [0, 1] (the paper: 1.00 for confidence, .70 for variability).
        average_precision: cross-validated, of ranking all rows but those left out, in (0, 1].
        tested_on: rows of the second sample.
        calibrated: whether its probability is estimated from this data, rather than put to ``PRIOR``.
        offset: added to the model's log odds, for that.
    """

    features: tuple[str, ...]
    model: Logistic
    f1: float
    average_precision: float
    tested_on: int
    calibrated: bool = False
    offset: float = 0.0

    def log_odds(self, columns: Columns) -> Floats:
        """Return the log odds that a row's label is wrong, ``(n_examples,)``.

        Raises:
            InputError: a column is missing, or not finite.
        """
        return self.model.log_odds(column_table(columns, self.features)) + self.offset

    def probability(self, columns: Columns) -> Floats:
        """Return the probability that a row's label is wrong, ``(n_examples,)``.

        Raises:
            InputError: as ``log_odds``.
        """
        return sigmoid(self.log_odds(columns))


@dataclass(frozen=True)
class DetectorChoice:
    """The candidates, and the one that is used.

    Attributes:
        name: of the one that is used.
        candidates: by name.
        variability_f1: F1 of the paper's other single feature, for comparison.
        left_out: rows left out of the comparison.
        reason: why the one is used, in a sentence.
    """

    name: Candidate
    candidates: Mapping[Candidate, Detector]
    variability_f1: float
    left_out: int
    reason: str

    @property
    def chosen(self) -> Detector:
        """The detector that is used."""
        return self.candidates[self.name]


def choose_detector(
    noised: Columns,
    original: Columns,
    planted: Bools,
    rng: np.random.Generator,
    *,
    asked: Candidate | Literal["auto"] = "auto",
    assumed: bool = False,
    unknown: Unknown | None = None,
) -> DetectorChoice:
    """Fit every candidate on planted flips, compare them, and choose.

    Args:
        noised: columns after the flips (``columns.detector_columns``), each ``(n_examples,)``.
        original: the same columns before.
        planted: which rows were flipped, ``(n_examples,)``.
        rng: draws samples and parts; the same for all candidates.
        asked: which to use; ``auto`` = the best.
        assumed: the flips' measures were assumed rather than measured, so that comparing would compare assumptions: ``auto`` is
            then ``confidence``, and no other candidate is fitted unless it is the one asked for.
        unknown: why the committee of the original labels cannot tell how many are wrong; None where it can, or without a committee.

    Raises:
        InputError: the candidate that was asked for is not possible here, a column is missing or not finite, or there are too few flips.
    """
    sets = feature_sets(noised)
    if asked != "auto" and asked not in sets:
        raise InputError(
            f"`noise.detector` is {asked}, which is not possible here: nothing that it reads is known of these rows; use auto, "
            f"{' or '.join(sets)}."
        )
    if assumed:
        sets = {name: sets[name] for name in sets if name in ("confidence", asked)}
    seed = int(rng.integers(2**63))
    samples = balanced_samples(planted, np.random.default_rng(seed))
    tables = {name: column_table(noised, features, len(planted)) for name, features in sets.items()}
    models = {name: _AS_IT_IS if name == "committee" else _fit(table, planted) for name, table in tables.items()}
    before = {name: column_table(original, features, len(planted)) for name, features in sets.items()}
    flagged = np.array([models[name].log_odds(table) >= 0 for name, table in before.items()])
    by_any, by_all = np.logical_or.reduce(flagged), np.logical_and.reduce(flagged)
    # Where one of them flags nearly everything, hardly a row would be left to compare them on.
    kept = planted | ~(by_any if by_any[~planted].mean() <= _MOST_LEFT_OUT else by_all)
    part = _parts(planted, np.random.default_rng(seed))
    candidates = {}
    for name, table in tables.items():
        as_it_is = name == "committee"
        odds = table[:, 0] if as_it_is else _out_of_part(table, planted, part)
        precision = average_precision(planted[kept], odds[kept])
        known = as_it_is and unknown is None
        offset = prior_offset(before[name][:, 0], unknown) if as_it_is else float(np.log(PRIOR / (1.0 - PRIOR)))
        f1 = _balanced_f1(table, planted, *samples)
        candidates[name] = Detector(sets[name], models[name], f1, precision, len(samples[1]), known, offset)
    name = _best(candidates, int(planted.sum())) if asked == "auto" else asked
    variability = _balanced_f1(column_table(noised, ("variability",), len(planted)), planted, *samples)
    return DetectorChoice(name, candidates, variability, int((~kept).sum()), _reason(name, candidates, asked, assumed))


def untested_committee(columns: Columns, unknown: Unknown | None) -> Detector:
    """Return the committee's doubt as a detector that no flips were planted for: its scores are NaN, its probabilities the same.

    Args:
        columns: of the rows under their given labels (``columns.detector_columns``).
        unknown: as in ``choose_detector``.

    Raises:
        InputError: there is no committee's doubt among the columns, or it is not finite.
    """
    offset = prior_offset(column_table(columns, ("doubt",))[:, 0], unknown)
    return Detector(("doubt",), _AS_IT_IS, float("nan"), float("nan"), 0, unknown is None, offset)


def prior_offset(odds: Floats, unknown: Unknown | None) -> float:
    """Return what is added to the committee's log odds, ``(n_examples,)``: 0 where the number of wrong labels is estimated.

    Else ``PRIOR`` of the labels are then wrong; of few and of hard rows at most so many, and with much noise, or where their number is
    roughly known, it is half of what that takes.
    """
    if unknown is None:
        return 0.0
    offset = to_prior(odds)
    if unknown in ("much noise", "roughly known"):
        return offset / 2.0
    return min(offset, 0.0) if unknown in ("few rows", "hard rows") else offset


def sigmoid(odds: Floats) -> Floats:
    """Return 1 / (1 + e^−odds), in the form that overflows on neither side."""
    probability: Floats = 0.5 * (1.0 + np.tanh(odds / 2.0))
    return probability


def _fit(table: Floats, planted: Bools, penalty: float | None = None) -> Logistic:
    """Return the classifier of these rows, flipped and clean weighing the same; ``penalty`` is scikit-learn's ``C``."""
    from sklearn.linear_model import LogisticRegression

    centre, scale = table.mean(axis=0), table.std(axis=0)
    scale[scale <= 1e-12 * np.maximum(1.0, np.abs(centre))] = 1.0
    weight = np.where(planted, 1.0, planted.sum() / (~planted).sum())
    model = LogisticRegression(C=penalty or (_ALONE if table.shape[1] == 1 else _SEVERAL), max_iter=1000)
    model.fit((table - centre) / scale, planted, sample_weight=weight)
    return Logistic(centre, scale, model.coef_[0], float(model.intercept_[0]))


def _balanced_f1(table: Floats, planted: Bools, train: Integers, test: Integers) -> float:
    """Return F1 on the second balanced sample of the classifier fitted on the first, as in the paper."""
    from sklearn.metrics import f1_score

    flagged = _fit(table[train], planted[train], _PAPER).log_odds(table[test]) >= 0
    return float(f1_score(planted[test], flagged, zero_division=0.0))


def _out_of_part(table: Floats, planted: Bools, part: Integers) -> Floats:
    """Return each row's log odds by a classifier fitted on the other parts."""
    odds = np.empty(len(planted))
    for held_out in range(int(part.max()) + 1):
        own = part == held_out
        odds[own] = _fit(table[~own], planted[~own]).log_odds(table[own])
    return odds


def _parts(planted: Bools, rng: np.random.Generator) -> Integers:
    """Return the part of each row in the cross-validation: flips, and clean rows, spread evenly."""
    order = rng.permutation(len(planted))
    order = order[np.argsort(planted[order], kind="stable")]
    part = np.empty(len(planted), dtype=np.int64)
    part[order] = np.arange(len(planted)) % min(_PARTS, int(planted.sum()))
    return part


def _best(candidates: Mapping[Candidate, Detector], flips: int) -> Candidate:
    if "committee" in candidates:
        return "committee"
    highest = max(detector.average_precision for detector in candidates.values())
    return next(name for name in PREFERRED if name in candidates and candidates[name].average_precision >= highest - 1.0 / flips)


def _reason(name: Candidate, candidates: Mapping[Candidate, Detector], asked: str, assumed: bool) -> str:
    if assumed:
        chosen = "confidence, which needs the least of that assumption" if asked == "auto" else f"{name}, as asked"
        return f"The flips' measures are assumed, not measured, so detectors cannot be compared; used: {chosen}."
    listed = ", ".join(f"{other} {candidates[other].average_precision:.3f}" for other in reversed(PREFERRED) if other in candidates)
    return f"Average precision on the planted flips: {listed}; used: {name}, {_why(name, candidates, asked)}."


def _why(name: Candidate, candidates: Mapping[Candidate, Detector], asked: str) -> str:
    ranked = sorted(candidates, key=lambda other: -candidates[other].average_precision)
    if asked != "auto":
        return "as asked"
    if name == ranked[0]:
        return "the best"
    if name == "committee":
        return f"whose models never saw the row; only easy rows are flipped, which flatters {ranked[0]}"
    return f"as good as {ranked[0]} to within one flip, and preferred to it"
