"""What single steps of an audit leave for the sections of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from cartograph.audits.columns import ColumnDrift
from cartograph.clean.reviewed import DECIDED
from cartograph.compare.selections import TrainedSelections
from cartograph.compare.versions import Comparison


@dataclass(frozen=True)
class HowMade:
    """How the audit was made: what a reader needs to make it again.

    Attributes:
        name: the workspace's name.
        command: the command that makes the audit again.
        parameters: section -> key -> value, complete.
        versions: distribution -> version.
        digests: what -> SHA-256 of its content.
        suspects: where all suspects are, also those that the page has no room for.
        cleaned: of a file, what became of its rows, as a clause; empty where nothing was written.
    """

    name: str
    command: str
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    suspects: str = "data/noise/noise.parquet"
    cleaned: str = ""

    @property
    def review(self) -> str:
        """The command that asks people about rows; empty where no command does: the library alone takes no answers in."""
        made, _, workspace = self.command.partition(" WORKSPACE=")
        option = f" --workspace {workspace}" if workspace else ""
        return f"python -m tasks review{option}" if made == "make audit" else ""


@dataclass(frozen=True)
class Suspects:
    """Which labels look wrong, and how the detector was chosen.

    Attributes:
        rows: ``schema.NOISE``; one row per row of ``measures``, in its order.
        record: the detector and why it was chosen, as in ``data/noise/noise.json``.
        experiment: ``suspects.figures.EXPERIMENT``; of the flipped rows at least.
    """

    rows: pa.Table
    record: Mapping[str, Any]
    experiment: pa.Table


@dataclass(frozen=True)
class Cleaning:
    """The cleaned version of the train set.

    Attributes:
        changes: ``schema.CHANGES``.
        version: rows, parent and name, as in ``data/clean/version.json``.
        arms: the ways of cleaning compared, as in ``data/clean/arms.json``; None where that is not known.
        decided: the rows that people decided about (``clean.reviewed.DECIDED``).
    """

    changes: pa.Table
    version: Mapping[str, Any]
    arms: Mapping[str, Any] | None = None
    decided: pa.Table = field(default_factory=DECIDED.empty_table)


@dataclass(frozen=True)
class Selections:
    """Models trained on selections.

    Attributes:
        comparison: of the selections with each other and with the whole train set.
        chosen: which selections, and how many rows each has.
    """

    comparison: Comparison
    chosen: TrainedSelections


@dataclass(frozen=True)
class Aflite:
    """The rows that AFLite removed because they are easy to guess.

    Attributes:
        rows: ``schema.AFLITE``, of the filter's pool.
        history: ``schema.AFLITE_HISTORY``.
        record: sizes, features and why it ended, as in ``data/aflite/aflite.json``.
    """

    rows: pa.Table
    history: pa.Table
    record: Mapping[str, Any]


@dataclass(frozen=True)
class Bias:
    """What models guess from little, before and after the filter.

    Attributes:
        accuracies: ``bias.accuracies.ACCURACIES``.
        words: ``bias.words.REVEALING``.
        neighbours: ``bias.neighbours.NEIGHBOURS``.
        sample: the train ``rows`` that the models learnt from ``of`` how many, and of how many evaluation rows at most neighbours were
            looked up (``neighbours_of``; None: of all); empty where it was all of both.
    """

    accuracies: pa.Table
    words: pa.Table
    neighbours: pa.Table
    sample: Mapping[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True)
class ExperimentAnswer:
    """The question of an experiment and its answer.

    Attributes:
        name: the experiment's.
        question: what it asks; empty where it failed before it could say.
        source: its place in the paper.
        answer: in a sentence, with numbers; where it failed: why.
        failed: whether it did.
        tables: its tables by name.
        picture: its figure as a PNG; None where it failed.
    """

    name: str
    question: str
    source: str
    answer: str
    failed: bool = False
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    picture: bytes | None = None


@dataclass(frozen=True)
class SinceLastAudit:
    """What changed since the last audit.

    Attributes:
        audits: the numbers of that audit and of this one.
        rows: ``schema.ROW_CHANGES``.
        numbers: name -> number, as ``audit_changes.AuditChanges.numbers``.
        regions: region before -> region now -> rows.
        classes: class -> (share before, share now).
        trend: number of an audit and its numbers, oldest first, this one last.
        embedded: set -> rows whose vectors by the frozen encoder were ``kept`` from the last audit, and those ``made`` in this one; empty
            without an encoder.
        columns: of a table of features every column, those that drifted first.
    """

    audits: tuple[int, int]
    rows: pa.Table
    numbers: Mapping[str, float]
    regions: Mapping[str, Mapping[str, int]]
    classes: Mapping[str, tuple[float, float]]
    trend: Sequence[tuple[int, Mapping[str, float]]]
    embedded: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    columns: Sequence[ColumnDrift] = ()


@dataclass(frozen=True)
class LabelFound:
    """What an audit found about one label of rows that have several.

    Attributes:
        name: the label.
        rows: how many rows have it.
        missing: suspects that should have it: no, where yes is suggested.
        surplus: suspects that should not.
        wrong: how many of its yes and no are wrong, ``(expected, low, high)``; ``expected`` is None where only an interval is
            known, all of it where that is not known either.
        note: why it could not be audited; empty where it was.
    """

    name: str
    rows: int
    missing: int = 0
    surplus: int = 0
    wrong: tuple[float | None, float, float] | None = None
    note: str = ""


@dataclass(frozen=True)
class EvaluationLabels:
    """What an audit found about the labels of one evaluation set.

    Attributes:
        name: of the set.
        record: how many rows and suspects it has, how many labels are wrong or why that is not known, as in
            ``data/evaluation_labels/evaluation_labels.json``.
        rows: its suspects (``schema.examples_schema``), most suspect first.
        found: the same rows of ``schema.NOISE``.
    """

    name: str
    record: Mapping[str, Any]
    rows: pa.Table
    found: pa.Table
