"""The tables of one audit, their rows aligned, and the limits of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.clean.review_sheet import down_the_list
from cartograph.clean.reviewed import Reviewed, reviewed
from cartograph.compare.versions import Comparison
from cartograph.data.arrays import Bools, Floats, Integers
from cartograph.data.unknown_classes import unknown_classes
from cartograph.features.rule_words import RuleWords, rule_words
from cartograph.features.telling import Telling, what_tells
from cartograph.page.step_results import (
    Aflite,
    Bias,
    Cleaning,
    EvaluationLabels,
    ExperimentAnswer,
    HowMade,
    LabelFound,
    Selections,
    SinceLastAudit,
    Suspects,
)
from cartograph.schema import LABEL, REGIONS, DatasetInfo, dataset_info
from cartograph.suspects.gathering import Gathering, gatherings, of_labels, of_sure_rows

_SUSPECT_LAYER = 5

HARDLY = 0.001
"""Probability below which a label is not worth a look."""


@dataclass(frozen=True)
class Limits:
    """How much a page carries.

    Attributes:
        examples: examples shown for each region.
        listed: rows in each table of extreme rows.
        text_characters: most characters of one text; fewer where the page's size asks for it.
        max_points: most points drawn on the map.
        seed: seed of the drawn sample.
    """

    examples: int = 3
    listed: int = 50
    text_characters: int = 300
    max_points: int = 25_000
    seed: int = 13


@dataclass(frozen=True)
class Audit:
    """The tables of one audit. Every per-row array is in the order of ``measures``.

    Attributes:
        examples: the train set, ``schema.examples_schema``; one row per row of ``measures``, in its order.
        measures: ``schema.MEASURES``.
        probabilities: probability of the given label, shape ``(n_examples, n_epochs)``, in [0, 1]; None where only
            coordinates were given.
        history: ``schema.HISTORY``; empty where nothing was trained.
        validation: what ingest found, as in ``data/ingest/validation.json``.
        quarantine: ``schema.QUARANTINE``.
        training: what was trained, as in ``data/train/training.json``.
        metrics: step -> name -> number.
        score: ``planted.score.SCORE``, built-in corpus only; else None.
        window: which epochs the measures use, first and past the last.
        still: the map as a picture, as a ``data:`` address; None where no picture was drawn.
        how_made: how the audit can be made again.
        limits: how much the page carries.
        comparison: models trained on versions of the train set; None where there are no such models.
        groups: the same models on groups of an evaluation set's rows.
        impossible: sentences: what could not be done with these data, and why.
        suspects: which labels look wrong; None where the audit did not look for them.
        cleaning: what cleaning changed; None where nothing was cleaned.
        selections: models trained on selections; None where there are no such models.
        aflite: the filter's rows and rounds; None where nothing was filtered.
        bias: what simple models guess before and after it; None where that was not measured.
        experiments: the answers of the experiments that the audit was asked for.
        broken: ``subset``, ``seed`` and ``reason`` of every training of the comparison that broke off.
        since_last_audit: what changed since the last audit; None for a workspace's first.
        evaluation_labels: which labels of evaluation sets look wrong; nothing where the audit did not look.
        gates: the outcome of each gate, as in ``data/gates/gates.json``.
        several: the labels where rows have several, those that were audited first: each row of the other tables is then one label of a
            row, and its class id twice the label's number, with 1 added where the row has it; empty where a row has one label.
        strata: in which part of each stratum a row is (``ingest.strata``); None where that is not known.
        blind: what people found who read rows of this audit blind (``clean.blind_check.score``), with a number of all labels; None where
            nobody did.
        whole_page: on a first look, the name of the page in the same folder that is written when the audit ends; else empty.
    """

    examples: pa.Table
    measures: pa.Table
    probabilities: Floats | None
    history: pa.Table
    validation: Mapping[str, Any]
    quarantine: pa.Table
    training: Mapping[str, Any]
    metrics: Mapping[str, Mapping[str, float]]
    score: pa.Table | None
    window: tuple[int, int]
    still: str | None
    how_made: HowMade
    limits: Limits = field(default_factory=Limits)
    comparison: Comparison | None = None
    groups: Comparison | None = None
    impossible: Sequence[str] = ()
    suspects: Suspects | None = None
    cleaning: Cleaning | None = None
    selections: Selections | None = None
    aflite: Aflite | None = None
    bias: Bias | None = None
    experiments: Sequence[ExperimentAnswer] = ()
    broken: Sequence[Mapping[str, Any]] = ()
    since_last_audit: SinceLastAudit | None = None
    evaluation_labels: Sequence[EvaluationLabels] = ()
    gates: Sequence[Mapping[str, Any]] = ()
    several: Sequence[LabelFound] = ()
    strata: pa.Table | None = None
    blind: Mapping[str, float] | None = None
    whole_page: str = ""

    @property
    def rows(self) -> int:
        """Number of rows on the map."""
        return int(self.measures.num_rows)

    @cached_property
    def labels_a_row(self) -> int:
        """Number of rows of the map that each row of the data has: one, or one for each label."""
        return sum(not label.note for label in self.several) or 1

    @cached_property
    def info(self) -> DatasetInfo:
        """What the train set is."""
        return dataset_info(self.examples.schema)

    @cached_property
    def telling(self) -> Telling:
        """The columns of a table of features, or words of texts, that tell its labels by themselves."""
        return Telling([]) if self.several else what_tells(self.examples)

    @cached_property
    def rule(self) -> RuleWords | None:
        """The few words from which the labels of texts follow, if they do."""
        return None if self.several else rule_words(self.examples)

    @cached_property
    def class_counts(self) -> dict[str, int]:
        """Class name -> rows; none where rows have several labels."""
        if self.several:
            return {}
        counts = np.bincount(self.gold, minlength=len(self.info.labels)).tolist()
        return dict(zip(self.info.labels, counts, strict=True))

    @cached_property
    def gold(self) -> Integers:
        """Label id of each row as given."""
        return np.asarray(self.examples[LABEL].to_numpy(), dtype=np.int64)

    @cached_property
    def predicted(self) -> Integers | None:
        """Label id with the highest mean probability of each row; None where only coordinates were given."""
        if self.measures["predicted"].null_count == self.rows:
            return None
        return np.asarray(pc.fill_null(self.measures["predicted"], -1).to_numpy(), dtype=np.int64)

    @cached_property
    def disagreeing(self) -> Bools | None:
        """Whether the model preferred another label than the given one; None where that is not known."""
        return None if self.predicted is None else (self.predicted != self.gold) & (self.predicted >= 0)

    @cached_property
    def confidence(self) -> Floats:
        """Confidence of each row, in [0, 1]."""
        return np.asarray(self.measures["confidence"].to_numpy(), dtype=np.float64)

    @cached_property
    def variability(self) -> Floats:
        """Variability of each row, in [0, 0.5]."""
        return np.asarray(self.measures["variability"].to_numpy(), dtype=np.float64)

    @cached_property
    def correctness(self) -> Floats:
        """Correctness of each row, in [0, 1]."""
        return np.asarray(self.measures["correctness"].to_numpy(), dtype=np.float64)

    @cached_property
    def region(self) -> Integers:
        """Index into ``REGIONS`` of each row's region."""
        return np.asarray(pc.index_in(self.measures["region"], value_set=pa.array(REGIONS)).to_numpy(), dtype=np.int64)

    @cached_property
    def flagged(self) -> Integers:
        """The rows of the suspects that nobody decided about, most suspect first; empty where the audit did not look for them."""
        return self.listed if self.reviewed is None else self.listed[~self.reviewed.decided[self.listed]]

    @cached_property
    def unknown(self) -> Integers:
        """Ids of the classes that the models behind the suspects do not know; empty where the audit did not look for suspects."""
        if self.suspects is None:
            return np.empty(0, dtype=np.int64)
        wrong = self.suspects.rows["probability"].to_numpy()
        return unknown_classes(self.gold, np.isin(np.arange(self.rows), self.flagged), len(self.info.labels), wrong)

    @cached_property
    def listed(self) -> Integers:
        """The rows of all suspects, those that people decided about among them, most suspect first."""
        if self.suspects is None:
            return np.empty(0, dtype=np.int64)
        table = self.suspects.rows
        flagged = np.flatnonzero(table["flagged"].to_numpy(zero_copy_only=False))
        return flagged[np.argsort(table["rank"].to_numpy()[flagged], kind="stable")].astype(np.int64)

    def most_suspect_first(self, places: Integers) -> Integers:
        """Return each row's turn among these, from 0 on: the suspects, the others as much as they are doubted, what people decided last."""
        assert self.suspects is not None
        turn = self.suspects.rows["rank"].to_numpy()[places].astype(np.int64)
        turn[~np.isin(places, self.flagged)] += self.rows
        if self.reviewed is not None:
            turn[self.reviewed.decided[places]] += 2 * self.rows
        return np.argsort(np.argsort(turn, kind="stable"), kind="stable")

    @cached_property
    def doubted_most(self) -> Integers:
        """The rows below the list of suspects, the most doubted first, that nobody decided about and somebody might doubt."""
        if self.suspects is None or "impossible" in self.suspects.record:
            return np.empty(0, dtype=np.int64)
        below, doubt = down_the_list(self.suspects.rows)[len(self.listed) :], self.suspects.rows["probability"].to_numpy()
        # At or above the threshold stands what is no suspect since its class has two names.
        below = below[(doubt[below] >= HARDLY) & (doubt[below] < self.suspects.record.get("threshold", 0.5))]
        open_ = below if self.reviewed is None else below[~self.reviewed.decided[below]]
        first: Integers = open_[: self.limits.listed].astype(np.int64)
        return first

    @cached_property
    def reviewed(self) -> Reviewed | None:
        """What people looked at, and what is left; None where they decided about no row."""
        if self.suspects is None or self.cleaning is None:
            return None
        record = self.suspects.record
        return reviewed(self.suspects.rows, self.cleaning.decided, record.get("wrong") if record.get("calibrated") else None)

    @cached_property
    def gatherings(self) -> list[Gathering]:
        """Where suspects gather; nothing where rows have several labels."""
        if self.strata is None or self.several:
            return []
        suspect, spreads = np.isin(np.arange(self.rows), self.flagged), [of_labels(self.gold)]
        if self.suspects is not None:
            suggested, sure = (self.suspects.rows[name].to_numpy() for name in ("suggested", "suggested_probability"))
            spreads += [spread for spread in [of_sure_rows(self.gold, suggested, sure, suspect)] if spread is not None]
        return gatherings(self.strata, spreads, suspect, self.examples["row"].to_numpy())

    @property
    def suspects_drawn(self) -> Integers:
        """The suspects that the map shows for certain, most suspect first; where it is a sample, at most a fifth of its points."""
        return self.flagged if self.rows <= self.limits.max_points else self.flagged[: self.limits.max_points // _SUSPECT_LAYER]

    def members(self, region: str) -> Integers:
        """Return the rows of a region."""
        return np.flatnonzero(self.region == REGIONS.index(region))
