"""The inputs of a trained model's last layer, one vector per row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import torch

from cartograph.data.arrays import Floats32
from cartograph.features.vectors import join_options
from cartograph.models.device import GatheredRows, chosen_device, half_products, made_ahead, moved
from cartograph.models.encoded import read_batches
from cartograph.models.isolation import available_threads, isolated
from cartograph.models.registry import model_class
from cartograph.schema import dataset_info


def penultimate_features(
    name: str,
    folder: Path,
    tables: Mapping[str, pa.Table],
    *,
    batch_size: int = 64,
    device: str = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Floats32]:
    """Return the input of the last layer, dropout off, ``(n_examples, width)`` per set; options are joined by ``join_options``.

    Rows of like length are read together.

    Args:
        name: of the model, in ``MODELS``.
        folder: the model's, as a training wrote it.
        tables: sets of examples by name.
        batch_size: rows read together; on a GPU more of shorter ones.
        device: ``auto``, ``cpu`` or ``cuda``.
        progress: called with (rows read, rows to read).
    """
    where = chosen_device(device)
    total, done = sum(table.num_rows for table in tables.values()), 0
    features_of_set = {}
    kind = model_class(name)
    with isolated(0, kind.most_threads or available_threads()), torch.no_grad():
        model = kind.load(folder).to(where).eval()
        for part, table in tables.items():
            examples = model.encode(table, dataset_info(table.schema))
            gathered = GatheredRows(len(examples), where)
            parts = read_batches(examples.lengths, batch_size, fill=kind.pads and where.type != "cpu")
            for rows, batch in made_ahead(model.batches(examples, parts), examples.decoded and where.type != "cpu"):
                with half_products(where, model.mixed_precision):
                    gathered.put(rows, model(**moved(batch, where)).features.float())
                done += len(rows)
                if progress is not None:
                    progress(done, total)
            features = gathered.array()
            features_of_set[part] = features if features.ndim == 2 else join_options(features)
    return features_of_set
