"""An audit of a data frame or a file in memory: training dynamics, the data map, the suspects, and how many labels are wrong.

It trains the default model of the step `train`, for as many epochs as it needs, and finds suspects as the step `noise` does by its
committee: the same functions in the same order, so the same rows and seed give the same suspects. Experiments, filters, retraining and
people's decisions are the steps'.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, overload

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cartograph.data.arrays import Floats32, Integers
from cartograph.data.folds import assign_folds
from cartograph.data.parquet import write_parquet
from cartograph.data.progress import Progress
from cartograph.dynamics.epoch_files import Dynamics, read_dynamics
from cartograph.errors import InputError
from cartograph.features.telling import what_tells
from cartograph.frames.command import command_of
from cartograph.frames.label_rows import read_label_rows
from cartograph.frames.labels_result import LabelsAudit
from cartograph.frames.one_class import one_class_page
from cartograph.frames.result import FrameAudit, class_values, flagged_frame
from cartograph.frames.rows import Rows, check_epochs, check_threshold, read_rows, warn_of_links
from cartograph.frames.several_labels import audit_labels
from cartograph.ingest.canonical import IngestedSet
from cartograph.ingest.set_record import ingested_record
from cartograph.ingest.strata import labellers_of, strata_of
from cartograph.maps.measures import compute_measures, gold_probabilities
from cartograph.maps.table import map_table
from cartograph.models.registry import batch_for, model_class
from cartograph.page.audit import Audit
from cartograph.page.step_results import HowMade, Suspects
from cartograph.schema import LABEL, UID, dataset_info
from cartograph.suspects.among import Among, committee_of
from cartograph.suspects.class_forms import class_forms
from cartograph.suspects.committee import Reading, reading_of
from cartograph.suspects.detector import untested_committee
from cartograph.suspects.figures import EXPERIMENT
from cartograph.suspects.how_many import WrongLabels
from cartograph.suspects.label_doubt import Unknown
from cartograph.suspects.listing import Evidence, mean_probabilities, suspects_table
from cartograph.suspects.record import committee_record, without_number
from cartograph.train.enough import attempt_of, fit_until_learnt, simple_accuracy
from cartograph.train.fit import fit_files
from cartograph.train.learning import learning_of
from cartograph.train.recipe import Recipe

FOLDS = 5


@overload
def audit(
    frame: pd.DataFrame | str | Path,
    *,
    text: str | Sequence[str] = (),
    label: str,
    features: bool | Sequence[str] = False,
    vectors: npt.ArrayLike | None = None,
    linked: str = "",
    labelled_by: str = "",
    epochs: int | Literal["auto"] = "auto",
    threshold: float = 0.5,
    seed: int = 13,
) -> FrameAudit: ...


@overload
def audit(
    frame: pd.DataFrame | str | Path,
    *,
    text: str | Sequence[str] = (),
    labels: str | Sequence[str],
    features: bool | Sequence[str] = False,
    vectors: npt.ArrayLike | None = None,
    linked: str = "",
    epochs: int | Literal["auto"] = "auto",
    threshold: float = 0.5,
    seed: int = 13,
) -> LabelsAudit: ...


def audit(
    frame: pd.DataFrame | str | Path,
    *,
    text: str | Sequence[str] = (),
    label: str = "",
    labels: str | Sequence[str] = (),
    features: bool | Sequence[str] = False,
    vectors: npt.ArrayLike | None = None,
    linked: str = "",
    labelled_by: str = "",
    epochs: int | Literal["auto"] = "auto",
    threshold: float = 0.5,
    seed: int = 13,
) -> FrameAudit | LabelsAudit:
    """Audit the labels of a data frame or a file: of texts, or of a table of features.

    Rows that cannot be used, because a text or a label is missing, are set aside with the reason. Of rows that all have one label the page
    says that nothing could be learnt from them.

    Args:
        frame: (n_examples, …) one row per example, or the path of a CSV, TSV, JSONL, Parquet or Excel file; its index comes back with the
            results.
        text: the column of the texts, or two columns of pairs.
        label: the column of the given labels, one per row.
        labels: for rows with several labels, instead of ``label``: the column that lists them (or names between ``|``, ``;`` or commas),
            or the columns of 0 and 1, one for each label; then the result is a ``LabelsAudit``.
        features: for a table of features instead of texts: its columns; True: every column except the label, identifiers and row numbers.
        vectors: (n_examples, width) of an encoder that has not learnt from these labels; with them far more errors are found.
        linked: the column whose equal values link rows, such as a patient, a speaker or a document: they are held out together, so that no
            row's label is judged by its siblings'. A warning says where it links too few rows or too many.
        labelled_by: the column that says who gave a row's label: labels of somebody who is more often wrong are doubted more.
        epochs: of the training whose dynamics make the map, 2 or more; ``auto``: 8, more where the model has not
            learnt then, and fewer where the map of 20,000 rows or more has settled.
        threshold: rows whose label is wrong with at least this probability are suspects; in (0, 1).
        seed: of the training and the folds; the same seed gives the same result.

    Raises:
        InputError: a file that cannot be read, a column that is missing, no label that can be audited, no row that can be used, or a
            number out of range.

    >>> frame = pd.DataFrame({"review": ["good fun", "fine film", "good plot"] * 20 + ["bad film", "dull plot", "bad"] * 20,
    ...                       "label": ["pos"] * 60 + ["neg"] * 59 + ["pos"]})
    >>> found = audit(frame, text="review", label="label")
    >>> found.suspects.index.tolist()[0], found.suspects["suggested"].tolist()[0]
    (119, 'neg')
    """
    check_epochs(epochs)
    check_threshold(threshold)
    if bool(label) == bool(len(labels)):
        raise InputError("name label, the column of the one label of a row, or labels where a row has several; one of the two.")
    if len(labels):
        if labelled_by:
            raise InputError("labelled_by is for rows of one label; leave it out where a row has several.")
        several = read_label_rows(frame, text, labels, features, linked=linked)
        warn_of_links(several.rows)
        return audit_labels(several, vectors=vectors, epochs=epochs, threshold=threshold, seed=seed)
    rows = read_rows(frame, text, label, features, linked=linked, labelled_by=labelled_by)
    warn_of_links(rows)
    return audit_rows(rows, vectors=vectors, epochs=epochs, threshold=threshold, seed=seed)


def audit_rows(
    rows: Rows,
    *,
    vectors: npt.ArrayLike | None = None,
    epochs: int | Literal["auto"] = "auto",
    threshold: float = 0.5,
    seed: int = 13,
    progress: Progress | None = None,
    judged: Progress | None = None,
    compared: Progress | None = None,
) -> FrameAudit:
    """Audit rows that were read; arguments and errors as those of ``audit``.

    Args:
        rows: as ``read_rows`` returns them.
        vectors: a row for each row of the frame or file.
        epochs: see ``audit``.
        threshold: see ``audit``.
        seed: see ``audit``.
        progress: called with (rows trained on, rows to train on).
        judged: called with (folds done, folds) of the models that judge the labels.
        compared: called with (folds done, folds) of those that compare ways of cleaning, when these are asked for.
    """
    examples = rows.ingested.examples
    order = np.argsort(examples[UID].to_numpy(zero_copy_only=False).astype(object), kind="stable")
    by_uid = examples.take(pa.array(order))
    own = None if vectors is None else rows.own_vectors(vectors)[order]
    texts = () if rows.asked else rows.columns[:-1]
    command = command_of(rows, texts, rows.columns[-1], threshold=threshold, seed=seed, epochs=epochs, vectors=vectors is not None)
    wrong, among = None, None
    if len(rows.ingested.info.labels) < 2:
        page = one_class_page(rows.ingested, by_uid, command, rows.columns[-1], threshold)
    else:
        with tempfile.TemporaryDirectory() as folder:
            page, dynamics = _train(rows.ingested, Path(folder), epochs, seed, progress, command)
        who = (rows.labelled_by,) if rows.labelled_by else ()
        strata = strata_of([rows.whole_file], rows.ingested, who, (rows.columns[-1],)).take(pa.array(order))
        suspects, wrong, among = _find_suspects(by_uid, dynamics, own, threshold, seed, judged, labellers_of(strata))
        page = replace(page, examples=by_uid, suspects=suspects, strata=strata)
    place = rows.places[order]
    index = rows.given.index[place]
    by_row = page.measures.drop_columns(["uid", "gold"]).to_pandas().set_axis(index)
    given = rows.given.iloc[place][list(rows.columns)]
    flagged, in_order = flagged_frame(page, index, given, class_values(rows)), np.argsort(place, kind="stable")
    return FrameAudit(by_row.iloc[in_order], flagged, wrong, rows.set_aside, page, rows, among, compared)


def _train(
    ingested: IngestedSet, folder: Path, epochs: int | Literal["auto"], seed: int, progress: Progress | None, command: str
) -> tuple[Audit, Dynamics]:
    """Train as the step `train` does; return the page's part of it, rows as ingested, and the dynamics, rows by uid."""
    train = folder / "train.parquet"
    write_parquet(ingested.examples, train)
    model = "mlp" if ingested.info.features else "bow"
    rate, batch = model_class(model).learning_rate, batch_for(model, len(ingested.examples))
    recipe, simple = Recipe(model=model, learning_rate=rate, seed=seed, batch_size=batch), simple_accuracy(ingested.examples, seed)
    if epochs == "auto":
        fitted, attempts = fit_until_learnt(recipe, simple, train, {}, folder / "training", progress=progress)
    else:
        recipe = replace(recipe, epochs=epochs)
        fitted = fit_files(recipe, train, {}, folder / "training", progress=progress)
        attempts = [attempt_of(fitted)]
    learning = learning_of(fitted, {}, attempts, simple, open=epochs == "auto", called=True)
    dynamics = read_dynamics(fitted.dynamics)
    uids, gold, logits = dynamics
    measures = map_table(uids, gold, compute_measures(uids, logits, gold))
    page = Audit(
        examples=ingested.examples,
        measures=measures,
        probabilities=gold_probabilities(uids, logits, gold),
        history=pq.read_table(fitted.folder / "history.parquet"),
        validation={"passed": True, "sets": [ingested_record(ingested)], "quarantine": ingested.reasons},
        quarantine=ingested.quarantine,
        training=fitted.training | {"learning": learning.content()},
        metrics={"train": fitted.metrics | learning.metrics()},
        score=None,
        window=(0, logits.shape[1]),
        still=None,
        how_made=HowMade(
            name=ingested.files[0],
            command=command,
            parameters={"train": recipe.to_json()},
            suspects="suspects.csv",
        ),
    )
    return page, dynamics


def _find_suspects(
    by_uid: pa.Table,
    dynamics: Dynamics,
    vectors: Floats32 | None,
    threshold: float,
    seed: int,
    judged: Progress | None,
    labellers: Integers | None,
) -> tuple[Suspects, WrongLabels | None, Callable[[], Among]]:
    """Find suspects as the step `noise` does by its committee, how many labels are wrong, and what finds them among some; rows by uid."""
    labels, names = by_uid[LABEL].to_numpy(), list(dataset_info(by_uid.schema).labels)
    reading = _reading(by_uid, vectors, labellers)
    fold = assign_folds(labels, min(FOLDS, len(labels)), np.random.default_rng([seed, 1]), reading.groups)
    forms = class_forms(names, labels)
    committee = committee_of(reading, labels, names, fold, np.random.default_rng([seed, 3]), progress=judged)
    measures = compute_measures(dynamics.uids, dynamics.logits, labels)
    evidence = Evidence(labels, names, measures, mean_probabilities(dynamics.logits), dynamics.logits.shape[1], committee)
    detector = untested_committee(evidence.columns, committee.doubt.unknown)
    table = suspects_table(dynamics.uids, detector, evidence, committee.probabilities, threshold=threshold)
    outcome = dataset_info(by_uid.schema).outcome
    record = without_number(committee_record(table, committee.doubt, threshold), what_tells(by_uid), forms, outcome)
    among = partial(_among, by_uid, vectors, labellers, seed, committee.doubt.unknown, threshold)
    return Suspects(table, record, EXPERIMENT.empty_table()), committee.doubt.wrong if record["calibrated"] else None, among


def _reading(by_uid: pa.Table, vectors: Floats32 | None, labellers: Integers | None) -> Reading:
    reading = reading_of(by_uid, characters=vectors is None)._replace(labellers=labellers)
    return reading if vectors is None else reading._replace(vectors=vectors)


def _among(
    by_uid: pa.Table, vectors: Floats32 | None, labellers: Integers | None, seed: int, unknown: Unknown | None, threshold: float
) -> Among:
    """Return what finds suspects among some rows: what it reads is made when it is asked for, and not kept with the audit."""
    return Among(by_uid, _reading(by_uid, vectors, labellers), FOLDS, seed, unknown, threshold)
