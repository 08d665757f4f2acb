"""An audit in memory of rows that have several labels, each a yes or a no of its own.

One model is trained, with a sigmoid for each label, and each label of each row is a decision with dynamics of its own: so the maps of all
labels cost one training. Suspects are found by a committee for each label and by what labels say of one another
(``suspects.several_labels``).
"""

from __future__ import annotations

import tempfile
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.data.arrays import Integers
from cartograph.data.linked_rows import user_groups
from cartograph.data.parquet import write_parquet
from cartograph.data.progress import Progress
from cartograph.dynamics.decision_rows import decision_classes, decision_rows
from cartograph.dynamics.decisions import NAMES, decision_places
from cartograph.dynamics.epoch_files import Dynamics, read_dynamics
from cartograph.frames.command import command_of
from cartograph.frames.label_rows import LabelRows
from cartograph.frames.labels_result import LabelsAudit
from cartograph.frames.result import FrameAudit, flagged_frame
from cartograph.ingest.set_record import ingested_record
from cartograph.maps.measures import Measures, compute_measures, gold_probabilities
from cartograph.maps.table import map_table
from cartograph.page.audit import Audit
from cartograph.page.step_results import HowMade, LabelFound, Suspects
from cartograph.schema import LABEL_SET, UID
from cartograph.suspects.committee import Reading, reading_of
from cartograph.suspects.figures import EXPERIMENT
from cartograph.suspects.label_doubt import Doubt
from cartograph.suspects.label_listing import decision_suspects, wrong_of
from cartograph.suspects.record import committee_record
from cartograph.suspects.several_labels import SeveralDoubts, several_doubts
from cartograph.train.label_sets import fit_labels, least_f1, not_learnt, usual_recipe
from cartograph.train.result import TrainingResult


def audit_labels(
    rows: LabelRows,
    *,
    vectors: npt.ArrayLike | None = None,
    epochs: int | Literal["auto"] = "auto",
    threshold: float = 0.5,
    seed: int = 13,
    progress: Progress | None = None,
    judged: Progress | None = None,
) -> LabelsAudit:
    """Audit rows with several labels that were read.

    Args:
        rows: as ``read_label_rows`` returns them.
        vectors: a row for each row of the frame or file, of an encoder that has not learnt from these labels.
        epochs: of the training whose dynamics make the map, 2 or more; ``auto``: 8, and more where the model has not learnt then.
        threshold: probability of a wrong yes or no from which on it is a suspect, in (0, 1).
        seed: of the training and the folds.
        progress: called with (rows trained on, rows to train on).
        judged: called with (folds done, folds) of the models that judge the labels.

    Raises:
        InputError: vectors that do not fit.
    """
    examples, given, names = rows.examples, rows.given, rows.names
    reading = reading_of(examples.drop_columns([LABEL_SET]), characters=vectors is None)
    if vectors is not None:
        reading = reading._replace(vectors=rows.rows.own_vectors(vectors, "rows of labels")[rows.order])
    with tempfile.TemporaryDirectory() as folder:
        fitted, dynamics, sentence = _train(examples, given, reading, Path(folder), epochs, seed, progress)
        trained = {"training": fitted.training | {"learning": {"sentence": sentence}}, "metrics": {"train": fitted.metrics}}
        history = pq.read_table(fitted.folder / "history.parquet")
    doubts = several_doubts(reading, given, names, seed, judged)
    uids = examples[UID].to_numpy(zero_copy_only=False).astype(object)
    row, label = np.divmod(decision_places(uids, len(names)), len(names))
    texts = () if rows.rows.asked else rows.rows.columns
    command = command_of(rows.rows, texts, rows.columns, threshold=threshold, seed=seed, epochs=epochs, vectors=vectors is not None)
    found = _Found(rows, dynamics, doubts, row, label, threshold, trained | {"history": history}, seed, command)
    page = found.page()
    labels = _labels_table(page)
    return LabelsAudit(
        measures=found.measures(page),
        suspects=found.suspects(page),
        labels=labels,
        wrong=doubts.together.wrong,
        set_aside=rows.rows.set_aside,
        _page=page,
        _rows=rows,
        _doubts=doubts,
        _of_label=found.one,
    )


def _train(
    examples: pa.Table,
    given: Integers,
    reading: Reading,
    folder: Path,
    epochs: int | Literal["auto"],
    seed: int,
    progress: Progress | None,
) -> tuple[TrainingResult, Dynamics, str]:
    """Train one model of all labels; return it, the dynamics of its decisions, and what is wrong with the training, in a sentence."""
    train = folder / "train.parquet"
    write_parquet(examples, train)
    recipe, least = usual_recipe(examples, seed), least_f1(reading.data, given, seed, user_groups(examples))
    if epochs != "auto":
        recipe = replace(recipe, epochs=epochs)
    fitted, attempts = fit_labels(recipe, least, train, folder / "training", auto=epochs == "auto", progress=progress)
    return fitted, read_dynamics(fitted.dynamics), not_learnt(attempts, least)


class _Found:
    """What was found of every decision, in the order of the recorded dynamics."""

    def __init__(
        self,
        rows: LabelRows,
        dynamics: Dynamics,
        doubts: SeveralDoubts,
        row: Integers,
        label: Integers,
        threshold: float,
        trained: dict[str, Any],
        seed: int,
        command: str,
    ) -> None:
        self._rows, self._dynamics, self._doubts = rows, dynamics, doubts
        self._row, self._label, self._threshold, self._trained = row, label, threshold, trained
        self._measures = compute_measures(dynamics.uids, dynamics.logits, dynamics.gold)
        self._how_made = HowMade(
            name=rows.rows.file.name,
            command=command,
            parameters={"audit": {"seed": seed, "threshold": threshold}},
            suspects="suspects.csv",
        )

    def page(self) -> Audit:
        """Return the page of all labels: a class for the no and the yes of each."""
        classes = decision_classes(self._rows.names)
        page = self._audit(np.arange(len(self._row)), 2 * self._label.astype(np.int32), classes, self._dynamics.uids, self._doubts.together)
        return replace(page, several=self._several(page))

    def one(self, label: int) -> FrameAudit:
        """Return the audit of one label alone."""
        chosen = np.flatnonzero(self._label == label)
        chosen = chosen[np.argsort(self._row[chosen], kind="stable")]
        uids = self._rows.examples[UID].to_numpy(zero_copy_only=False).astype(object)
        doubt = self._doubts.labels[label]
        page = self._audit(chosen, np.zeros(len(chosen), np.int32), NAMES, uids, doubt)
        places = self._rows.places
        index, in_order = self._rows.rows.given.index[places], np.argsort(places, kind="stable")
        given = self._rows.rows.given.iloc[places][list(self._rows.rows.columns)]
        given = given.assign(given=np.array(NAMES, dtype=object)[self._rows.given[:, label]])
        by_row = page.measures.drop_columns(["uid", "gold"]).to_pandas().set_axis(index)
        suspects = flagged_frame(page, index, given)
        return FrameAudit(by_row.iloc[in_order], suspects, doubt.wrong, self._rows.rows.set_aside, page, None)

    def measures(self, page: Audit) -> pd.DataFrame:
        """Return the measures by row of the frame and label, in the frame's order."""
        places = self._rows.places[self._row]
        index = pd.MultiIndex.from_arrays(
            [self._rows.rows.given.index[places], np.array(self._rows.names, dtype=object)[self._label]], names=["row", "label"]
        )
        table: pd.DataFrame = page.measures.drop_columns(["uid", "gold", "predicted"]).to_pandas().set_axis(index)
        return table.iloc[np.lexsort((self._label, places))]

    def suspects(self, page: Audit) -> pd.DataFrame:
        """Return the suspects, the most doubtful first."""
        flagged = page.flagged
        answers, places = np.array(NAMES, dtype=object), self._rows.places[self._row[flagged]]
        given = self._dynamics.gold[flagged]
        assert page.suspects is not None
        table = page.suspects.rows.take(pa.array(flagged))
        columns = {
            "label": np.array(self._rows.names, dtype=object)[self._label[flagged]],
            "given": answers[given],
            "suggested": answers[1 - given],
            "probability": table["probability"].to_numpy(),
            "yes": self._doubts.probabilities[self._row[flagged], self._label[flagged]],
            "reason": table["reason"].to_numpy(zero_copy_only=False),
        }
        own = self._rows.rows.given[list(self._rows.rows.columns)].rename(columns={name: f"{name} (given)" for name in columns})
        return own.iloc[places].assign(**columns)

    def _audit(self, chosen: Integers, first: Integers | Any, classes: tuple[str, ...], uids: Any, doubt: Doubt) -> Audit:
        """Return the page of some decisions; ``first`` is the class of a no of each, and that of a yes is the next."""
        row, label, logits = self._row[chosen], self._label[chosen], np.asarray(self._dynamics.logits)[chosen]
        gold = self._dynamics.gold[chosen]
        measures = Measures(
            **{
                field.name: getattr(self._measures, field.name)[chosen]
                for field in fields(Measures)
                if getattr(self._measures, field.name) is not None
            }
        )
        yes, score = self._doubts.probabilities[row, label], self._doubts.score[row, label]
        table = decision_suspects(uids, gold, first, measures, logits, yes, score, doubt, self._threshold)
        shown = replace(measures, predicted=None if measures.predicted is None else measures.predicted + first)
        ingested, aside = self._rows.rows.ingested, self._rows.rows.ingested.quarantine
        yeses = dict(zip(self._rows.names, self._rows.given.sum(axis=0).tolist(), strict=True))
        entry = ingested_record(ingested, classes=yeses)
        return Audit(
            examples=decision_rows(self._rows.examples.take(pa.array(row)), uids, classes, gold + first),
            measures=map_table(uids, gold + first, shown),
            probabilities=gold_probabilities(uids, logits, gold),
            validation={"passed": True, "sets": [entry], "quarantine": ingested.reasons},
            quarantine=aside,
            score=None,
            window=(0, logits.shape[1]),
            still=None,
            how_made=self._how_made,
            suspects=Suspects(table, committee_record(table, doubt, self._threshold), EXPERIMENT.empty_table()),
            **self._trained,
        )

    def _several(self, page: Audit) -> list[LabelFound]:
        label, gold, number = self._label[page.flagged], self._dynamics.gold[page.flagged], len(self._rows.names)
        missing, surplus = (np.bincount(label[gold == answer], minlength=number).tolist() for answer in (0, 1))
        rows, wrong = self._rows.given.sum(axis=0).tolist(), wrong_of(self._doubts.labels)
        found = [LabelFound(name, rows[place], missing[place], surplus[place], wrong[place]) for place, name in enumerate(self._rows.names)]
        used = dict(zip(self._rows.sets.names, self._rows.sets.given[self._rows.places].sum(axis=0).tolist(), strict=True))
        return found + [LabelFound(name, used[name], note=note) for name, note in self._rows.left_out.items()]


def _labels_table(page: Audit) -> pd.DataFrame:
    """Return what was found label by label (``LabelsAudit.labels``)."""
    empty = (None,) * 3
    rows = [
        {"rows": label.rows, "suspects": label.missing + label.surplus, "missing": label.missing, "surplus": label.surplus}
        | {name: np.nan if end is None else end for name, end in zip(("wrong", "low", "high"), label.wrong or empty, strict=True)}
        | {"note": label.note}
        for label in page.several
    ]
    return pd.DataFrame(rows, index=pd.Index([label.name for label in page.several], name="label"))
