"""The synthetic experiment of Le Bras et al. 2020, §3.1 and Fig. 2: circles that no line separates, and artefacts that reveal the label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cartograph.adversarial_filter.algorithm import aflite
from cartograph.data.arrays import Bools, Floats, Integers
from cartograph.schema import schema_of

SEPARATIONS = (1.6, 0.9, 0.6, 0.4)
"""Difference of the circles' radii, the most separated first; the inner one's is 1."""

_SPREAD = 0.13
_ARTEFACT_SHARE = 0.75
_FLIPPED_SHARE = 0.08
_ARTEFACT_AT, _ARTEFACT_SPREAD, _NOISE_SPREAD = 1.5, 0.5, 1.0
_FOLDS = 5
_SEED = 13
"""Of sets, filter and folds."""

OUTCOMES = schema_of(
    {
        "separation": "double",
        "when": "string",
        "rows": "int64",
        "linear": "double",
        "rbf": "double",
        "artefacts": "int64",
        "flipped": "int64",
    }
)
"""Accuracy (5-fold cross-validated) of a linear model and of an SVM with an RBF kernel on one set ``before`` and ``after`` the filter, and
``without`` artefacts (the plane alone, before); how many rows have artefacts, and how many a flipped label."""


@dataclass(frozen=True)
class Circles:
    """A set of the experiment.

    Attributes:
        separation: difference of the radii.
        plane: (n_examples, 2) where a row lies.
        hints: (n_examples, 2) artefact or noise.
        labels: (n_examples,) 0 inner, 1 outer, unless flipped.
        artefact: (n_examples,) whether the hints were drawn for the label.
        flipped: (n_examples,) whether the label is not that of the row's circle.
    """

    separation: float
    plane: Floats
    hints: Floats
    labels: Integers
    artefact: Bools
    flipped: Bools

    @property
    def features(self) -> Floats:
        """(n_examples, 4): what filter and models see."""
        return np.concatenate([self.plane, self.hints], axis=1)


def make_circles(separation: float, rows: int, rng: np.random.Generator, *, flip: bool) -> Circles:
    """Draw a set.

    Args:
        separation: difference of the radii.
        rows: examples, half of each class.
        rng: draws everything.
        flip: whether some rows with artefacts get the other label, and the artefact that goes with it.
    """
    circle = np.arange(rows) % 2
    angle = rng.uniform(0, 2 * np.pi, rows)
    radius = 1.0 + separation * circle
    plane = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, _SPREAD, (rows, 2))
    artefact, flipped = np.zeros(rows, bool), np.zeros(rows, bool)
    for label in (0, 1):
        own = rng.permutation(np.flatnonzero(circle == label))
        chosen = own[: round(_ARTEFACT_SHARE * len(own))]
        artefact[chosen] = True
        flipped[chosen[: round(_FLIPPED_SHARE * len(own))]] = flip
    labels = np.where(flipped, 1 - circle, circle).astype(np.int64)
    centre = np.where(labels == 1, _ARTEFACT_AT, -_ARTEFACT_AT)
    hints = np.where(artefact[:, None], rng.normal(centre[:, None], _ARTEFACT_SPREAD, (rows, 2)), rng.normal(0, _NOISE_SPREAD, (rows, 2)))
    return Circles(separation, plane, hints, labels, artefact, flipped)


@dataclass(frozen=True)
class Experiment:
    """The sets, which rows of each the filter kept, and the table of ``OUTCOMES``."""

    sets: tuple[Circles, ...]
    kept: tuple[Bools, ...]
    outcomes: pa.Table


def run_experiment(*, rows: int = 2_000, n_partitions: int = 64) -> Experiment:
    """Filter the four sets to 30 % at least, and measure before and after.

    Args:
        rows: examples of each set.
        n_partitions: classifiers in a round of the filter.
    """
    sets = tuple(
        make_circles(separation, rows, np.random.default_rng([_SEED, place]), flip=place == 0)
        for place, separation in enumerate(SEPARATIONS)
    )
    kept, outcomes = [], []
    for circles in sets:
        result = aflite(
            circles.features,
            circles.labels,
            target_size=round(0.3 * rows),
            train_size=round(0.1 * rows),
            slice_size=round(0.02 * rows),
            n_partitions=n_partitions,
            threshold=0.75,
            seed=_SEED,
        )
        kept.append(result.kept)
        every = np.ones(rows, bool)
        for when, used in (("without", every), ("before", every), ("after", result.kept)):
            outcomes.append(_outcome(circles, when, used))
    return Experiment(sets, tuple(kept), pa.Table.from_pylist(outcomes, schema=OUTCOMES))


def _outcome(circles: Circles, when: str, used: Bools) -> dict[str, object]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.svm import SVC

    features = (circles.plane if when == "without" else circles.features)[used]
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=_SEED)
    linear, rbf = (
        float(cross_val_score(model, features, circles.labels[used], cv=folds).mean())
        for model in (LogisticRegression(), SVC(kernel="rbf"))
    )
    return {
        "separation": circles.separation,
        "when": when,
        "rows": int(used.sum()),
        "linear": linear,
        "rbf": rbf,
        "artefacts": int((used & circles.artefact).sum()),
        "flipped": int((used & circles.flipped).sum()),
    }


def outcomes_text(outcomes: pa.Table) -> str:
    """Return ``OUTCOMES`` as a table of text: per cent right, and shares of rows with artefacts and with flipped labels."""
    lines = ["separation   when      rows   linear   RBF    artefacts   flipped"]
    for row in outcomes.to_pylist():
        shares = (f"{100 * row[name] / row['rows']:5.1f} %" for name in ("artefacts", "flipped"))
        artefacts, flipped = shares
        lines.append(
            f"{row['separation']:>10.1f}   {row['when']:<8}{row['rows']:>6,}   {100 * row['linear']:>6.1f}   {100 * row['rbf']:>4.1f}   "
            f"{artefacts:>9}   {flipped:>7}"
        )
    return "\n".join(lines) + "\n"
