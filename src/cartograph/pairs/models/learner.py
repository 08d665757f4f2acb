"""A cosine model of a task: trained every round from the same start, then applied to all utterances."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cartograph.data.arrays import Array, Floats32
from cartograph.data.progress import Progress
from cartograph.errors import InputError
from cartograph.pairs.pair_space import Keys, PairSpace
from cartograph.pairs.task import Task

if TYPE_CHECKING:
    from cartograph.pairs.models.cosine import CosineModel


@dataclass(frozen=True)
class TrainingOptions:
    """How a model is trained; None = the model's own value."""

    epochs: int
    batch_size: int | None = None
    learning_rate: float | None = None
    head_factor: float | None = None
    threads: int = 1


@dataclass(frozen=True)
class UtteranceVectors:
    """Unit vectors of all utterances under one state of the model.

    Attributes:
        left: (n_left, width) of the task's left side.
        right: (n_right, width) of its right side; ``left`` itself where both are one set.
    """

    left: Floats32
    right: Floats32

    def sides(self, space: PairSpace) -> tuple[Floats32, Floats32]:
        """Return the vectors of a split's utterances, in the order of its rows."""
        left = self.left[space.left]
        return left, left if space.symmetric else self.right[space.right]

    def cosine(self, space: PairSpace, keys: Keys) -> Floats32:
        """Return the cosine of each pair."""
        from cartograph.pairs.models.cosine import pair_cosines

        return pair_cosines(self.left, self.right, *space.pairs(keys))


class Learner:
    """A task's texts, encoded once, and the embedder's state before any training.

    Args:
        model: a name in ``COSINE_MODELS``.
        task: the task.
        start: the folder of the embedder before training (``cosine-bow``: a saved one); for ``cosine-bert`` an encoder's folder or hub id.
        vectors: for ``cosine-frozen``: the encoder's vectors of the two sides.
        device: for ``cosine-bert``: ``auto``, ``cpu`` or ``cuda``.
    """

    def __init__(self, model: str, task: Task, start: str, *, vectors: UtteranceVectors | None = None, device: str = "cpu") -> None:
        from cartograph.pairs.models.bert import CosineBert
        from cartograph.pairs.models.bow import CosineBow
        from cartograph.pairs.models.frozen import CosineFrozen

        self.model = model
        if model == "cosine-frozen":
            if vectors is None:
                raise InputError("`cosine-frozen` needs the vectors that an encoder has made.")
            self.embedder: Any = CosineFrozen(vectors.left.shape[1])
            self.left = self.embedder.encode_vectors(vectors.left)
            self.right = self.left if task.symmetric else self.embedder.encode_vectors(vectors.right)
        else:
            self.embedder = CosineBow.load(Path(start)) if model == "cosine-bow" else CosineBert.create(start, device)
            self.left = self.embedder.encode(task.left)
            self.right = self.left if task.symmetric else self.embedder.encode(task.right)
        self._start = {name: tensor.detach().clone() for name, tensor in self.embedder.state_dict().items()}

    def vectors(self, progress: Progress | None = None) -> UtteranceVectors:
        """Return all vectors under the embedder's present state; every utterance is embedded once."""
        left = self.embedder.vectors(self.left, progress)
        return UtteranceVectors(left, left if self.right is self.left else self.embedder.vectors(self.right, progress))

    def cosine(self, pairs: tuple[Keys, Keys]) -> Floats32:
        """Return the cosine of pairs of rows under the embedder's present state."""
        from cartograph.pairs.models.cosine import cosines

        return cosines(self.embedder, self.left, self.right, pairs)

    def train(
        self, pairs: tuple[Keys, Keys], labels: Array, how: TrainingOptions, seed: int, progress: Progress | None = None
    ) -> CosineModel:
        """Train from the start on labelled pairs of rows; return the model."""
        from cartograph.pairs.models.cosine import CosineRecipe, train_cosine

        self.embedder.load_state_dict(self._start)
        kind = type(self.embedder)
        recipe = CosineRecipe(
            epochs=how.epochs,
            batch_size=how.batch_size or kind.batch_size,
            learning_rate=how.learning_rate or kind.learning_rate,
            head_factor=how.head_factor or kind.head_factor,
            seed=seed,
            threads=how.threads,
        )
        return train_cosine(self.embedder, self.left, self.right, pairs, labels, recipe, progress)
