"""What a training is given: whether it can be trained on that, and its identity, by which a killed training is found again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from cartograph.errors import InputError
from cartograph.models.base import label_matrix
from cartograph.models.isolation import require_device
from cartograph.models.registry import MODELS, model_class
from cartograph.schema import LABEL, LABEL_SET, DatasetInfo, dataset_info
from cartograph.train.checkpoints import file_digests
from cartograph.train.patience import require_validation
from cartograph.train.recipe import Recipe
from cartograph.train.trainer import HELD_OUT

_HASHED_ROWS = 65_536


def checked_info(recipe: Recipe, train: pa.Table, evaluation: Mapping[str, pa.Table]) -> DatasetInfo:
    """Return what the train set is, once it is certain that the recipe can be trained on it and scored on the evaluation sets.

    Raises:
        InputError: it has fewer than two classes, an evaluation set has other ones, ``validation`` is missing where ``patience`` needs it,
            there is no such device, or the model reads other rows.
    """
    info = dataset_info(train.schema)
    several = label_matrix(train) if LABEL_SET in train.column_names else None
    classes = len(set(train.column(LABEL).to_pylist())) if several is None else len(np.unique(several))
    if classes < 2:
        raise InputError(
            f"the train set has {train.num_rows:,} rows and {classes} class{'es' * (classes != 1)}; a model needs two classes at least."
        )
    for name, table in evaluation.items():
        other = dataset_info(table.schema)
        if (other.task, other.labels) != (info.task, info.labels):
            raise InputError(
                f"evaluation set `{name}` ({other.task}, labels {', '.join(other.labels)}) does not go with the train set "
                f"({info.task}, labels {', '.join(info.labels)}); ingest both with one column mapping."
            )
    require_validation(recipe, {name: dataset_info(table.schema) for name, table in evaluation.items()})
    require_device(recipe.device)
    require_readable(recipe.model, info)
    return info


def require_readable(model: str, info: DatasetInfo) -> None:
    """Check that a model reads rows of a set's kind.

    Raises:
        InputError: no model has this name, or it reads rows of another kind.
    """
    reads, kind = model_class(model).reads, "images" if info.images else "tables" if info.features else "texts"
    if reads != kind:
        usable = ", ".join(name for name in MODELS if model_class(name).reads == kind)
        raise InputError(f"model `{model}` reads {reads}, but the rows are {kind}; use one of {usable}.")


def training_identity(
    recipe: Recipe, train: pa.Table, evaluation: Mapping[str, pa.Table], held_out: pa.Table | None, *, settles: bool
) -> str:
    """Return the SHA-256 of all that decides a training: recipe, pretrained files, and the rows of every set.

    Args:
        recipe: how it is trained.
        train: the train set.
        evaluation: evaluation sets by name.
        held_out: rows that are only recorded.
        settles: whether the training ends once its map has settled.
    """
    content = recipe.to_json() | {"settles": settles}
    source = Path(recipe.pretrained or "").expanduser()
    if recipe.pretrained and source.is_dir():
        content["pretrained"] = file_digests(source)
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for name, table in [("", train), *sorted(evaluation.items()), *([] if held_out is None else [(HELD_OUT, held_out)])]:
        digest.update(name.encode())
        digest.update(str(table.schema.remove_metadata()).encode())
        for start in range(0, table.num_rows, _HASHED_ROWS):
            for column in table.slice(start, _HASHED_ROWS).columns:
                digest.update(pa.record_batch([column.combine_chunks()], names=[""]).serialize())
    return digest.hexdigest()
