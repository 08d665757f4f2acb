"""The committees of the step `noise`: what they may read of an audit, of words, vectors, columns and trainings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from cartograph.config import Settings
from cartograph.data.json_files import read_json
from tasks.audit.parameters.embed import Embed
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.plan import needs_encoder
from tasks.engine.workspace import user_file

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from cartograph.data.progress import Progress
    from cartograph.dynamics.epoch_files import Dynamics
    from cartograph.suspects.among import Among
    from cartograph.suspects.committee import Committee, Reading

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
    from cartograph.suspects.among import committee_of
    from cartograph.suspects.listing import mean_probabilities

    info = dataset_info(by_uid.schema)
    for_suggestions = not training.recorded and len(info.labels) > 2
    if not wanted and not for_suggestions:
        return lambda labels, dynamics, out_of_fold, progress=None: None
    reading = whole_reading(by_uid, inputs, file)
    given = by_uid["label"].to_numpy()
    fold = assign_folds(given, min(folds, len(given)), np.random.default_rng([seed, 1]), reading.groups)
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
        return committee_of(reading, labels, info.labels, fold, np.random.default_rng([seed, 3]), known=known, progress=progress)

    return opinion


def whole_reading(by_uid: pa.Table, inputs: Mapping[str, Path], file: str | None = None) -> Reading:
    """Return what a committee reads of rows, with what the audit has of them besides: an encoder's vectors or the user's own, labellers.

    Args:
        by_uid: train rows, some or all.
        inputs: of the step.
        file: of the user's own vectors (``embed.file``), one of the inputs; None: the encoder's, where the audit makes them.
    """
    from cartograph.suspects.committee import reading_of

    own = embedded_vectors(by_uid, inputs, file)
    reading = reading_of(by_uid, characters=own is None)
    if own is not None:
        if reading.options is None or file is not None:
            reading = reading._replace(vectors=own)
        else:
            by_option = own.reshape(len(own), reading.options.number, -1)
            reading = reading._replace(options=reading.options._replace(vectors=by_option))
    return reading._replace(labellers=_labellers(by_uid, inputs))


def suspects_among(examples: pa.Table, inputs: Mapping[str, Path], settings: Settings, record: Mapping[str, Any]) -> Among:
    """Return what finds suspects among some of these rows as the step `noise` does by its committee, hearing nothing of the others.

    What trainings said of the rows is left out: their models have met all of them.

    Args:
        examples: train rows.
        inputs: of the step, ``committee_inputs`` among them.
        settings: of the audit.
        record: what `noise` found, as in ``data/noise/noise.json``.
    """
    from cartograph.suspects.among import Among

    params, embed = settings["noise"].model_dump(), settings.find(Embed)
    reading = whole_reading(examples, inputs, None if embed is None else embed.file)
    return Among(examples, reading, params["folds"], params["seed"], record["unknown"], params["threshold"])


def committee_inputs(settings: Settings) -> tuple[str, ...]:
    """Return the declared names of what a committee may read besides the rows."""
    embedded = (EMBEDDED,) if needs_encoder(settings) else ()
    return (*embedded, *vectors_file(settings.find(Embed)), *strata_file(settings.find(Ingest)))


def strata_file(params: Ingest | None) -> tuple[str, ...]:
    """Return the declared name of what divides the rows, where it may say who labelled them, or how many agree."""
    said = params is not None and (params.labelled_by or any("+" in name for name in params.label or ()))
    return (STRATA,) if said else ()


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
