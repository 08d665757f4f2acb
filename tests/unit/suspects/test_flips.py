"""Flips planted in the easy region, and the two balanced samples of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cartograph.errors import InputError
from cartograph.suspects.flips import balanced_samples, choose_flips


@settings(deadline=None)
@given(st.integers(40, 200), st.integers(2, 5), st.floats(0.1, 0.4), st.integers(0, 2**31))
def test_flips_are_an_exact_share_of_all_rows_from_the_easy_region_only(n_examples: int, n_classes: int, share: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, easy = rng.integers(0, n_classes, n_examples), np.arange(n_examples) % 2 == 0
    flips = choose_flips(easy, labels, n_classes, share, np.random.default_rng(seed))
    assert len(flips.rows) == round(share * n_examples) == flips.planted.sum()
    assert easy[flips.rows].all()
    np.testing.assert_array_equal(flips.labels != labels, flips.planted)
    assert flips.labels.min() >= 0 and flips.labels.max() < n_classes


def test_a_flip_gives_every_other_class_equally_often() -> None:
    flips = choose_flips(np.ones(30_000, dtype=bool), np.full(30_000, 1), 4, 0.5, np.random.default_rng(1))
    np.testing.assert_allclose(np.bincount(flips.labels[flips.rows], minlength=4) / 15_000, [1 / 3, 0, 1 / 3, 1 / 3], atol=0.02)


def test_flips_depend_on_the_generator_alone_and_leave_the_input_as_it_is() -> None:
    labels, easy = np.zeros(100, dtype=np.int32), np.ones(100, dtype=bool)
    one, other, third = (choose_flips(easy, labels, 2, 0.1, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.rows, other.rows)
    assert one.rows.tolist() != third.rows.tolist()
    assert not labels.any()


@pytest.mark.parametrize(
    ("share", "n_classes", "message"),
    [
        (
            0.5,
            2,
            r"`flip_share` 0.5 asks for 50 flips, but the easy region has 20 of 100 rows; lower `flip_share` to 0.2 or less, or widen",
        ),
        (0.01, 2, r"`flip_share` 0.01 of 100 rows makes 1 flips, and four is the least .* raise it to 0.04 or more"),
        (0.0, 2, "`flip_share` must be above 0 and below 1, but is 0.0"),
        (0.1, 1, "a label can only be flipped to another class, but there is 1"),
    ],
)
def test_flips_that_cannot_be_planted_are_refused(share: float, n_classes: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose_flips(np.arange(100) < 20, np.zeros(100, dtype=int), n_classes, share, np.random.default_rng(1))


@settings(deadline=None)
@given(st.integers(4, 31), st.integers(0, 2**31))
def test_samples_are_balanced_and_have_no_row_in_common(n_flips: int, seed: int) -> None:
    planted = np.zeros(80, dtype=bool)
    planted[np.random.default_rng(seed).choice(80, n_flips, replace=False)] = True
    one, other = balanced_samples(planted, np.random.default_rng(seed))
    assert not set(one) & set(other)
    for sample in (one, other):
        assert planted[sample].sum() == n_flips // 2 == (~planted[sample]).sum()


def test_too_few_flips_for_two_samples_are_refused() -> None:
    with pytest.raises(InputError, match="at least four flipped rows and as many clean ones, but there are 3 flipped and 7 clean"):
        balanced_samples(np.arange(10) < 3, np.random.default_rng(1))
