"""Each label of a row as a decision between no and yes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from cartograph.dynamics.decisions import decision_places, decision_uids, decisions
from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.dynamics.recorder import DynamicsRecorder


def test_the_softmax_of_a_decision_is_the_labels_sigmoid() -> None:
    logits = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, -2.0]])
    pairs, gold = decisions(logits, torch.tensor([[1, 0, 1], [0, 0, 1]]))
    torch.testing.assert_close(torch.softmax(pairs, dim=1)[:, 1], torch.sigmoid(logits).reshape(-1))
    assert gold.tolist() == [1, 0, 1, 0, 0, 1]


def test_recorded_decisions_are_found_by_row_and_label_again(tmp_path: Path) -> None:
    uids = np.array(["b", "a-b", "a"], dtype=object)
    labels = np.arange(3 * 12).reshape(3, 12) % 2
    logits = torch.arange(36.0).reshape(3, 12)
    recorder = DynamicsRecorder(tmp_path)
    recorder.record(decision_uids(uids, 12).ravel(), *decisions(logits, torch.from_numpy(labels)))
    recorder.end_epoch()
    found, places = read_dynamics(tmp_path), decision_places(uids, 12)
    assert found.logits[:, 0, 1].tolist() == logits.reshape(-1)[torch.from_numpy(places)].tolist()
    assert found.gold.tolist() == labels.ravel()[places].tolist()
