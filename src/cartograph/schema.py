"""Column names and Arrow schemas of every table that one step hands to another."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Literal

import pyarrow as pa

Task = Literal["single", "pair", "choice", "image"]
Domain = Literal["train", "id", "ood"]

UID = "uid"
LABEL = "label"
ANNOTATOR_LABELS = "annotator_labels"
GROUPS = "groups"
SOURCE = "source"
ROW = "row"
RESERVED = (UID, LABEL, ANNOTATOR_LABELS, GROUPS, SOURCE, ROW)

BLANK = "_"
"""Where a multiple-choice sentence is cut: the option goes there."""

_METADATA_KEY = b"cartograph"


@dataclass(frozen=True)
class DatasetInfo:
    """What a table of examples is: kept in the Parquet schema's metadata.

    Attributes:
        name: the set's name: ``train``, or an evaluation set's.
        domain: ``train``; ``id`` (in distribution) or ``ood`` (out of distribution) for an evaluation set.
        task: ``single`` text, text ``pair``, multiple ``choice``, or ``image``.
        text: names of the text columns, in order; one for ``single`` and ``choice``, two for ``pair``, none for ``image``.
        options: names of the option columns of a multiple-choice set, in the order of the label ids; else empty.
        labels: label names; ``labels[i]`` is the name of label id ``i``.
        images: names of the image columns: one for ``image``; else empty.
    """

    name: str
    domain: Domain
    task: Task
    text: tuple[str, ...]
    options: tuple[str, ...]
    labels: tuple[str, ...]
    images: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """All columns that hold what is shown to the model: the image columns, the text columns, then the options."""
        return self.images + self.text + self.options


def examples_schema(info: DatasetInfo, *, annotators: bool = False, groups: bool = False) -> pa.Schema:
    """Return the schema of a set of examples (``data/ingest/<set>.parquet``).

    Columns: ``uid`` (unique string), one column per ``info.fields`` (string; for an image binary: a PNG as ``images.canonical_png``
    makes it, grey or RGB, of any size), ``label`` (int32 id into
    ``info.labels``), where wanted ``annotator_labels`` (list of label names as given) and ``groups`` (list of the names of the groups
    that the row is in), ``source`` (the file's name) and ``row`` (1-based number of the record in that file, the header not counted).
    """
    fields = [pa.field(UID, pa.string(), nullable=False)]
    fields += [pa.field(name, pa.binary() if name in info.images else pa.string(), nullable=False) for name in info.fields]
    fields.append(pa.field(LABEL, pa.int32(), nullable=False))
    if annotators:
        fields.append(pa.field(ANNOTATOR_LABELS, pa.list_(pa.string())))
    if groups:
        fields.append(pa.field(GROUPS, pa.list_(pa.string())))
    fields += [pa.field(SOURCE, pa.string(), nullable=False), pa.field(ROW, pa.int64(), nullable=False)]
    return pa.schema(fields, metadata={_METADATA_KEY: json.dumps(asdict(info), ensure_ascii=False).encode()})


def dataset_info(schema: pa.Schema) -> DatasetInfo:
    """Read back what ``examples_schema`` stored.

    Raises:
        ValueError: the schema carries no such metadata.
    """
    raw = (schema.metadata or {}).get(_METADATA_KEY)
    if raw is None:
        raise ValueError("this table was not written by the ingest step: its schema carries no `cartograph` metadata")
    content = json.loads(raw)
    return DatasetInfo(
        name=content["name"],
        domain=content["domain"],
        task=content["task"],
        text=tuple(content["text"]),
        options=tuple(content["options"]),
        labels=tuple(content["labels"]),
        images=tuple(content["images"]),
    )


QUARANTINE = pa.schema(
    [
        pa.field("set", pa.string(), nullable=False),
        pa.field("file", pa.string(), nullable=False),
        pa.field("row", pa.int64(), nullable=False),
        pa.field("column", pa.string()),
        pa.field("value", pa.string()),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("record", pa.string(), nullable=False),
    ]
)
"""Rows that could not be used: where they stand, what is wrong with which value, and the whole record as JSON."""


def dynamics_schema(n_classes: int) -> pa.Schema:
    """Return the schema of one epoch of training dynamics: one row per example, ``logits`` of width ``n_classes``."""
    return pa.schema(
        [
            pa.field("uid", pa.string(), nullable=False),
            pa.field("gold", pa.int32(), nullable=False),
            pa.field("logits", pa.list_(pa.float32(), n_classes), nullable=False),
        ]
    )


COORDINATES = pa.schema(
    [
        pa.field("uid", pa.string(), nullable=False),
        pa.field("confidence", pa.float64(), nullable=False),
        pa.field("variability", pa.float64(), nullable=False),
        pa.field("correctness", pa.float64(), nullable=False),
    ]
)
"""A data map made elsewhere, without logits; correctness is a fraction in [0, 1]."""

HISTORY = pa.schema(
    [
        pa.field("epoch", pa.int32(), nullable=False),
        pa.field("set", pa.string(), nullable=False),
        pa.field("loss", pa.float64(), nullable=False),
        pa.field("accuracy", pa.float64(), nullable=False),
    ]
)
"""The training curve: mean cross-entropy and accuracy after each epoch (0-based) of ``train`` and of every evaluation set."""

REGIONS = ("easy-to-learn", "ambiguous", "hard-to-learn", "unassigned")

MEASURES = pa.schema(
    [
        pa.field("uid", pa.string(), nullable=False),
        pa.field("gold", pa.int32(), nullable=False),
        pa.field("predicted", pa.int32()),
        pa.field("confidence", pa.float64(), nullable=False),
        pa.field("variability", pa.float64(), nullable=False),
        pa.field("correctness", pa.float64(), nullable=False),
        pa.field("forgetting", pa.int32()),
        pa.field("never_learnt", pa.bool_()),
        pa.field("threshold_closeness", pa.float64(), nullable=False),
        pa.field("aum", pa.float64()),
        pa.field("el2n", pa.float64()),
        pa.field("loss", pa.float64()),
        pa.field("out_of_fold_confidence", pa.float64()),
        pa.field("out_of_fold_variability", pa.float64()),
        pa.field("out_of_fold_margin", pa.float64()),
        pa.field("region", pa.string(), nullable=False),
    ]
)
"""One row per training example. ``predicted`` is the argmax of the mean probabilities; ``forgetting`` is null for a row
never learnt; everything that needs logits is null where only coordinates were given, and what is out of fold where no
K-fold training was made."""

TRUTH = pa.schema(
    [
        pa.field("uid", pa.string(), nullable=False),
        pa.field("set", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("true_label", pa.string()),
        pa.field("give_away", pa.bool_(), nullable=False),
    ]
)
"""What a generated corpus knows of itself: ``kind`` is ``plain``, ``flipped`` (the given label is wrong) or ``ambiguous``
(no single label is right: ``true_label`` is null); ``give_away`` says that the hypothesis
holds a planted word that goes with the label its writer had in mind."""

NOISE = pa.schema(
    [
        pa.field("uid", pa.string(), nullable=False),
        pa.field("probability", pa.float64(), nullable=False),
        pa.field("flagged", pa.bool_(), nullable=False),
        pa.field("suggested", pa.int32(), nullable=False),
        pa.field("suggested_probability", pa.float64(), nullable=False),
        pa.field("rank", pa.int32(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
    ]
)
"""How suspect each training row's label is: ``probability`` that it is wrong in [0, 1], ``flagged`` as a suspect, the most
probable other class ``suggested`` with its mean predicted probability, ``rank`` (1 = most suspect), and why, in words."""

AFLITE = pa.schema(
    [
        pa.field("uid", pa.string(), nullable=False),
        pa.field("kept", pa.bool_(), nullable=False),
        pa.field("removed_in_round", pa.int32()),
        pa.field("predictability_first", pa.float64()),
        pa.field("predictability_last", pa.float64()),
        pa.field("n_predictions", pa.int32(), nullable=False),
    ]
)
"""What AFLite did with each row of its pool (the train rows, or those that the features' model did not learn from) or of an evaluation
set that it filtered alongside: ``removed_in_round`` is null for a row that stayed; predictability in [0, 1], higher = easier to guess,
in the first and in the last round that held the row out, null where none did; out-of-sample predictions in its last round."""

AFLITE_HISTORY = pa.schema(
    [
        pa.field("round", pa.int32(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("bias", pa.float64(), nullable=False),
        pa.field("accuracy", pa.float64(), nullable=False),
        pa.field("eligible", pa.int64(), nullable=False),
        pa.field("removed", pa.int64(), nullable=False),
        pa.field("never_held_out", pa.int64(), nullable=False),
    ]
)
"""The rounds of a filter, as ``aflite.Round`` describes them."""

SUBSET = pa.schema([pa.field("uid", pa.string(), nullable=False), pa.field("label", pa.int32(), nullable=False)])
"""A train set made from the ingested one: which rows, in which order of uid, under which label."""

SELECTION = pa.schema(
    [
        pa.field("uid", pa.string(), nullable=False),
        pa.field("label", pa.int32(), nullable=False),
        pa.field("rank", pa.int32(), nullable=False),
        pa.field("score", pa.float64(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
    ]
)
"""The rows that a selection keeps, under their given labels: ``rank`` (1 = first), the ``score`` it was kept for, and why, in words."""

CHANGES = pa.schema(
    [
        pa.field("uid", pa.string(), nullable=False),
        pa.field("what", pa.string(), nullable=False),
        pa.field("from", pa.string(), nullable=False),
        pa.field("to", pa.string()),
        pa.field("why", pa.string(), nullable=False),
        pa.field("by", pa.string(), nullable=False),
    ]
)
"""Every change of a cleaned version: ``what`` is ``drop`` or ``relabel``; label names ``from`` and ``to`` (null when dropped)."""

EVALUATION = pa.schema(
    [
        pa.field("subset", pa.string(), nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("set", pa.string(), nullable=False),
        pa.field("domain", pa.string(), nullable=False),
        pa.field("rows", pa.int64(), nullable=False),
        pa.field("metric", pa.string(), nullable=False),
        pa.field("value", pa.float64(), nullable=False),
        pa.field("failed", pa.bool_(), nullable=False),
    ]
)
"""One number of one retrained model on one evaluation set; ``failed`` marks a training that ended at the majority class."""

RECORD = pa.schema(
    [
        pa.field("uid", pa.string(), nullable=False),
        pa.field("content", pa.string(), nullable=False),
        pa.field("label", pa.string(), nullable=False),
        pa.field("confidence", pa.float64(), nullable=False),
        pa.field("variability", pa.float64(), nullable=False),
        pa.field("region", pa.string(), nullable=False),
        pa.field("suspect", pa.bool_(), nullable=False),
        pa.field("probability", pa.float64()),
        pa.field("suggested", pa.string()),
    ]
)
"""What an audit leaves of each row for the next to be compared with: ``content`` is a key of its texts, labels are names."""

ROW_CHANGES = pa.schema(
    [
        pa.field("uid", pa.string(), nullable=False),
        pa.field("what", pa.string(), nullable=False),
        pa.field("from", pa.string()),
        pa.field("to", pa.string()),
    ]
)
"""What became of rows from one audit to the next: ``what`` is ``added``, ``removed``, ``edited``, ``relabelled`` (label names
``from`` and ``to``), ``new suspect``, ``no longer suspect``, or ``moved`` (region names)."""
