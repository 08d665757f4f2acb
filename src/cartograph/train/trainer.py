"""Hugging Face's Trainer with recorded dynamics, an order of rows that is a function of (seed, epoch), and sealed checkpoints."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed
from transformers import TrainerCallback
from transformers.trainer import OPTIMIZER_NAME, SCHEDULER_NAME, TRAINER_STATE_NAME

from cartograph.data.arrays import Floats32, Integers
from cartograph.data.memory import release_memory
from cartograph.data.progress import Progress
from cartograph.dynamics.decisions import decisions, recorded_uids
from cartograph.dynamics.epoch_files import by_blocks
from cartograph.dynamics.recorder import DynamicsRecorder
from cartograph.models.base import Classifier
from cartograph.models.device import half_products, made_ahead, moved, moved_tensor
from cartograph.models.encoded import Examples, read_batches
from cartograph.models.isolation import seed_everything
from cartograph.statistics.metrics import accuracy, cross_entropy, losses
from cartograph.train.batch_order import BatchOrder, EpochLoader, epoch_batches
from cartograph.train.checkpoints import Checkpoints
from cartograph.train.events import AnsweredEvents
from cartograph.train.patience import best_epoch, out_of_patience
from cartograph.train.recipe import Recipe
from cartograph.train.row_adam import RowAdamW
from cartograph.train.settling import Settling
from cartograph.train.steps import SteppingTrainer

HELD_OUT = "held_out"
"""The name in a history of rows that are not trained on."""

Score = dict[str, Any]


@dataclass
class Watch:
    """Where a training's dynamics, checkpoints, history and progress go while it runs; any of them may be absent.

    Attributes:
        recorder: takes the dynamics.
        checkpoints: takes the state after every epoch.
        history: ``{"epoch", "set", "loss", "accuracy"}`` of every set after every epoch, appended to.
        progress: called with (rows trained on, rows to train on).
        settling: says after each epoch whether the training may end; in one process alone.
    """

    recorder: Callable[[], DynamicsRecorder] | None = None
    checkpoints: Checkpoints | None = None
    history: list[Score] | None = None
    progress: Progress | None = None
    settling: Settling | None = None


class DynamicsTrainer(SteppingTrainer):
    """Train a model, and record its logits of every example in every epoch.

    Args:
        recipe: how.
        model: untrained, or as a checkpoint left it.
        examples: the train set.
        evaluation: sets scored for the history.
        folder: for Hugging Face's own files; none are written there.
        start_epoch: the epoch to begin with.
        watch: where dynamics, checkpoints, history and progress go.
        held_out: rows that are not trained on, whose dynamics are recorded in place of the train set's: logits of an
            inference pass after every epoch, whatever the recipe records.
        order: the batches of each epoch; None = shuffled by the recipe's seed, rows of like length together where the model pads.
    """

    def __init__(
        self,
        recipe: Recipe,
        model: Classifier,
        examples: Examples,
        evaluation: Mapping[str, Examples],
        folder: Path,
        *,
        start_epoch: int = 0,
        watch: Watch | None = None,
        held_out: Examples | None = None,
        order: BatchOrder | None = None,
    ) -> None:
        self.evaluation = evaluation
        self.held_out = held_out
        self.watch = watch or Watch()
        self.epoch = start_epoch
        lengths = examples.lengths if model.pads else None
        self.order = order or (lambda epoch: epoch_batches(len(examples), recipe.batch_size, recipe.seed, epoch, lengths))
        self._recorded = recorded_uids(examples.uids, examples.labels)
        super().__init__(recipe, model, examples, folder)
        self.add_callback(_EpochCallback(self))
        self.callback_handler: AnsweredEvents = AnsweredEvents.of(self.callback_handler)
        self.recorder = self.watch.recorder() if self.watch.recorder else None

    def get_train_dataloader(self) -> EpochLoader:
        """Return this process's share of the batches.

        Accelerate prepares model and optimiser (placement, bf16, DDP), as in any Trainer. It leaves this loader as it is, as it does all
        that are no ``DataLoader``, which it would cut among the processes a second time: ``EpochLoader`` cuts, ``_prepare_input`` moves.
        """
        pieces, rank, processes = self.recipe.gradient_accumulation, self.args.process_index, self.args.world_size
        ahead = self._ahead(self.examples)
        return EpochLoader(self.model, self.examples, self.order, pieces=pieces, rank=rank, processes=processes, ahead=ahead)

    def _ahead(self, examples: Examples) -> bool:
        return examples.decoded and self.args.device.type != "cpu"

    def create_scheduler(self, num_training_steps: int, optimizer: torch.optim.Optimizer | None = None) -> Any:
        """Return the decay of the rate, over as many epochs as the recipe says."""
        epochs = self.recipe.epochs
        return super().create_scheduler(num_training_steps // epochs * max(self.recipe.schedule_epochs, epochs), optimizer)

    @property
    def settled(self) -> bool:
        """Whether the training may end before its last epoch: its map has settled, or its patience has run out."""
        settled = self.watch.settling is not None and self.watch.settling.settled
        return settled or out_of_patience(self.watch.history or [], self.recipe)

    def begin_epoch(self) -> None:
        """Switch dropout on, seeded by (seed, epoch, process): an epoch is the same whether or not the training was interrupted before."""
        self.model.train()
        seed_everything(self.recipe.seed, self.epoch + 1, self.args.process_index)

    def end_epoch(self) -> None:
        """Write the epoch's dynamics, score the sets, then keep the state."""
        optimizer = getattr(self.optimizer, "optimizer", self.optimizer)
        if isinstance(optimizer, RowAdamW):
            optimizer.settle()
        if self.recorder is not None:
            self._record_epoch(self.recorder)
        # What the training may end by is scored first.
        first = [self.recipe.validation] if self.recipe.patience is not None else []
        self._score(first)
        if self.recipe.evaluate == "epoch" or self.epoch == self.recipe.epochs - 1 or self.settled:
            self._score([name for name in self.evaluation if name not in first])
        self.epoch += 1
        if self.watch.checkpoints is not None and self.args.should_save:
            best = best_epoch(self.watch.history or [], self.recipe.validation) if first else None
            with self.watch.checkpoints.write(self.epoch - 1, best) as folder:
                self._write_state(folder)

    def _score(self, names: Sequence[str]) -> None:
        for name in names:
            examples = self.evaluation[name]
            logits = self.predict_logits(examples)
            self._note(name, cross_entropy(logits, examples.labels), accuracy(logits, examples.labels))

    def _write_state(self, folder: Path) -> None:
        self.model.save_state(folder)
        torch.save(self.optimizer.state_dict(), folder / OPTIMIZER_NAME)
        torch.save(self.lr_scheduler.state_dict(), folder / SCHEDULER_NAME)
        self.state.save_to_json(str(folder / TRAINER_STATE_NAME))
        (folder / "history.json").write_text(json.dumps(self.watch.history), encoding="utf-8")

    def _record_epoch(self, recorder: DynamicsRecorder) -> None:
        name, examples = ("train", self.examples) if self.held_out is None else (HELD_OUT, self.held_out)
        if self.held_out is not None or self.recipe.record == "epoch_end":
            for rows, logits in self._infer(examples):
                self._record(recorder, examples, rows, logits, torch.from_numpy(examples.labels[rows]))
        recorded = recorder.end_epoch()
        release_memory(len(examples.uids))
        if recorded is not None:
            loss, right = by_blocks(recorded, losses), by_blocks(recorded, lambda logits, gold: logits.argmax(axis=1) == gold)
            self._note(name, float(np.mean(loss)), float(np.mean(right)))
            if self.watch.settling is not None:
                self.watch.settling.add(recorded)

    def record_step(self, rows: Integers | None, logits: torch.Tensor, labels: torch.Tensor) -> None:
        """Record a step's logits where the recipe asks for those of the training pass; ``rows`` are None of a filler."""
        if rows is not None and self.recorder is not None and self.held_out is None and self.recipe.record == "train_pass":
            self._record(self.recorder, self.examples, rows, logits, labels)

    def _record(self, recorder: DynamicsRecorder, examples: Examples, rows: Integers, logits: torch.Tensor, labels: torch.Tensor) -> None:
        if labels.ndim == 1:
            recorder.record(examples.uids[rows], logits, labels)
        else:
            recorder.record(self._recorded[rows].ravel(), *decisions(logits, labels))

    def _note(self, name: str, loss: float, share: float) -> None:
        score = {"epoch": self.epoch, "set": name, "loss": loss, "accuracy": share}
        if self.watch.history is not None:
            self.watch.history.append(score)
        if self.recipe.live:
            self.log({f"{name}.loss": score["loss"], f"{name}.accuracy": score["accuracy"]})

    def predict_logits(self, examples: Examples) -> Floats32:
        """Return (n_examples, n_classes) logits, dropout off; every process gets all of them."""
        gathered = torch.zeros(len(examples), len(self.model.labels), device=self.args.device)
        for rows, logits in self._infer(examples):
            gathered[moved_tensor(torch.from_numpy(rows), gathered.device)] = logits
        if self.args.world_size > 1:
            torch.distributed.all_reduce(gathered)
        result: Floats32 = gathered.cpu().numpy()
        return result

    def _infer(self, examples: Examples) -> Iterator[tuple[Integers, torch.Tensor]]:
        lengths = examples.lengths if self.model.pads else np.ones(len(examples), np.int64)
        batches = read_batches(lengths, 2 * self.recipe.batch_size, fill=self.args.device.type != "cpu")
        self.model.eval()
        parts = batches[self.args.process_index :: self.args.world_size]
        for rows, batch in made_ahead(self.model.batches(examples, parts), self._ahead(examples)):
            inputs = moved({name: tensor for name, tensor in batch.items() if name != "labels"}, self.args.device)
            with torch.no_grad(), half_products(self.args.device, self.model.mixed_precision):
                logits = self.model(**inputs)["logits"].float()
            yield rows, logits

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: torch.nn.Module | None = None) -> None:
        """Load no weights: the model was made from the checkpoint, whose files are not named as the Trainer would name them."""


class _EpochCallback(TrainerCallback):  # type: ignore[misc]
    def __init__(self, trainer: DynamicsTrainer) -> None:
        self._trainer = trainer

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._trainer.begin_epoch()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        trainer = self._trainer
        if trainer.watch.progress is not None:
            n_examples, batch_size = len(trainer.examples), trainer.recipe.batch_size
            steps = state.global_step - trainer.epoch * -(-n_examples // batch_size)
            done = trainer.epoch * n_examples + min(steps * batch_size, n_examples)
            trainer.watch.progress(done, trainer.recipe.epochs * n_examples)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        trainer = self._trainer
        trainer.end_epoch()
        if trainer.settled:
            control.should_training_stop = True
            if trainer.watch.progress is not None:
                whole = trainer.recipe.epochs * len(trainer.examples)
                trainer.watch.progress(whole, whole)
