"""AFLite (Le Bras et al., *Adversarial Filters of Dataset Biases*, ICML 2020): Algorithm 1 with its three variants.

Rounds of: many classifiers, each trained on a random part of the rows in play; the share of right predictions that a row gets from
those that did not train on it is its predictability; the most predictable rows leave. What stays is hard to guess from these features.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cartograph.adversarial_filter.checks import memory_to_keep, require_data, require_evaluation, require_sizes
from cartograph.adversarial_filter.classifiers import Classifier, JointLogistic, OneByOne
from cartograph.adversarial_filter.forecast import Forecast, Forecaster
from cartograph.adversarial_filter.many_classes import ManyClasses
from cartograph.adversarial_filter.parts import InParts
from cartograph.adversarial_filter.pool import Pool
from cartograph.adversarial_filter.result import STOPPED_AT_ONE_CLASS, STOPPED_AT_ONE_GROUP, STOPPED_AT_TARGET, STOPPED_AT_THRESHOLD, Result
from cartograph.adversarial_filter.slices import Variant, choose_slice
from cartograph.data.given import array_of
from cartograph.data.kept_logits import WHOLE
from cartograph.data.spread import Spread, in_turn
from cartograph.errors import InputError

if TYPE_CHECKING:
    from cartograph.adversarial_filter.solver.problem import Device


def aflite(
    features: Any,
    labels: npt.ArrayLike,
    *,
    target_size: int,
    train_size: int,
    slice_size: int,
    n_partitions: int = 64,
    threshold: float = 0.75,
    variant: Variant = "slicing",
    seed: int = 13,
    groups: npt.ArrayLike | None = None,
    estimator: Any | None = None,
    penalty: float = 1.0,
    device: Device = "auto",
    memory_limit: int | None = None,
    parts: int = 1,
    spread: Spread = in_turn,
    folder: Path | None = None,
    measure_kept: bool = True,
    evaluation: Mapping[str, tuple[Any, npt.ArrayLike]] | None = None,
    progress: Callable[[int, int], None] | None = None,
    forecast: Callable[[Forecast], None] | None = None,
) -> Result:
    """Filter out the rows whose label is easiest to predict from their features (Le Bras et al., ICML 2020, Algorithm 1).

    ``result.rows`` are the places of the rows that remain: harder, not cleaner, since mislabelled rows also survive. The default
    classifiers need PyTorch; with an ``estimator`` of scikit-learn the filter does not.

    Args:
        features: (n_examples, d) floating point, or lists of such numbers; may be a memory map, which is read in blocks.
        labels: (n_examples,) anything that can be sorted.
        target_size: n: never fewer rows are kept.
        train_size: t: rows that each classifier trains on, below ``target_size``.
        slice_size: k: most rows removed in a round; ``greedy`` removes one.
        n_partitions: m: classifiers in a round.
        threshold: τ in [0, 1]: a row below it is not removed; the filter ends when fewer than a slice are left at or above it.
        variant: ``greedy``, ``slicing`` (what the paper calls AFLite) or ``sampling``.
        seed: of splits, ties and draws; same seed, same result.
        groups: (n_examples,) rows of one group are never split between training and prediction; None: each row alone.
        estimator: any scikit-learn classifier; None: logistic regression by our own solver, at scikit-learn's optimum, and of more than
            128 classes linear discriminants (``many_classes``).
        penalty: of our solver: scikit-learn's ``C``.
        device: of our solver: ``auto``, ``cpu`` or ``cuda``.
        memory_limit: bytes that the filter may take; None: what the machine has free.
        parts: of our solver for up to 128 classes: in how many parts a round's classifiers are fitted, which ``spread`` may compute at the
            same time. The same number, the same result, wherever; another number rounds otherwise, which changes few predictions.
        spread: where the parts are computed.
        folder: takes the features where ``spread`` computes in other processes, which see it.
        measure_kept: whether a last round measures what was kept, without removing anything.
        evaluation: features and labels of sets that are filtered alongside: the round's classifiers, none of which trained on them,
            score their rows, and of those at each predictability as large a share leaves as of the train rows at it.
        progress: called with (rows removed, rows to remove at most).
        forecast: called with how long the filter takes at most: soon after its first round has begun, and from then on.

    Raises:
        InputError: an argument out of range, features that do not fit the labels or are not finite, one class or one group only, too
            little memory, or ``cuda`` on a machine without a GPU.

    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(400) % 2
    >>> hint = np.where(np.arange(400) < 300, labels, rng.integers(0, 2, 400))  # gives the label away in the first 300 rows
    >>> result = aflite(rng.normal(hint[:, None], 0.1, (400, 1)), labels, target_size=100, train_size=50, slice_size=50)
    >>> result.history[0].bias > result.history[-1].bias
    True
    """
    features, labels = array_of(features, "features"), array_of(labels, "labels")
    groups = None if groups is None else array_of(groups, "groups")
    beside = {
        name: (array_of(others, f"features of evaluation set `{name}`"), array_of(theirs, f"labels of evaluation set `{name}`"))
        for name, (others, theirs) in (evaluation or {}).items()
    }
    slice_size = 1 if variant == "greedy" and slice_size >= 1 else slice_size
    require_data(features, labels, groups)
    for name, (others, their_labels) in beside.items():
        require_evaluation(name, others, their_labels, features.shape[1])
    require_sizes(len(labels), target_size, n_partitions, train_size, slice_size, threshold, variant)
    if parts < 1:
        raise InputError(f"parts must be at least 1, but is {parts}; it is the number of parts that a round's classifiers are fitted in.")
    classes = len(np.unique(labels))
    keep = memory_to_keep(features, n_partitions, train_size, classes, memory_limit)
    classifier: Classifier = OneByOne(estimator)
    if estimator is None:
        classifier = ManyClasses() if classes > WHOLE else JointLogistic(penalty, device, keep_bytes=keep // parts)
    if parts > 1 and isinstance(classifier, JointLogistic):
        classifier = InParts(classifier, parts, spread, folder)
    pool = Pool(features, labels, groups, classifier, n_partitions, train_size, seed, beside)
    to_remove = max(len(labels) - target_size, 0)
    timer = Forecaster(len(labels), target_size, slice_size, measure_kept, forecast)
    reason = STOPPED_AT_TARGET
    while (room := len(pool.rows) - target_size) > 0:
        if pool.one_class or pool.one_group:
            reason = STOPPED_AT_ONE_CLASS if pool.one_class else STOPPED_AT_ONE_GROUP
            break
        with timer.a_round() as moved:
            pool.measure(moved)
        size = min(slice_size, room)
        chosen = choose_slice(pool.predictability, size, threshold, variant, np.random.default_rng([seed, 1, pool.number]))
        pool.remove(chosen, threshold)
        if progress is not None:
            progress(len(labels) - len(pool.rows), to_remove)
        if len(chosen) < size:
            reason = STOPPED_AT_THRESHOLD
            break
    if measure_kept and not (pool.one_class or pool.one_group) and not (pool.history and pool.history[-1].removed == 0):
        with timer.a_round() as moved:
            pool.measure(moved)
        pool.remove(np.empty(0, np.intp), threshold)
    return pool.result(reason)
