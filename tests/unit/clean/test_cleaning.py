"""Recipes, decisions, subsets and versions on train sets made by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartograph.clean.cleaning import Cleaning, Recipe, aligned, class_changes, clean, cleaned_examples, subsets, version
from cartograph.clean.decisions import Decision
from cartograph.data.arrays import Floats32
from cartograph.errors import GateError, InputError
from cartograph.schema import CHANGES, SUBSET
from tests.cleaning import make_examples, make_noise

EXAMPLES = make_examples([("d", "one", 0), ("a", "two", 1), ("c", "three", 0), ("b", "four", 2), ("e", "five", 1), ("f", "six", 2)])
NOISE = make_noise(EXAMPLES, {"c": (1, 0.95), "a": (0, 0.9), "f": (0, 0.2)})


def outcome(decisions: dict[str, Decision] | None = None, recipe: str = "drop-flagged", above: float = 0.9) -> dict[str, int]:
    cleaning = clean(EXAMPLES, NOISE, decisions or {}, recipe=recipe, relabel_above=above)
    cleaned = cleaned_examples(EXAMPLES, cleaning)
    return dict(zip(cleaned["uid"].to_pylist(), cleaned["label"].to_pylist(), strict=True))


def test_a_recipe_decides_about_suspects() -> None:
    everything = {"d": 0, "a": 1, "c": 0, "b": 2, "e": 1, "f": 2}
    assert outcome() == {"d": 0, "b": 2, "e": 1}
    assert outcome(recipe="relabel") == {"d": 0, "c": 1, "b": 2, "e": 1}
    assert outcome(recipe="relabel", above=0.5) == {"d": 0, "a": 0, "c": 1, "b": 2, "e": 1}
    assert outcome(recipe="relabel", above=1.0) == {"d": 0, "b": 2, "e": 1}
    assert outcome(recipe="decisions-only") == everything
    assert list(outcome(recipe="decisions-only")) == list(everything)


def test_people_win_over_the_recipe() -> None:
    decided = {"a": ("keep", None), "b": ("drop", None), "c": ("relabel", "odd"), "e": ("relabel", "good")}
    decisions = {uid: Decision(uid, what, label, "Ann") for uid, (what, label) in decided.items()}
    cleaning = clean(EXAMPLES, NOISE, {**decisions, "f": Decision("f", "keep", None, "Bob")}, recipe="drop-flagged", relabel_above=0.9)
    assert cleaning.overruled == 2
    assert cleaning.kept.tolist() == [True, True, True, False, True, True]
    assert cleaning.labels.tolist() == [0, 1, 2, 2, 1, 2]
    assert cleaning.changes.to_pylist() == [
        {"uid": "b", "what": "drop", "from": "odd", "to": None, "why": "decided in review", "by": "Ann"},
        {"uid": "c", "what": "relabel", "from": "bad", "to": "odd", "why": "decided in review", "by": "Ann"},
    ]
    assert cleaning.changes.schema.equals(CHANGES)


def test_a_recipe_says_why() -> None:
    cleaning = clean(EXAMPLES, NOISE, {}, recipe="relabel", relabel_above=0.9)
    assert [(row["uid"], row["why"], row["by"]) for row in cleaning.changes.to_pylist()] == [
        ("a", "suspect 2 (0.71): low confidence 2", "recipe relabel"),
        ("c", "suspect 1 (0.86, suggested with 0.95): low confidence 1", "recipe relabel"),
        ("f", "suspect 3 (0.57): low confidence 3", "recipe relabel"),
    ]


def test_a_suspect_without_a_suggestion_is_dropped() -> None:
    noise = make_noise(EXAMPLES, {"c": (-1, math.nan), "a": (1, 0.99)})
    cleaning = clean(EXAMPLES, noise, {}, recipe="relabel", relabel_above=0.5)
    assert cleaning.changes["what"].to_pylist() == ["drop", "drop"]


def test_the_recipe_leaves_a_class_alone_of_which_it_would_take_every_row() -> None:
    noise = make_noise(EXAMPLES, {"c": (1, 0.95), "d": (1, 0.2), "a": (0, 0.2)})
    cleaning = clean(EXAMPLES, noise, {}, recipe="relabel", relabel_above=0.9)
    assert cleaning.spared == ("bad",) and cleaning.changes["uid"].to_pylist() == ["a"]
    kept = clean(EXAMPLES, noise, {"d": Decision("d", "keep", None, "Ann")}, recipe="relabel", relabel_above=0.9)
    assert kept.spared == () and kept.changes["uid"].to_pylist() == ["a", "c"]


def test_decisions_that_leave_a_class_without_rows_are_refused_by_name_and_counts() -> None:
    decisions = {uid: Decision(uid, "drop", None, "Ann") for uid in ("c", "d")}
    message = r"class `bad` without rows: of its 2, 2 would be dropped and 0 relabelled\. .* or set another `clean\.recipe`\."
    with pytest.raises(GateError, match=message):
        clean(EXAMPLES, make_noise(EXAMPLES, {}), decisions, recipe="relabel", relabel_above=0.9)
    never = make_examples([("a", "one", 0), ("b", "two", 1)])
    assert clean(never, make_noise(never, {}), {}, recipe="drop-flagged", relabel_above=0.9).kept.all()


def test_only_what_is_sure_enough_and_estimated_from_the_data_is_changed_without_a_person() -> None:
    noise = make_noise(EXAMPLES, {"c": (1, 0.95), "a": (1, 0.99)})
    [c, a] = (noise["probability"][noise["uid"].to_pylist().index(uid)].as_py() for uid in "ca")
    assert c > a
    how = {"recipe": "drop-flagged", "relabel_above": 0.9}
    assert clean(EXAMPLES, noise, {}, **how, precision=c).changes["uid"].to_pylist() == ["c"]
    assert clean(EXAMPLES, noise, {}, **how, calibrated=False).kept.all()


def test_suspects_of_another_train_set_are_refused() -> None:
    with pytest.raises(InputError, match=r"1 of its 6 rows are not among the 5 in noise\.parquet; run the step `noise` again\."):
        aligned(NOISE.slice(1), EXAMPLES)
    with pytest.raises(InputError, match=r"0 of its 5 rows are not among the 6"):
        aligned(NOISE, EXAMPLES.slice(1))


def test_subsets_are_sorted_and_the_random_one_keeps_the_original_labels() -> None:
    cleaning = clean(EXAMPLES, NOISE, {}, recipe="relabel", relabel_above=0.9)
    cleaned = cleaned_examples(EXAMPLES, cleaning)
    made = subsets(EXAMPLES, cleaned, np.random.default_rng(1))
    assert all(table.schema.equals(SUBSET) for table in made.values())
    assert made["original"].to_pydict() == {"uid": list("abcdef"), "label": [1, 2, 0, 0, 1, 2]}
    assert made["cleaned"].to_pydict() == {"uid": list("bcde"), "label": [2, 1, 0, 1]}
    assert len(made["random"]) == 4
    assert set(zip(*made["random"].to_pydict().values(), strict=True)) < set(zip(*made["original"].to_pydict().values(), strict=True))
    order = pa.array([5, 0, 3, 1, 2, 4])
    assert subsets(EXAMPLES.take(order), cleaned, np.random.default_rng(1)) == made
    drawn = {tuple(subsets(EXAMPLES, cleaned, np.random.default_rng(seed))["random"]["uid"].to_pylist()) for seed in range(40)}
    assert len(drawn) > 5


def test_a_versions_name_is_its_content() -> None:
    def named(cleaned: pa.Table) -> str:
        return version(EXAMPLES, cleaned, CHANGES.empty_table())["version"]

    assert named(EXAMPLES) == version(EXAMPLES, EXAMPLES, CHANGES.empty_table())["parent"]
    assert named(EXAMPLES.take(pa.array([5, 0, 3, 1, 2, 4]))) == named(EXAMPLES)
    assert named(EXAMPLES.slice(1)) != named(EXAMPLES)
    relabelled = EXAMPLES.set_column(2, EXAMPLES.schema.field(2), pa.array([1, 1, 0, 2, 1, 2], pa.int32()))
    assert named(relabelled) != named(EXAMPLES)
    assert len(named(EXAMPLES)) == 12


def test_class_changes_are_shares_of_the_rows_before() -> None:
    cleaned = make_examples([("d", "one", 0), ("a", "two", 0), ("c", "three", 0), ("b", "four", 2)])
    assert class_changes(EXAMPLES, cleaned) == {"bad": 0.5, "good": -1.0, "odd": -0.5}


CHOICES = st.sampled_from([None, "keep", "drop", "relabel:bad", "relabel:good", "relabel:odd"])


@given(st.lists(CHOICES, min_size=6, max_size=6), st.sampled_from(["drop-flagged", "relabel", "decisions-only"]))
def test_every_difference_is_a_change_and_every_change_a_difference(choices: list[str | None], recipe: str) -> None:
    uids = EXAMPLES["uid"].to_pylist()
    decisions = {}
    for uid, choice in zip(uids, choices, strict=True):
        if choice is not None:
            what, _, label = choice.partition(":")
            decisions[uid] = Decision(uid, what, label or None, "Ann")
    try:
        cleaning = clean(EXAMPLES, NOISE, decisions, recipe=recipe, relabel_above=0.9)
    except GateError:
        return
    before = dict(zip(uids, EXAMPLES["label"].to_pylist(), strict=True))
    cleaned = cleaned_examples(EXAMPLES, cleaning)
    after = dict(zip(cleaned["uid"].to_pylist(), cleaned["label"].to_pylist(), strict=True))
    changes = {row["uid"]: row for row in cleaning.changes.to_pylist()}
    assert {uid for uid in before if after.get(uid) != before[uid]} == set(changes)
    labels = ("bad", "good", "odd")
    for uid, row in changes.items():
        assert row["from"] == labels[before[uid]]
        assert row["to"] == (labels[after[uid]] if uid in after else None)
        assert row["what"] == ("relabel" if uid in after else "drop")
        assert (row["by"] == "Ann") == (uid in decisions)
    for uid, decision in decisions.items():
        expected = decision.outcome(labels[before[uid]])
        assert (labels[after[uid]] if uid in after else None) == expected


def test_every_recipe_leaves_a_class_alone_of_which_nearly_all_rows_are_suspects() -> None:
    examples = make_examples([(f"u{row:02}", f"text {row}", int(row >= 15)) for row in range(20)])
    suspects = {f"u{row}": (0, 0.95) for row in range(16, 20)}
    for recipe in ("drop-flagged", "relabel", "down-weight"):
        cleaning = clean(examples, make_noise(examples, suspects | {"u03": (1, 0.95)}), {}, recipe=recipe, relabel_above=0.9)
        assert cleaning.kept[15:].all() and (cleaning.labels[15:] == 1).all()
        if cleaning.weights is None:
            assert cleaning.spared == ("good",) and cleaning.changes["uid"].to_pylist() == ["u03"]
        else:
            assert (cleaning.weights[15:] == cleaning.weights.max()).all() and cleaning.weights[3] < 0.5
    fewer = dict(list(suspects.items())[:3])
    assert not clean(examples, make_noise(examples, fewer), {}, recipe="drop-flagged", relabel_above=0.9).kept[16:19].any()


def test_a_class_all_of_whose_rows_would_weigh_nothing_is_left_alone_though_none_is_a_suspect() -> None:
    examples = make_examples([(f"u{row:02}", f"text {row}", int(row >= 15)) for row in range(20)])
    noise = make_noise(examples, {f"u{row}": (0, 0.95) for row in range(15, 20)} | {"u03": (1, 0.95)})
    noise = noise.set_column(noise.schema.get_field_index("flagged"), noise.schema.field("flagged"), pa.array([False] * 20))
    weights = clean(examples, noise, {}, recipe="down-weight", relabel_above=0.9).weights
    assert weights is not None and (weights[15:] == weights.max()).all() and weights[3] == 0
    both = make_noise(examples, {f"u{row:02}": (int(row < 15), 0.95) for row in range(20)})
    everything = clean(examples, both, {}, recipe="down-weight", relabel_above=0.9).weights
    assert everything is not None and (everything == 1).all()


def test_a_class_of_which_the_rest_would_go_after_people_dropped_some_is_left_alone() -> None:
    examples = make_examples([(f"u{row:02}", f"text {row}", int(row >= 10)) for row in range(20)])
    noise = make_noise(examples, {f"u{row}": (0, 0.95) for row in range(15, 20)})
    dropped = {f"u{row}": Decision(f"u{row}", "drop", None, "Ann") for row in range(10, 15)}
    done = clean(examples, noise, dropped, recipe="drop-flagged", relabel_above=0.9)
    assert done.spared == ("good",) and done.kept[15:].all() and not done.kept[10:15].any()


def test_a_class_of_which_more_would_go_than_is_wanted_is_left_to_people() -> None:
    examples = make_examples([(f"u{row:02}", f"text {row}", int(row >= 10)) for row in range(20)])
    noise = make_noise(examples, {f"u{row}": (0, 0.95) for row in range(10, 17)} | {"u03": (1, 0.95)})

    def done(most: float, decisions: Mapping[str, Decision] = {}, recipe: Recipe = "drop-flagged") -> Cleaning:
        return clean(examples, noise, decisions, recipe=recipe, relabel_above=0.9, most_taken=most)

    assert (~done(0.7).kept).sum() == 8 and done(0.7).too_many == ()
    for left in (done(0.69), done(0.69, recipe="relabel")):
        assert left.spared == left.too_many == ("good",) and left.changes["uid"].to_pylist() == ["u03"]
    # People decided about three: of the other seven rows four would go.
    decided = {f"u{row}": Decision(f"u{row}", "drop", None, "Ann") for row in (10, 11, 12)}
    assert done(0.58, decided).kept.sum() == 12 and done(0.57, decided).kept.sum() == 16
    assert done(0.1, recipe="down-weight").too_many == () and done(0.1, recipe="down-weight").weights is not None


def test_the_random_control_has_no_row_twice() -> None:
    examples = make_examples([(f"u{row:02}", f"text {row}", row % 2) for row in range(60)])
    made = subsets(examples, examples.slice(0, 50), np.random.default_rng(0))
    uids = made["random"]["uid"].to_pylist()
    assert len(set(uids)) == len(uids) == 50
    assert set(uids) != set(made["cleaned"]["uid"].to_pylist())


def test_a_class_of_one_row_is_not_emptied() -> None:
    examples = make_examples([("a", "one", 0), ("b", "two", 0), ("c", "three", 1), ("d", "four", 2), ("e", "five", 2)])
    noise = make_noise(examples, {"a": (1, 0.9), "c": (0, 0.99)})
    cleaning = clean(examples, noise, {}, recipe="drop-flagged", relabel_above=0.9)
    assert cleaning.kept.tolist() == [False, True, True, True, True]
    assert cleaning.spared == ("good",)


def test_what_people_find_right_keeps_the_recipe_from_suspects_like_it() -> None:
    rows = make_examples([(f"u{row:02}", f"text {row}", row % 2) for row in range(40)])
    noise = make_noise(rows, {f"u{row:02}": (1 - row % 2, 0.95) for row in range(20)})
    place = noise.schema.get_field_index("probability")
    noise = noise.set_column(place, noise.schema.field(place), pa.array([0.9] * 20 + [0.05] * 20))

    def dropped(decided: str, recipe: str = "drop-flagged") -> set[str]:
        decisions = {f"u{row:02}": Decision(f"u{row:02}", decided, None, "Ann") for row in range(10)}
        cleaning = clean(rows, noise, decisions, recipe=recipe, relabel_above=0.9, precision=0.8)
        return {row["uid"] for row in cleaning.changes.to_pylist() if row["by"] != "Ann"}

    others = {f"u{row}" for row in range(10, 20)}
    assert dropped("drop") == others and dropped("keep") == set()
    weights = clean(rows, noise, {}, recipe="down-weight", relabel_above=0.9).weights
    after = {f"u{row:02}": Decision(f"u{row:02}", "keep", None, "Ann") for row in range(10)}
    kept = clean(rows, noise, after, recipe="down-weight", relabel_above=0.9).weights
    assert weights is not None and kept is not None
    assert weights[15] / weights[25] < 0.2 < 0.7 < kept[15] / kept[25]


def test_where_no_number_is_known_rows_are_weighted_by_what_they_show_and_not_by_the_share_assumed() -> None:
    rows = make_examples([(f"u{row:02}", f"text {row}", row % 2) for row in range(40)])
    noise = make_noise(rows, {f"u{row:02}": (1 - row % 2, 0.95) for row in range(20)})
    place = noise.schema.get_field_index("probability")

    def weights(probability: list[float], *, calibrated: bool) -> Floats32:
        asked = noise.set_column(place, noise.schema.field(place), pa.array(probability))
        found = clean(rows, asked, {}, recipe="down-weight", relabel_above=0.9, calibrated=calibrated).weights
        assert found is not None
        return found

    many, few = [0.6] * 10 + [0.3] * 10 + [0.05] * 20, [0.4] * 5 + [0.02] * 35
    known, unknown = weights(many, calibrated=True), weights(many, calibrated=False)
    assert known[15] > 0 == known[5] and (unknown[:20] < known[:20] + 1e-6).all() and unknown[15] < known[15] / 2
    np.testing.assert_array_equal(weights(few, calibrated=True), weights(few, calibrated=False))
