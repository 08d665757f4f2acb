"""Small train and evaluation sets that a model can learn, of every task."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cartograph.schema import DatasetInfo, Domain, Task, examples_schema

ANIMALS = ["dog", "cat", "horse", "goose", "lizard"]
PLACES = ["barn", "park", "street", "river", "attic"]
LOUD = ["barks", "shouts", "rattles"]
QUIET = ["sleeps", "waits", "listens"]


def table(info: DatasetInfo, columns: dict[str, list[str]], labels: list[int], prefix: str = "u") -> pa.Table:
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
    text = {"single": ("text",), "pair": ("premise", "hypothesis"), "choice": ("sentence",)}[task]
    options = ("option1", "option2") if task == "choice" else ()
    labels = ("1", "2") if task == "choice" else ("quiet", "loud")
    return DatasetInfo(name, domain, task, text, options, labels)


def small_set(task: Task = "single", rows: int = 60, seed: int = 0, name: str = "train", domain: Domain = "train") -> pa.Table:
    """Sentences whose label hangs on one word; lengths differ."""
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


def _sentence(rng: np.random.Generator, verbs: list[str]) -> str:
    more = " and ".join(f"near the {rng.choice(PLACES)}" for _ in range(int(rng.integers(0, 4))))
    return f"The {rng.choice(ANIMALS)} {rng.choice(verbs)} {more}".strip()
