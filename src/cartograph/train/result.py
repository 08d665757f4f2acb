"""The folder of a finished training: dynamics, predictions, model, history and metrics."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cartograph.data.arrays import Floats32, Integers, Objects
from cartograph.data.json_files import read_json, write_json
from cartograph.data.parquet import write_parquet
from cartograph.dynamics.epoch_files import by_blocks, dynamics_table, epoch_file
from cartograph.models.base import Classifier
from cartograph.schema import HISTORY
from cartograph.statistics.chance import beats_chance
from cartograph.statistics.metrics import accuracy, macro_f1
from cartograph.wording import counted

_CHANCE = 0.01


@dataclass(frozen=True, repr=False)
class Predictions:
    """A set of examples and the final model's logits on it.

    Attributes:
        domain: ``id`` or ``ood``.
        uids: (n_examples,) strings.
        gold: (n_examples,) label ids.
        logits: (n_examples, n_classes).
    """

    domain: str
    uids: Objects
    gold: Integers
    logits: Floats32

    def __repr__(self) -> str:
        return f"Predictions({self.domain}, {counted(len(self.logits), 'example')}, {counted(self.logits.shape[1], 'class', 'classes')})"


@dataclass(frozen=True)
class TrainingResult:
    """The folder of a finished training."""

    folder: Path

    @property
    def dynamics(self) -> Path:
        """The folder of ``epoch=N.parquet`` (``schema.dynamics_schema``)."""
        return self.folder / "dynamics"

    @property
    def predictions(self) -> Path:
        """The folder of ``<set>.parquet`` (``schema.dynamics_schema``): the final model's logits on each evaluation set."""
        return self.folder / "predictions"

    @property
    def model(self) -> Path:
        """The folder of the model: weights as safetensors, configuration, vocabulary."""
        return self.folder / "model"

    @property
    def history(self) -> pa.Table:
        """``schema.HISTORY``: every set after every epoch."""
        return pq.ParquetFile(self.folder / "history.parquet").read()

    @property
    def training(self) -> dict[str, Any]:
        """What was trained: model, record, epochs, source, parameters (a number), device; with patience ``best_epoch``, from 1."""
        content: dict[str, Any] = read_json(self.folder / "training.json")
        return content

    @property
    def metrics(self) -> dict[str, float]:
        """How good the model is: flat numbers.

        ``train.accuracy`` and ``train.loss`` of the last epoch (the loss is left out where it is no number),
        ``<set>.accuracy`` and ``<set>.macro_f1`` of the final model, ``epochs``, and ``train.failed``: 1 where the loss is no
        number; where the model is right no more often than by chance on the train set and on every evaluation set of its
        distribution (``statistics.chance``; fewer than one of a hundred models at chance pass as learnt); or where the final model
        predicts one label for every row of the evaluation sets, though they have several (and one of the sets is of its
        distribution: to collapse only outside of it is a result, not a failed training).
        """
        content: dict[str, float] = read_json(self.folder / "metrics.json")
        return content

    @property
    def written(self) -> list[Path]:
        """All files and folders of a finished training."""
        files = [self.folder / name for name in ("history.parquet", "training.json", "metrics.json")]
        return [self.dynamics, self.predictions, self.model, *files]

    def save_model(self, model: Classifier) -> None:
        """Write the model's folder; what was there goes."""
        shutil.rmtree(self.model, ignore_errors=True)
        self.model.mkdir()
        model.save(self.model)

    def write(self, history: Sequence[Mapping[str, Any]], predictions: Mapping[str, Predictions], training: Mapping[str, Any]) -> None:
        """Write everything but the dynamics and the model, which are there already."""
        shutil.rmtree(self.predictions, ignore_errors=True)
        self.predictions.mkdir()
        for name, part in predictions.items():
            write_parquet(_by_uid(part), self.predictions / f"{name}.parquet")
        write_parquet(pa.Table.from_pylist(list(history), schema=HISTORY), self.folder / "history.parquet")
        for name, content in (("metrics", self._metrics(history, predictions, training.get("best_epoch"))), ("training", training)):
            write_json(self.folder / f"{name}.json", content)

    def _metrics(self, history: Sequence[Mapping[str, Any]], predictions: Mapping[str, Predictions], best: int | None) -> dict[str, float]:
        scores = [score for score in history if score["set"] == "train"]
        epochs = scores[-1]["epoch"] + 1
        last = next(score for score in scores if score["epoch"] + 1 == (best or epochs))
        metrics: dict[str, float] = {"epochs": epochs, "train.accuracy": last["accuracy"]}
        if math.isfinite(last["loss"]):
            metrics["train.loss"] = last["loss"]
        for name, part in predictions.items():
            metrics[f"{name}.accuracy"] = accuracy(part.logits, part.gold)
            metrics[f"{name}.macro_f1"] = macro_f1(part.logits, part.gold)
        recorded = pq.ParquetFile(epoch_file(self.dynamics, last["epoch"])).read()
        tested = [(by_blocks(recorded, lambda logits, _: logits.argmax(axis=1)), recorded["gold"].to_numpy())]
        tested += [(part.logits.argmax(axis=1), part.gold) for part in predictions.values() if part.domain == "id"]
        learnt = any(beats_chance(predicted, gold, _CHANCE / len(tested)) for predicted, gold in tested)
        metrics["train.failed"] = int(not learnt or _predicts_one_class(predictions.values()) or not math.isfinite(last["loss"]))
        return metrics


def _predicts_one_class(predictions: Iterable[Predictions]) -> bool:
    """Return whether the final model predicts one label for every row of the sets that have more than one."""
    several = [part for part in predictions if len(np.unique(part.gold)) > 1]
    predicted = [part.logits.argmax(axis=1) for part in several]
    return any(part.domain == "id" for part in several) and len(np.unique(np.concatenate(predicted))) == 1


def _by_uid(part: Predictions) -> pa.Table:
    table = dynamics_table(pa.array(part.uids, pa.string()), part.gold, part.logits)
    return table.take(pc.sort_indices(table.column("uid"))).combine_chunks()
