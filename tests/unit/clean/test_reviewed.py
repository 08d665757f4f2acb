"""What people's decisions say of the labels that they looked at, and of those that they did not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cartograph.clean.decisions import Decision
from cartograph.clean.reviewed import DECIDED, all_by_people, as_people_found, decided_table, errors_go_on, open_suspects, reviewed
from cartograph.schema import NOISE

WRONG = {"expected": 50.0, "low": 25.0, "high": 100.0, "most": 150.0}


def listed(probability: np.ndarray) -> pa.Table:
    number = len(probability)
    columns = {
        "uid": [f"u{row:03}" for row in range(number)],
        "probability": probability,
        "flagged": probability >= 0.5,
        "suggested": np.zeros(number),
        "suggested_probability": np.zeros(number),
        "rank": np.arange(1, number + 1),
        "reason": ["said"] * number,
    }
    return pa.table([pa.array(columns[field.name]) for field in NOISE], names=NOISE.names).cast(NOISE)


def looked_at(changed: list[bool]) -> pa.Table:
    return pa.table([[f"u{row:03}" for row in range(len(changed))], changed], schema=DECIDED)


# 50 wrong labels are estimated among 200: 36 among the 40 suspects, 14 among the others.
PROBABILITY = np.concatenate([np.full(40, 0.9), np.full(160, 14 / 160)])


def test_a_label_is_changed_where_it_ends_as_another_or_its_row_is_dropped() -> None:
    decisions = {
        "b": Decision("b", "relabel", "bad", "Ann"),
        "a": Decision("a", "keep", None, "Ann"),
        "c": Decision("c", "drop", None, "Ann"),
        "d": Decision("d", "relabel", "good", "Ann"),
    }
    found = decided_table(decisions, dict.fromkeys("abcd", "good"))
    assert found.schema.equals(DECIDED)
    assert found.to_pydict() == {"uid": ["a", "b", "c", "d"], "changed": [False, True, True, False]}


def test_without_decisions_there_is_nothing_to_say() -> None:
    assert reviewed(listed(PROBABILITY), DECIDED.empty_table(), WRONG) is None


def test_what_is_left_is_of_the_rows_that_nobody_looked_at() -> None:
    found = reviewed(listed(PROBABILITY), looked_at([True] * 18 + [False] * 2), WRONG)
    assert found is not None and (found.rows, found.changed) == (20, 18)
    assert found.foreseen == pytest.approx(18.0)
    assert found.low is not None and found.expected is not None and found.high is not None
    assert 10 < found.low < 25 < found.expected < 36 < found.high < 100
    assert found.contradicted is None
    np.testing.assert_array_equal(np.flatnonzero(found.decided), np.arange(20))


def test_the_end_of_what_is_left_allows_for_errors_on_hard_rows_where_that_of_all_did() -> None:
    answers, rows = looked_at([True] * 18 + [False] * 2), listed(np.concatenate([PROBABILITY, np.full(800, 0.01)]))
    before, plain = (reviewed(rows, answers, wrong) for wrong in (WRONG, WRONG | {"scattered": 100.0}))
    allowing = reviewed(rows, answers, WRONG | {"scattered": 60.0, "high": 120.0, "most": 250.0})
    narrow = reviewed(rows, answers, WRONG | {"scattered": 60.0, "high": 60.0, "most": 250.0})
    assert before is not None and plain is not None and before.high == plain.high, "audits of before have no such end"
    assert allowing is not None and narrow is not None and narrow.high is not None
    assert (allowing.expected, allowing.low, allowing.contradicted) == (narrow.expected, narrow.low, narrow.contradicted)
    assert narrow.expected is not None and allowing.high == pytest.approx(0.3 * narrow.expected + 0.7 * (250 - 20))
    assert narrow.high < allowing.high


def test_where_all_was_looked_at_nothing_is_left() -> None:
    for wrong in (WRONG, WRONG | {"scattered": 60.0}):
        found = reviewed(listed(PROBABILITY), looked_at([True] * 50 + [False] * 150), wrong)
        assert found is not None and (found.expected, found.low, found.high) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("changed", "said"), [(2, "fewer"), (16, None), (36, None)])
def test_people_who_find_fewer_than_the_interval_allows_contradict_it(changed: int, said: str | None) -> None:
    found = reviewed(listed(PROBABILITY), looked_at([row < changed for row in range(40)]), WRONG)
    assert found is not None and found.contradicted == said


def test_people_who_find_more_than_the_interval_allows_contradict_it() -> None:
    few = np.concatenate([np.full(40, 0.1), np.full(160, 0.01)])
    wrong = {"expected": 5.6, "low": 1.0, "high": 11.0, "most": 100.0}
    found = reviewed(listed(few), looked_at([True] * 35 + [False] * 5), wrong)
    assert found is not None and found.contradicted == "more"
    by_chance = reviewed(listed(few), looked_at([True] * 9 + [False] * 31), wrong)
    assert by_chance is not None and by_chance.contradicted is None


def test_without_a_number_only_what_people_did_is_said() -> None:
    found = reviewed(listed(PROBABILITY), looked_at([True, False]), None)
    assert found is not None and (found.rows, found.changed, found.expected, found.contradicted) == (2, 1, None, None)


def test_a_row_that_people_decided_about_is_no_open_suspect() -> None:
    left = open_suspects(listed(PROBABILITY).select(["uid", "flagged", "rank"]), looked_at([True] * 5))
    assert np.flatnonzero(left["flagged"].to_numpy(zero_copy_only=False)).tolist() == list(range(5, 40))
    assert left.column_names == ["uid", "flagged", "rank"]


def test_the_number_of_the_others_follows_what_people_found() -> None:
    numbers = []
    for changed in (0, 10, 20):
        found = reviewed(listed(PROBABILITY), looked_at([row < changed for row in range(20)]), WRONG)
        assert found is not None and found.expected is not None
        numbers.append(found.expected)
    assert numbers[0] < 3 < numbers[1] < numbers[2]


def test_what_is_changed_without_a_person_is_as_sure_as_what_people_found() -> None:
    noise = listed(PROBABILITY)
    np.testing.assert_array_equal(as_people_found(noise, DECIDED.empty_table()), PROBABILITY)
    all_wrong = as_people_found(noise, looked_at([True] * 20))
    np.testing.assert_array_equal(all_wrong[:40], PROBABILITY[:40])
    shuffled = noise.take(pa.array(np.random.default_rng(1).permutation(200)))
    none_wrong = as_people_found(shuffled, looked_at([False] * 20))
    assert none_wrong.max() < 0.3 and (none_wrong <= shuffled["probability"].to_numpy()).all()


def test_errors_go_on_where_people_changed_most_of_the_last_labels_down_the_whole_list() -> None:
    noise = listed(np.linspace(0.9, 0.1, 100))  # 50 are listed
    said = "People changed {} of the last 20 labels down the list: errors go on below it."
    assert errors_go_on(noise, looked_at([False] * 40 + [True] * 10)) == said.format(10)
    assert errors_go_on(noise, looked_at([True] * 41 + [False] * 9)) == said.format(11)
    assert errors_go_on(noise, looked_at([True] * 30 + [False, True] * 10)) == said.format(10)
    assert errors_go_on(noise, looked_at([True] * 39 + [False] * 11)) == "", "most of its last ones were right"
    assert errors_go_on(noise, looked_at([True] * 49)) == "", "one of the list is open"
    assert errors_go_on(noise, DECIDED.empty_table()) == ""


def test_decisions_below_the_list_count_up_to_the_first_gap() -> None:
    noise = listed(np.linspace(0.9, 0.1, 100))
    right_below = looked_at([True] * 50 + [False] * 11)
    assert errors_go_on(noise, right_below) == ""
    assert errors_go_on(noise, looked_at([True] * 50 + [False] * 10)) != ""
    far_below = pa.concat_tables([looked_at([True] * 50), pa.table([["u080"], [False]], schema=DECIDED)])
    assert errors_go_on(noise, far_below) == "People changed 20 of the last 20 labels down the list: errors go on below it."
    assert errors_go_on(noise, looked_at([True] * 100)) == "", "nothing is below"


def test_two_labels_are_too_few_to_say_that_errors_go_on() -> None:
    short = listed(np.array([0.9, 0.8, 0.1, 0.1]))
    assert errors_go_on(short, looked_at([True, True])) == ""
    assert (
        errors_go_on(short, looked_at([True, True, True])) == "People changed 3 of the last 3 labels down the list: errors go on below it."
    )


def test_labels_below_the_list_that_people_changed_far_more_often_than_was_estimated_contradict_the_number() -> None:
    noise, wrong = listed(PROBABILITY), {"expected": 50.0, "low": 25.0, "high": 400.0, "most": 400.0}
    # The first 40 are wrong as often as was said, and the wide interval would hold what comes then.
    found = reviewed(noise, looked_at([True] * 36 + [False] * 4 + [True] * 12 + [False] * 8), wrong)
    assert found is not None and found.contradicted == "more"
    some = reviewed(noise, looked_at([True] * 36 + [False] * 4 + [True] * 2 + [False] * 18), wrong)
    assert some is not None and some.contradicted is None
    far = pa.concat_tables(
        [looked_at([True] * 36 + [False] * 4), pa.table([[f"u{row:03}" for row in range(100, 120)], [True] * 20], DECIDED)]
    )
    apart = reviewed(noise, far, wrong)
    assert apart is not None and apart.contradicted is None, "rows that were not asked in their order say nothing of those between"


def test_changes_are_peoples_only_where_no_recipe_made_or_weighted_any() -> None:
    def changes(*by: str) -> pa.Table:
        return pa.table({"by": pa.array(by, pa.string())})

    assert all_by_people(changes("Ann", "Ann, Bob"), weighted=False) == 2
    assert all_by_people(changes("Ann"), weighted=True) == 0
    assert all_by_people(changes("Ann", "recipe relabel"), weighted=False) == 0
    assert all_by_people(changes(), weighted=False) == 0
