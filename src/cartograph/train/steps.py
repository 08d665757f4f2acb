"""Hugging Face's Trainer with steps of our own: what one computes, moves and waits for, on a CPU, on a GPU and in several processes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakSet

import torch
from torch.nn import functional
from transformers import PrinterCallback, Trainer

from cartograph.data.arrays import Integers
from cartograph.models.backward import Backward
from cartograph.models.base import IGNORED, Classifier
from cartograph.models.device import moved_tensor
from cartograph.models.encoded import Examples
from cartograph.models.row_table import RowTable
from cartograph.schema import WEIGHT
from cartograph.train.arguments import MOST_NORM, training_arguments
from cartograph.train.batch_order import STEP_LABELS
from cartograph.train.half_weights import HalfWeights
from cartograph.train.recipe import Recipe
from cartograph.train.row_adam import RowAdamW
from cartograph.train.step_graphs import StepGraphs, norm_of

_ALIVE: WeakSet[Trainer] = WeakSet()


class SteppingTrainer(Trainer):  # type: ignore[misc]
    """The steps of a training: each is the mean loss of its rows, its gradients, and what the optimiser makes of them.

    Args:
        recipe: how.
        model: untrained, or as a checkpoint left it.
        examples: the train set.
        folder: for Hugging Face's own files; none are written there.
    """

    def __init__(self, recipe: Recipe, model: Classifier, examples: Examples, folder: Path) -> None:
        self.recipe = recipe
        self.examples = examples
        self._weights: torch.Tensor | None = None
        super().__init__(model=model, args=training_arguments(recipe, model, len(examples), folder), compute_loss_func=self._mean_loss)
        self.remove_callback(PrinterCallback)
        self._alone = self.args.device.type == "cpu" and self.args.world_size == 1
        self._backward = Backward(self.model.parameters())
        self._graphs: StepGraphs | None = None
        self._norm: torch.Tensor | None = None

    def record_step(self, rows: Integers | None, logits: torch.Tensor, labels: torch.Tensor) -> None:
        """Take the logits that a step's rows had before the update; ``rows`` are None of a filler."""

    def train(self, *arguments: Any, **named: Any) -> Any:
        """Train, as ``Trainer.train``."""
        self._graphs = self._step_graphs()
        try:
            return super().train(*arguments, **named)
        finally:
            self._graphs = None

    def _step_graphs(self) -> StepGraphs | None:
        """Return what steps are launched by as a whole: in one process on a GPU, where the model's steps repeat; else None."""
        one = self.args.device.type == "cuda" and self.args.world_size == self.recipe.gradient_accumulation == 1
        if not (one and self.model.repeats_steps):
            return None
        halves = HalfWeights(self.model) if self.args.bf16 else None
        return StepGraphs(list(self.model.parameters()), self._batch_loss, self.args.device, halves)

    def create_accelerator_and_postprocess(self) -> None:
        """Make the accelerator: one that collects the whole process's garbage before the first step only if a training before left any."""
        super().create_accelerator_and_postprocess()
        if not _ALIVE:
            self.accelerator.free_memory = lambda *objects: list(objects)
        _ALIVE.add(self)

    def create_optimizer(self, model: torch.nn.Module | None = None) -> torch.optim.Optimizer:
        """Return the optimiser: one that touches the rows of a batch alone, where one process trains tables of rows on a CPU."""
        tables = [part for part in self.model.modules() if isinstance(part, RowTable)]
        if not tables or not self._alone:
            plain: torch.optim.Optimizer = super().create_optimizer()
            return plain
        rows = {id(table.weight) for table in tables}
        others = [parameter for parameter in self.model.parameters() if id(parameter) not in rows]
        self.args.max_grad_norm = 0.0
        self.optimizer = RowAdamW(others, tables, lr=self.args.learning_rate, most=MOST_NORM)
        return self.optimizer

    def training_step(self, model: torch.nn.Module, inputs: dict[str, Any], num_items_in_batch: Any = None) -> torch.Tensor:
        """Return the step's loss, its gradients computed; one process scales no loss and shares nothing, and on a CPU moves no tensor."""
        if self.args.world_size > 1:
            shared: torch.Tensor = super().training_step(model, inputs, num_items_in_batch)
            return shared
        found = None if self._graphs is None else self._graph_step(inputs)
        if found is not None:
            return found
        self._norm = None
        read = inputs if self._alone else self._prepare_inputs(inputs)
        loss: torch.Tensor = self.compute_loss(model, read, num_items_in_batch=num_items_in_batch)
        self._backward(loss)
        return loss.detach()

    def compute_loss(
        self, model: torch.nn.Module, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """Return the step's mean loss over all its rows, each with its weight, and record the logits they had before the update."""
        rows, _ = inputs.pop("rows", None), inputs.pop(STEP_LABELS, None)
        labels = inputs["labels"]
        weights = self.examples.weights
        self._weights = None if weights is None or rows is None else moved_tensor(torch.from_numpy(weights[rows]), labels.device)
        if self._alone:
            outputs = model(**{name: value for name, value in inputs.items() if name != "labels"})
            loss = self._mean_loss(outputs, labels, num_items_in_batch)
        else:
            loss, outputs = super().compute_loss(model, inputs, return_outputs=True, num_items_in_batch=num_items_in_batch)
        self.record_step(rows, outputs["logits"], labels)
        return (loss, outputs) if return_outputs else loss

    def _graph_step(self, inputs: dict[str, Any]) -> torch.Tensor | None:
        """Return the loss of a full batch, its gradients computed by a graph; None where it has fewer rows, or cannot be computed so."""
        rows = inputs["rows"]
        if len(rows) < self.recipe.batch_size or self._graphs is None:
            return None
        batch = {name: value for name, value in inputs.items() if isinstance(value, torch.Tensor)}
        if self.examples.weights is not None:
            batch[WEIGHT] = torch.from_numpy(self.examples.weights[rows])
        step = self._graphs.run(batch)
        if step is None:
            return None
        self.record_step(rows, step.logits, step.inputs["labels"])
        self._norm = step.norm
        return step.loss.clone()

    def _batch_loss(self, inputs: Mapping[str, torch.Tensor], halves: HalfWeights | None) -> tuple[torch.Tensor, torch.Tensor]:
        read = dict(inputs)
        self._weights, labels = read.pop(WEIGHT, None), read.pop("labels")
        outputs = self.model_wrapped(**read) if halves is None else halves(**read)
        return self._mean_loss(outputs, labels, labels.numel()), outputs["logits"].float()

    def _mean_loss(self, outputs: Any, labels: torch.Tensor, num_items_in_batch: Any = None) -> torch.Tensor:
        logits = outputs["logits"].float()
        if labels.ndim == 2:
            # A yes or no for each label: the labels of a row are as many rows of two classes.
            total = functional.binary_cross_entropy_with_logits(logits, labels.float(), reduction="sum")
        elif self._weights is None:
            total = functional.cross_entropy(logits, labels, reduction="sum", ignore_index=IGNORED)
        else:
            total = (self._weights * functional.cross_entropy(logits, labels, reduction="none")).sum()
        mean: torch.Tensor = total / num_items_in_batch
        return mean

    def _prepare_input(self, data: Any) -> Any:
        """Return a batch on the trainer's device."""
        return moved_tensor(data, self.args.device) if isinstance(data, torch.Tensor) else super()._prepare_input(data)

    def _get_num_items_in_batch(self, batch_samples: list[dict[str, Any]], device: torch.device) -> Any:
        """Return the number of labels that count in a step, those of all processes: the loader knows it, so nobody need be asked."""
        return batch_samples[0][STEP_LABELS]

    def _clip_grad_norm(self, model: torch.nn.Module) -> Any:
        """Return the norm of the gradients, and have those of a larger one than ``MOST_NORM`` cut to it.

        Where steps are graphs the optimiser divides them as it reads them: cutting them beforehand would read and write all of them once
        more.
        """
        if self._graphs is None:
            return super()._clip_grad_norm(model)
        if self._norm is None:
            self._norm = norm_of([parameter.grad for parameter in self.model.parameters() if parameter.grad is not None])
        optimizer: Any = getattr(self.optimizer, "optimizer", self.optimizer)
        optimizer.grad_scale = (self._norm / MOST_NORM).clamp(min=1.0)
        return self._norm

    def _get_grad_norm(self, model: torch.nn.Module, grad_norm: Any = None) -> Any:
        """Return the norm that gradients had before they were cut; None where the optimiser cuts them itself and nobody reads it."""
        return super()._get_grad_norm(model, grad_norm) if self.args.max_grad_norm > 0 or self.recipe.live else None

    def floating_point_ops(self, inputs: dict[str, Any]) -> int:
        """Return 0: the number is not read, and counting takes time."""
        return 0
