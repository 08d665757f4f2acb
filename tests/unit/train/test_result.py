from __future__ import annotations

import numpy as np

from cartograph.train.inference import Inference
from cartograph.train.result import Predictions


def test_predictions_and_inference_are_shown_by_their_size() -> None:
    predictions = Predictions("id", np.array(["a", "b"], object), np.array([0, 1]), np.zeros((2, 3), np.float32))
    assert repr(predictions) == "Predictions(id, 2 examples, 3 classes)"
    inference = Inference(np.zeros((1, 2, 3), np.float32), np.zeros((2, 7), np.float32))
    assert repr(inference) == "Inference(1 pass, 2 examples, 3 classes, features of width 7)"
