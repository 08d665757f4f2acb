"""Algorithm 1 against a literal reading of it, its invariants, and the defects seen in other implementations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import RidgeClassifier, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cartograph.adversarial_filter import algorithm
from cartograph.adversarial_filter.algorithm import aflite
from cartograph.adversarial_filter.forecast import Forecast
from cartograph.adversarial_filter.splits import random_splits
from cartograph.adversarial_filter.tables import resistance, rows_table
from cartograph.errors import InputError
from cartograph.selection.strategies import strategy_named
from cartograph.selection.strategy import RESISTANCE, Candidates


def clouds(rows: int, width: int, classes: int, seed: int = 0, apart: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=rows)
    return (rng.normal(size=(rows, width)) + apart * rng.normal(size=(classes, width))[labels]).astype(np.float32), labels


def literal_predictability(features: np.ndarray, labels: np.ndarray, names: list[int], train: np.ndarray) -> dict[int, float]:
    """One round read literally: predictions are kept under the row's own name, and nothing is permuted."""
    predictions: dict[int, list[bool]] = {name: [] for name in names}
    for partition in range(train.shape[1]):
        own = [name for name, inside in zip(names, train[:, partition], strict=True) if inside]
        model = RidgeClassifier().fit(features[own], labels[own])
        for name in names:
            if name not in own:
                predictions[name].append(model.predict(features[[name]])[0] == labels[name])
    return {name: float(np.mean(found)) for name, found in predictions.items() if found}


def test_every_round_is_algorithm_1_read_literally() -> None:
    features, labels = clouds(90, 3, 3, apart=0.8)
    names = np.array([f"row {row}" for row in range(90)])
    order = np.random.default_rng(5).permutation(90)
    features, labels, names = features[order], labels[order], names[order]
    result = aflite(
        features, labels, target_size=50, train_size=20, slice_size=12, n_partitions=6, threshold=0.5, estimator=RidgeClassifier(), seed=3
    )
    pool = list(range(90))
    for step in result.history:
        expected = literal_predictability(features, labels, pool, random_splits(len(pool), 20, 6, (3, 0, step.number)))
        assert step.size == len(pool)
        assert step.bias == pytest.approx(np.mean(list(expected.values())))
        assert step.eligible == sum(score >= 0.5 for score in expected.values())
        gone = [row for row in pool if result.removed_in_round[row] == step.number]
        stays = [row for row in pool if row not in gone]
        assert len(gone) == step.removed
        assert all(result.predictability_last[row] == pytest.approx(expected[row]) for row in gone if row in expected)
        assert all(expected[row] >= 0.5 for row in gone)
        if gone:
            assert min(expected[row] for row in gone) >= max((expected.get(row, 0.0) for row in stays), default=0.0)
        pool = stays
    assert result.kept.sum() == len(pool)


def test_rows_with_the_same_features_are_different_rows() -> None:
    features = np.repeat(np.array([[-1.0], [1.0]], np.float32), 40, axis=0)
    labels = np.repeat([0, 1], 40)
    labels[[0, 40]] = 1 - labels[[0, 40]]
    result = aflite(features, labels, target_size=30, train_size=20, slice_size=10, n_partitions=12, threshold=0.9)
    assert result.kept[[0, 40]].all()
    assert result.predictability_first[0] == 0
    assert result.predictability_first[1] == 1


@pytest.mark.timeout(60)
def test_removing_many_rows_is_not_quadratic() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=300_000)
    features = (labels[:, None] + rng.normal(0, 0.2, (300_000, 1))).astype(np.float32)
    result = aflite(features, labels, target_size=50_000, train_size=1_000, slice_size=200_000, n_partitions=2, measure_kept=False)
    assert result.kept.sum() == 50_000


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier()])
def test_a_class_that_a_split_lacks_does_not_shift_the_others(estimator: object) -> None:
    centres = np.array([[0.0, 9.0], [9.0, 0.0], [-9.0, -9.0]])
    labels = np.array([0] * 3 + [1] * 60 + [2] * 60)
    features = (centres[labels] + np.random.default_rng(0).normal(0, 0.1, (123, 2))).astype(np.float32)
    result = aflite(
        features, labels, target_size=122, train_size=12, slice_size=1, n_partitions=40, estimator=estimator, measure_kept=False
    )
    lacking = 1 - random_splits(123, 12, 40, (13, 0, 1))[:3].any(axis=0).mean()
    assert lacking > 0.5
    assert (result.predictability_first[3:] == 1).all()


@pytest.mark.parametrize("estimator", [None, KNeighborsClassifier(1)])
def test_splits_of_one_class_alone_predict_it(estimator: object) -> None:
    labels = np.array(["a"] * 39 + ["b"])
    features = np.random.default_rng(0).normal(size=(40, 2))
    result = aflite(features, labels, target_size=39, train_size=3, slice_size=1, n_partitions=20, estimator=estimator)
    assert result.history[0].size == 40
    assert np.nanmean(result.predictability_first[:39]) > 0.8


@pytest.mark.parametrize("variant", ["greedy", "slicing", "sampling"])
def test_a_row_never_held_out_is_not_removed(variant: str) -> None:
    features, labels = clouds(100, 2, 2, apart=4)
    result = aflite(
        features, labels, target_size=91, train_size=90, slice_size=50, n_partitions=1, threshold=0, variant=variant, measure_kept=False
    )
    trained_on = random_splits(100, 90, 1, (13, 0, 1))[:, 0]
    assert result.history[0].never_held_out == 90
    if variant != "greedy":
        assert len(result.history) == 1
        assert result.kept[trained_on].all()
        assert np.isnan(result.predictability_last[trained_on]).all()
        assert (result.n_predictions == ~trained_on).all()
    assert not (result.removed_in_round[np.isnan(result.predictability_last)] > 0).any()


@pytest.mark.parametrize("variant", ["greedy", "slicing", "sampling"])
def test_same_seed_same_result_and_another_seed_another_one(variant: str) -> None:
    features, labels = clouds(150, 4, 2)
    asked = {"target_size": 140, "train_size": 30, "slice_size": 4, "n_partitions": 8, "threshold": 0.5, "variant": variant}
    one, same, other = (aflite(features, labels, seed=seed, **asked) for seed in (1, 1, 2))
    assert one.history == same.history
    assert (one.removed_in_round == same.removed_in_round).all()
    assert (one.removed_in_round != other.removed_in_round).any()


def test_the_last_slice_is_cut_at_the_target() -> None:
    features, labels = clouds(100, 3, 2, apart=5)
    said: list[tuple[int, int]] = []
    asked = {"target_size": 55, "train_size": 20, "slice_size": 20, "n_partitions": 10, "threshold": 0}
    result = aflite(features, labels, **asked, progress=lambda *far: said.append(far))
    assert result.stop_reason == "target size reached"
    assert [step.removed for step in result.history] == [20, 20, 5, 0]
    assert said == [(20, 45), (40, 45), (45, 45)]
    assert [step.size for step in result.history] == [100, 80, 60, 55]
    assert list(result.rows) == list(np.flatnonzero(result.removed_in_round == 0))


def test_a_filter_says_from_its_first_round_on_how_long_it_takes() -> None:
    features, labels = clouds(100, 3, 2, apart=5)
    asked = {"target_size": 55, "train_size": 20, "slice_size": 20, "n_partitions": 10, "threshold": 0}
    said: list[Forecast] = []
    result = aflite(features, labels, **asked, forecast=said.append)
    assert said[0].ended == 0
    assert sorted({one.ended for one in said}) == [0, 1, 2, 3, 4] and [one.ended for one in said] == sorted(one.ended for one in said)
    assert {one.rounds for one in said} == {4} == {len(result.history)}
    assert said[-1].seconds_left == 0 and min(one.seconds_left for one in said) == 0
    assert result.history == aflite(features, labels, **asked).history


def test_fewer_rows_at_the_threshold_than_a_slice_end_the_filter() -> None:
    rng = np.random.default_rng(0)
    result = aflite(
        rng.normal(size=(200, 3)), rng.integers(2, size=200), target_size=50, train_size=40, slice_size=60, n_partitions=32, threshold=0.9
    )
    assert result.stop_reason == "fewer rows at the threshold than a slice"
    assert result.history[0].removed == result.history[0].eligible < 60
    assert result.kept.sum() == 200 - result.history[0].removed
    # The round that removed some is followed by one that measures what is left; one that removed none has measured it.
    removed = [step.removed for step in result.history]
    assert removed[-1] == 0
    assert 0 not in removed[:-1]
    features, labels = rng.normal(size=(200, 3)), rng.integers(2, size=200)
    untouched = aflite(features, labels, target_size=50, train_size=40, slice_size=60, n_partitions=32, threshold=1)
    assert [step.removed for step in untouched.history] == [0]


def test_one_class_left_ends_the_filter() -> None:
    labels = np.repeat([0, 1], [30, 10])
    features = np.where(np.arange(40) < 30, -5.0, 5.0)[:, None] + np.random.default_rng(0).normal(0, 0.1, (40, 1))
    result = aflite(features, labels, target_size=6, train_size=5, slice_size=17, n_partitions=30, threshold=0.0)
    assert len(np.unique(labels[result.kept])) == 1
    assert result.stop_reason in ("one class left", "target size reached")


def test_nothing_to_remove_is_measured() -> None:
    features, labels = clouds(60, 2, 2)
    result = aflite(features, labels, target_size=60, train_size=20, slice_size=5, n_partitions=4)
    assert (result.stop_reason, result.kept.all(), len(result.history)) == ("target size reached", True, 1)


def test_one_group_left_ends_the_filter() -> None:
    """What learns from the second group guesses all of the first; what learns from the first, three in five of the second."""
    groups = np.repeat([0, 1], 100)
    labels = np.arange(200) % 2
    seen = np.where((groups == 1) & (np.arange(200) % 5 < 2), 1 - labels, labels)
    asked = {"target_size": 31, "train_size": 30, "slice_size": 160, "n_partitions": 20, "threshold": 0.9}
    result = aflite(seen[:, None] * 2.0 - 1.0, labels, groups=groups, **asked)
    assert result.stop_reason == "one group left"
    assert set(groups[result.kept]) == {1} and result.kept.sum() == 40
    assert not any(np.isnan(step.bias) for step in result.history)


def test_twins_are_guessed_from_each_other_unless_they_are_grouped() -> None:
    rng = np.random.default_rng(0)
    base, labels = rng.normal(size=(60, 5)), rng.integers(2, size=60)
    features, twins, labels = np.repeat(base, 2, axis=0), np.repeat(np.arange(60), 2), np.repeat(labels, 2)
    asked = {"target_size": 119, "train_size": 60, "slice_size": 1, "n_partitions": 20, "estimator": KNeighborsClassifier(1)}
    alone, grouped = aflite(features, labels, **asked), aflite(features, labels, groups=twins, **asked)
    assert alone.history[0].bias > 0.62 > 0.58 > grouped.history[0].bias


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(8, 40), st.integers(1, 12), st.floats(0, 1), st.sampled_from(["slicing", "sampling", "greedy"]))
def test_what_is_filtered_fits_the_parameters(seed: int, target: int, size: int, threshold: float, variant: str) -> None:
    features, labels = clouds(48, 2, 2, seed)
    labels[:2] = 0, 1
    result = aflite(
        features, labels, target_size=target, train_size=7, slice_size=size, n_partitions=3, threshold=threshold, variant=variant, seed=seed
    )
    assert result.kept.sum() >= target
    assert sum(step.removed for step in result.history) == (~result.kept).sum()
    assert (result.predictability_last[~result.kept] >= threshold).all()
    sizes = [step.size for step in result.history]
    assert all(after == before.size - before.removed for before, after in zip(result.history, sizes[1:], strict=False))
    known = ~np.isnan(result.predictability_last)
    assert ((result.predictability_last[known] >= 0) & (result.predictability_last[known] <= 1)).all()


@pytest.mark.parametrize("estimator", [None, RidgeClassifier()])
def test_an_evaluation_set_is_filtered_with_the_pool(estimator: object) -> None:
    features, labels = clouds(600, 3, 3, apart=1.2)
    names = np.array(["a", "b", "c"])[labels]
    result = aflite(
        features[:400],
        names[:400],
        target_size=150,
        train_size=50,
        slice_size=50,
        n_partitions=16,
        estimator=estimator,
        evaluation={"dev": (features[400:], names[400:]), "other": (features[400:], np.full(200, "unheard of"))},
    )
    dev = result.evaluation["dev"]
    assert abs(dev.kept.mean() - result.kept.mean()) < 0.12
    assert dev.predictability_first[~dev.kept].mean() > dev.predictability_first[dev.kept].mean() + 0.15
    assert (dev.removed_in_round[dev.kept] == 0).all()
    assert result.evaluation["other"].kept.all()
    assert (result.evaluation["other"].predictability_last == 0).all()


def test_an_evaluation_set_may_lose_all_its_rows() -> None:
    labels = np.arange(60) % 2
    features = np.where(np.arange(60) < 40, labels, 1 - labels)[:, None] * 2.0 - 1.0
    asked = {"target_size": 20, "train_size": 18, "slice_size": 40, "n_partitions": 4}
    for estimator in (None, RidgeClassifier()):
        result = aflite(features, labels, estimator=estimator, evaluation={"dev": (features[:2], labels[:2])}, **asked)
        assert result.evaluation["dev"].removed_in_round.tolist() == [1, 1] and len(result.history) == 2


def test_a_part_of_an_estimator_is_seeded_too() -> None:
    features, labels = clouds(150, 4, 2)
    steps = make_pipeline(StandardScaler(), SGDClassifier(max_iter=1, tol=None))
    one, same = (aflite(features, labels, estimator=steps, n_partitions=4, **(GOOD | {"target_size": 149})) for _ in range(2))
    assert one.history == same.history


def test_a_memory_map_gives_the_same_result(tmp_path: Path) -> None:
    features, labels = clouds(400, 6, 3)
    np.save(tmp_path / "features.npy", features)
    mapped = np.load(tmp_path / "features.npy", mmap_mode="r")
    asked = {"target_size": 300, "train_size": 80, "slice_size": 25, "n_partitions": 8, "threshold": 0.5}
    inside = aflite(features, labels, **asked)
    # So little memory that no copy of the features may be held: every pass reads blocks.
    outside = aflite(mapped, labels, memory_limit=_least_memory(mapped, labels, asked), **asked)
    assert (inside.removed_in_round == outside.removed_in_round).mean() > 0.98
    assert np.corrcoef(inside.predictability_first, outside.predictability_first)[0, 1] > 0.995


def _least_memory(features: np.ndarray, labels: np.ndarray, asked: dict[str, float]) -> int:
    for limit in range(2**28, 2**29, 2**16):
        try:
            aflite(features, labels, memory_limit=limit, **{**asked, "target_size": len(labels)}, measure_kept=False)
        except InputError:
            continue
        return limit
    raise AssertionError


GOOD = {"target_size": 20, "train_size": 10, "slice_size": 5}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train_size": 40}, r"train_size is 40, but there are 40 rows in all.*below target_size"),
        ({"train_size": 20}, r"train_size \(20\) must be below target_size \(20\)"),
        ({"train_size": 0}, r"train_size must be at least 1, but is 0"),
        ({"slice_size": 0}, r"slice_size must be at least 1, but is 0"),
        ({"slice_size": 0, "variant": "greedy"}, r"slice_size must be at least 1, but is 0"),
        ({"threshold": 1.5}, r"threshold must be in \[0, 1\], but is 1.5"),
        ({"threshold": -0.1}, r"threshold must be in \[0, 1\]"),
        ({"n_partitions": 0}, r"n_partitions must be at least 1"),
        ({"variant": "slow"}, r"variant 'slow' is not known; take one of greedy, slicing, sampling"),
        ({"memory_limit": 10**6}, r"needs about 0\.\d GB of memory beside the features, and 0\.0 GB are free; take fewer partitions"),
        ({"groups": np.zeros(40)}, "all 40 rows are of one group, so none could be held out"),
        ({"groups": np.zeros(3)}, r"groups must be one per row of the features \(40\), but have the shape \(3,\)"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(change: dict[str, object], message: str) -> None:
    features, labels = clouds(40, 2, 2)
    with pytest.raises(InputError, match=message):
        aflite(features, labels, **(GOOD | change))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_refused() -> None:
    with pytest.raises(InputError, match=r"device is `cuda`, but torch sees no GPU here; set it to `auto` or `cpu`"):
        aflite(*clouds(40, 2, 2), device="cuda", **GOOD)


def test_evaluation_sets_that_do_not_fit_are_refused() -> None:
    features, labels = clouds(40, 2, 2)
    with pytest.raises(InputError, match=r"features of evaluation set `dev` must have 2 columns.*shape \(40, 1\) beside 40 labels"):
        aflite(features, labels, evaluation={"dev": (features[:, :1], labels)}, **GOOD)
    wrong = features.copy()
    wrong[3, 0] = np.inf
    with pytest.raises(InputError, match=r"features of evaluation set `dev` have inf in row 3, column 0"):
        aflite(features, labels, evaluation={"dev": (wrong, labels)}, **GOOD)


def test_data_that_cannot_be_filtered_are_refused() -> None:
    features, labels = clouds(40, 2, 2)
    with pytest.raises(InputError, match=r"all 40 labels are of one class \(1\)"):
        aflite(features, np.ones(40, int), **GOOD)
    with pytest.raises(InputError, match=r"labels must be one per row of the features \(40\)"):
        aflite(features, labels[:-1], **GOOD)
    with pytest.raises(InputError, match=r"features must be floating-point numbers, but are int64"):
        aflite(features.astype(np.int64), labels, **GOOD)
    with pytest.raises(InputError, match=r"have 1e\+39 in row 3, column 0: every value must be a finite number, at most 1e\+15"):
        aflite(np.where(np.arange(40)[:, None] == 3, 1e39, features.astype(np.float64)), labels, **GOOD)
    features[17, 1] = np.nan
    with pytest.raises(InputError, match=r"features have nan in row 17, column 1: every value must be a finite number"):
        aflite(features, labels, **GOOD)


def test_the_selection_aflite_keeps_what_the_filter_would_keep() -> None:
    features, labels = clouds(120, 3, 2, apart=1.5)
    result = aflite(features, labels, target_size=60, train_size=30, slice_size=10, n_partitions=16, threshold=0.5)
    uids = [f"u{row}" for row in range(120)]
    rows = rows_table(pa.array(uids), result, result.n_predictions)
    known = resistance(rows, pa.array([*uids, "learnt from"]))
    assert known[-1] == -1 and (known[:-1] > 0).all()
    candidates = Candidates(np.array([*uids, "learnt from"], dtype=object), np.append(labels, 0), {RESISTANCE: known})
    stayed = int(result.kept.sum())
    picks = strategy_named("aflite").pick(candidates, stayed, np.random.default_rng(0))
    assert sorted(picks.rows.tolist()) == result.rows.tolist()
    last = int(result.removed_in_round.max())
    assert set(picks.reasons) == {f"kept by the filter until round {last + 1}"}
    more = strategy_named("aflite").pick(candidates, stayed + 5, np.random.default_rng(0))
    assert (result.removed_in_round[more.rows[stayed:]] == last).all()
    every = strategy_named("aflite").pick(candidates, 121, np.random.default_rng(0))
    assert every.reasons[-1] == "not in the filter's pool"
    with pytest.raises(InputError, match=r"takes what AFLite keeps, but nothing was filtered; set `aflite.enabled`"):
        strategy_named("aflite").pick(Candidates(candidates.uids, candidates.labels), 5, np.random.default_rng(0))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_filter_ends_with_its_first_slice_that_is_short(seed: int) -> None:
    labels = np.arange(240) % 2
    features = np.random.default_rng(seed).normal(labels[:, None] * 0.8, 1.0, (240, 3)).astype("float32")
    result = aflite(features, labels, target_size=60, train_size=40, slice_size=25, n_partitions=16, seed=seed)
    *whole, short, measured = [step.removed for step in result.history]
    assert set(whole) == {25} and 0 < short < 25 and measured == 0


def test_without_being_told_64_classifiers_of_the_usual_penalty_are_trained() -> None:
    features, labels = clouds(60, 2, 2)
    asked = {"target_size": 50, "train_size": 30, "slice_size": 5, "threshold": 0.5, "measure_kept": False}
    default, stated, smoother = (
        aflite(features, labels, **asked, **more) for more in ({}, {"n_partitions": 64, "penalty": 1.0}, {"penalty": 0.1})
    )
    assert default.history == stated.history != smoother.history
    assert default.removed_in_round.tolist() == stated.removed_in_round.tolist()
    assert default.history[0].bias != aflite(features, labels, **asked, n_partitions=65).history[0].bias


@pytest.mark.parametrize(("classes", "made"), [(128, "JointLogistic"), (129, "ManyClasses")])
def test_of_up_to_128_classes_logistic_regressions_are_fitted(classes: int, made: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Made(Exception):
        pass

    def say(*_: object, **__: object) -> None:
        raise Made

    monkeypatch.setattr(algorithm, made, say)
    labels = np.arange(2 * classes) % classes
    with pytest.raises(Made):
        aflite(np.ones((len(labels), 1), np.float32), labels, target_size=200, train_size=100, slice_size=5, n_partitions=2)
