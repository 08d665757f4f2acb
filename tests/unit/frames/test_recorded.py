"""An audit of dynamics that were recorded elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from cartograph.dynamics.recorder import DynamicsRecorder
from cartograph.errors import InputError
from cartograph.frames.recorded import from_dynamics

GOLD = np.arange(40) % 2
LOGITS = np.random.default_rng(0).normal(size=(40, 3, 2)) + 2 * np.eye(2)[GOLD][:, None]


@pytest.mark.parametrize("kind", ["list", "numpy", "tensor"])
def test_from_a_recorder_to_the_figure_in_three_lines_whatever_ids_are(kind: str, tmp_path: Path) -> None:
    ids = {"list": list(range(40)), "numpy": np.arange(40), "tensor": torch.arange(40)}[kind]
    recorder = DynamicsRecorder(tmp_path)
    for epoch in range(3):
        recorder.record(ids, torch.tensor(LOGITS[:, epoch]), GOLD)
        recorder.end_epoch()
    found = from_dynamics(recorder)
    assert found.map().layout.meta["rows"] == 40
    arrays = from_dynamics((ids, torch.tensor(GOLD), torch.tensor(LOGITS)))
    np.testing.assert_allclose(arrays.measures["confidence"], found.measures["confidence"], rtol=1e-6)
    assert arrays.measures.index.tolist() == sorted(map(str, range(40)))
    assert len(found.suspects) == 0 and found.wrong is None


def test_names_of_classes_may_be_an_array() -> None:
    found = from_dynamics((np.arange(40), GOLD, LOGITS), labels=np.array(["no", "yes"]))  # type: ignore[arg-type]
    assert found.map().layout.meta["rows"] == 40
    assert repr(found) == "<audit of 40 rows: a map alone; give probabilities= for suspects>"


def test_probabilities_by_models_that_did_not_see_the_row_find_suspects(tmp_path: Path) -> None:
    truth = np.arange(1200) % 2
    gold = np.where(np.arange(1200) % 40 == 0, 1 - truth, truth)
    shares = np.where(np.eye(2)[truth] == 1, 0.97, 0.03)
    logits = np.repeat(np.log(shares)[:, None], 2, axis=1)
    ids = [f"r{row:04}" for row in range(1200)]
    texts = {uid: f"text of {uid}" for uid in ids}
    found = from_dynamics((ids, gold, logits), texts=texts, labels=["no", "yes"], probabilities=shares)
    assert set(found.suspects.index) == {f"r{row:04}" for row in range(0, 1200, 40)}
    assert set(found.suspects["suggested"]) <= {"no", "yes"} and found.suspects["text"].str.startswith("text of r").all()
    assert found.wrong is not None and found.wrong.low <= 30 <= found.wrong.high
    assert "text of r0000" in found.report(tmp_path / "page.html").read_text(encoding="utf-8")


def test_probabilities_with_their_uids_may_come_in_any_order() -> None:
    rng = np.random.default_rng(2)
    shares = rng.dirichlet([1, 1], 40)
    by_text = np.argsort(np.arange(40).astype(str))
    expected = from_dynamics((np.arange(40), GOLD, LOGITS), probabilities=shares[by_text], threshold=0.01).suspects
    given = rng.permutation(40)
    for own in (dict(zip(given.tolist(), shares[given], strict=True)), pd.DataFrame(shares[given], index=given)):
        pd.testing.assert_frame_equal(from_dynamics((np.arange(40), GOLD, LOGITS), probabilities=own, threshold=0.01).suspects, expected)
    assert len(expected) > 10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"probabilities": {0: [0.5, 0.5]}}, "probabilities have no row for 39 uids of 40, the first of them '1'; give one for each"),
        ({"labels": ["a"]}, "labels names 1 classes, but the logits have 2"),
        ({"threshold": 0.0}, r"threshold must be in \(0, 1\)"),
        ({"dynamics": ([1, 1], [0, 1], np.zeros((2, 2, 2)))}, "uid '1' names more than one row"),
        ({"dynamics": ([1, 2], [0, 1], np.zeros((2, 2)))}, r"logits of shape \(2, 2\)"),
        ({"probabilities": [[1.0, 0.0]]}, r"probabilities have shape \(1, 2\), but the logits are of 40 rows and 2 classes"),
        ({"probabilities": np.full((40, 3), 1 / 3)}, r"probabilities have shape \(40, 3\)"),
        ({"probabilities": [[1.0, 0.0], [1.0]]}, "not an array of numbers"),
        ({"labels": np.array(["a"])}, "labels names 1 classes"),
        ({"dynamics": ([0.5, 1.5], [0, 1], np.zeros((2, 2, 2)))}, r"uids must be strings or whole numbers, but 0\.5 is of type float"),
        ({"dynamics": ([None, 1], [0, 1], np.zeros((2, 2, 2)))}, "1 uid of 2 is None"),
        ({"dynamics": ([1, 2], ["a", "b"], np.zeros((2, 2, 2)))}, "gold labels must be integers from 0 on, but are <U1"),
        ({"dynamics": ([1, 2], [0.0, 1.7], np.zeros((2, 2, 2)))}, "gold labels must be integers from 0 on, but are float64"),
        ({"dynamics": ([1, 2], [0, 1], [[["x"]]])}, "logits must be numbers"),
        ({"texts": {(1, 2): "x"}}, r"uids must be strings or whole numbers, but \(1, 2\)"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, object], message: str) -> None:
    given = {"dynamics": (np.arange(40), GOLD, LOGITS)} | change
    with pytest.raises(InputError, match=message):
        from_dynamics(given.pop("dynamics"), **given)  # type: ignore[arg-type]
