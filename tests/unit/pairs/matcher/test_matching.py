"""A matcher on records that it has not seen, and thresholds for a precision that is asked for."""

from __future__ import annotations

import numpy as np
import pytest

from cartograph.errors import InputError
from cartograph.pairs.estimate import POSITIVE, RANDOM, Sample
from cartograph.pairs.matcher.blocked import COMBINED, block
from cartograph.pairs.matcher.features import Features
from cartograph.pairs.matcher.fitting import fit_matcher
from cartograph.pairs.matcher.matching import Matches, among_more, match_records, one_to_one, threshold_at, threshold_for
from cartograph.pairs.matcher.model import Matcher, _numbered
from cartograph.pairs.matcher.records import Records
from cartograph.pairs.pair_space import PairSpace

ANY = -50.0


def shop(names: list[str], prices: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    return [f"{name} {price}" for name, price in zip(names, prices, strict=True)], {"name": names, "price": prices}


def records(left: list[tuple[str, str]], right: list[tuple[str, str]]) -> Records:
    sides = [shop([name for name, _ in side], [price for _, price in side]) for side in (left, right)]
    return Records(sides[0][0], sides[1][0], {name: (sides[0][1][name], sides[1][1][name]) for name in ("name", "price")})


LEFT = [("canon powershot sd1000 silver", "199.00"), ("nikon coolpix l11", "119"), ("sony bravia television", "")]
RIGHT = [("sony bravia tv television", "899"), ("powershot sd1000 canon", "199"), ("nikon coolpix l11 camera", "60")]


def test_the_likeliest_pairs_come_first_with_how_alike_their_fields_are() -> None:
    found = match_records(Matcher(COMBINED), records(LEFT, RIGHT), 3, ANY)
    assert np.all(np.diff(found.score) <= 0)
    best = dict(reversed(list(zip(found.left.tolist(), found.right.tolist(), strict=True))))
    assert best == {0: 1, 1: 2, 2: 0}
    reasons = dict(zip(zip(found.left.tolist(), found.right.tolist(), strict=True), found.reasons, strict=True))
    assert reasons[0, 1].endswith("price 1.00")
    assert reasons[1, 2].endswith("price 0.50"), "119 and 60 differ by half of the larger"
    assert reasons[2, 0].endswith("price is missing")


def test_dates_are_told_apart_where_people_look() -> None:
    names, born, others = ["ann", "bob", "cat"], ["19640225", "19781231", "19991010"], ["19640225", "19800704", "19991001"]
    texts = [[f"{name} {date}" for name, date in zip(names, dates, strict=True)] for dates in (born, others)]
    found = match_records(Matcher(COMBINED), Records(*texts, {"name": (names, names), "born": (born, others)}), 3, ANY)
    reasons = dict(zip(zip(found.left.tolist(), found.right.tolist(), strict=True), found.reasons, strict=True))
    assert reasons[0, 0] == "name 1.00; born 1.00"
    assert reasons[1, 1] == "name 1.00; born 0.38", "as amounts they differ by less than one in a thousand"
    assert reasons[2, 2] == "name 1.00; born 0.88"


def test_pairs_below_the_least_score_are_left_out() -> None:
    every = match_records(Matcher(COMBINED), records(LEFT, RIGHT), 3, ANY)
    least = float(every.score[1])
    assert match_records(Matcher(COMBINED), records(LEFT, RIGHT), 3, least).score.tolist() == every.score[every.score >= least].tolist()


def test_one_set_is_matched_with_itself_once() -> None:
    texts = ["how do I learn french", "how can I learn french", "what is a cat"]
    found = match_records(Matcher(COMBINED), Records(texts, texts), 2, ANY)
    assert np.all(found.left < found.right)
    assert (found.left[0], found.right[0]) == (0, 1)
    assert found.reasons[0].startswith("text 0.")


def trained(own: Records) -> Matcher:
    space = PairSpace(np.arange(len(own.left)), np.arange(len(own.right)), len(own.right), False)
    pairs = block(space, len(own.left), Features(own), 8)
    label = (pairs.keys // len(own.right) == pairs.keys % len(own.right)).astype(np.int8)
    return fit_matcher(pairs, pairs.keys, label, COMBINED, 1)


def many() -> Records:
    rng = np.random.default_rng(3)
    words = [f"word{number}" for number in range(60)]
    names = [" ".join([*rng.choice(words, 4), f"kx{number}00"]) for number in range(40)]
    prices = [f"{price:.2f}" for price in rng.uniform(5, 500, 40)]
    return records(list(zip(names, prices, strict=True)), [(f"{name} new", price) for name, price in zip(names, prices, strict=True)])


def test_records_without_numbers_or_codes_are_matched_by_what_they_have() -> None:
    matcher = trained(many())
    assert any("codes" in name for name in matcher.names)
    plain = records([("red chair oak", "10"), ("blue lamp", "20")], [("blue lamp small", "20"), ("oak chair red", "10")])
    found = match_records(matcher, plain, 2, ANY)
    kept = one_to_one(found, symmetric=False)
    assert set(zip(found.left[kept].tolist(), found.right[kept].tolist(), strict=True)) == {(0, 1), (1, 0)}


def test_a_field_that_the_records_lack_is_named() -> None:
    matcher, texts = trained(many()), ["red chair", "blue lamp"]
    with pytest.raises(InputError, match=r"features that these records do not have, such as `name: .*`; give the columns"):
        match_records(matcher, Records(texts, [*texts]), 2, ANY)


def test_a_field_called_as_the_whole_text_is_no_other_feature() -> None:
    assert _numbered(["text: words", "text: words", "price: amount"]) == [("text: words", 0), ("text: words", 1), ("price: amount", 0)]


def test_each_record_has_one_partner_at_most_the_likeliest() -> None:
    left, right = np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1])
    found = Matches(left, right, np.array([4.0, 3.0, 2.0, 1.0]), ("",) * 4)
    assert one_to_one(found, symmetric=False).tolist() == [True, False, False, True]
    assert one_to_one(found, symmetric=True).tolist() == [True, False, False, True]
    assert one_to_one(found.only(np.array([1, 3])), symmetric=True).tolist() == [True, False]


SCORE = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
SAMPLE = Sample(np.arange(5), np.array([POSITIVE, RANDOM, POSITIVE, RANDOM, POSITIVE], np.int8), np.array([1.0, 1, 1, 4, 1]), 8)


def test_a_threshold_has_the_highest_recall_of_those_that_are_precise_enough() -> None:
    found = threshold_for(SAMPLE, SCORE, 0.6)
    assert found is not None
    assert (found.score, found.positives) == (3.0, 3)
    assert (found.precision, found.recall) == pytest.approx((2 / 3, 2 / 3))
    surest = threshold_for(SAMPLE, SCORE, 1.0)
    assert surest is not None
    assert surest.score == 5.0
    assert threshold_for(SAMPLE, np.array([1.0, 5.0, 2.0, 4.0, 3.0]), 0.9) is None


def test_a_given_threshold_says_what_it_gives() -> None:
    found = threshold_at(SAMPLE, SCORE, 3.5)
    assert (found.precision, found.recall) == pytest.approx((0.5, 1 / 3))
    below_every_positive = threshold_at(SAMPLE, np.array([5.0, 1.0, 4.0, 1.5, 3.0]), 0.5)
    assert (below_every_positive.precision, below_every_positive.recall) == pytest.approx((3 / 8, 1.0))
    above = threshold_at(SAMPLE, SCORE, 9.0)
    assert np.isnan(above.precision)
    assert above.recall == 0.0


def test_where_records_meet_more_others_a_threshold_is_less_precise() -> None:
    whole = among_more(SAMPLE, 10, 40)
    assert whole.weight.tolist() == [1, 4, 1, 16, 1]
    at, apart = threshold_at(whole, SCORE, 2.5), threshold_at(SAMPLE, SCORE, 2.5)
    assert (at.precision, apart.precision) == pytest.approx((2 / 6, 2 / 3))
    assert at.recall == apart.recall
    assert threshold_for(whole, SCORE, 0.6) != threshold_for(SAMPLE, SCORE, 0.6)
    assert among_more(SAMPLE, 40, 10).weight.tolist() == SAMPLE.weight.tolist()
