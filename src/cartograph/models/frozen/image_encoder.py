"""A frozen encoder of images: one vector per image."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import torch
from transformers import AutoModel

from cartograph.errors import InputError
from cartograph.features.vectors import write_features
from cartograph.models.device import GatheredRows, chosen_device, half_products, made_ahead, moved_tensor
from cartograph.models.frozen.embeddings import EmbeddingCounts
from cartograph.models.frozen.kept_vectors import write_record
from cartograph.models.frozen.text_encoder import Pooling
from cartograph.models.image_pretrained import ImageReading, Standardised, preprocessor_folder
from cartograph.models.isolation import available_threads, isolated, require_device
from cartograph.models.pretrained import load_network, source_of
from cartograph.schema import UID, dataset_info


def embed_images(
    pretrained: str,
    sets: Mapping[str, Path],
    folder: Path,
    *,
    pooling: Pooling = "mean",
    batch_size: int = 64,
    device: str = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> EmbeddingCounts:
    """Embed sets of images, and write ``<set>.parquet`` (``cartograph.features.vectors.write_features``).

    Args:
        pretrained: a network of images: a local folder or a hub id; no code from it is run, and no pickle is read.
        sets: files of examples (``schema.examples_schema``) by name.
        folder: an existing folder.
        pooling: ``mean`` of a network's last states (patches or places), or the first one (``cls``), where there is one.
        batch_size: images read together.
        device: ``auto`` (a GPU where there is one), ``cpu`` or ``cuda``.
        progress: called with (images read, images to read).

    Raises:
        InputError: the network cannot be used, or ``cuda`` is asked for on a machine without a GPU.
    """
    require_device(device)
    where = chosen_device(device)
    tables = {name: pq.ParquetFile(path).read() for name, path in sets.items()}
    total, done, width = sum(table.num_rows for table in tables.values()), 0, 0
    with isolated(0, available_threads()), torch.no_grad():
        network, reading = _load(pretrained)
        network, standardised = network.to(where), Standardised(reading).to(where)
        for name, table in tables.items():
            column = table[dataset_info(table.schema).images[0]]
            gathered = GatheredRows(table.num_rows, where)
            starts = range(0, table.num_rows, batch_size)
            batches = (reading.pixels(column.slice(start, batch_size)) for start in starts)
            for start, pixels in zip(starts, made_ahead(batches, where.type != "cpu"), strict=True):
                inputs = standardised(moved_tensor(pixels, where))
                with half_products(where):
                    pooled = _pooled(network(pixel_values=inputs), pooling, pretrained)
                gathered.put(np.arange(start, start + len(pooled)), pooled)
                done += len(pooled)
                if progress is not None:
                    progress(done, total)
            vectors = gathered.array()
            width = vectors.shape[1]
            write_features(table[UID], vectors, folder / f"{name}.parquet")
    write_record("", total, {name: {"kept": 0, "made": table.num_rows} for name, table in tables.items()}, folder)
    return EmbeddingCounts(total, width, 0)


def _load(pretrained: str) -> tuple[Any, ImageReading]:
    with source_of(pretrained, tokenizer=False) as (name, local), torch.random.fork_rng(devices=[]):
        network = load_network(AutoModel, name, local=local)
        reading = ImageReading.of(network.config, preprocessor_folder(name, local=local))
    if network.main_input_name != "pixel_values":
        raise InputError(f"{pretrained} reads {network.main_input_name}, not images; use an encoder of images.")
    return network.eval(), reading


def _pooled(output: Any, pooling: Pooling, pretrained: str) -> torch.Tensor:
    states = getattr(output, "last_hidden_state", None)
    if states is None or states.ndim not in (3, 4):
        raise InputError(f"{pretrained} gives no states of an image's parts; use a plain encoder of images.")
    if states.ndim == 4 and pooling == "cls":
        raise InputError(f"{pretrained} has no first state for the whole image; set `embed.pooling` to mean.")
    states = states.float()
    pooled: torch.Tensor = states[:, 0] if pooling == "cls" else states.mean(dim=1) if states.ndim == 3 else states.mean(dim=(2, 3))
    return pooled
