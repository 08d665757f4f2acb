"""An audit of dynamics that somebody's own training recorded: the map, and the rows whose labels it contradicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from cartograph.data.arrays import Floats
from cartograph.data.given import label_ids, numbers_of
from cartograph.data.uids import text_uids
from cartograph.dynamics.epoch_files import Dynamics, read_dynamics
from cartograph.errors import InputError
from cartograph.frames.result import FrameAudit, flagged_frame
from cartograph.frames.rows import check_threshold
from cartograph.maps.measures import compute_measures, gold_probabilities
from cartograph.maps.table import map_table
from cartograph.page.audit import Audit
from cartograph.page.step_results import HowMade, Suspects
from cartograph.schema import HISTORY, QUARANTINE, DatasetInfo, examples_schema
from cartograph.suspects.committee import Committee
from cartograph.suspects.detector import untested_committee
from cartograph.suspects.figures import EXPERIMENT
from cartograph.suspects.label_doubt import label_doubt
from cartograph.suspects.listing import Evidence, mean_probabilities, suspects_table
from cartograph.suspects.record import committee_record
from cartograph.wording import counted

_NAME = "recorded dynamics"


def from_dynamics(
    dynamics: Any,
    *,
    texts: Mapping[Any, str] | None = None,
    labels: Sequence[str] = (),
    probabilities: npt.ArrayLike | Mapping[Any, npt.ArrayLike] | pd.DataFrame | None = None,
    threshold: float = 0.5,
) -> FrameAudit:
    """Make the map of a training that recorded its dynamics, and find suspects where there are probabilities to find them with.

    Args:
        dynamics: a ``DynamicsRecorder``, the folder of its files, or the arrays ``(uids, gold, logits)`` of ``(n_examples,)``,
            ``(n_examples,)`` and ``(n_examples, n_epochs, n_classes)``; uids are strings or whole numbers, NumPy's and tensors' too, gold
            labels integers in [0, n_classes).
        texts: uid -> text, for the map and the page; without them a row is shown by its uid.
        labels: (n_classes,) the classes' names; by default their numbers.
        probabilities: by models that did not train on the row, uid -> (n_classes,), or a data frame with the uids as its index; or
            (n_examples, n_classes) in the order of the uids sorted as text. Without them there are no suspects, since a model that
            trained on wrong labels has learnt them.
        threshold: rows whose label is wrong with at least this probability are suspects; in (0, 1).

    Raises:
        InputError: dynamics that cannot be read, gold labels that are no integers or outside the classes, names or
            probabilities that do not fit, or a number out of range.

    >>> logits = np.array([[[2.0, 0.0], [3.0, 0.0]], [[0.0, 1.0], [1.0, 0.5]]])
    >>> from_dynamics((np.array([7, 8]), np.array([0, 1]), logits)).measures["confidence"].round(2).tolist()
    [0.92, 0.55]
    """
    check_threshold(threshold)
    found = _dynamics(dynamics)
    names = _names(labels, found.logits.shape[2])
    measures = compute_measures(found.uids, found.logits, found.gold)
    known = {} if texts is None else dict(zip(_uids(texts).to_pylist(), texts.values(), strict=True))
    shown = [str(known.get(uid, uid)) for uid in found.uids.tolist()]
    page = Audit(
        examples=_examples(found, shown, names),
        measures=map_table(found.uids, found.gold, measures),
        probabilities=gold_probabilities(found.uids, found.logits, found.gold),
        history=HISTORY.empty_table(),
        validation={"passed": True, "sets": [], "quarantine": {}},
        quarantine=QUARANTINE.empty_table(),
        training={"source": "imported"},
        metrics={},
        score=None,
        window=(0, found.logits.shape[1]),
        still=None,
        how_made=HowMade(name=_NAME, command="cartograph.from_dynamics(…)", suspects="`.suspects`"),
    )
    index, aside = pd.Index(found.uids, name="uid"), pd.DataFrame(columns=["row", "column", "value", "reason"])
    by_row = page.measures.drop_columns(["uid", "gold"]).to_pandas().set_axis(index)
    given = pd.DataFrame({"text": shown, "label": [names[label] for label in found.gold.tolist()]}, index=index)
    if probabilities is None:
        empty = given.iloc[:0].assign(suggested=[], probability=[], reason=[])
        return FrameAudit(by_row, empty, None, aside, page, None)
    shares = _shares(_in_order(probabilities, found.uids.tolist()), found.logits.shape[::2])
    doubt = label_doubt(shares, found.gold)
    committee = Committee(shares, doubt, np.zeros(len(shares), dtype=np.int64))
    evidence = Evidence(found.gold, names, measures, mean_probabilities(found.logits), found.logits.shape[1], committee)
    table = suspects_table(found.uids, untested_committee(evidence.columns, doubt.unknown), evidence, shares, threshold=threshold)
    suspects = Suspects(table, committee_record(table, doubt, threshold), EXPERIMENT.empty_table())
    page = replace(page, suspects=suspects)
    return FrameAudit(by_row, flagged_frame(page, index, given), doubt.wrong, aside, page, None)


def _dynamics(given: Any) -> Dynamics:
    folder = getattr(given, "folder", given)
    if isinstance(folder, str | Path):
        return read_dynamics(folder)
    uids, gold, logits = given
    names = _uids(uids).to_numpy(zero_copy_only=False).astype(object)
    labels, scores = label_ids(gold, "gold labels").astype(np.int32), numbers_of(logits, "logits").astype(np.float32)
    if not len(names) == len(labels) == len(scores) or scores.ndim != 3:
        raise InputError(
            f"there are {counted(len(names), 'uid')}, {len(labels):,} labels and logits of shape {scores.shape}; expected one of each per "
            "row, and logits (n_examples, n_epochs, n_classes)."
        )
    order = np.argsort(names, kind="stable")
    twice = names[order][1:] == names[order][:-1]
    if twice.any():
        raise InputError(f"uid {names[order][1:][twice][0]!r} names more than one row; a uid must name one example.")
    return Dynamics(names[order], labels[order], scores[order])


def _uids(given: Any) -> pa.Array:
    listed = given.tolist() if hasattr(given, "tolist") else list(given)
    try:
        uids = text_uids(uid.item() if hasattr(uid, "item") else uid for uid in listed)
    except (TypeError, ValueError) as error:
        raise InputError(f"uids must be strings or whole numbers, but {error}.") from error
    if uids.null_count:
        raise InputError(f"uids must be strings or whole numbers, but {counted(uids.null_count, 'uid')} of {len(uids):,} is None.")
    return uids


def _in_order(probabilities: Any, uids: Sequence[str]) -> Any:
    """Return probabilities that come with their uids in the order of these; others as they are."""
    if isinstance(probabilities, pd.DataFrame):
        keys, values = probabilities.index.tolist(), list(probabilities.to_numpy())
    elif isinstance(probabilities, Mapping):
        keys, values = list(probabilities), list(probabilities.values())
    else:
        return probabilities
    known = dict(zip(_uids(keys).to_pylist(), values, strict=True))
    missing = [uid for uid in uids if uid not in known]
    if missing:
        raise InputError(
            f"probabilities have no row for {counted(len(missing), 'uid')} of {len(uids):,}, the first of them {missing[0]!r}; give one "
            "for each recorded uid."
        )
    return [known[uid] for uid in uids]


def _shares(probabilities: npt.ArrayLike, shape: tuple[int, ...]) -> Floats:
    try:
        shares = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"probabilities are not an array of numbers ({error}); expected one of shape {shape}.") from error
    if shares.shape != shape:
        raise InputError(
            f"probabilities have shape {shares.shape}, but the logits are of {shape[0]:,} rows and {shape[1]} classes: {shape}."
        )
    return shares


def _names(labels: Sequence[str], n_classes: int) -> list[str]:
    if len(labels) and len(labels) != n_classes:
        raise InputError(f"labels names {len(labels)} classes, but the logits have {n_classes}.")
    return [str(name) for name in labels] or [str(number) for number in range(n_classes)]


def _examples(dynamics: Dynamics, texts: Sequence[str], names: Sequence[str]) -> pa.Table:
    schema = examples_schema(DatasetInfo("train", "train", "single", ("text",), (), tuple(names)))
    number = len(texts)
    columns = [dynamics.uids, texts, dynamics.gold, [_NAME] * number, np.arange(1, number + 1)]
    return pa.Table.from_arrays([pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema=schema)
