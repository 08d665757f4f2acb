"""What to label next, on texts of which one word decides how variable they are."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.errors import InputError
from cartograph.selection.expand import FEWEST, expand

WORDS = [f"word{number}" for number in range(40)]


def texts(rng: np.random.Generator, rows: int, maybe: np.ndarray) -> list[tuple[str, ...]]:
    return [(" ".join([*rng.choice(WORDS, 6), "perhaps" if unsure else "surely"]),) for unsure in maybe]


def made(seed: int, predictable: bool) -> tuple[list[tuple[str, ...]], np.ndarray, list[tuple[str, ...]], np.ndarray]:
    rng = np.random.default_rng(seed)
    unsure, pool = rng.random(300) < 0.3, rng.random(200) < 0.3
    variability = np.where(unsure if predictable else rng.permutation(unsure), 0.4, 0.1) + rng.normal(0, 0.02, 300)
    return texts(rng, 300, unsure), variability, texts(rng, 200, pool), pool


def test_rows_like_the_ambiguous_ones_come_first() -> None:
    train, variability, pool, unsure = made(1, predictable=True)
    ambiguous = np.flatnonzero(variability > 0.25)
    found = expand(train, variability, ambiguous, pool, np.random.default_rng(0), listed=20)
    assert sorted(found.order.tolist()) == list(range(200))
    assert unsure[found.order[: unsure.sum()]].all()
    assert (np.diff(found.scores[found.order]) <= 0).all()
    assert found.scores[unsure].min() > found.scores[~unsure].max()
    assert found.known is not None and found.known.low > 0.5
    assert len(found.alike) == len(found.similarity) == 20
    assert set(found.alike.tolist()) <= set(ambiguous.tolist())
    assert ((found.similarity > 0) & (found.similarity <= 1)).all()


def test_the_most_similar_row_is_the_one_of_the_same_rows() -> None:
    train, variability, pool, _ = made(2, predictable=True)
    ambiguous = np.flatnonzero(variability > 0.25)
    pool[7] = (train[ambiguous[5]][0].title(),)
    found = expand(train, variability, ambiguous, pool, np.random.default_rng(0), listed=200)
    place = found.order.tolist().index(7)
    assert found.alike[place] == ambiguous[5]
    assert found.similarity[place] == pytest.approx(1)


def test_of_rows_held_out_together_none_is_known_by_its_siblings() -> None:
    rng = np.random.default_rng(4)
    variability = np.repeat(rng.random(60), 4)
    train = [(f"all that speaker{row // 4} says of thing{row // 4}",) for row in range(240)]
    known = []
    for groups in (None, np.arange(240) // 4):
        found = expand(train, variability, np.arange(9), train[:5], np.random.default_rng(0), listed=3, groups=groups)
        assert found.known is not None
        known.append(found.known.r)
    assert known[0] > 0.8 and abs(np.nan_to_num(known[1])) < 0.4


def test_what_the_texts_do_not_tell_is_not_claimed_to_be_known() -> None:
    known = []
    for seed in range(5):
        train, variability, pool, _ = made(seed, predictable=False)
        found = expand(train, variability, np.flatnonzero(variability > 0.25), pool, np.random.default_rng(0), listed=3)
        assert found.known is not None
        known.append(found.known)
    assert sum(one.low > 0 for one in known) <= 1
    assert all(abs(one.r) < 0.3 for one in known)


def test_the_same_again_is_the_same_and_equal_rows_keep_their_order() -> None:
    train, variability, pool, _ = made(3, predictable=True)
    ambiguous = np.flatnonzero(variability > 0.25)
    one, two = (expand(train, variability, ambiguous, pool[:5] * 3, np.random.default_rng(4), listed=15) for _ in range(2))
    assert one.order.tolist() == two.order.tolist()
    assert one.scores.tolist() == two.scores.tolist()
    for place in range(5):
        assert [row for row in one.order.tolist() if row % 5 == place] == [place, place + 5, place + 10]


def test_the_rows_of_which_the_maps_model_is_least_certain_come_first() -> None:
    train, variability, pool, _ = made(3, predictable=True)
    certainty = np.linspace(0.5, 1.0, 200)[::-1]
    found = expand(train, variability, np.array([3, 5]), pool, np.random.default_rng(0), listed=4, certainty=certainty)
    assert found.order.tolist() == list(range(199, -1, -1))
    np.testing.assert_allclose(found.scores, 1 - certainty)
    assert found.known is None
    assert set(found.alike.tolist()) <= {3, 5}


def test_a_map_without_variability_knows_nothing() -> None:
    train, _, pool, _ = made(3, predictable=True)
    found = expand(train, np.full(300, 0.1), np.arange(3), pool, np.random.default_rng(0), listed=5)
    assert found.known is not None and np.isnan(found.known.r)
    assert np.isfinite(found.scores).all()


@pytest.mark.parametrize(
    ("rows", "ambiguous", "pool", "message"),
    [
        (FEWEST - 1, [0], 3, r"the map has 49 rows, and no fewer than 50 teach"),
        (FEWEST, [], 3, r"the map has no ambiguous row"),
        (FEWEST, [0], 0, r"the pool has no rows left to choose from"),
    ],
)
def test_what_cannot_be_ranked_is_refused(rows: int, ambiguous: list[int], pool: int, message: str) -> None:
    train, variability, others, _ = made(1, predictable=True)
    with pytest.raises(InputError, match=message):
        expand(train[:rows], variability[:rows], np.array(ambiguous, np.int64), others[:pool], np.random.default_rng(0), listed=1)
