from __future__ import annotations

import pytest

from cartograph.pairs.manual_correction import corrected_precision, share_of_real


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
    assert corrected_precision(true, 0.345 * false, 0.655 * false, near.real, random.real) == pytest.approx(0.095, abs=0.0005)


def test_what_nobody_judged_counts_as_real() -> None:
    share = share_of_real([1, 2], {1: -1, 7: 0})
    assert (share.judged, share.real, share.low, share.high) == (0, 1.0, 1.0, 1.0)
    assert corrected_precision(0, 0, 0, 1, 1) == 0
