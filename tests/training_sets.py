"""Small train and evaluation sets that a model can learn, of every task."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from cartograph.data.images import png_of
from cartograph.schema import FEATURES, VALUES, DatasetInfo, Domain, Feature, Task, examples_schema

ANIMALS = ["dog", "cat", "horse", "goose", "lizard"]
PLACES = ["barn", "park", "street", "river", "attic"]
LOUD = ["barks", "shouts", "rattles"]
QUIET = ["sleeps", "waits", "listens"]
SMALL_TRAINING = {"epochs": 3, "batch_size": 8, "learning_rate": 0.01, "device": "cpu", "threads": 1}
"""Of the section `train`: what a bag of words learns such sets with, in a second."""


def table(info: DatasetInfo, columns: dict[str, list[Any]], labels: list[int], prefix: str = "u") -> pa.Table:
    """Build a set of examples; uids are ``u0000``, ``u0001``, …"""
    rows = len(labels)
    values = {
        **columns,
        "uid": [f"{prefix}{row:04d}" for row in range(rows)],
        "label": labels,
        "source": ["made.csv"] * rows,
        "row": list(range(1, rows + 1)),
    }
    schema = examples_schema(info)
    return pa.table({field.name: pa.array(values[field.name], field.type) for field in schema}, schema=schema)


def info_of(task: Task, name: str = "train", domain: Domain = "train") -> DatasetInfo:
    """The description of a small set."""
    if task == "table":
        features = (Feature("size", "number"), Feature("colour", "category"), Feature("seen", "date"))
        return DatasetInfo(name, domain, task, (FEATURES,), (), ("small", "large"), (), features)
    if task == "image":
        return DatasetInfo(name, domain, task, (), (), ("left", "right"), ("image",))
    text = {"single": ("text",), "pair": ("premise", "hypothesis"), "choice": ("sentence",)}[task]
    options = ("option1", "option2") if task == "choice" else ()
    labels = ("1", "2") if task == "choice" else ("quiet", "loud")
    return DatasetInfo(name, domain, task, text, options, labels)


def small_table(rows: int = 60, seed: int = 0, name: str = "train", domain: Domain = "train", rest: tuple[str, ...] = ()) -> pa.Table:
    """Rows of a table of features, some values missing, whose number and colour say which label is right; ``rest``: further colours."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, rows)
    sizes = np.where(rng.random(rows) < 0.1, np.nan, labels * 4.0 + rng.normal(0, 1, rows))
    colours = np.where(rng.random(rows) < 0.8, np.array(["red", "blue"])[labels], rng.choice(["red", "blue", *rest], rows)).astype(object)
    colours[rng.random(rows) < 0.1] = None
    days = [datetime(2024, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 300, rows)]
    values = [
        {"size": None if np.isnan(size) else float(size), "colour": colour, "seen": day}
        for size, colour, day in zip(sizes, colours, days, strict=True)
    ]
    shown = ["; ".join(f"{key}={value}" for key, value in row.items() if value is not None) for row in values]
    return table(info_of("table", name, domain), {FEATURES: shown, VALUES: values}, labels.tolist())


def small_images(
    rows: int = 60, seed: int = 0, name: str = "train", domain: Domain = "train", shape: tuple[int, ...] = (8, 10), side: int = 256
) -> pa.Table:
    """Noisy images whose brighter half decides the label."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, rows).tolist()
    images = rng.integers(0, 100, (rows, *shape), dtype=np.uint8)
    middle = shape[1] // 2
    for image, label in zip(images, labels, strict=True):
        image[:, slice(middle, None) if label else slice(None, middle)] += 120
    return table(info_of("image", name, domain), {"image": [png_of(image, side) for image in images]}, labels)


def write_vision(folder: Path, kind: str = "vit", channels: int = 3) -> None:
    """Write a tiny pretrained network of images with random weights, as hubs have them."""
    from transformers import ResNetConfig, ResNetForImageClassification, ViTConfig, ViTForImageClassification

    torch.manual_seed(0)
    if kind == "vit":
        shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
        network: Any = ViTForImageClassification(ViTConfig(image_size=16, patch_size=4, num_channels=channels, **shape))
    else:
        config = ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", num_channels=channels)
        network = ResNetForImageClassification(config)
    network.save_pretrained(folder)
    size = {"height": 16, "width": 16} if kind == "vit" else {"shortest_edge": 20}
    preprocessor = {"size": size, "do_normalize": True, "image_mean": [0.4] * channels, "image_std": [0.2] * channels}
    (folder / "preprocessor_config.json").write_text(json.dumps(preprocessor))


def small_set(task: Task = "single", rows: int = 60, seed: int = 0, name: str = "train", domain: Domain = "train") -> pa.Table:
    """Sentences whose label depends on one word, of different lengths; or the images or the table of features of this module."""
    if task in ("image", "table"):
        return (small_images if task == "image" else small_table)(rows, seed, name, domain)
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, rows).tolist()
    texts = [_sentence(rng, LOUD if label else QUIET) for label in labels]
    if task == "single":
        columns = {"text": texts}
    elif task == "pair":
        columns = {"premise": [_sentence(rng, QUIET + LOUD) for _ in labels], "hypothesis": texts}
    else:
        sentences = [f"The {rng.choice(ANIMALS)} in the {rng.choice(PLACES)} _ because it is loud." for _ in labels]
        words = [(str(rng.choice(QUIET)), str(rng.choice(LOUD))) for _ in labels]
        columns = {
            "sentence": sentences,
            "option1": [quiet if label else loud for label, (quiet, loud) in zip(labels, words, strict=True)],
            "option2": [loud if label else quiet for label, (quiet, loud) in zip(labels, words, strict=True)],
        }
    return table(info_of(task, name, domain), columns, labels)


def names_set(task: Task = "single", *, characters: bool, rows: int = 120) -> pa.Table:
    """Names of which none is twice, whose ending decides the label; of a pair beside texts of their own."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, rows).tolist()
    names = [f"{_syllables(rng, 4)}{'ska' if label else 'ren'}" for label in labels]
    info = replace(info_of(task), characters=characters)
    return table(info, dict(zip(info.fields, (names, [_syllables(rng, 5) for _ in labels]), strict=False)), labels)


def _syllables(rng: np.random.Generator, number: int) -> str:
    return "".join(rng.choice(list("bdfglmnprst"), number) + rng.choice(list("aeiou"), number))


def _sentence(rng: np.random.Generator, verbs: list[str]) -> str:
    more = " and ".join(f"near the {rng.choice(PLACES)}" for _ in range(int(rng.integers(0, 4))))
    return f"The {rng.choice(ANIMALS)} {rng.choice(verbs)} {more}".strip()


def write_files(folder: Path, files: dict[str, bytes]) -> Path:
    """Write files by their names below a folder; return it."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder
