"""A training recipe: all settings that decide a model and its dynamics, given the data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

_MOST_TIMES = 16
"""Most times its epochs that a recipe for all rows has for a subset of them: as often a map's training is lengthened at most."""


@dataclass(frozen=True)
class Recipe:
    """How a model is trained; optimisation is AdamW (eps 1e-8, no weight decay, clip 1.0, linear decay, no warm-up).

    That is the recipe of Swayamdipta et al. 2020, App. A.3, whose rates are for RoBERTa-large.

    Attributes:
        model: a name in ``cartograph.models.registry.MODELS``.
        epochs: passes over the train set.
        schedule_epochs: epochs over which the rate decays to 0, where they are more than ``epochs``: a training that stops earlier.
        batch_size: rows per optimiser step, whatever ``gradient_accumulation`` and the number of processes.
        learning_rate: peak rate.
        seed: of the initial weights, the order of rows, and dropout.
        record: ``train_pass``: logits of the epoch's training pass (dropout on, before that batch's update);
            ``epoch_end``: of an inference pass after the epoch (dropout off).
        device: ``auto`` (a GPU where there is one), ``cpu`` or ``cuda``.
        gradient_accumulation: into how many forward passes a step is cut, for models that need the memory.
        max_length: most tokens of an example; what is longer is cut.
        pretrained: a local folder or a hub id, for the models ``transformer`` and ``probe``; for the latter best the folder that
            ``cartograph.models.frozen.embeddings.embed_sets`` wrote.
        threads: CPU threads per process; 0 = as many as help the model: one for ``bow`` and ``probe``, else all cores, shared among the
            processes.
        evaluate: score evaluation sets after every ``epoch``, or at the ``end`` only.
        patience: epochs without a higher accuracy on the evaluation set ``validation`` after which the training ends; the model is then
            that of its best epoch. None: all epochs are trained, and the last one's model is kept.
        validation: name of that set, which must be in distribution.
        live: report the running loss to MLflow through Hugging Face's integration.
    """

    model: str = "bow"
    epochs: int = 8
    batch_size: int = 64
    learning_rate: float = 0.005
    seed: int = 13
    record: Literal["train_pass", "epoch_end"] = "train_pass"
    device: Literal["auto", "cpu", "cuda"] = "auto"
    gradient_accumulation: int = 1
    max_length: int = 128
    pretrained: str | None = None
    threads: int = 0
    evaluate: Literal["epoch", "end"] = "epoch"
    live: bool = False
    schedule_epochs: int = 0
    patience: int | None = None
    validation: str = "validation"

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object; ``Recipe(**object)`` reads it back."""
        return asdict(self)

    def with_steps_of(self, whole: int, rows: int) -> Recipe:
        """Return it for a subset of rows, trained for the whole set's optimiser steps: as many times the epochs as it is smaller.

        So no model fails only since a third of the rows has a third of the steps. It is 16 times at most.

        >>> Recipe(epochs=8).with_steps_of(900, 300).epochs, Recipe(epochs=8).with_steps_of(900, 9).epochs
        (24, 128)
        """
        return replace(self, epochs=self.epochs * min(max(round(whole / max(rows, 1)), 1), _MOST_TIMES))
