"""Gradient-boosted trees over a table of features, which grow by a few stages in each epoch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import torch
from safetensors.numpy import load_file, save_file

from cartograph.data.arrays import Array, Floats, Floats32, Integers
from cartograph.data.json_files import read_json, write_json
from cartograph.features.tables import TableEncoder
from cartograph.features.tree_arrays import HistogramTrees
from cartograph.models.base import Classifier
from cartograph.models.encoded import Dense
from cartograph.schema import DatasetInfo

STAGES = 8
"""Stages of an epoch: a stage is a tree, or of more than two classes a tree for each."""

_LEAVES, _PENALTY, _COLUMNS = 4, 1.0, 0.3
_ROWS_OF_LEAF = (5, 20)
_ABSENT = 10.0
_WIDEST = 3e38


class Boosting(Classifier):
    """scikit-learn's ``HistGradientBoostingClassifier``, whose trees are kept as arrays.

    Trees are small, and each of their splits chooses among three columns in ten, so that a wrong label is learnt late if at all. Values
    are read as by ``TableEncoder``, fitted on the train set alone; trees tell a missing number from any other, and a category that the
    train set does not have is read as missing.

    Args:
        labels: label names in the order of the logits.
        encoder: how the rows are read.
        known: of each feature that is a category the encoder's ids that the train set has, ascending.
        present: ids of the labels that the train set has, ascending; the others are the least likely.
        start: log odds, or of more than two classes log probabilities, that the trees begin from.
        trees: stage by stage; None: none yet.
    """

    name: ClassVar[str] = "boosting"
    reads: ClassVar[Literal["texts", "images", "tables"]] = "tables"
    learning_rate: ClassVar[float] = 0.2
    by_stages: ClassVar[bool] = True
    most_threads: ClassVar[int] = 1

    def __init__(
        self,
        labels: Sequence[str],
        encoder: TableEncoder,
        known: Sequence[Sequence[int]],
        present: Sequence[int],
        start: Sequence[float],
        trees: HistogramTrees | None = None,
    ) -> None:
        super().__init__()
        self.task = "table"
        self.labels = tuple(labels)
        self.encoder, self.known, self.present, self.start, self.trees = encoder, known, present, start, trees

    @classmethod
    def create(cls, info: DatasetInfo, train: pa.Table, *, max_length: int = 128, pretrained: str | None = None) -> Self:
        """Fit the encoder on the train set; ``max_length`` and ``pretrained`` are not used."""
        encoder = TableEncoder.fit(train)
        present = np.unique(train["label"].to_numpy()).tolist()
        known = [np.unique(column).tolist() for column in encoder.ids(train).T]
        return cls(info.labels, encoder, known, present, [0.0] * (1 if len(present) == 2 else len(present)))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return the model that ``save`` wrote."""
        config, arrays = read_json(folder / "config.json"), load_file(folder / "model.safetensors")
        trees = HistogramTrees.from_arrays(arrays, "trees") if config["grown"] else None
        return cls(config["labels"], TableEncoder.from_json(config["encoder"]), config["known"], config["present"], config["start"], trees)

    def save(self, folder: Path) -> None:
        """Write ``model.safetensors``, the trees, and ``config.json``."""
        arrays: dict[str, Array] = {"trees": np.zeros(0)} if self.trees is None else self.trees.arrays("trees")
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, folder / "model.safetensors")
        config: dict[str, Any] = {"model": self.name, "labels": self.labels, "encoder": self.encoder.to_json(), "known": self.known}
        write_json(folder / "config.json", config | {"present": self.present, "start": self.start, "grown": self.trees is not None})

    def fields_of(self, table: pa.Table, info: DatasetInfo) -> dict[str, Dense]:
        """Return what the trees read: the ids of the categories from 0 on, then the numbers; NaN where missing."""
        ids = self.encoder.ids(table)
        columns = [_places(column, known) for column, known in zip(ids.T, self.known, strict=True)]
        numbers = np.clip(self.encoder.straight(table), -_WIDEST, _WIDEST)
        return {"columns": Dense(np.concatenate([np.reshape(columns, (len(columns), len(ids))).T, numbers], axis=1).astype(np.float32))}

    def logits_and_features(self, **inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits, and as features what each tree says, of which they are sums."""
        columns = inputs["columns"].cpu().numpy()
        said = np.zeros((len(columns), 0)) if self.trees is None else self.trees.values(columns)
        logits = self.logits(self.begun(len(columns)) + self.sums(said))
        where = inputs["columns"].device
        return torch.from_numpy(logits).to(where), torch.from_numpy(said.astype(np.float32)).to(where)

    def begun(self, rows: int) -> Floats:
        """Return what the trees begin from, ``(rows, n_scores)``: a score, or of more than two classes one each."""
        return np.tile(np.array(self.start), (rows, 1))

    def sums(self, said: Floats) -> Floats:
        """Return the sums of what whole stages of trees say, ``(n_rows, n_scores)``; ``said`` has a column per tree."""
        whole: Floats = said.reshape(len(said), said.shape[1] // len(self.start), len(self.start)).sum(axis=1)
        return whole

    def logits(self, scores: Floats) -> Floats32:
        """Return the logits of all labels, ``(n_rows, n_classes)``, by the scores of those that the train set has."""
        own = np.concatenate([-scores / 2, scores / 2], axis=1) if len(self.start) == 1 else scores
        found = np.repeat(own.min(axis=1, keepdims=True) - _ABSENT, len(self.labels), axis=1)
        found[:, self.present] = own
        return found.astype(np.float32)

    def untrained(self, epochs: int, learning_rate: float, seed: int, rows: int) -> Any:
        """Return scikit-learn's model of so many epochs, which learns from what ``fields_of`` returns of so many rows."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        least, most = _ROWS_OF_LEAF
        return HistGradientBoostingClassifier(
            learning_rate=learning_rate,
            max_iter=STAGES * epochs,
            max_features=_COLUMNS,
            max_leaf_nodes=_LEAVES,
            min_samples_leaf=int(np.clip(rows // 40, least, most)),
            l2_regularization=_PENALTY,
            categorical_features=list(range(len(self.known))) or None,
            early_stopping=False,
            random_state=seed % 2**32,
        )

    def take(self, fitted: Any, epochs: int) -> None:
        """Take over the trees of so many epochs of scikit-learn's model; of no epoch only what the trees begin from."""
        self.start = np.ravel(fitted._baseline_prediction).tolist()
        self.trees = HistogramTrees.of_boosting(fitted, range(STAGES * epochs)) if epochs else None


def _places(ids: Integers, known: Sequence[int]) -> Floats:
    """Return where each id stands among those that are known; NaN where it does not."""
    place = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    found: Floats = np.where(np.asarray(known)[place] == ids, place.astype(np.float64), np.nan)
    return found
