"""Dynamics or a map made elsewhere, matched with the train set by uid and by label."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Integers32
from cartograph.data.kept_logits import KeptLogits, Logits
from cartograph.data.uids import in_uid_order, some, without
from cartograph.dynamics.epoch_files import EPOCH_FILE, Dynamics, read_dynamics
from cartograph.dynamics.reference_format import is_reference_folder, read_coordinates, read_reference_dynamics
from cartograph.errors import InputError
from cartograph.schema import LABEL, UID, dataset_info
from cartograph.wording import counted


class ImportedDynamics(NamedTuple):
    """Dynamics from elsewhere, or coordinates alone.

    Attributes:
        dynamics: with gold label ids and logits in the order of the data's labels; None where only coordinates are there.
        coordinates: ``schema.COORDINATES``; None where there are dynamics.
        classes: where the dynamics had the labels in another order: the label names in that order; else empty.
    """

    dynamics: Dynamics | None
    coordinates: pa.Table | None
    classes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        content = self.dynamics if self.coordinates is None else f"coordinates of {counted(self.coordinates.num_rows, 'example')}"
        return f"ImportedDynamics({content})"


def read_imported(source: Path, train: pa.Table, *, epochs: int | None = None) -> ImportedDynamics:
    """Read dynamics or coordinates and check that they are of this train set.

    Label ids need not agree: where the ids of the dynamics are those of the data in another order, row for row, gold and
    logits are put into the data's order.

    Args:
        source: a folder of ``epoch=N.parquet`` or of ``dynamics_epoch_N.jsonl``, or a table of coordinates.
        train: the train set (``schema.examples_schema``).
        epochs: the number of epochs behind the coordinates, as in ``read_coordinates``.

    Raises:
        InputError: the source is something else or is faulty; its uids are not the train set's; or its labels cannot be
            matched with the data's.
    """
    if source.is_file():
        coordinates = read_coordinates(source, epochs=epochs)
        _require_same_uids(source, coordinates.column(UID).combine_chunks(), train)
        return ImportedDynamics(None, coordinates)
    names = [path.name for path in source.iterdir()] if source.is_dir() else []
    if any(EPOCH_FILE.fullmatch(name) for name in names):
        dynamics = read_dynamics(source)
    elif names and is_reference_folder(source):
        dynamics = read_reference_dynamics(source)
    else:
        raise InputError(
            f"{source} holds no training dynamics; expected a folder of epoch=N.parquet or dynamics_epoch_N.jsonl files, or a "
            "table of coordinates (.jsonl, .csv, .tsv or .parquet)."
        )
    _require_same_uids(source, pa.array(dynamics.uids, pa.string()), train)
    return _with_labels_of(source, dynamics, train)


def _require_same_uids(source: Path, found: pa.Array, train: pa.Table) -> None:
    wanted = in_uid_order(train.column(UID).combine_chunks())
    if found.equals(wanted):
        return
    unknown, lacking = without(found, wanted), without(wanted, found)
    raise InputError(
        f"{source} is not of this train set: {_unmatched(unknown, found)} have no row in the data, and "
        f"{_unmatched(lacking, wanted)} of the data have no dynamics; "
        "name the column that holds its uids in `ingest`, or record dynamics on this data."
    )


def _unmatched(uids: pa.Array, among: pa.Array) -> str:
    return f"{len(uids):,} of {len(among):,} uids" + (f" ({some(uids)})" if len(uids) else "")


def _with_labels_of(source: Path, dynamics: Dynamics, train: pa.Table) -> ImportedDynamics:
    names = dataset_info(train.schema).labels
    labels = train.column(LABEL).to_numpy()[pc.sort_indices(train.column(UID)).to_numpy()]
    if dynamics.logits.shape[2] != len(names):
        raise InputError(f"{source} has logits of {dynamics.logits.shape[2]} classes, and the data has {len(names)} ({', '.join(names)}).")
    if np.array_equal(dynamics.gold, labels):
        return ImportedDynamics(dynamics, None)
    order = _label_order(dynamics.gold, labels, len(names))
    if order is None:
        differing = np.flatnonzero(dynamics.gold != labels)
        row = differing[0]
        raise InputError(
            f"{source} and the data disagree on labels: uid {dynamics.uids[row]!r} has gold {dynamics.gold[row]} there and {labels[row]} "
            f"({names[labels[row]]}) here ({counted(len(differing), 'such row')}), and no other order of the labels makes them agree; "
            "record dynamics on the data as it is now."
        )
    if isinstance(dynamics.logits, KeptLogits):
        logits: Logits = dynamics.logits.renamed(np.array(order))
    else:
        logits = np.empty_like(dynamics.logits)
        logits[:, :, order] = dynamics.logits
    return ImportedDynamics(Dynamics(dynamics.uids, labels.astype(np.int32), logits), None, tuple(names[place] for place in order))


def _label_order(gold: Integers32, labels: Integers32, n_classes: int) -> list[int] | None:
    """Return for each label id of the dynamics the data's id, or None where the two are no renaming of each other.

    Ids that no row has are matched in ascending order.
    """
    pairs = np.unique(np.stack([gold, labels]), axis=1).T.tolist()
    known = dict(pairs)
    if len(pairs) != len(known) or len(set(known.values())) != len(known) or not all(0 <= name < n_classes for name in known):
        return None
    free = iter(sorted(set(range(n_classes)) - set(known.values())))
    return [known[name] if name in known else next(free) for name in range(n_classes)]
