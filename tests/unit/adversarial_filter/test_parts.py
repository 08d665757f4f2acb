"""A round's classifiers in several parts: the predictions of one part, and the same bytes wherever they are computed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cartograph.adversarial_filter.algorithm import aflite
from cartograph.adversarial_filter.result import Result
from cartograph.errors import InputError
from flows.engine.processes import in_children

SIZES: dict[str, Any] = {"target_size": 200, "train_size": 60, "slice_size": 60, "n_partitions": 12, "threshold": 0.6, "device": "cpu"}


def clouds(classes: int, rows: int = 500) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(classes)
    labels = rng.integers(classes, size=rows)
    return (rng.normal(size=(rows, 6)) + 1.2 * rng.normal(size=(classes, 6))[labels]).astype(np.float32), labels


def bytes_of(result: Result) -> list[bytes]:
    found = [result.removed_in_round, result.predictability_first, result.predictability_last]
    sets = [array for theirs in result.evaluation.values() for array in (theirs.removed_in_round, theirs.predictability_last)]
    return [array.tobytes() for array in (*found, *sets)]


@pytest.mark.parametrize("classes", [2, 3])
def test_parts_predict_as_the_whole_does(classes: int) -> None:
    features, labels = clouds(classes)
    whole = aflite(features, labels, **SIZES)
    parts = aflite(features, labels, **SIZES, parts=5)
    np.testing.assert_allclose(parts.predictability_first, whole.predictability_first, rtol=0, atol=1 / SIZES["n_partitions"] + 1e-9)
    assert np.mean(parts.predictability_first != whole.predictability_first) < 0.02
    assert [step.size for step in parts.history][:2] == [step.size for step in whole.history][:2]


@pytest.mark.slow
def test_in_other_processes_the_same_bytes_come_out_and_features_are_read_from_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    features, labels = clouds(3)
    others = {"test": (features[:100] + np.float32(0.1), labels[:100])}
    here = aflite(features, labels, **SIZES, parts=3, evaluation=others)
    there = aflite(
        features, labels, **SIZES, parts=3, evaluation=others, spread=partial(in_children, 2), folder=tmp_path / "new" / "folder"
    )
    assert bytes_of(there) == bytes_of(here)
    assert len(here.history) > 2
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == ["features-0.npy", "features-1.npy"]
    assert np.array_equal(np.load(tmp_path / "new/folder/features-0.npy"), features)


def test_more_parts_than_classifiers_are_as_many_as_those() -> None:
    features, labels = clouds(2)
    each = aflite(features, labels, **SIZES, parts=12)
    assert bytes_of(aflite(features, labels, **SIZES, parts=40)) == bytes_of(each)


def test_a_part_whose_classifiers_see_one_class_only_predicts_that() -> None:
    labels = np.array([0] * 97 + [1] * 3)
    features = np.random.default_rng(0).normal(size=(100, 2)).astype(np.float32)
    result = aflite(features, labels, target_size=90, train_size=4, slice_size=5, n_partitions=6, threshold=0.9, parts=3, device="cpu")
    whole = aflite(features, labels, target_size=90, train_size=4, slice_size=5, n_partitions=6, threshold=0.9, device="cpu")
    assert result.history[0].accuracy == pytest.approx(whole.history[0].accuracy, abs=0.01)
    assert np.array_equal(result.n_predictions, whole.n_predictions)


def test_no_part_is_refused() -> None:
    features, labels = clouds(2)
    with pytest.raises(InputError, match="parts must be at least 1, but is 0"):
        aflite(features, labels, **SIZES, parts=0)
