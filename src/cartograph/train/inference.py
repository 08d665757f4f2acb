"""A trained model read again: its logits and features of any set of examples, with dropout off or on."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import torch

from cartograph.data.arrays import Floats32
from cartograph.models.device import GatheredRows, chosen_device, half_products, made_ahead, moved
from cartograph.models.encoded import read_batches
from cartograph.models.isolation import isolated, seed_everything
from cartograph.models.registry import model_class
from cartograph.schema import dataset_info
from cartograph.train.fit import cpu_threads
from cartograph.train.recipe import Recipe
from cartograph.wording import counted


class Inference(NamedTuple):
    """What a model says of n examples.

    Attributes:
        logits: (n_passes, n_examples, n_classes).
        features: (n_examples, width): the input of the last layer in the first pass; of a multiple-choice row all options', one after
            the other.
    """

    logits: Floats32
    features: Floats32

    def __repr__(self) -> str:
        passes, examples, classes = self.logits.shape
        return (
            f"Inference({counted(passes, 'pass', 'passes')}, {counted(examples, 'example')}, {counted(classes, 'class', 'classes')}, "
            f"features of width {self.features.shape[1]})"
        )


def infer(
    recipe: Recipe, model: Path, examples: pa.Table, *, passes: int = 1, dropout: bool = False, seed: int = 0, batch_size: int = 256
) -> Inference:
    """Read a set of examples with a trained model.

    Args:
        recipe: how the model was trained.
        model: its folder (``TrainingResult.model``).
        examples: ``schema.examples_schema``.
        passes: how often.
        dropout: whether dropout is on, so that passes differ (Gal and Ghahramani 2016).
        seed: of the dropout.
        batch_size: rows read together; on a GPU more of shorter ones.
    """
    device = chosen_device(recipe.device)
    with isolated(seed, cpu_threads(recipe)), torch.no_grad():
        network = model_class(recipe.model).resume(model, recipe.pretrained).to(device)
        encoded = network.encode(examples, dataset_info(examples.schema))
        lengths = encoded.lengths if network.pads else np.ones(len(encoded), np.int64)
        batches = read_batches(lengths, batch_size, fill=device.type != "cpu")
        network.train(dropout)
        logits = [GatheredRows(len(encoded), device) for _ in range(passes)]
        features = GatheredRows(len(encoded), device)
        for turn in range(passes):
            seed_everything(seed, turn)
            for rows, batch in made_ahead(network.batches(encoded, batches), encoded.decoded and device.type != "cpu"):
                batch.pop("labels")
                with half_products(device, network.mixed_precision):
                    output = network(**moved(batch, device))
                logits[turn].put(rows, output["logits"].float())
                if turn == 0:
                    features.put(rows, output["features"].float().flatten(1))
    return Inference(np.stack([each.array() for each in logits]), features.array())
