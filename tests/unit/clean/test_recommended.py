"""Which way of cleaning is recommended, of a train set with its suspects and what people decided."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest

from cartograph.clean.arms import Arm, ArmChoice
from cartograph.clean.cleaning import Cleaning, Recipe, clean
from cartograph.clean.decisions import Decision
from cartograph.clean.recommended import doubted_again, recommended_arm
from cartograph.suspects.among import Among
from cartograph.suspects.committee import reading_of
from tests.cleaning import make_examples, make_noise

RECIPES: dict[Arm, Recipe] = {"original": "decisions-only", "drop": "drop-flagged"}


KNOWN, VAGUE = {"expected": 150.0, "low": 80.0}, {"expected": 150.0, "low": 20.0}


def choice(
    decided: str | None = None, *, wrong: dict[str, float] | None = KNOWN, unknown: str | None = None, recipes: dict[Arm, Recipe] = RECIPES
) -> ArmChoice:
    """The recommendation for 600 texts whose labels follow their words but for 150 wrong ones, which are the suspects."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 600)
    own = np.where(rng.random((600, 8)) < 0.7, truth[:, None], 1 - truth[:, None])
    texts = [" ".join(f"w{word}" for word in row) for row in rng.integers(0, 30, (600, 8)) + 30 * own]
    planted = rng.choice(np.flatnonzero(truth == 1), 150, replace=False)
    given = truth.copy()
    given[planted] = 0
    rows = make_examples([(f"u{row:03}", text, int(label)) for row, (text, label) in enumerate(zip(texts, given, strict=True))])
    noise = make_noise(rows, {f"u{row:03}": (1, 0.95) for row in planted})
    likely = np.full(600, 0.02)
    likely[planted] = 0.95
    noise = noise.set_column(noise.schema.get_field_index("probability"), noise.schema.field("probability"), pa.array(likely))
    decisions = {} if decided is None else {f"u{row:03}": Decision(f"u{row:03}", decided, None, "Ann") for row in planted}
    kept = {} if decided is None else decisions
    arms = {
        arm: clean(rows, noise, kept, recipe=recipe, relabel_above=0.9, calibrated=wrong is not None) for arm, recipe in recipes.items()
    }
    return recommended_arm(rows, noise, decisions, arms, np.random.default_rng(1), wrong=wrong, unknown=unknown)


def test_dropping_is_recommended_where_models_are_better_for_it() -> None:
    for wrong in (KNOWN, VAGUE):
        found = choice(wrong=wrong)
        assert found.recommended == "drop" and found.scores["drop"].difference > 0.02
    assert choice().reason.startswith("It is certain that labels are wrong.")
    assert "more than two standard errors" in choice(wrong=VAGUE).reason


def test_labels_that_people_kept_count_as_right() -> None:
    found = choice("keep")
    assert found.recommended == "original" and found.reason == "No way of cleaning changes anything."


@pytest.mark.parametrize(
    ("unknown", "weighted"),
    [("much noise", True), ("roughly known", True), ("little explained", True), ("hard rows", False), (None, False)],
)
def test_where_no_number_is_known_rows_may_be_weighted_but_none_is_dropped(unknown: str | None, weighted: bool) -> None:
    found = choice(wrong=None, unknown=unknown, recipes={**RECIPES, "down-weight": "down-weight"})
    assert found.recommended == ("down-weight" if weighted else "original")
    assert set(found.scores) == ({"original", "down-weight"} if weighted else set())
    assert choice(wrong=None, unknown=unknown).recommended == "original"


def test_nothing_is_compared_where_nobody_can_tell_how_likely_labels_are_wrong() -> None:
    found = choice(wrong=None)
    assert found.recommended == "original" and not found.scores
    assert found.reason == "How likely each label is wrong could not be estimated, so that nothing is changed without a person."


def test_nothing_is_compared_where_no_label_is_likelier_wrong_than_right() -> None:
    rows = make_examples([(f"u{row:03}", f"text {row} w{row % 2}", row % 2) for row in range(120)])
    noise = make_noise(rows, {})
    noise = noise.set_column(noise.schema.get_field_index("probability"), noise.schema.field("probability"), pa.array([0.3] * 120))
    weighted = clean(rows, noise, {}, recipe="down-weight", relabel_above=0.9)
    arms: dict[Arm, Cleaning] = {"original": clean(rows, noise, {}, recipe="decisions-only", relabel_above=0.9), "down-weight": weighted}
    found = recommended_arm(rows, noise, {}, arms, np.random.default_rng(1), wrong={"expected": 2.0, "low": 0.0})
    assert found.recommended == "original" and not found.scores
    assert found.reason == "No label is likelier wrong than right, so that ways of cleaning are not compared."


def test_doubt_that_has_heard_the_rows_scored_on_gains_where_there_is_nothing_to_gain_and_found_anew_does_not() -> None:
    """Two in five labels are drawn by lot, the others follow from words that few texts share."""
    rng, number = np.random.default_rng(3), 900
    words, leaning = rng.integers(0, 300, (number, 3)), rng.choice([-1, 1], 300)
    follows = leaning[words].sum(axis=1) + rng.random(number) - 0.5 > 0
    labels = np.where(rng.random(number) < 0.6, follows, rng.integers(0, 2, number)).astype(int)
    texts = [" ".join(f"w{word}" for word in row) for row in words.tolist()]
    rows = make_examples([(f"u{row:03}", f"{text} only{row}", int(labels[row])) for row, text in enumerate(texts)])
    among = Among(rows, reading_of(rows), 5, 1, "much noise", 0.5)
    noise = among(np.arange(number))
    recipes: dict[Arm, Recipe] = {"original": "decisions-only", "down-weight": "down-weight"}

    def ways(part: pa.Table, listed: pa.Table, decided: Mapping[str, Decision]) -> dict[Arm, Cleaning]:
        return {arm: clean(part, listed, decided, recipe=recipe, relabel_above=0.9, calibrated=False) for arm, recipe in recipes.items()}

    arms = ways(rows, noise, {})
    how = {"wrong": None, "unknown": "much noise"}
    once = recommended_arm(rows, noise, {}, arms, np.random.default_rng(1), **how)
    again = recommended_arm(
        rows, noise, {}, arms, np.random.default_rng(1), **how, again=lambda part, own: doubted_again(among.of(part), part, {}, own, ways)
    )
    assert once.scores["down-weight"].difference > 3 * once.scores["down-weight"].error
    assert again.scores["down-weight"].difference < once.scores["down-weight"].difference / 2
    assert again.recommended == "original"


def test_decisions_count_for_their_rows_and_where_they_leave_no_row_of_a_class_what_is_known_of_all_is_taken() -> None:
    rows = make_examples([(f"u{row}", f"text {row}", row % 2) for row in range(8)])
    decisions = {f"u{row}": Decision(f"u{row}", "drop", None, "Ann") for row in (1, 3)}
    arms = {"original": clean(rows, make_noise(rows, {}), decisions, recipe="decisions-only", relabel_above=0.9)}
    heard: list[set[str]] = []

    def ways(part: pa.Table, listed: pa.Table, decided: Mapping[str, Decision]) -> dict[Arm, Cleaning]:
        heard.append(set(decided))
        return {"original": clean(part, listed, decided, recipe="decisions-only", relabel_above=0.9)}

    def listed(some: np.ndarray) -> pa.Table:
        return make_noise(rows.take(pa.array(some)), {})

    again = doubted_again(listed, rows, decisions, arms, ways)
    assert again(np.array([0, 1, 2, 5]))["original"].kept.tolist() == [True, False, True, True]
    # Of these, people left no row of the second class.
    assert again(np.array([0, 1, 3]))["original"].kept.tolist() == [True, False, False]
    assert heard == [{"u1"}, {"u1", "u3"}]


def test_of_many_rows_some_are_compared_on_and_what_changes_is_counted_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    every = choice()
    monkeypatch.setattr("cartograph.clean.recommended.MOST_ROWS", 400)
    some = choice()
    assert (every.rows, some.rows) == (600, 400)
    assert some.scores["drop"].changed == every.scores["drop"].changed == 150


def test_rows_are_judged_as_people_found_others_like_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = make_examples([(f"u{row:02}", f"text {row}", row % 2) for row in range(40)])
    noise = make_noise(rows, {})
    place = noise.schema.get_field_index("probability")
    noise = noise.set_column(place, noise.schema.field(place), pa.array([0.9] * 40))
    seen: list[np.ndarray] = []
    monkeypatch.setattr("cartograph.clean.recommended.choose_arm", lambda *given, **_: seen.append(given[3]))
    for decisions in ({}, {f"u{row:02}": Decision(f"u{row:02}", "keep", None, "Ann") for row in range(20)}):
        arms = {arm: clean(rows, noise, decisions, recipe=recipe, relabel_above=0.9) for arm, recipe in RECIPES.items()}
        recommended_arm(rows, noise, decisions, arms, np.random.default_rng(1), wrong=KNOWN)
    plain, kept = seen
    assert plain == pytest.approx(0.1) and (kept[:20] == 1.0).all() and (kept[20:] > 0.8).all()


def test_less_is_asked_of_weights_where_some_labels_are_certainly_wrong_though_nobody_knows_how_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = make_examples([(f"u{row:02}", f"text {row}", row % 2) for row in range(40)])
    noise, asked = make_noise(rows, {}), []
    monkeypatch.setattr("cartograph.clean.recommended.choose_arm", lambda *_, **how: asked.append((how["known"], how["estimated"])))
    recipes: dict[Arm, Recipe] = {"original": "decisions-only", "down-weight": "down-weight"}
    arms = {arm: clean(rows, noise, {}, recipe=recipe, relabel_above=0.9, calibrated=False) for arm, recipe in recipes.items()}
    for between in (None, {"low": 0.4}, {"low": 4.0}):
        recommended_arm(rows, noise, {}, arms, np.random.default_rng(1), wrong=None, unknown="much noise", between=between)
    assert asked == [(False, False), (False, False), (False, True)]
