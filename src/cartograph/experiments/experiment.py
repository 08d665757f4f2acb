"""The parts of an experiment: its question, the train set and map it works on, and its finding with tables, a figure and numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from cartograph.data.progress import Progress
from cartograph.errors import InputError
from cartograph.train.recipe import Recipe


@dataclass(frozen=True)
class Material:
    """What an experiment works on.

    Attributes:
        examples: the train set (``schema.examples_schema``), sorted by uid.
        evaluation: evaluation sets by name.
        measures: ``schema.MEASURES`` of the train set, sorted by uid.
        dynamics: the folder of its training dynamics; None where only coordinates were given.
        recipe: how the map's model was trained.
        epochs_open: the parameters leave open for how many epochs; some of the rows are then trained for all rows' optimiser steps.
        options: the parameters of the section ``ablate``.
        folder: where trainings may be kept while the experiment runs.
        progress: called with (trainings done, trainings in all).
    """

    examples: pa.Table
    evaluation: Mapping[str, pa.Table]
    measures: pa.Table
    dynamics: Path | None
    recipe: Recipe
    options: Mapping[str, Any]
    folder: Path
    epochs_open: bool = False
    progress: Progress = field(default=lambda done, total: None)

    def held_out(self, name: str) -> tuple[str, pa.Table]:
        """Return an evaluation set of the train set's distribution.

        Raises:
            InputError: the audit has no such set.
        """
        from cartograph.schema import dataset_info

        for known, table in sorted(self.evaluation.items()):
            if dataset_info(table.schema).domain == "id":
                return known, table
        raise InputError(f"experiment `{name}` needs an evaluation set of the train set's distribution; add one to `evaluation`.")


@dataclass(frozen=True)
class Finding:
    """The answer of an experiment.

    Attributes:
        answer: in one sentence, with numbers.
        numbers: flat.
        tables: by name.
        figure: a matplotlib figure.
    """

    answer: str
    numbers: Mapping[str, float]
    tables: Mapping[str, pa.Table]
    figure: Any


@dataclass(frozen=True)
class Experiment:
    """One experiment.

    Attributes:
        name: as in params.yaml.
        meaning: the question, in one line.
        run: answers it.
        source: its place in the paper.
    """

    name: str
    meaning: str
    run: Callable[[Material], Finding]
    source: str
