"""A matcher with the records that it knows: probabilities of pairs that somebody asks about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cartograph.errors import InputError
from cartograph.pairs.matcher.blocked import COMBINED, block
from cartograph.pairs.matcher.features import Features
from cartograph.pairs.matcher.fitting import fit_matcher
from cartograph.pairs.matcher.known_records import KnownRecords, load_matcher
from cartograph.pairs.matcher.matching import match_records
from cartograph.pairs.matcher.model import Matcher
from cartograph.pairs.matcher.records import Records
from cartograph.pairs.models.bow import CosineBow
from cartograph.pairs.pair_space import PairSpace

WORDS = [f"word{number}" for number in range(40)]
TEXTS = ["how do I learn french", "how can I learn french", "what is a cat", "what eats a cat", "learn to swim"]
NAMES = (["canon powershot sd1000", "nikon coolpix l11", "sony bravia"], ["sony bravia tv", "powershot sd1000 canon", "nikon coolpix"])
PRICES = (["199.00", "119", ""], ["899", "199", "60"])


def known(folder: Path, records: Records, matcher: Matcher) -> KnownRecords:
    """Return what was written and read again."""
    (folder / "model").mkdir()
    matcher.save(folder / "model")
    if matcher.learnt:
        CosineBow.create(records.left, 1).save(folder / "model")
    (folder / "kept").mkdir()
    KnownRecords(folder / "model", records, 3).save(folder / "kept")
    return KnownRecords.load(folder / "kept")


def shops() -> Records:
    sides = [[" ".join(filter(None, row)) for row in zip(NAMES[side], PRICES[side], strict=True)] for side in (0, 1)]
    return Records(sides[0], sides[1], {"name": NAMES, "price": PRICES})


def test_known_records_have_the_probabilities_of_their_matches(tmp_path: Path) -> None:
    own = known(tmp_path, shops(), Matcher(COMBINED, slope=0.5))
    assert own.columns == ("left_name", "left_price", "right_name", "right_price")
    every = match_records(Matcher(COMBINED, slope=0.5), shops(), 3, -50.0)
    left, right = every.left.tolist(), every.right.tolist()
    asked = {f"left_{name}": [values[0][row] or None for row in left] for name, values in shops().fields.items()}
    asked |= {f"right_{name}": [values[1][row] for row in right] for name, values in shops().fields.items()}
    assert own.probabilities(asked) == pytest.approx(every.probability)


def test_trees_that_were_read_again_say_the_same(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    left = [" ".join(rng.choice(WORDS, 4)) for _ in range(30)]
    records = Records(left, [f"{' '.join(text.split()[::-1])} new" for text in left])
    rows = np.arange(30)
    pairs = block(PairSpace(rows, rows, 30, False), 30, Features(records), 3)
    matcher = fit_matcher(pairs, pairs.keys, (pairs.keys // 30 == pairs.keys % 30).astype(np.int8), COMBINED, 1)
    own = known(tmp_path, records, matcher)
    found = own.probabilities({"left": [left[0], left[0]], "right": [records.right[0], records.right[1]]})
    every = match_records(matcher, records, 3, -50.0)
    [same] = every.probability[(every.left == 0) & (every.right == 0)]
    assert found[0] == pytest.approx(same)
    assert found[0] > 0.8 > found[1]


@pytest.mark.parametrize("learnt", [0.0, 3.0])
def test_texts_of_one_set_are_compared_in_either_order(tmp_path: Path, learnt: float) -> None:
    own = known(tmp_path, Records(TEXTS, TEXTS), Matcher(COMBINED, learnt=learnt))
    assert own.columns == ("left", "right")
    matcher, vectors = load_matcher(own.folder, own.records)
    assert (vectors is None) == (learnt == 0.0)
    every = match_records(matcher, own.records, 3, -50.0, learnt=vectors)
    there = {"left": [TEXTS[row] for row in every.left.tolist()], "right": [TEXTS[row] for row in every.right.tolist()]}
    assert own.probabilities(there) == pytest.approx(every.probability)
    assert own.probabilities({"left": there["right"], "right": there["left"]}) == pytest.approx(every.probability)
    assert own.probabilities({"left": ["learn to swim", " learn to swim"], "right": ["learn to swim"] * 2}).tolist() == [1.0, 1.0]


def test_a_record_that_is_new_stands_among_the_known_ones(tmp_path: Path) -> None:
    own = known(tmp_path, Records(TEXTS, TEXTS), Matcher(COMBINED))
    like, unlike = own.probabilities({"left": ["how may I learn french"] * 2, "right": [TEXTS[0], "zebra"]})
    assert like > 0.5
    assert unlike == 0.0, "blocking proposes no pair without a common term"
    assert own.probabilities({"left": [], "right": []}).shape == (0,)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    own = known(tmp_path, shops(), Matcher(COMBINED))
    with pytest.raises(
        InputError, match="pairs lack the column `left_price`; the matcher reads left_name, left_price, right_name, right_price"
    ):
        own.probabilities({"left_name": np.array(["a"]).tolist()})
