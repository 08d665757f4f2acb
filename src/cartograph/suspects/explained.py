"""How much a classifier's probabilities explain of the labels, and whether labels that go wrong explain them as well."""

from __future__ import annotations

import numpy as np

from cartograph.data.arrays import Floats, Integers

MISFIT, _SURELY = 0.01, 2.0
"""Loss of likelihood, as a share of the labels' entropy, of so many standard errors at least, that shows that labels do not go wrong as the
surest rows have it: those rows are hard as well, and no number follows from them. Of texts with planted errors (none, 5 and 20 %, in
four ways) none lost more than .002; tables whose classes overlap lost .01 to .1, and of those up to four times the wrong labels were
estimated."""


def entropy_of(given: Integers) -> float:
    """Return the entropy of the labels' shares, in nats."""
    shares = np.bincount(given) / len(given)
    return -float((shares[shares > 0] * np.log(shares[shares > 0])).sum())


def explained_share(own: Floats, entropy: float) -> float:
    """Return 1 − cross-entropy / entropy of the labels' shares, from the given labels' probabilities, ``(n_examples,)``.

    A single surprise counts for no more than one in a thousand.
    """
    own = np.clip(own, 1e-3, None)
    return 1.0 + float(np.log(own).mean()) / entropy if entropy > 0 else 0.0


def clear_share(true_classes: Floats) -> float:
    """Return 1 − mean entropy of the rows / entropy of their mean: 1 where each is surely of one class, 0 where all are alike."""
    shares = true_classes.mean(axis=0)
    mean = -float(np.einsum("nc,nc->", true_classes, np.log(np.clip(true_classes, 1e-300, None)))) / len(true_classes)
    among = -float((shares * np.log(np.clip(shares, 1e-300, None))).sum())
    return 1.0 - mean / among if among > 0 else 0.0


def fits_the_labels(known: Floats, true_classes: Floats, transition: Floats, counted: Floats, given: Integers, entropy: float) -> bool:
    """Return whether the labels are about as likely as true classes gone wrong as they are by the classifier itself (``MISFIT``).

    The true classes are taken as they were fitted through the noise, and as the classifier's probabilities have them by the inverse of the
    noise, negative shares cut off: a probability beyond what the noise allows is what does not fit.

    Args:
        known: class probabilities of the given labels, ``(n_examples, n_classes)``.
        true_classes: those of the true classes, of the same shape.
        transition: T[y, z], the share of the rows of true class y that are labelled z, ``(n_classes, n_classes)``.
        counted: the same as it was counted, with hardly a row added: of few rows, those that are added alone would not fit.
        given: label ids, ``(n_examples,)``.
        entropy: of the labels' shares, in nats.
    """
    own = np.log(np.clip(known[np.arange(len(given)), given], 1e-3, None))
    for noise, shares in (
        (transition, true_classes),
        (transition, _turned_back(known, transition)),
        (counted, _turned_back(known, counted)),
    ):
        gain = np.log(np.clip(np.einsum("nc,nc->n", shares, noise.T[given]), 1e-3, None)) - own
        if -gain.mean() <= max(MISFIT * entropy, _SURELY * gain.std() / np.sqrt(len(gain))):
            return True
    return False


def _turned_back(known: Floats, noise: Floats) -> Floats:
    shares = np.clip(known @ np.linalg.pinv(noise), 1e-12, None)
    turned: Floats = shares / shares.sum(axis=1, keepdims=True)
    return turned
