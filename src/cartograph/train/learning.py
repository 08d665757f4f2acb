"""What a training was worth, in a sentence: whether the model learnt its train set, and whether it did so by heart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow.parquet as pq

from cartograph.schema import dataset_info
from cartograph.train.enough import Attempt
from cartograph.train.result import TrainingResult
from cartograph.wording import counted, percent, probability

State = Literal["learnt", "not learnt", "by heart", "failed", "diverged"]

BY_HEART = 0.25
"""So much more accurate on its own rows, a model knows them by heart: on planted errors of SNLI and product reviews its low confidence
then has an average precision of .20 to .27; on TREC, where there is no difference, of .80 (one label in ten is wrong)."""

_ALL, _HELPED = 0.9, 0.02
"""Accuracy from which on a model that knows its rows far better than others knows them by heart; and the gain in accuracy from twice the
epochs from which on more of them are advised."""

_CALLED = "--epochs of the command, epochs of cartograph.audit"
_PERHAPS = "Many labels may be wrong, or not follow from the rows"


@dataclass(frozen=True)
class Learning:
    """How a training ended.

    Attributes:
        attempts: the trainings tried, the last of which is the map's.
        simple: accuracy of simple models on rows that they did not see, in [0, 1]; None where it is not known.
        unseen: the model's own accuracy on the evaluation sets of its distribution, in [0, 1]; None without one.
        state: ``learnt``; ``not learnt``: less than simple models know of rows that they never saw; ``by heart``: right on far more
            of its rows than of rows that it did not see; ``failed``: no better than chance; ``diverged``: the loss is no number.
        open: whether the number of epochs was left to the training.
        called: whether ``cartograph.audit`` trained, or its command, which takes epochs alone; a workspace's params.yaml has the rest.
        folds: of K-fold training beside it, whose models did not see the row; 0 without it.
    """

    attempts: Sequence[Attempt]
    simple: float | None
    unseen: float | None
    state: State
    open: bool
    called: bool = False
    folds: int = 0

    @property
    def sentence(self) -> str:
        """What is wrong with the training and which parameter to change, in whole sentences; empty where it is ``learnt``."""
        last = self.attempts[-1]
        if self.state == "diverged":
            lower = "Audit them in a workspace with a lower train.learning_rate" if self.called else "Lower train.learning_rate"
            return f"The model's training failed: its loss is not a number. {lower}."
        if self.state == "by heart":
            knows = "its rows by heart" if last.accuracy >= _ALL else "its rows far better than others"
            return (
                f"The model knows {knows}: it is right on {percent(last.accuracy)} of the rows that it trained on and on "
                f"{self._elsewhere}, so its confidence says little about their labels. {self._less_by_heart}"
            )
        if self.state == "learnt":
            return ""
        return f"The model has not learnt these data: after {self._epochs} it {self._reached}. {self._way_out}"

    @property
    def _elsewhere(self) -> str:
        """Return on how many rows that it, or simple models, did not see one is right at most."""
        if self.simple is not None and (self.unseen is None or self.simple > self.unseen):
            return f"{percent(self.simple)} (by simple models) of rows that were not trained on"
        return f"{percent(self.unseen or 0.0)} of those of evaluation sets"

    @property
    def _epochs(self) -> str:
        return f"{counted(self.attempts[-1].epochs, 'epoch')}{', the most that are tried,' if len(self.attempts) > 1 else ''}"

    @property
    def _reached(self) -> str:
        last = self.attempts[-1]
        if self.state == "failed":
            chance = "no more often than by chance (to name the most frequent class always is as good)"
            return f"is right on {percent(last.accuracy)} of the rows that it trains on, {chance}"
        simple = f"while simple models are right on {percent(self.simple or 0.0)} of rows that they never saw"
        if last.accuracy < (self.simple or 0.0):
            return f"is right on {percent(last.accuracy)} of the rows that it trains on, {simple}"
        return f"gives the labels of two rows in three a probability below {probability(last.surest)}, {simple}"

    @property
    def _less_by_heart(self) -> str:
        if self.called:
            most = self.attempts[-1].epochs
            # With those of the attempt before it had not learnt yet.
            fewer = f"{self.attempts[-2].epochs + 1} to {most - 1} epochs" if len(self.attempts) > 1 else f"fewer than {most} epochs"
            return (
                f"Suspects are looked for by models that did not see the row. For a map that shows hard rows, audit with "
                f"{fewer} ({_CALLED}), or in a workspace with train.folds at 5."
            )
        if self.folds:
            others = f"The models of train.folds ({self.folds}), which did not see the row, are read beside it"
            return f"{others}; lower train.epochs, or choose another train.model."
        return "Set train.folds to 5, which records the row under models that did not train on it, or lower train.epochs."

    @property
    def _way_out(self) -> str:
        if self._stuck:
            way = "choose another train.model in a workspace" if self.called else "raise train.learning_rate, or choose another train.model"
            return f"More epochs hardly helped it. The suspects, which simple models find, hold all the same; for the map, {way}."
        if self.called:
            epochs = f"more than {counted(self.attempts[-1].epochs, 'epoch')} ({_CALLED})"
            more = f"audit them with {epochs}, or in a workspace with another train.epochs, train.learning_rate or train.model."
            tried = self.open and self.state == "not learnt" and len(self.attempts) > 1
            return f"{_PERHAPS}; else {more}" if tried else f"{more[0].upper()}{more[1:]}"
        other = "raise train.learning_rate, or choose another train.model"
        if self.open and self.state == "not learnt" and len(self.attempts) > 1:
            return f"{_PERHAPS}; else set train.epochs above {self.attempts[-1].epochs}, {other}."
        if self.open:
            return f"Set train.epochs above {self.attempts[-1].epochs}, {other}."
        return f"Raise train.epochs (now {self.attempts[-1].epochs}; `auto` goes on until the model has learnt), {other}."

    @property
    def _stuck(self) -> bool:
        """Whether it still knows less than simple models, and gained little from the last doubling of epochs."""
        if not self.open or self.state != "not learnt" or len(self.attempts) < 2:
            return False
        *_, before, last = self.attempts
        return last.accuracy < (self.simple or 0.0) and last.accuracy - before.accuracy < _HELPED

    def content(self) -> dict[str, Any]:
        """Return it as JSON values."""
        attempts = [{"epochs": each.epochs, "accuracy": each.accuracy, "surest_third": each.surest} for each in self.attempts]
        return {
            "state": self.state,
            "sentence": self.sentence,
            "simple_accuracy": self.simple,
            "unseen_accuracy": self.unseen,
            "attempts": attempts,
        }

    def metrics(self) -> dict[str, float]:
        """Return it as flat numbers: ``train.learnt`` (1 or 0), and ``train.simple_accuracy`` where that is known."""
        known = {} if self.simple is None else {"train.simple_accuracy": self.simple}
        return {"train.learnt": int(self.state == "learnt"), **known}


def learning_of(
    result: TrainingResult,
    evaluation: Mapping[str, Path],
    attempts: Sequence[Attempt],
    simple: float | None,
    *,
    open: bool,
    called: bool = False,
    folds: int = 0,
) -> Learning:
    """Return how a training ended.

    Args:
        result: the last attempt's.
        evaluation: its evaluation sets, files of ``schema.examples_schema`` by name.
        attempts: all of them.
        simple: as ``simple_accuracy`` says.
        open: whether the number of epochs was left to the training.
        called: whether ``cartograph.audit`` trained.
        folds: of K-fold training beside it; 0 without it.
    """
    last, unseen = attempts[-1], _unseen(result, evaluation)
    state: State = "learnt"
    if not last.finite:
        state = "diverged"
    elif last.failed:
        state = "failed"
    elif not last.learnt(simple):
        state = "not learnt"
    elif last.accuracy - max((known for known in (unseen, simple) if known is not None), default=last.accuracy) >= BY_HEART:
        # The higher of the two: rows of an evaluation set may be harder than those trained on, for other reasons.
        state = "by heart"
    return Learning(attempts, simple, unseen, state, open, called, folds)


def _unseen(result: TrainingResult, evaluation: Mapping[str, Path]) -> float | None:
    """Return the accuracy over all rows of the evaluation sets of the train set's distribution."""
    metrics = result.metrics
    files = {name: pq.ParquetFile(path) for name, path in evaluation.items()}
    rows = {name: file.metadata.num_rows for name, file in files.items() if dataset_info(file.schema_arrow).domain == "id"}
    total = sum(rows.values())
    return sum(metrics[f"{name}.accuracy"] * number for name, number in rows.items()) / total if total else None
