"""Which classifier of planted label errors to use: the paper's single feature, all measures of the map, or a committee beside it.

Source: Swayamdipta et al., *Dataset Cartography* (EMNLP 2020), §5, for the first. Each candidate is tested as there, by F1 on a second
balanced sample, and then fitted once more on *all* rows of the noised map, flipped and clean weighing the same: the prior is
still one half, as in the paper, but the fit does not hang on which few clean rows were drawn (on the built-in corpus the paper's fit
on 30 + 30 rows flagged from 378 to 502 rows by the draw alone, this one 297).

No other prior is put in. Real errors are among the clean half, and temper the fit the more, the more there are: of the rows flagged
so, .63 to .99 were wrong on TREC, Subj and the built-in corpus with 3 to 20 % planted errors, of those above .95 nearly all (on
SST-2, where a bag of words knows little, .28 to .55 and .61 to .88). Estimating the prior by expectation maximisation (Saerens
et al. 2002) flagged next to nothing, since a penalised classifier is less certain than its density ratio.

Candidates are compared by cross-validated average precision on the planted flips. Rows that every candidate flags on the *original*
map are left out: they may well be errors, and then to rank them high is no mistake. Differences smaller than one flip are none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from cartograph.data.arrays import Bools, Floats, Ids, Integers
from cartograph.errors import InputError
from cartograph.maps.measures import Measures as MapMeasures
from cartograph.statistics.metrics import average_precision
from cartograph.suspects.committee import Committee
from cartograph.suspects.detector import Detector, Measures, fit_detector

Name = Literal["confidence", "measures", "committee"]
Asked = Literal["auto", "confidence", "measures", "committee"]

PREFERRED: tuple[Name, ...] = ("committee", "measures", "confidence")
"""Which is used where several are equally good: first the one whose models never saw the row, so that they cannot have learnt an error by
heart; then the one that sees more of the map."""

_HELD_OUT = ("out_of_fold_confidence", "out_of_fold_variability", "out_of_fold_margin")
_MAP = ("confidence", "variability", "correctness", "aum", "el2n", "loss", *_HELD_OUT)
_PARTS = 5
# One feature has two parameters and needs no penalty; several that say nearly the same do.
_ALONE, _SEVERAL = 100.0, 1.0


@dataclass(frozen=True)
class Compared:
    """The candidates, and the one that is used.

    Attributes:
        name: of the one that is used.
        candidates: by name; ``f1`` by the paper's balanced samples, ``average_precision`` as the module says.
        variability: the paper's other single feature, for comparison; F1 alone is meant.
        left_out: rows left out of the comparison.
        reason: why the one is used, in a sentence.
    """

    name: Name
    candidates: Mapping[Name, Detector]
    variability: Detector
    left_out: int
    reason: str

    @property
    def chosen(self) -> Detector:
        """The detector that is used."""
        return self.candidates[self.name]


def detector_columns(measures: MapMeasures, committee: Committee | None, labels: Ids) -> dict[str, Floats]:
    """Return what detectors may read, each ``(n_examples,)``: the map's measures, and the committee's doubt and margin.

    ``doubt`` is the log odds of the committee's doubt (higher = more suspect), ``margin`` the log ratio of its probabilities of the given
    label and of the best other one (lower = more suspect). K-fold training adds its measures to the map's.

    Args:
        measures: of the map; those that are None are left out.
        committee: of the same rows and labels; None where texts do not tell classes apart.
        labels: label ids, ``(n_examples,)``.
    """
    columns = {name: np.asarray(values, dtype=np.float64) for name in _MAP if (values := getattr(measures, name)) is not None}
    if committee is not None:
        doubt = np.clip(committee.doubt.score, 1e-9, 1.0 - 1e-9)
        rows = np.arange(len(labels))
        others = committee.probabilities.copy()
        others[rows, labels] = 0.0
        columns["doubt"] = np.log(doubt / (1.0 - doubt))
        columns["margin"] = np.log(np.maximum(committee.probabilities[rows, labels], 1e-12) / np.maximum(others.max(axis=1), 1e-12))
    return columns


def feature_sets(columns: Measures) -> dict[Name, tuple[str, ...]]:
    """Return which columns each candidate reads; a candidate whose columns are not there is left out.

    The committee's goes with one measure of the map, the margin in sample (AUM): more of them, near-copies of one another, outvoted what
    is known out of fold (mean average precision over 13 planted sets .748 with all, .765 with one, .668 without committee).
    """
    sets: dict[Name, tuple[str, ...]] = {"confidence": ("confidence",), "measures": tuple(name for name in _MAP if name in columns)}
    if "doubt" in columns:
        sets["committee"] = ("aum" if "aum" in columns else "confidence", "doubt", "margin")
    return sets


def compare_detectors(
    noised: Measures, original: Measures, planted: Bools, rng: np.random.Generator, *, asked: Asked = "auto", assumed: bool = False
) -> Compared:
    """Fit every candidate on planted flips, compare them, and choose.

    Args:
        noised: columns after the flips (``detector_columns``), each ``(n_examples,)``.
        original: the same columns before.
        planted: which rows were flipped, ``(n_examples,)``.
        rng: draws samples and parts; the same for all candidates.
        asked: which to use; ``auto`` = the best.
        assumed: the flips' measures were assumed rather than measured, so that comparing would compare assumptions: ``auto`` is
            then ``confidence``, and no other candidate is fitted unless it is the one asked for.

    Raises:
        InputError: the candidate that was asked for cannot be had here; or as ``detector.fit_detector``.
    """
    sets = feature_sets(noised)
    if asked != "auto" and asked not in sets:
        raise InputError(
            f"`noise.detector` is {asked}, which cannot be had here: texts of multiple-choice rows do not tell their classes apart; use "
            f"auto, {' or '.join(sets)}."
        )
    if assumed:
        sets = {name: sets[name] for name in sets if name in ("confidence", asked)}
    seed = int(rng.integers(2**63))

    def balanced(features: tuple[str, ...]) -> Detector:
        return fit_detector(noised, features, planted, np.random.default_rng(seed))

    fitted = {name: _on_all_rows(balanced(features), noised, planted) for name, features in sets.items()}
    flagged = np.all([detector.probability(original) >= 0.5 for detector in fitted.values()], axis=0)
    kept = planted | ~flagged
    part = _parts(planted, np.random.default_rng(seed))
    candidates = {name: _with_precision(detector, noised, planted, kept, part) for name, detector in fitted.items()}
    name = _best(candidates, int(planted.sum())) if asked == "auto" else asked
    return Compared(name, candidates, balanced(("variability",)), int((~kept).sum()), _reason(name, candidates, asked, assumed))


def _on_all_rows(detector: Detector, measures: Measures, planted: Bools) -> Detector:
    table = _table(measures, detector.features)
    centre, scale, weights, bias = _fit(table, planted)
    return replace(detector, centre=centre, scale=scale, weights=weights, bias=bias)


def _with_precision(detector: Detector, measures: Measures, planted: Bools, kept: Bools, part: Integers) -> Detector:
    table = _table(measures, detector.features)
    odds = np.empty(len(planted))
    for held_out in range(int(part.max()) + 1):
        outside = part != held_out
        centre, scale, weights, bias = _fit(table[outside], planted[outside])
        odds[~outside] = ((table[~outside] - centre) / scale * weights).sum(axis=1) + bias
    return replace(detector, average_precision=average_precision(planted[kept], odds[kept]))


def _fit(table: Floats, planted: Bools) -> tuple[Floats, Floats, Floats, float]:
    from sklearn.linear_model import LogisticRegression

    centre, scale = table.mean(axis=0), table.std(axis=0)
    scale[scale <= 1e-12 * np.maximum(1.0, np.abs(centre))] = 1.0
    weight = np.where(planted, 1.0, planted.sum() / (~planted).sum())
    model = LogisticRegression(C=_ALONE if table.shape[1] == 1 else _SEVERAL, max_iter=1000)
    model.fit((table - centre) / scale, planted, sample_weight=weight)
    return centre, scale, model.coef_[0], float(model.intercept_[0])


def _parts(planted: Bools, rng: np.random.Generator) -> Integers:
    """Return the part of each row in the cross-validation: flips, and clean rows, spread evenly."""
    order = rng.permutation(len(planted))
    order = order[np.argsort(planted[order], kind="stable")]
    part = np.empty(len(planted), dtype=np.intp)
    part[order] = np.arange(len(planted)) % min(_PARTS, int(planted.sum()))
    return part


def _table(measures: Measures, features: tuple[str, ...]) -> Floats:
    return np.stack([np.asarray(measures[name], dtype=np.float64) for name in features], axis=1)


def _best(candidates: Mapping[Name, Detector], flips: int) -> Name:
    highest = max(detector.average_precision for detector in candidates.values())
    return next(name for name in PREFERRED if name in candidates and candidates[name].average_precision >= highest - 1.0 / flips)


def _reason(name: Name, candidates: Mapping[Name, Detector], asked: Asked, assumed: bool) -> str:
    if assumed:
        chosen = "confidence, which needs the least of that assumption" if asked == "auto" else f"{name}, as asked"
        return f"The flips' measures are assumed, not measured, so detectors cannot be compared; used: {chosen}."
    listed = ", ".join(f"{other} {candidates[other].average_precision:.3f}" for other in reversed(PREFERRED) if other in candidates)
    ranked = sorted(candidates, key=lambda other: -candidates[other].average_precision)
    if asked != "auto":
        why = "as asked"
    elif name == ranked[0]:
        why = "the best"
    else:
        why = f"as good as {ranked[0]} to within one flip, and preferred to it"
    return f"Cross-validated average precision on the planted flips: {listed}; used: {name}, {why}."
