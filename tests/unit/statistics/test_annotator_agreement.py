from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartograph.statistics.annotator_agreement import cohen_kappa, raw_agreement

answers = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30)


@given(answers)
def test_kappa_is_agreement_beyond_chance(rows: list[tuple[str, str]]) -> None:
    one, other = ([row[side] for row in rows] for side in (0, 1))
    found = cohen_kappa(one, other)
    observed = sum(left == right for left, right in rows) / len(rows)
    assert raw_agreement(one, other) == observed
    counts = Counter(one), Counter(other)
    by_chance = sum(counts[0][answer] * counts[1][answer] for answer in "abc") / len(rows) ** 2
    assert found == (1 if by_chance == 1 else pytest.approx((observed - by_chance) / (1 - by_chance), abs=1e-12))
    assert found == pytest.approx(cohen_kappa(other, one), abs=1e-12)


def test_agreement_needs_rows() -> None:
    with pytest.raises(ValueError, match="have 1 and 2"):
        cohen_kappa(["a"], ["a", "b"])
    with pytest.raises(ValueError, match="no rows to compare"):
        raw_agreement([], [])
