from __future__ import annotations

import numpy as np
import pytest

from cartograph.pairs.manual_correction import corrected_precision, published_precision, share_of_real


def test_judged_false_positives_correct_the_precision_as_the_paper_does() -> None:
    # Section 3.3: of 50 near and 50 random false positives 72 % and 92 % are real; 8.2 % precision becomes 9.5 %.
    near = share_of_real(range(50), {key: int(key >= 36) for key in range(50)})
    random = share_of_real(range(50), {key: int(key >= 46) for key in range(50)})
    assert (near.judged, near.real, random.real) == (50, 0.72, 0.92)
    assert near.low == pytest.approx(0.583, abs=0.001)
    assert near.high == pytest.approx(0.825, abs=0.001)
    true = 100.0
    false = true / 0.082 - true
    # Which part of the false positives is near, the paper does not say; a third makes its number.
    assert published_precision(true, 0.345 * false, 0.655 * false, near.real, random.real) == pytest.approx(0.095, abs=0.0005)


def test_what_nobody_judged_counts_as_real() -> None:
    share = share_of_real([1, 2], {1: -1, 7: 0})
    assert (share.judged, share.real, share.low, share.high) == (0, 1.0, 1.0, 1.0)
    assert corrected_precision(0, 0, 0, 1, 1) == 0


@pytest.mark.parametrize("hidden", [0.1, 0.3, 0.6])
def test_hidden_positives_bias_the_published_correction_and_not_ours(hidden: float) -> None:
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.normal(2.0, 1.0, 2_000), rng.normal(0.0, 1.0, 60_000)])
    positive = np.arange(len(score)) < 2_000
    truth = _precision_at_a_fifth(score, positive)[0]
    ours, published = [], []
    for _ in range(60):
        stated = positive & (rng.random(len(score)) > hidden)
        _, above = _precision_at_a_fifth(score, stated)
        false = above & ~stated
        near = false & (np.arange(len(score)) % 2 == 0)
        real = []
        for kind in (near, false & ~near):
            judged = rng.permutation(np.flatnonzero(kind))[:50]
            real.append(share_of_real(judged.tolist(), {int(row): int(positive[row]) for row in judged}).real)
        counts = float((above & stated).sum()), float(near.sum()), float((false & ~near).sum())
        ours.append(corrected_precision(*counts, *real))
        published.append(published_precision(*counts, *real))
    error = float(np.std(ours) / len(ours) ** 0.5)
    assert abs(np.mean(ours) - truth) < max(4 * error, 0.01)
    assert np.mean(published) < truth - 0.02 * (hidden > 0.1)
    assert (hidden < 0.6) or np.mean(published) < truth - 0.15


def _precision_at_a_fifth(score: np.ndarray, positive: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the precision where a fifth of the positives is found, and which rows are above that threshold."""
    threshold = np.sort(score[positive])[::-1][int(np.ceil(0.2 * positive.sum())) - 1]
    above = score >= threshold
    return float(positive[above].mean()), above
