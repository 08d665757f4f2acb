"""Ways of cleaning compared on texts whose labels follow from their words, with labels planted wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from cartograph.clean.arms import LEAST_ROWS, Arm, ArmChoice, ArmScore, _measurably, _score, _verdict, choose_arm, kept_as_it_is
from cartograph.clean.cleaning import Cleaning
from cartograph.data.arrays import Integers
from cartograph.features.tables import TreeColumns
from cartograph.schema import CHANGES

WORDS = 60


def topics(rows: int, rng: np.random.Generator) -> tuple[sparse.csr_array, np.ndarray]:
    """Rows of eight words each, three in four of them from the half of the words that belongs to the row's class."""
    truth = rng.integers(0, 2, rows)
    own = rng.random((rows, 8)) < 0.7
    words = rng.integers(0, WORDS // 2, (rows, 8)) + np.where(own, truth[:, None], 1 - truth[:, None]) * (WORDS // 2)
    counts = np.zeros((rows, WORDS), np.float32)
    np.add.at(counts, (np.repeat(np.arange(rows), 8), words.ravel()), 0.35)
    return sparse.csr_array(counts), truth


def ways(given: np.ndarray, wrong: np.ndarray, probability: np.ndarray) -> dict[Arm, Cleaning]:
    changes, everything = CHANGES.empty_table(), np.ones(len(given), bool)
    labels = given.astype(np.int32)
    turned = np.where(wrong, 1 - labels, labels).astype(np.int32)
    weights = ((1 - probability) / (1 - probability).mean()).astype(np.float32)
    return {
        "original": Cleaning(everything, labels, changes, 0, ()),
        "drop": Cleaning(~wrong, labels, changes, 0, ()),
        "relabel": Cleaning(everything, turned, changes, 0, ()),
        "down-weight": Cleaning(everything, labels, changes, 0, (), weights),
    }


def choose(
    share: float, *, known: bool, seed: int, one_way: bool = False, sure: bool = False, estimated: bool = False
) -> tuple[ArmChoice, dict[Arm, float]]:
    """The choice, and each arm's true accuracy on clean rows; ``known``: the doubted rows are the wrong ones, else as many at random."""
    rng = np.random.default_rng(seed)
    features, truth = topics(1_200, rng)
    train, test = slice(0, 800), slice(800, 1_200)
    candidates = np.flatnonzero(truth[train] == 1) if one_way else np.arange(800)
    wrong = np.zeros(800, bool)
    wrong[rng.choice(candidates, round(share * 800), replace=False)] = True
    given = np.where(wrong, 1 - truth[train], truth[train])
    doubted = wrong if known else rng.permutation(np.arange(800) < 160)
    probability = np.where(doubted, 0.95, 0.02)
    arms = ways(given, doubted, probability)
    rng = np.random.default_rng(seed)
    choice = choose_arm(features[train], given, ("a", "b"), 1 - probability, arms, rng, known=sure, estimated=estimated)
    return choice, {arm: _accuracy(features, truth, cleaning, train, test) for arm, cleaning in arms.items()}


def test_one_row_that_turns_is_no_better_model() -> None:
    hits = np.ones(200, bool)
    hits[7] = False
    score = _score(np.ones(200, bool), hits, np.ones(200), 1)
    assert 0 < score.error < score.difference == 1 / 200
    assert not _measurably(score, 200.0)
    hits[20:27] = False
    assert _measurably(_score(np.ones(200, bool), hits, np.ones(200), 8), 200.0)


def _accuracy(features: sparse.csr_array, truth: np.ndarray, cleaning: Cleaning, train: slice, test: slice) -> float:
    from sklearn.linear_model import LogisticRegression

    weights = cleaning.kept * (1.0 if cleaning.weights is None else cleaning.weights)
    dense = features.toarray()
    model = LogisticRegression(C=10.0, max_iter=1000).fit(dense[train], cleaning.labels, sample_weight=weights)
    return float((model.predict(dense[test]) == truth[test]).mean())


@pytest.mark.parametrize("one_way", [False, True])
def test_planted_errors_that_are_known_are_cleaned_and_the_choice_agrees_with_a_clean_test_set(one_way: bool) -> None:
    for seed in range(3):
        choice, truly = choose(0.25, known=True, seed=seed, one_way=one_way)
        assert choice.recommended != "original"
        assert truly[choice.recommended] >= truly["original"] + 0.01
        assert set(choice.scores) == {"original", "drop", "relabel", "down-weight"}
        assert choice.scores["drop"].changed == choice.scores["relabel"].changed == choice.scores["down-weight"].changed == 200


def test_doubt_about_right_labels_is_not_followed() -> None:
    found = [choose(0.0, known=False, seed=seed) for seed in range(12)]
    assert sum(choice.recommended == "original" for choice, _ in found) >= 8
    assert np.mean([truly[choice.recommended] - truly["original"] for choice, truly in found]) > -0.005
    assert all(choice.scores["relabel"].difference < 0 for choice, _ in found)


def test_where_the_number_is_well_determined_the_best_way_is_taken_though_hardly_better_but_not_where_it_is_worse() -> None:
    little = [choose(0.02, known=True, seed=seed, sure=sure)[0] for sure in (False, True) for seed in range(6)]
    assert [choice.recommended for choice in little[:6]].count("original") >= 3
    assert [choice.recommended for choice in little[6:]].count("original") <= 1
    assert (
        "drop is the best way to clean, and not measurably worse than none"
        in _verdict("drop", ArmScore(0.8, 0.0, 0.01, 9), 500.0, known=True)[1]
    )
    better = _verdict("drop", ArmScore(0.8, 0.05, 0.01, 9), 500.0, known=True)[1]
    assert "drop is the best way to clean, and by more than two standard errors and a row better than none" in better
    taken, reason = _verdict("drop", ArmScore(0.8, -0.05, 0.01, 100), 500.0, known=True)
    assert not taken and "worse than the original" in reason


def test_weights_are_taken_for_any_gain_where_the_number_is_estimated_and_many_rows_weigh_little() -> None:
    pairs = [[choose(0.06, known=True, seed=seed, estimated=estimated) for estimated in (False, True)] for seed in range(12)]
    turned = [(choice, truly) for (before, _), (choice, truly) in pairs if before.recommended != choice.recommended]
    assert len(turned) >= 2
    for choice, _ in turned:
        assert choice.recommended == "down-weight" and choice.scores["down-weight"].difference > 0
        assert "weights are better than the original, though not measurably" in choice.reason
    assert np.mean([truly["down-weight"] - truly["original"] for _, truly in turned]) > 0
    assert all(before.recommended == "original" for (before, _), (choice, _) in pairs if "not measurably" in choice.reason)


def test_a_handful_of_light_rows_is_not_taken_for_any_gain() -> None:
    found = [choose(0.02, known=True, seed=seed, estimated=True)[0] for seed in range(12)]
    assert all("not measurably" not in choice.reason for choice in found)


def test_preferred_arms_are_taken_before_others_that_gain_more_but_only_if_they_may_be() -> None:
    features, truth = topics(800, np.random.default_rng(0))
    wrong = np.random.default_rng(1).permutation(np.arange(800) < 200)
    given = np.where(wrong, 1 - truth, truth)
    arms = ways(given, wrong, np.where(wrong, 0.98, 0.02))
    # Of the rows that dropping would drop, few are left to: it gains a little less than weighting.
    part = wrong & (np.arange(800) % 20 > 0)
    arms["drop"] = replace(arms["drop"], kept=~part)
    found = {
        preferred: choose_arm(features, given, ("a", "b"), np.where(wrong, 0.02, 0.98), arms, np.random.default_rng(0), preferred=preferred)
        for preferred in ((), ("drop",), ("relabel", "drop"), ("original",))
    }
    best = found[()].recommended
    assert best != "drop" and found["drop",].recommended == "drop" and found["drop",].scores == found[()].scores
    assert found["original",].recommended == best
    # Many are: weights gain clearly more, and the best of all is taken.
    arms["drop"] = replace(arms["drop"], kept=~(wrong & (np.arange(800) % 3 > 0)))
    right = np.where(wrong, 0.02, 0.98)
    clearly = choose_arm(features, given, ("a", "b"), right, arms, np.random.default_rng(0), preferred=("drop",))
    assert clearly.recommended == best
    harmful = replace(arms["drop"], kept=wrong)
    none = choose_arm(
        features, given, ("a", "b"), np.where(wrong, 0.02, 0.98), arms | {"drop": harmful}, np.random.default_rng(0), preferred=("drop",)
    )
    assert none.recommended not in ("drop", "original")


def test_of_a_table_trees_decide_where_they_are_better(monkeypatch: pytest.MonkeyPatch) -> None:
    # Which of two classes a point is of, the product of its columns says: to a linear model nothing.
    rng = np.random.default_rng(0)
    points = rng.normal(size=(600, 2))
    truth = (points[:, 0] * points[:, 1] > 0).astype(int)
    wrong = rng.permutation(np.arange(600) < 150)
    given = np.where(wrong, 1 - truth, truth)
    features = sparse.csr_array(np.maximum(np.hstack([points, -points]), 0).astype(np.float32))
    arms, right = ways(given, wrong, np.where(wrong, 0.95, 0.02)), np.where(wrong, 0.05, 0.98)
    columns = TreeColumns(points, np.zeros(2, bool))
    alone, both = (
        choose_arm(features, given, ("a", "b"), right, arms, np.random.default_rng(0), columns=asked) for asked in (None, columns)
    )
    assert alone.scores["original"].accuracy < 0.65 and both.recommended in ("drop", "relabel")
    assert both.scores["original"].accuracy > 0.75 and both.scores["drop"].difference > 0.1
    with monkeypatch.context() as patched:
        patched.setattr("cartograph.clean.arms.MOST_BOOSTED", 0)
        forest = choose_arm(features, given, ("a", "b"), right, arms, np.random.default_rng(0), columns=columns)
    assert forest.recommended in ("drop", "relabel")
    assert forest.scores["drop"].difference > 0.1 > forest.scores["down-weight"].difference, "a forest learns what weighs little, too"
    linear, linearly = topics(600, np.random.default_rng(0))
    noise = TreeColumns(rng.normal(size=(600, 1)), np.zeros(1, bool))
    arms = ways(linearly, np.zeros(600, bool), np.full(600, 0.02))
    found = [
        choose_arm(linear, linearly, ("a", "b"), np.ones(600), arms, np.random.default_rng(0), columns=asked) for asked in (None, noise)
    ]
    assert found[0] == found[1]


def test_of_a_table_an_arm_is_taken_for_what_trees_gain_where_a_linear_model_loses_nothing() -> None:
    # A class of a tenth that a line divides; of the others' labels a fifth is wrong, which trees learn.
    rng = np.random.default_rng(0)
    points = rng.normal(size=(1_000, 2))
    truth = (points[:, 0] > 1.28).astype(int)
    points[:, 0] += 4 * truth
    wrong = rng.permutation(np.arange(1_000) < 200) & (truth == 0)
    given, right = np.where(wrong, 1, truth).astype(np.int32), np.where(wrong, 0.02, 0.98)
    features = sparse.csr_array(np.maximum(np.hstack([points, -points, np.ones((1_000, 1))]), 0).astype(np.float32))
    original = Cleaning(np.ones(1_000, bool), given, CHANGES.empty_table(), 0, ())
    arms: dict[Arm, Cleaning] = {"original": original, "down-weight": replace(original, weights=np.where(wrong, 0, 1.2).astype(np.float32))}
    columns = TreeColumns(points, np.zeros(2, bool))
    alone, both = (
        choose_arm(features, given, ("a", "b"), right, arms, np.random.default_rng(0), columns=asked) for asked in (None, columns)
    )
    assert alone.recommended == "original" and abs(alone.scores["down-weight"].difference) < 0.01 < 0.9 < alone.scores["original"].accuracy
    assert both.recommended == "down-weight" and both.scores["original"].accuracy < alone.scores["original"].accuracy
    assert both.scores["down-weight"].difference > 0.02 and "no other is measurably worse" in both.reason


def test_of_a_table_weights_are_taken_for_what_boosted_trees_gain_where_a_forest_votes_wrong_labels_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As above, in four columns; wrong labels weigh a third, which a forest grown out hears as if they weighed all.
    rng = np.random.default_rng(0)
    points = rng.normal(size=(1_000, 4))
    truth = (points[:, 0] > 1.28).astype(int)
    points[:, 0] += 4 * truth
    wrong = rng.permutation(np.arange(1_000) < 200) & (truth == 0)
    given, right = np.where(wrong, 1, truth).astype(np.int32), np.where(wrong, 0.2, 0.98)
    features = sparse.csr_array(np.maximum(np.hstack([points, -points, np.ones((1_000, 1))]), 0).astype(np.float32))
    original, columns = Cleaning(np.ones(1_000, bool), given, CHANGES.empty_table(), 0, ()), TreeColumns(points, np.zeros(4, bool))
    arms: dict[Arm, Cleaning] = {
        "original": original,
        "down-weight": replace(original, weights=np.where(wrong, 0.3, 1.2).astype(np.float32)),
    }
    found = choose_arm(features, given, ("a", "b"), right, arms, np.random.default_rng(0), columns=columns)
    assert found.recommended == "down-weight" and found.scores["down-weight"].difference > 0.03
    monkeypatch.setattr("cartograph.clean.arms.MOST_BOOSTED", 1_999)
    fewer = choose_arm(features, given, ("a", "b"), right, arms, np.random.default_rng(0), columns=columns)
    assert fewer.recommended == "original", "of so many rows and classes boosted trees would take too long"


def test_of_a_table_no_arm_is_taken_under_which_the_other_model_is_worse() -> None:
    # What two columns say together, trees read; of seven rows in ten a third says it, too, which is all that a linear model has.
    rng = np.random.default_rng(0)
    truth, agrees, side = rng.integers(0, 2, 1_500), rng.random(1_500) < 0.7, np.where(rng.random(1_500) < 0.5, 1, -1)
    apart = 0.2 + rng.random((2, 1_500))
    points = np.stack([side * apart[0], side * np.where(truth == 1, 1, -1) * apart[1], np.where(agrees, truth, 1 - truth)], axis=1)
    wrong = rng.permutation(np.arange(1_500) < 300)
    given, right = np.where(wrong, 1 - truth, truth).astype(np.int32), np.where(wrong, 0.02, 0.98)
    features = sparse.csr_array(np.maximum(np.hstack([points, -points, np.ones((1_500, 1))]), 0).astype(np.float32))
    original, columns = Cleaning(np.ones(1_500, bool), given, CHANGES.empty_table(), 0, ()), TreeColumns(points, np.zeros(3, bool))
    # Without most rows whose third column is right, trees are as good, and a linear model learns the opposite.
    for kept, recommended in ((~wrong, "drop"), (~wrong & ~(agrees & (np.arange(1_500) % 4 > 0)), "original")):
        arms: dict[Arm, Cleaning] = {"original": original, "drop": replace(original, kept=kept)}
        choice = choose_arm(features, given, ("a", "b"), right, arms, np.random.default_rng(0), columns=columns)
        assert choice.recommended == recommended and choice.scores["drop"].difference > 0.05
    assert "every way of cleaning makes one of the models worse" in choice.reason


def test_nothing_is_compared_where_no_way_of_cleaning_changes_a_row() -> None:
    rng = np.random.default_rng(0)
    features, truth = topics(800, rng)
    wrong = rng.permutation(np.arange(800) < 200)
    probability = np.where(wrong, 0.45, 0.02)
    arms = ways(np.where(wrong, 1 - truth, truth), wrong, probability)
    arms = {"original": arms["original"], "down-weight": arms["down-weight"]}

    def again(rows: Integers) -> dict[Arm, Cleaning]:
        pytest.fail("rows were doubted again")

    given = np.where(wrong, 1 - truth, truth)
    choice = choose_arm(features, given, ("a", "b"), 1 - probability, arms, np.random.default_rng(0), again=again)
    assert choice.recommended == "original" and choice.reason == "No way of cleaning changes anything." and not choice.scores


def test_a_class_is_not_given_up_for_accuracy() -> None:
    # 700 rows of `a`, 30 of which have the word of `b`; 100 of `b`, half of which have it, and whose labels are doubted.
    labels = np.repeat([0, 1], [700, 100]).astype(np.int32)
    has_it = np.zeros(800, bool)
    has_it[670:750] = True
    features = sparse.csr_array(np.stack([has_it, np.ones(800)], axis=1).astype(np.float32))
    everything, right = np.ones(800, bool), np.where(labels == 1, 0.2, 1.0)

    def way(kept: np.ndarray) -> Cleaning:
        return Cleaning(kept, labels, CHANGES.empty_table(), 0, ())

    without_b, nearer = np.arange(800) < 704, ~(has_it & (labels == 0))
    found = {}
    for name, dropped in (("gives it up", {"drop": without_b}), ("another way", {"drop": without_b, "relabel": nearer})):
        arms: dict[Arm, Cleaning] = {"original": way(everything)} | {arm: way(kept) for arm, kept in dropped.items()}
        found[name] = choose_arm(features, labels, ("a", "b"), right, arms, np.random.default_rng(0))
        gained = found[name].scores["drop"]
        assert gained.difference > 3 * gained.error > 0
    assert found["gives it up"].recommended == "original"
    assert "models no longer recognise `b` after every way of cleaning" in found["gives it up"].reason
    assert found["another way"].scores["relabel"].difference < found["another way"].scores["drop"].difference
    assert found["another way"].recommended != "drop" and "no longer" not in found["another way"].reason


def test_the_same_rows_give_the_same_choice() -> None:
    assert choose(0.1, known=True, seed=5)[0] == choose(0.1, known=True, seed=5)[0]


def test_rows_that_are_linked_are_left_out_together() -> None:
    # Each three rows have a word of their own and one label, which nothing else tells.
    rng = np.random.default_rng(1)
    groups, labels = np.repeat(np.arange(100), 3), np.repeat(rng.integers(0, 2, 100), 3).astype(np.int32)
    features = sparse.csr_array((np.ones(300, np.float32), groups, np.arange(301)), shape=(300, 100))
    original = Cleaning(np.ones(300, bool), labels, CHANGES.empty_table(), 0, ())
    arms: dict[Arm, Cleaning] = {"original": original, "drop": replace(original, kept=np.arange(300) > 2)}
    alone, together = (
        choose_arm(features, labels, ("a", "b"), np.ones(300), arms, np.random.default_rng(2), linked).scores["original"].accuracy
        for linked in (None, groups)
    )
    assert alone > 0.9 > 0.65 > together


def test_too_few_rows_are_not_compared() -> None:
    rng = np.random.default_rng(0)
    features, truth = topics(LEAST_ROWS - 1, rng)
    none = np.zeros(len(truth), bool)
    choice = choose_arm(features, truth, ("a", "b"), np.ones(len(truth)), ways(truth, none, np.zeros(len(truth))), rng)
    assert choice == kept_as_it_is("49 rows are too few to compare ways of cleaning")
    assert choice.content() == {
        "recommended": "original",
        "reason": "49 rows are too few to compare ways of cleaning.",
        "rows": 0,
        "arms": {},
    }


def test_of_many_classes_the_models_that_choose_have_learnt_them() -> None:
    rng = np.random.default_rng(3)
    classes, each = 40, 40
    truth = np.repeat(np.arange(classes), each)
    words = np.where(
        rng.random((len(truth), 6)) < 0.6, truth[:, None] * 5 + rng.integers(0, 5, (len(truth), 6)), rng.integers(0, 200, (len(truth), 6))
    )
    counts = np.zeros((len(truth), 200), np.float32)
    np.add.at(counts, (np.repeat(np.arange(len(truth)), 6), words.ravel()), 0.4)
    wrong = rng.random(len(truth)) < 0.05
    given = np.where(wrong, (truth + 7) % classes, truth)
    everything, labels = np.ones(len(truth), bool), given.astype(np.int32)
    arms: dict[Arm, Cleaning] = {
        "original": Cleaning(everything, labels, CHANGES.empty_table(), 0, ()),
        "drop": Cleaning(~wrong, labels, CHANGES.empty_table(), 0, ()),
    }
    choice = choose_arm(sparse.csr_array(counts), given, [str(label) for label in range(classes)], np.where(wrong, 0.05, 0.98), arms, rng)
    assert choice.scores["original"].accuracy > 0.7, "not .1, as where each model starts from the small share of its class"


def test_the_folds_of_all_arms_are_counted_to_the_end() -> None:
    rng = np.random.default_rng(1)
    features, truth = topics(200, rng)
    heard: list[tuple[int, int]] = []
    arms = ways(truth, np.arange(200) < 20, np.full(200, 0.1))
    choose_arm(features, truth, ("a", "b"), np.full(200, 0.9), arms, rng, progress=lambda done, total: heard.append((done, total)))
    dones, totals = zip(*heard, strict=True)
    assert set(totals) == {20} and list(dones) == sorted(dones) and dones[-1] == 20
