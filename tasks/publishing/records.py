"""The records that are published to MLflow: a run of an audit or of models, with its numbers, tags and datasets, and logged models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

STEP_NAME = "publish"


DIGEST_CHARACTERS = 36
"""Most characters of a dataset's digest that MLflow takes."""


@dataclass(frozen=True)
class Dataset:
    """One set of the audited data.

    Attributes:
        name: the workspace's name; ``<workspace>/<set>`` for an evaluation set.
        context: ``audited`` (the train set), ``cleaned`` (its cleaned version), ``filtered`` (the rows that AFLite kept), ``random`` (a
            part of it) or ``evaluation``.
        digest: of its content, cut to what MLflow takes.
        path: its Parquet file, from the project's root.
        columns: name -> Arrow type, as text.
        profile: rows, rows per class, mean length of texts, the whole digest, in or out of distribution.
    """

    name: str
    context: str
    digest: str
    path: str
    columns: dict[str, str]
    profile: dict[str, Any]


@dataclass(frozen=True)
class Publication:
    """One audit, or one collection of pairs.

    Attributes:
        fingerprint: the audit's identity: of its parameters, data, measures and numbers; the same audit has the same.
        params: every parameter that decides the audit, by ``<section>.<key>``.
        metrics: every number of every step.
        tags: identities of data, code and versions.
        datasets: the train set first.
        curves: numbers that are followed from audit to audit: (number of the audit, value) each, by name.
        begun: when the audit began, in seconds since 1970; None: when it is published.
        what: ``audit`` or ``collection``.
    """

    fingerprint: str
    params: dict[str, str]
    metrics: dict[str, float]
    tags: dict[str, str]
    datasets: tuple[Dataset, ...]
    curves: Mapping[str, Sequence[tuple[int, float]]] = field(default_factory=dict)
    begun: float | None = None
    what: Literal["audit", "collection"] = "audit"


@dataclass(frozen=True)
class Package:
    """A model that can be loaded again: its data, and the code that reads them.

    Attributes:
        data: folder of its data.
        code: Python file that names an ``mlflow.pyfunc`` model, which finds the data as the artifact ``matcher``.
        columns: of the table that it reads, all of them text.
        answers: name of the number that it says of each row.
        libraries: that its code imports.
    """

    data: Path
    code: Path
    columns: tuple[str, ...]
    answers: str
    libraries: tuple[str, ...]


@dataclass(frozen=True)
class Logged:
    """What makes a run's model one of MLflow's logged models, which have its parameters and numbers.

    Attributes:
        name: its name.
        kind: the type that models are searched by: ``classifier``, ``matcher``.
        measured_on: numbers of the run -> the dataset that each was measured on.
        package: the model itself; None: only its numbers are kept.
    """

    name: str
    kind: str
    measured_on: Mapping[str, Dataset] = field(default_factory=dict)
    package: Package | None = None


@dataclass(frozen=True)
class Model:
    """One run beneath an audit's or a collection's: a trained model, or the mean of several.

    Attributes:
        name: ``retrain <subset> seed <n>``; of a mean over seeds, the subset.
        fingerprint: its identity within the audit's.
        params: how it was trained, and on what.
        metrics: ``<evaluation set>.<metric>``, as the audit's own model has them, and its train set's; parameters are not among them.
        tags: ``cartograph.dataset_version`` of the rows that it was trained on, ``cartograph.parent_version`` of those that they
            were made from, and the audit's.
        datasets: its train set first, then the evaluation sets.
        curves: numbers that have a course: (step, value) each, by name.
        status: MLflow's: ``FINISHED``, or ``FAILED`` where it broke off.
        logged: what makes it a logged model; None: it is a run alone.
    """

    name: str
    fingerprint: str
    params: dict[str, str]
    metrics: dict[str, float]
    tags: dict[str, str]
    datasets: tuple[Dataset, ...]
    curves: Mapping[str, Sequence[tuple[int, float]]] = field(default_factory=dict)
    status: str = "FINISHED"
    logged: Logged | None = None
