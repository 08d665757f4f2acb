from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cartograph.data.parquet import write_parquet
from cartograph.features.simple import simple_features
from cartograph.schema import LABEL_SET
from cartograph.train.enough import (
    MOST_DOUBLINGS,
    MOST_NUMBERS,
    MOST_STEPS,
    Attempt,
    fit_until_learnt,
    may_double,
    simple_accuracy,
    yes_attempt,
    yes_f1,
    yes_simple,
)
from cartograph.train.fit import fit
from cartograph.train.recipe import Recipe
from tests.label_sets import WORDS, films
from tests.training_sets import info_of, small_images, small_set, table

RECIPE = Recipe(epochs=2, batch_size=30, learning_rate=0.01, seed=5, threads=1, device="cpu")


def files_below(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    write_parquet(small_set(), tmp_path / "train.parquet")
    return tmp_path / "train.parquet"


def test_simple_models_learn_nothing_from_rows_that_are_linked_with_one_that_they_score() -> None:
    rng = np.random.default_rng(6)
    labels = np.repeat(rng.integers(0, 2, 60), 3).tolist()
    rows = table(info_of("single"), {"text": [f"own{row // 3} word{row // 3}" for row in range(180)]}, labels)
    linked = rows.append_column("linked", pa.array([row // 3 for row in range(180)], pa.int32()))
    assert (simple_accuracy(rows, 3) or 0.0) > 0.9
    assert (simple_accuracy(linked, 3) or 1.0) < 0.75
    features, given = simple_features(rows), np.array(labels)[:, None]
    assert yes_simple(features, given, 3) > 0.9
    assert yes_simple(features, given, 3, np.arange(180) // 3) < 0.75


def test_simple_models_know_what_words_give_away_and_nothing_of_chance() -> None:
    assert (simple_accuracy(small_set(), 3) or 0.0) > 0.9
    rng = np.random.default_rng(4)
    words = [f"w{word}" for word in range(30)]
    texts = [" ".join(rng.choice(words, 8)) for _ in range(400)]
    by_chance = simple_accuracy(table(info_of("single"), {"text": texts}, rng.integers(0, 2, 400).tolist()), 3)
    assert by_chance is not None and 0.4 < by_chance < 0.6


def test_simple_models_read_images() -> None:
    assert (simple_accuracy(small_images(), 3) or 0.0) > 0.9


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_handful_of_rows_has_a_yardstick_or_none(rows: int) -> None:
    found = simple_accuracy(table(info_of("single"), {"text": ["a b", "c d", "a d"][:rows]}, [0, 1, 0][:rows]), 3)
    assert (found is None) == (rows == 1)


def test_without_words_or_a_second_class_there_is_no_yardstick() -> None:
    assert simple_accuracy(table(info_of("single"), {"text": [" ", ""]}, [0, 1]), 3) is None
    assert simple_accuracy(table(info_of("single"), {"text": ["a", "b"]}, [1, 1]), 3) is None
    options = {"sentence": ["a _"] * 2, "option1": ["b"] * 2, "option2": ["c"] * 2}
    assert simple_accuracy(table(info_of("choice"), options, [1, 1]), 3) is None


@pytest.mark.parametrize(
    ("accuracy", "surest", "simple", "learnt"),
    [(0.6, 0.7, 0.65, False), (0.7, 0.6, 0.65, False), (0.7, 0.7, 0.65, True), (0.92, 0.8, 1.0, True), (0.5, 0.5, None, True)],
)
def test_a_model_has_learnt_what_simple_models_know(accuracy: float, surest: float, simple: float | None, learnt: bool) -> None:
    attempt = Attempt(8, accuracy, surest, failed=False, finite=True)
    assert attempt.learnt(simple) == learnt
    assert not replace(attempt, failed=True).learnt(simple)
    assert not replace(attempt, finite=False).learnt(simple)


def test_attempts_end_at_the_bounds() -> None:
    recipe = replace(RECIPE, epochs=8, batch_size=64)
    assert [may_double(recipe, attempts, 240, 2) for attempts in (1, MOST_DOUBLINGS, MOST_DOUBLINGS + 1)] == [True, True, False]
    assert may_double(recipe, 1, 64 * (MOST_STEPS // 16), 2)
    assert not may_double(recipe, 1, 64 * (MOST_STEPS // 16) + 1, 2)
    rows = MOST_NUMBERS // (16 * 100)
    whole = replace(recipe, batch_size=rows)
    assert may_double(whole, 1, rows, 100) and not may_double(whole, 1, rows, 101)
    assert may_double(recipe, 1, 2_000, 1_000), "of many classes a row's dynamics keep a few"
    assert not may_double(replace(recipe, batch_size=10**6), 1, MOST_NUMBERS // (16 * 18) + 1, 1_000)


@pytest.mark.slow
def test_epochs_are_doubled_until_it_has_learnt_and_the_last_training_is_a_plain_one(rows: Path, tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    result, attempts = fit_until_learnt(RECIPE, 0.9, rows, {}, tmp_path / "until", progress=lambda done, total: calls.append((done, total)))
    epochs = [attempt.epochs for attempt in attempts]
    assert len(epochs) > 1 and epochs == [2 * 2**place for place in range(len(epochs))]
    assert [attempt.learnt(0.9) for attempt in attempts] == [False] * (len(attempts) - 1) + [True]
    plain = fit(replace(RECIPE, epochs=epochs[-1]), pq.read_table(rows), {}, tmp_path / "plain")
    assert files_below(result.dynamics) == files_below(plain.dynamics) and files_below(result.model) == files_below(plain.model)
    assert calls[-1] == (60 * sum(epochs), 60 * sum(epochs))
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_what_has_learnt_is_trained_once(rows: Path, tmp_path: Path) -> None:
    _, attempts = fit_until_learnt(replace(RECIPE, epochs=16, batch_size=8), 0.9, rows, {}, tmp_path / "once")
    assert [attempt.epochs for attempt in attempts] == [16]


@pytest.mark.slow
def test_a_training_that_cannot_learn_ends_at_the_bound(tmp_path: Path) -> None:
    write_parquet(table(info_of("single"), {"text": ["the same"] * 40}, [0] * 30 + [1] * 10), tmp_path / "train.parquet")
    _, attempts = fit_until_learnt(replace(RECIPE, epochs=1), None, tmp_path / "train.parquet", {}, tmp_path / "all")
    assert [attempt.epochs for attempt in attempts] == [1, 2, 4, 8, 16]
    assert all(attempt.failed for attempt in attempts)


def test_a_loss_that_is_no_number_is_not_tried_again(rows: Path, tmp_path: Path) -> None:
    _, attempts = fit_until_learnt(replace(RECIPE, epochs=3, learning_rate=1e38), 0.9, rows, {}, tmp_path / "once")
    assert [attempt.finite for attempt in attempts] == [False]


_KILLED = """
import os, signal, sys
from pathlib import Path
from cartograph.train.enough import fit_until_learnt
from cartograph.train.recipe import Recipe

def stop(done, total):
    if done > int(sys.argv[4]):
        os.kill(os.getpid(), signal.SIGKILL)

fit_until_learnt(Recipe(**eval(sys.argv[1])), 0.9, Path(sys.argv[2]), {}, Path(sys.argv[3]), progress=stop)
"""


@pytest.mark.slow
@pytest.mark.parametrize("after_rows", [100, 260])
def test_killed_in_its_first_or_second_attempt_it_ends_in_the_same_bytes(after_rows: int, rows: Path, tmp_path: Path) -> None:
    whole, attempts = fit_until_learnt(RECIPE, 0.9, rows, {}, tmp_path / "whole")
    command = [sys.executable, "-c", _KILLED, repr(RECIPE.to_json()), str(rows), str(tmp_path / "cut"), str(after_rows)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    record = tmp_path / "cut" / "attempts.json"
    assert (len(json.loads(record.read_text())) if record.exists() else 0) == (after_rows > 120)
    resumed, again = fit_until_learnt(RECIPE, 0.9, rows, {}, tmp_path / "cut")
    assert again == attempts
    for name in ("dynamics", "model"):
        assert files_below(resumed.folder / name) == files_below(whole.folder / name)


def several(rows: int) -> tuple[pa.Table, np.ndarray]:
    texts, labels = films(rows)
    whole = table(replace(info_of("single"), labels=WORDS), {"text": texts}, [0] * rows)
    flat = pa.array(labels.astype(bool).ravel())
    return whole.append_column(LABEL_SET, pa.FixedSizeListArray.from_arrays(flat, len(WORDS))), labels


@pytest.mark.slow
def test_a_model_of_several_labels_is_judged_by_the_labels_that_rows_have(tmp_path: Path) -> None:
    train, labels = several(300)
    little, much = (fit(replace(RECIPE, epochs=epochs), train, {}, tmp_path / str(epochs)) for epochs in (1, 24))
    simple = yes_simple(simple_features(train.drop_columns([LABEL_SET])), labels, 3)
    assert simple > 0.8 and not yes_attempt(little).learnt(simple)
    learnt = yes_attempt(much)
    assert learnt.learnt(0.9 * simple) and learnt.surest > 0.8 and learnt.epochs == 24


def test_f1_of_yes_counts_no_right_no() -> None:
    given = np.array([[True, False], [False, False], [True, True]])
    assert yes_f1(given, given) == 1.0 and yes_f1(~given, given) == 0.0
    assert yes_f1(np.zeros_like(given), given) == 0.0
    assert yes_f1(np.ones_like(given), given) == pytest.approx(2 * 3 / (6 + 3))
