"""The committees of the step `noise`: what they may read of an audit, of words, vectors, columns and trainings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cartograph.data.json_files import read_json
from tasks.audit.parameters.embed import Embed
from tasks.audit.parameters.ingest import Ingest
from tasks.engine.workspace import user_file

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from cartograph.data.arrays import Ids
    from cartograph.data.progress import Progress
    from cartograph.dynamics.epoch_files import Dynamics
    from cartograph.suspects.committee import Committee

EMBEDDED = "data/embed"
STRATA = "data/ingest/strata.parquet"
_DYNAMICS = "dynamics"

_LONG = 2
"""Epochs above which the second is read rather than the first."""


@dataclass(frozen=True)
class Training:
    """What a training, here or elsewhere, left.

    Attributes:
        file: its record.
        recorded: whether there are dynamics (``read_dynamics_of``), not coordinates alone.
        assumed: whether flips' measures must be assumed, as nothing can be trained again.
        fine_tuned: whether the dynamics are a pretrained model's, each probability from before the row's turn in that epoch.
    """

    file: Path
    recorded: bool
    assumed: bool
    fine_tuned: bool


def read_training(folder: Path) -> Training:
    """Return what the step `train` left in its folder."""
    from cartograph.models.registry import FROM_A_FOLDER

    record = read_json(folder / "training.json")
    assumed = record["source"] == "imported"
    fine_tuned = not assumed and record["record"] == "train_pass" and record["model"] in FROM_A_FOLDER
    return Training(folder / "training.json", (folder / _DYNAMICS).is_dir(), assumed, fine_tuned)


def read_dynamics_of(folder: Path) -> tuple[Dynamics, Dynamics | None]:
    """Return the dynamics that the step `train` left in its folder, and those out of fold, where there are any."""
    from cartograph.dynamics.epoch_files import read_dynamics

    held_out = folder / "out_of_fold"
    return read_dynamics(folder / _DYNAMICS), read_dynamics(held_out) if held_out.is_dir() else None


class Opinion(Protocol):
    """Makes the committee of labels, with what a training on them recorded, in sample and out of fold; ``progress`` as its own."""

    def __call__(
        self, labels: np.ndarray, dynamics: Dynamics | None, out_of_fold: Dynamics | None, progress: Progress | None = None
    ) -> Committee | None:
        """Return it; None where it is not wanted."""


def committees(
    by_uid: pa.Table, training: Training, inputs: Mapping[str, Path], *, folds: int, seed: int, wanted: bool, file: str | None = None
) -> Opinion:
    """Return what makes the committee of any labels of these rows, in the same folds, with what a training on those labels recorded.

    It makes None where its opinion is not wanted.

    Args:
        by_uid: the train rows, sorted by uid.
        training: what the audit's own training left.
        inputs: of the step.
        folds: number of folds; fewer where there are fewer rows.
        seed: of the folds.
        wanted: whether doubts are asked for; else there are only those that suggestions need, of many classes and a map from elsewhere.
        file: of the user's own vectors (``embed.file``), one of the inputs; None: the encoder's, where the audit makes them.
    """
    import numpy as np

    from cartograph.data.folds import assign_folds
    from cartograph.schema import LINKED, dataset_info
    from cartograph.suspects.class_forms import class_forms
    from cartograph.suspects.committee import committee_scores, reading_of
    from cartograph.suspects.listing import mean_probabilities

    info = dataset_info(by_uid.schema)
    for_suggestions = not training.recorded and len(info.labels) > 2
    if not wanted and not for_suggestions:
        return lambda labels, dynamics, out_of_fold, progress=None: None
    reading = reading_of(by_uid)
    vectors, options = reading.vectors, reading.options
    if (own := embedded_vectors(by_uid, inputs, file)) is not None:
        if options is None or file is not None:
            vectors = own
        else:
            options = options._replace(vectors=own.reshape(len(own), options.number, -1))
    given = by_uid["label"].to_numpy()
    forms = class_forms(info.labels, given)
    fold = assign_folds(given, min(folds, len(given)), np.random.default_rng([seed, 1]), reading.groups)
    labellers = _labellers(by_uid, inputs)
    # Not the table itself, whose texts would stay in memory as long as what is returned here.
    linked = LINKED in by_uid.column_names

    def opinion(
        labels: np.ndarray, dynamics: Dynamics | None, out_of_fold: Dynamics | None, progress: Progress | None = None
    ) -> Committee | None:
        known = {}
        if out_of_fold is not None and not training.assumed:
            known["k-fold training"] = mean_probabilities(out_of_fold.logits)
        # Of a pretrained model, which knows much before it has learnt a single label by heart: each row was met once, or not yet. But the
        # rows that the user linked with it were met, too.
        if dynamics is not None and training.fine_tuned and not linked:
            early = 1 if dynamics.logits.shape[1] > _LONG else 0
            known["early epoch"] = mean_probabilities(dynamics.logits[:, early : early + 1])

        def score(given: Ids, classes: np.ndarray) -> Committee:
            return committee_scores(
                reading.data,
                given,
                [info.labels[number] for number in classes],
                np.random.default_rng([seed, 3]),
                folds=fold,
                vectors=vectors,
                trees=reading.trees,
                known={name: forms.of_left(shares) for name, shares in known.items()},
                apart=reading.apart,
                groups=reading.groups,
                texts=reading.texts,
                same=reading.same,
                compared=reading.compared,
                options=options,
                labellers=labellers,
                progress=progress,
            )

        return forms.committee(score, labels)

    return opinion


def strata_file(params: Ingest | None) -> tuple[str, ...]:
    """Return the declared name of what divides the rows, where it says who labelled them."""
    return (STRATA,) if params is not None and params.labelled_by else ()


def _labellers(by_uid: pa.Table, inputs: Mapping[str, Path]) -> np.ndarray | None:
    """Return the number of who labelled each row; None where nobody knows."""
    import pyarrow.parquet as pq

    from cartograph.data.subsets import rows_of
    from cartograph.ingest.strata import labellers_of

    return labellers_of(rows_of(pq.read_table(inputs[STRATA]), by_uid["uid"], "the train set", STRATA)) if STRATA in inputs else None


def vectors_file(params: Embed | None) -> tuple[str, ...]:
    """Return the declared name of the user's own vectors, where there are any."""
    return () if params is None or params.file is None else (user_file(params.file),)


def embedded_vectors(by_uid: pa.Table, inputs: Mapping[str, Path], file: str | None = None) -> np.ndarray | None:
    """Return the vectors in the user's file, or the frozen encoder's where the audit makes them; of a choice its options' in a row."""
    from cartograph.features.vectors import join_sides, read_features
    from cartograph.schema import dataset_info

    if file is not None:
        return read_features(inputs[user_file(file)], by_uid["uid"], what=file)[1]
    info = dataset_info(by_uid.schema)
    if EMBEDDED not in inputs:
        return None
    vectors = read_features(inputs[EMBEDDED] / "train.parquet", by_uid["uid"], what=f"{EMBEDDED}/train.parquet")[1]
    return vectors if info.images or info.task == "choice" else join_sides(vectors, info)
