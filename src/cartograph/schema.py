"""Column names and Arrow schemas of the tables that steps hand to one another."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

Task = Literal["single", "pair", "choice", "image", "table"]
Kind = Literal["number", "category", "date", "text"]
Domain = Literal["train", "id", "ood"]

UID = "uid"
LABEL = "label"
ANNOTATOR_LABELS = "annotator_labels"
GROUPS = "groups"
LINKED = "linked"
"""Which rows the user linked: those with the same number; null where a row stands alone. A column that only train sets have."""
WEIGHT = "weight"
"""How much a row counts in training, > 0, 1 on average; a column that only the sets and subsets have whose rows do not count alike."""
RANK = "training_rank"
"""Which rows of an epoch come first, the lowest; a column that only train sets have whose rows are not shuffled throughout."""
TWICE = "training_twice"
"""Whether a row comes twice in every epoch; a column that only train sets have some of whose rows do."""
LABEL_SET = "label_set"
"""Which of ``DatasetInfo.labels`` a row has, a yes or no for each: a column that only sets have whose rows have several labels."""
SOURCE = "source"
ROW = "row"
FEATURES = "features"
"""The column of a set of tables' rows that shows each row as a text: ``age=39; workclass=Private``, without what is missing."""
VALUES = "values"
"""The column beside it with the row's values by type: a struct of ``DatasetInfo.features``; null where a value is missing."""
UNREAD = "unread"
"""Of a table as it was read: the names of the features whose value in a row is not what their column holds."""
RESERVED = (UID, LABEL, LABEL_SET, ANNOTATOR_LABELS, GROUPS, LINKED, WEIGHT, RANK, TWICE, SOURCE, ROW)

BLANK = "_"
"""Where a multiple-choice sentence is cut: the option goes there."""

_METADATA_KEY = b"cartograph"


def schema_of(columns: Mapping[str, str | pa.DataType]) -> pa.Schema:
    """Return the schema of a table.

    Args:
        columns: name -> type, as Arrow's or by its alias (``string``, ``int32``, ``double``, ``bool``); a question mark behind an alias
            allows nulls.

    >>> [(field.name, str(field.type), field.nullable) for field in schema_of({"uid": "string", "row": "int64?"})]
    [('uid', 'string', False), ('row', 'int64', True)]
    """
    fields = []
    for name, kind in columns.items():
        alias = kind if isinstance(kind, str) else ""
        fields.append(pa.field(name, pa.type_for_alias(alias.rstrip("?")) if alias else kind, nullable=alias.endswith("?")))
    return pa.schema(fields)


@dataclass(frozen=True)
class Feature:
    """A column of a table of features: its name, what it holds, and the form in which numbers and dates are written (``ingest.forms``)."""

    name: str
    kind: Kind
    form: str = ""


_TYPES: dict[Kind, pa.DataType] = {"number": pa.float64(), "category": pa.string(), "date": pa.timestamp("s"), "text": pa.string()}


def values_type(features: Sequence[Feature]) -> pa.StructType:
    """Return the type of the column ``VALUES``: a number is a double, categories and texts are strings, a date a timestamp of seconds."""
    return pa.struct([pa.field(feature.name, _TYPES[feature.kind]) for feature in features])


def values_of(table: pa.Table, feature: str) -> pa.ChunkedArray:
    """Return a feature's values, by its name as it is: pyarrow takes a name alone for a path where it begins with a dot or a bracket.

    >>> info = DatasetInfo("train", "train", "table", (FEATURES,), (), ("a", "b"), features=(Feature(".width", "number"),))
    >>> rows = pa.table({VALUES: pa.array([{".width": 1.5}, {".width": None}], values_type(info.features))})
    >>> values_of(rows, ".width").to_pylist()
    [1.5, None]
    """
    return pc.struct_field(table[VALUES], [feature])


@dataclass(frozen=True)
class DatasetInfo:
    """What a table of examples is: kept in the Parquet schema's metadata.

    Attributes:
        name: the set's name: ``train``, or an evaluation set's.
        domain: ``train``; ``id`` (in distribution) or ``ood`` (out of distribution) for an evaluation set.
        task: ``single`` text, text ``pair``, multiple ``choice``, ``image``, or the rows of a ``table`` of features.
        text: names of the text columns, in order; one for ``single`` and ``choice``, two for ``pair``, none for ``image``; of a ``table``
            ``FEATURES``.
        options: names of the option columns of a multiple-choice set, in the order of the label ids; else empty.
        labels: label names; ``labels[i]`` is the name of label id ``i``.
        images: names of the image columns: one for ``image``; else empty.
        features: the columns of a ``table``, whose values are in ``VALUES``; else empty.
        characters: whether models of words read runs of characters as well, since the texts share hardly a word
            (``shared_words.reads_characters``): found once, of a whole train set, so that models of parts of it read them alike.
        outcome: of a ``table`` the label's column, where its name says that it is an outcome, which nobody judged; else empty.
    """

    name: str
    domain: Domain
    task: Task
    text: tuple[str, ...]
    options: tuple[str, ...]
    labels: tuple[str, ...]
    images: tuple[str, ...] = ()
    features: tuple[Feature, ...] = ()
    characters: bool = False
    outcome: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """All columns that hold what is shown to the model: the image columns, the text columns, then the options."""
        return self.images + self.text + self.options

    @property
    def has_columns(self) -> bool:
        """Whether rows are those of a table with columns beside texts: numbers, dates or categories."""
        return any(feature.kind != "text" for feature in self.features)


def examples_schema(info: DatasetInfo, *, annotators: bool = False, groups: bool = False, linked: bool = False) -> pa.Schema:
    """Return the schema of a set of examples (``data/ingest/<set>.parquet``).

    Columns: ``uid`` (unique string), one column per ``info.fields`` (string; for an image binary: a PNG as ``images.canonical_png``
    makes it, grey or RGB, of any size), of a table ``values`` (``values_type``), ``label`` (int32 id into
    ``info.labels``), where wanted ``annotator_labels`` (list of label names as given), ``groups`` (list of the names of the groups
    that the row is in) and ``linked`` (int32, equal for rows that are linked, null for a row that stands alone), ``source`` (the file's
    name) and ``row`` (1-based number of the record in that file, the header not counted).
    """
    fields = [pa.field(UID, pa.string(), nullable=False)]
    fields += [pa.field(name, pa.binary() if name in info.images else pa.string(), nullable=False) for name in info.fields]
    if info.features:
        fields.append(pa.field(VALUES, values_type(info.features), nullable=False))
    fields.append(pa.field(LABEL, pa.int32(), nullable=False))
    if annotators:
        fields.append(pa.field(ANNOTATOR_LABELS, pa.list_(pa.string())))
    if groups:
        fields.append(pa.field(GROUPS, pa.list_(pa.string())))
    if linked:
        fields.append(pa.field(LINKED, pa.int32()))
    fields += [pa.field(SOURCE, pa.string(), nullable=False), pa.field(ROW, pa.int64(), nullable=False)]
    content = asdict(info)
    if not info.characters:
        # The bytes of sets whose words are read alone are those of before there was a choice.
        del content["characters"]
    if not info.outcome:
        del content["outcome"]
    return pa.schema(fields, metadata={_METADATA_KEY: json.dumps(content, ensure_ascii=False).encode()})


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
        features=tuple(Feature(**feature) for feature in content["features"]),
        characters=content.get("characters", False),
        outcome=content.get("outcome", ""),
    )


QUARANTINE = schema_of(
    {"set": "string", "file": "string", "row": "int64", "column": "string?", "value": "string?", "reason": "string", "record": "string"}
)
"""Rows that could not be used: where they stand, what is wrong with which value, and the whole record as JSON."""


def dynamics_schema(n_classes: int) -> pa.Schema:
    """Return the schema of one epoch of training dynamics: one row per example, ``logits`` of width ``n_classes``."""
    return schema_of({"uid": "string", "gold": "int32", "logits": pa.list_(pa.float32(), n_classes)})


N_CLASSES = b"cartograph.classes"
"""The key of the number of classes in the metadata of dynamics that keep some of each row's logits."""


def kept_dynamics_schema(n_classes: int, kept: int) -> pa.Schema:
    """Return the schema of an epoch of many classes: ``logits`` of those in ``classes``, and the logit of each other in ``rest``."""
    columns = {"classes": pa.list_(pa.int32(), kept), "logits": pa.list_(pa.float32(), kept), "rest": "float"}
    return schema_of({"uid": "string", "gold": "int32", **columns}).with_metadata({N_CLASSES: str(n_classes).encode()})


COORDINATES = schema_of({"uid": "string", "confidence": "double", "variability": "double", "correctness": "double"})
"""A data map made elsewhere, without logits; correctness is a fraction in [0, 1]."""

HISTORY = schema_of({"epoch": "int32", "set": "string", "loss": "double", "accuracy": "double"})
"""The training curve: mean cross-entropy and accuracy after each epoch (0-based) of ``train`` and of every evaluation set."""

REGIONS = ("easy-to-learn", "ambiguous", "hard-to-learn", "unassigned")

MEASURES = schema_of(
    {
        "uid": "string",
        "gold": "int32",
        "predicted": "int32?",
        "confidence": "double",
        "variability": "double",
        "correctness": "double",
        "forgetting": "int32?",
        "never_learnt": "bool?",
        "threshold_closeness": "double",
        "aum": "double?",
        "el2n": "double?",
        "loss": "double?",
        "out_of_fold_confidence": "double?",
        "out_of_fold_variability": "double?",
        "out_of_fold_margin": "double?",
        "region": "string",
    }
)
"""One row per training example. ``predicted`` is the argmax of the mean probabilities; ``forgetting`` is null for a row
never learnt; everything that needs logits is null where only coordinates were given, and what is out of fold where no
K-fold training was made."""

TRUTH = schema_of({"uid": "string", "set": "string", "kind": "string", "true_label": "string?", "error": "string?", "give_away": "bool"})
"""What a generated corpus knows of itself: ``kind`` is ``plain``, ``flipped`` (the given label is wrong) or ``ambiguous``
(no single label is right: ``true_label`` is null); ``error`` is what made a flipped row's label wrong (``slip``, ``one-way`` or
``careless``; null for the others); ``give_away`` says that the hypothesis holds a planted word that goes with the label its writer had in
mind."""

NOISE = schema_of(
    {
        "uid": "string",
        "probability": "double",
        "flagged": "bool",
        "suggested": "int32",
        "suggested_probability": "double",
        "rank": "int32",
        "reason": "string",
    }
)
"""How suspect each training row's label is: ``probability`` that it is wrong in [0, 1], ``flagged`` as a suspect, the most
probable other class ``suggested`` with its mean predicted probability, ``rank`` (1 = most suspect), and why, in words."""

AFLITE = schema_of(
    {
        "uid": "string",
        "kept": "bool",
        "removed_in_round": "int32?",
        "predictability_first": "double?",
        "predictability_last": "double?",
        "n_predictions": "int32",
    }
)
"""What AFLite did with each row of its pool (the train rows, or those that the features' model did not learn from) or of an evaluation
set that it filtered alongside: ``removed_in_round`` is null for a row that stayed; predictability in [0, 1], higher = easier to guess,
in the first and in the last round that held the row out, null where none did; out-of-sample predictions in its last round."""

AFLITE_HISTORY = schema_of(
    {
        "round": "int32",
        "size": "int64",
        "bias": "double",
        "accuracy": "double",
        "eligible": "int64",
        "removed": "int64",
        "never_held_out": "int64",
    }
)
"""The rounds of a filter, as ``aflite.Round`` describes them."""

SUBSET = schema_of({"uid": "string", "label": "int32"})
"""A train set made from the ingested one: which rows, in which order of uid, under which label; with ``WEIGHT`` where rows are weighted."""

WEIGHTED_SUBSET = schema_of({"uid": "string", "label": "int32", WEIGHT: "float"})
"""A ``SUBSET`` whose rows do not all count alike in training."""

SELECTION = schema_of({"uid": "string", "label": "int32", "rank": "int32", "score": "double", "reason": "string"})
"""The rows that a selection keeps, under their given labels: ``rank`` (1 = first), the ``score`` it was kept for, and why, in words."""

CHANGES = schema_of({"uid": "string", "what": "string", "from": "string", "to": "string?", "why": "string", "by": "string"})
"""Every change of a cleaned version: ``what`` is ``drop`` or ``relabel``; label names ``from`` and ``to`` (null when dropped)."""

EVALUATION = schema_of(
    {
        "subset": "string",
        "seed": "int64",
        "set": "string",
        "domain": "string",
        "rows": "int64",
        "metric": "string",
        "value": "double",
        "failed": "bool",
    }
)
"""One number of one retrained model on one evaluation set; ``failed`` marks a training that ended no better than chance."""

RECORD = schema_of(
    {
        "uid": "string",
        "content": "string",
        "label": "string",
        "confidence": "double",
        "variability": "double",
        "region": "string",
        "suspect": "bool",
        "probability": "double?",
        "suggested": "string?",
    }
)
"""What an audit leaves of each row for the next to be compared with: ``content`` is a key of its texts, labels are names."""

ROW_CHANGES = schema_of({"uid": "string", "what": "string", "from": "string?", "to": "string?"})
"""What became of rows from one audit to the next: ``what`` is ``added``, ``removed``, ``edited``, ``relabelled`` (label names
``from`` and ``to``), ``new suspect``, ``no longer suspect``, or ``moved`` (region names)."""
