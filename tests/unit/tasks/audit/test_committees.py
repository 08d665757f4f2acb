from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cartograph.dynamics.epoch_files import Dynamics
from cartograph.errors import InputError
from cartograph.features.vectors import write_features
from cartograph.suspects import committee as committee_module
from cartograph.suspects.views import View, combine
from tasks.audit.committees import EMBEDDED, Training, committees, read_training
from tasks.engine.workspace import user_file
from tests.training_sets import small_set

ROWS = 60


@pytest.fixture
def rows() -> pa.Table:
    return small_set("single", rows=ROWS).sort_by("uid")


def dynamics_of(rows: pa.Table, n_epochs: int) -> Dynamics:
    """Dynamics whose every epoch prefers class 1 a little more."""
    logits = np.zeros((ROWS, n_epochs, 2), np.float32)
    logits[:, :, 1] = np.arange(n_epochs)
    return Dynamics(rows["uid"].to_numpy(zero_copy_only=False), rows["label"].to_numpy(), logits)


@contextmanager
def put_together() -> Iterator[list[View]]:
    """The views that committees are put together from, as they come."""
    views: list[View] = []

    def heard(given: Sequence[View], labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        views.extend(given)
        return combine(given, labels, rng)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(committee_module, "combine", heard)
        yield views


def views_of(
    rows: pa.Table,
    training: Training,
    inputs: dict[str, Path] | None = None,
    *,
    known: Dynamics | None = None,
    out_of_fold: Dynamics | None = None,
    wanted: bool = True,
) -> list[str] | None:
    opinion = committees(rows, training, inputs or {}, folds=3, seed=1, wanted=wanted)
    with put_together() as views:
        committee = opinion(rows["label"].to_numpy(), known, out_of_fold)
    return None if committee is None else [view.name for view in views]


def test_words_are_always_read_and_an_encoders_vectors_in_place_of_their_characters(rows: pa.Table, tmp_path: Path) -> None:
    training = Training(tmp_path, recorded=True, assumed=False, fine_tuned=False)
    assert views_of(rows, training, known=dynamics_of(rows, 3)) == ["words", "characters"]
    vectors = np.random.default_rng(1).normal(size=(ROWS, 4)).astype(np.float32)
    write_features(rows["uid"], vectors, tmp_path / "train.parquet")
    assert views_of(rows, training, {EMBEDDED: tmp_path}) == ["words", "vectors"]


def test_the_users_own_vectors_are_read_in_place_of_an_encoders_by_uid(rows: pa.Table, tmp_path: Path) -> None:
    given = rows["label"].to_numpy()
    vectors = np.random.default_rng(1).normal(size=(ROWS, 4)).astype(np.float32)
    vectors[:, 0] += 4 * (given if given[0] == 0 else 1 - given)
    back = rows.sort_by([("uid", "descending")])
    write_features(back["uid"], vectors[::-1].copy(), tmp_path / "own.parquet")
    training = Training(tmp_path, recorded=True, assumed=False, fine_tuned=False)
    wrong = given.copy()
    wrong[5] = 1 - wrong[5]
    inputs = {user_file("own.parquet"): tmp_path / "own.parquet"}
    make = committees(rows, training, inputs, folds=3, seed=1, wanted=True, file="own.parquet")
    found = make(wrong, None, None)
    assert found is not None
    assert int(found.doubt.score.argmax()) == 5
    write_features(rows["uid"][1:], vectors[1:], tmp_path / "own.parquet")
    with pytest.raises(InputError, match=r"own\.parquet has no features of uid .* give a vector for every row of the set"):
        committees(rows, training, inputs, folds=3, seed=1, wanted=True, file="own.parquet")


def test_k_fold_training_and_a_fine_tuned_models_second_epoch_are_views(rows: pa.Table, tmp_path: Path) -> None:
    known = dynamics_of(rows, 4)
    training = Training(tmp_path, recorded=True, assumed=False, fine_tuned=True)
    assert views_of(rows, training, known=known, out_of_fold=known) == ["words", "characters", "k-fold training", "early epoch"]
    opinion, labels = committees(rows, training, {}, folds=3, seed=1, wanted=True), rows["label"].to_numpy()
    with put_together() as views:
        opinion(labels, known, None)
    # Class 1 leads by one in the second epoch, by none in the first: half of that is left when the row's scores are centred.
    np.testing.assert_allclose(views[-1].scores[0, :, 1], 0.5, atol=1e-5)
    with put_together() as views:
        opinion(labels, dynamics_of(rows, 2), None)
    assert np.allclose(views[-1].scores, 0.0)


def test_of_rows_that_a_column_links_nothing_is_read_that_has_met_their_siblings(rows: pa.Table, tmp_path: Path) -> None:
    linked = rows.append_column("linked", pa.array([row // 3 for row in range(ROWS)], pa.int32()))
    known, training = dynamics_of(rows, 4), Training(tmp_path, recorded=True, assumed=False, fine_tuned=True)
    assert views_of(linked, training, known=known, out_of_fold=known) == ["words", "characters", "k-fold training"]
    committee = committees(linked, training, {}, folds=3, seed=1, wanted=True)(rows["label"].to_numpy(), None, None)
    assert committee is not None
    assert all(len(np.unique(committee.fold[start : start + 3])) == 1 for start in range(0, ROWS, 3))


def test_of_choices_the_options_are_read_and_their_vectors(tmp_path: Path) -> None:
    rows = small_set("choice", rows=ROWS).sort_by("uid")
    training, known = Training(tmp_path, recorded=True, assumed=False, fine_tuned=False), dynamics_of(rows, 3)
    assert views_of(rows, training, known=known) == ["words"]
    write_features(rows["uid"], np.random.default_rng(1).normal(size=(ROWS, 2 * 4)).astype(np.float32), tmp_path / "train.parquet")
    assert views_of(rows, training, {EMBEDDED: tmp_path}, out_of_fold=known) == ["words", "vectors", "k-fold training"]


def test_what_was_imported_has_no_say(rows: pa.Table, tmp_path: Path) -> None:
    training, known = Training(tmp_path, recorded=True, assumed=True, fine_tuned=False), dynamics_of(rows, 3)
    assert views_of(rows, training, known=known, out_of_fold=known, wanted=False) is None
    assert views_of(rows, training, known=known, out_of_fold=known) == ["words", "characters"]


@pytest.mark.parametrize(
    ("model", "record", "source", "expected"),
    [
        ("transformer", "train_pass", "trained", True),
        ("transformer", "epoch_end", "trained", False),
        ("bow", "train_pass", "trained", False),
        ("transformer", "train_pass", "imported", False),
    ],
)
def test_only_what_was_recorded_before_the_rows_turn_is_unseen(
    model: str, record: str, source: str, expected: bool, tmp_path: Path
) -> None:
    (tmp_path / "training.json").write_text(json.dumps({"model": model, "record": record, "source": source}), encoding="utf-8")
    assert read_training(tmp_path).fine_tuned is expected
