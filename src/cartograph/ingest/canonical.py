"""The canonical table of a set from its raw columns, and the rows that could not be used, each with its reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Bools, Ids
from cartograph.errors import InputError
from cartograph.ingest.characters import with_characters
from cartograph.ingest.columns import NO_MAJORITY, Columns, File, is_blank, label_columns, select
from cartograph.ingest.features import with_kinds
from cartograph.ingest.identity import NOT_CONTRADICTED, content_uids, contradicting, keys_of, normalised_keys, one_by_one, repeats
from cartograph.ingest.labels import Labelling, annotator_names, chosen_options, class_names, classes
from cartograph.ingest.leakage import NOT_IN_TRAIN, Leakage, leakage
from cartograph.ingest.linkage import Linkage, linkage_of, linked_numbers
from cartograph.ingest.near_copies import LARGEST_READ, NearCopies, near_copies_among
from cartograph.ingest.outcomes import outcome_named
from cartograph.ingest.quarantine import Kind, quarantined
from cartograph.read.delimited import WRONG_NUMBER
from cartograph.schema import ANNOTATOR_LABELS, GROUPS, LABEL, LINKED, UID, DatasetInfo, Domain, dataset_info, examples_schema
from cartograph.wording import cut

_FIELDS = re.compile(r"(\d+) fields instead of (\d+)")
"""What is said of a record with another number of fields than there are columns."""
DOUBTFUL = 0.01
"""Share of rows that may repeat, contradict each other, be over-long or overlap before that is a finding."""


@dataclass(frozen=True)
class RawSet:
    """A set as it was read: ``train`` or an evaluation set."""

    name: str
    domain: Domain
    files: tuple[File, ...]


@dataclass(frozen=True)
class IngestedSet:
    """A set after ingestion.

    Attributes:
        info: what the set is.
        files: the names of its sources.
        rows_read: number of records in the files, those that could not be read included.
        raw: every record that could be read, under canonical names, before any was taken out: texts, ``label`` as a class
            name (null for a row without a label), ``uid``, ``source``, ``row``.
        used: (len(raw),) whether the row is in ``examples``.
        examples: the canonical table, ``schema.examples_schema(info)``.
        quarantine: the other records, ``schema.QUARANTINE``.
        merged: (len(raw),) whether a stray quote may have put several records into one (``Batch.merged``).
        left_out: columns of a table that are not read as features, since they say nothing of a row or are its name.
        leakage: which rows of ``examples`` are in the train set too; None of the train set itself.
        contradicted: (len(examples),) whether the same texts stand with another label in this set or in the train set.
        linkage: which rows of the train set are linked; None where no column links any.
    """

    info: DatasetInfo
    files: tuple[str, ...]
    rows_read: int
    raw: pa.Table
    used: Bools
    examples: pa.Table
    quarantine: pa.Table
    merged: Bools
    left_out: tuple[str, ...] = ()
    leakage: Leakage | None = None
    contradicted: Bools | None = None
    linkage: Linkage | None = None

    @property
    def reasons(self) -> dict[str, int]:
        """How many records are in quarantine for each reason, most frequent first."""
        return _reasons(self.quarantine)

    @property
    def class_counts(self) -> dict[str, int]:
        """How many used rows each class has."""
        counts = np.bincount(self.examples[LABEL].to_numpy(), minlength=len(self.info.labels))
        return {name: int(count) for name, count in zip(self.info.labels, counts, strict=True)}

    @cached_property
    def near_copies(self) -> NearCopies | None:
        """The near copies among its texts; None where they are few, a column links rows, or rows are no single texts."""
        info = self.info
        if info.task != "single" or info.images or info.features or self.linkage is not None:
            return None
        return near_copies_among(self.raw[info.fields[0]].take(np.flatnonzero(self.used)[:LARGEST_READ]).to_pylist())


def ingest(raw_sets: Sequence[RawSet], columns: Columns, labelling: Labelling) -> list[IngestedSet]:
    """Return the sets in canonical form; the first is the train set, whose labels are the classes of all.

    An evaluation set without the train set's uid column is given uids by content; one without its annotators' column has none. What links
    rows is read of the train set alone.

    Raises:
        InputError: a column is missing, holds no text or no uids, or is no label; no row of a set can be used.
    """
    train, *evaluation = raw_sets
    if columns.features:
        columns = with_kinds(train.files, columns)
    selected, read_as = select(train.files, columns), _labelling_of(train, columns, labelling)
    table = _named(selected, columns, read_as)
    labels = columns.option_names if columns.options else classes(_of_usable(table, columns), read_as)
    first = _ingest(train, selected, table, labels, columns, read_as)
    examples = with_characters(first.examples)
    first = replace(first, info=dataset_info(examples.schema), examples=examples)
    ingested = [replace(first, contradicted=_contradicted(first))]
    for raw_set in evaluation:
        own, read_as = columns.available(raw_set.files), _labelling_of(raw_set, columns, labelling)
        selected = select(raw_set.files, own)
        ingested.append(_compared(_ingest(raw_set, selected, _named(selected, own, read_as), labels, own, read_as), ingested[0]))
    return ingested


def _of_usable(table: pa.Table, columns: Columns) -> pa.ChunkedArray:
    """Return the labels of the rows that have something to read: what stands in a line of totals alone is no class."""
    blank = [is_blank(table[name]).to_numpy() for name in columns.field_names]
    usable = ~np.logical_or.reduce(blank)
    return table[LABEL].filter(pa.array(usable)) if usable.any() else table[LABEL]


def _labelling_of(raw_set: RawSet, columns: Columns, labelling: Labelling) -> Labelling:
    """Return the labelling of a set, in which a row without a majority of several label columns has no label."""
    if NO_MAJORITY in labelling.unlabelled or all(len(label_columns(file, columns.label)) == 1 for file in raw_set.files):
        return labelling
    return replace(labelling, unlabelled=(*labelling.unlabelled, NO_MAJORITY))


def _compared(item: IngestedSet, train: IngestedSet) -> IngestedSet:
    """Return an evaluation set with what of it is in the train set too, and what of it is contradicted.

    Where either is more than a doubtful few, the other rows are a group of their own, which is scored apart.
    """
    found = leakage(train.examples, item.examples, item.info.fields, only_equal=bool(item.info.images or item.info.features))
    item = replace(item, leakage=found, contradicted=_contradicted(item, train))
    return _with_group(_with_group(item, NOT_IN_TRAIN, ~found.rows), NOT_CONTRADICTED, ~np.asarray(item.contradicted))


def _contradicted(item: IngestedSet, train: IngestedSet | None = None) -> Bools:
    """Return which rows' texts stand with another label too, in the set or in the train set."""
    rows = [one.examples.select([*item.info.fields, LABEL]) for one in (train, item) if one is not None]
    keys = pa.concat_arrays([normalised_keys(one, item.info.fields) for one in rows])
    labels = pd.Series(np.concatenate([one[LABEL].to_numpy() for one in rows]))
    return contradicting(keys, labels)[len(keys) - len(item.examples) :]


def _with_group(item: IngestedSet, group: str, inside: Bools) -> IngestedSet:
    rows = len(item.examples)
    if not DOUBTFUL * rows < rows - inside.sum() < rows:
        return item
    there = GROUPS in item.examples.column_names
    before = item.examples[GROUPS].to_pylist() if there else [None] * rows
    groups = [list(own or ()) + [group] * bool(member) or None for own, member in zip(before, inside, strict=True)]
    schema = examples_schema(item.info, annotators=ANNOTATOR_LABELS in item.examples.column_names, groups=True)
    columns = [pa.array(groups, pa.list_(pa.string())) if name == GROUPS else item.examples[name].combine_chunks() for name in schema.names]
    return replace(item, examples=pa.Table.from_arrays(columns, schema=schema))


def _named(table: pa.Table, columns: Columns, labelling: Labelling) -> pa.Table:
    """Return the selected columns with class names as labels and a uid in every row that has or can be given one."""
    given = table[LABEL]
    names = chosen_options(given, table, columns.option_names) if columns.options else class_names(given, labelling)
    if columns.options:
        missing = pc.is_in(pc.utf8_trim_whitespace(given), pa.array(labelling.unlabelled, pa.string()))
        unknown = pc.and_(pc.is_null(names), pc.invert(is_blank(given)))
        names = pc.if_else(pc.or_(missing, unknown), given, names)
    table = table.set_column(table.schema.get_field_index(LABEL), LABEL, names)
    if ANNOTATOR_LABELS in table.column_names:
        named = annotator_names(table[ANNOTATOR_LABELS], labelling)
        table = table.set_column(table.schema.get_field_index(ANNOTATOR_LABELS), ANNOTATOR_LABELS, named)
    if columns.uid:
        uids = pc.if_else(is_blank(table[UID]), None, table[UID])
        return table.set_column(table.schema.get_field_index(UID), UID, uids)
    return table.append_column(UID, content_uids(table, columns.field_names, LABEL))


def _ingest(
    raw_set: RawSet, selected: pa.Table, table: pa.Table, labels: tuple[str, ...], columns: Columns, labelling: Labelling
) -> IngestedSet:
    info = DatasetInfo(
        name=raw_set.name,
        domain=raw_set.domain,
        task=columns.task,
        text=columns.text_names,
        options=columns.option_names,
        labels=labels,
        images=columns.image_names,
        features=columns.kinds,
        outcome=outcome_named(label_columns(raw_set.files[0], columns.label), len(labels)) if columns.kinds else "",
    )
    faults = _faults(table, info, labelling)
    used = faults == 0
    rejected = sum(len(file.batch.rejected) for file in raw_set.files)
    examples = _examples(table.filter(pa.array(used)), info, columns)
    ingested = IngestedSet(
        info=info,
        files=tuple(file.name for file in raw_set.files),
        rows_read=len(table) + rejected,
        raw=table,
        used=used,
        examples=examples,
        quarantine=quarantined(raw_set.name, raw_set.files, selected, faults, _kinds(info)),
        left_out=columns.left_out,
        merged=np.concatenate([np.isin(file.batch.rows.to_numpy(), file.batch.merged) for file in raw_set.files]),
        linkage=_linkage(raw_set, columns, table[LINKED].filter(pa.array(used)), examples, labels) if columns.linked else None,
    )
    _require_usable(ingested, columns)
    if columns.annotators:
        _require_classes(ingested, columns.annotators[0])
    return ingested


def _require_classes(ingested: IngestedSet, column: str) -> None:
    """Check that annotators' labels are labels.

    Raises:
        InputError: there are some, and none is a class.
    """
    names = ingested.examples[ANNOTATOR_LABELS].combine_chunks().flatten().drop_null()
    if len(names) and not pc.any(pc.is_in(names, pa.array(ingested.info.labels, pa.string()))).as_py():
        where, shown = f"{ingested.info.name} ({', '.join(ingested.files)})", cut(str(names[0]), 60)
        raise InputError(
            f"{where}: column `{column}` holds no class, but `{shown}` and the like, where `ingest.annotators` (--annotators) names a "
            "column of annotators' labels; a column that says who gave a row's one label is named in `ingest.labelled_by` (--labelled-by)."
        )


def _linkage(raw_set: RawSet, columns: Columns, texts: pa.ChunkedArray, examples: pa.Table, labels: tuple[str, ...]) -> Linkage:
    there = {name for file in raw_set.files for name in file.batch.table.column_names}
    column = next((name for name in columns.linked if name in there), columns.linked[0])
    return linkage_of(column, texts, examples[LINKED], examples[LABEL], labels)


def _kinds(info: DatasetInfo) -> list[Kind]:
    """Return (reason, column) of each fault number, from 1 on."""
    unknown = "label not among the classes" if info.domain == "train" else "label not in train"
    reason = "no image" if info.images else "no values" if info.features else "empty text"
    empty: list[Kind] = [(reason, name) for name in info.fields]
    return [*empty, ("no label", LABEL), ("no majority label", LABEL), (unknown, LABEL), ("no uid", UID), ("duplicate uid", UID)]


def _faults(table: pa.Table, info: DatasetInfo, labelling: Labelling) -> Ids:
    """Return (n_rows,) the number of each row's first fault, 0 for none."""
    names = table[LABEL]
    masks = [is_blank(table[name]) for name in info.fields]
    unlabelled = [name for name in labelling.unlabelled if name != NO_MAJORITY]
    masks.append(pc.or_(pc.is_null(names), pc.is_in(names, pa.array(unlabelled, pa.string()))))
    masks.append(pc.is_in(names, pa.array([name for name in labelling.unlabelled if name == NO_MAJORITY], pa.string())))
    masks.append(pc.invert(pc.is_in(names, pa.array(info.labels, pa.string()))))
    masks.append(pc.is_null(table[UID]))
    faults = np.zeros(len(table), dtype=np.int16)
    for number, mask in enumerate(masks, start=1):
        faults[mask.to_numpy() & (faults == 0)] = number
    sound = np.flatnonzero(faults == 0)
    faults[sound[repeats(keys_of(one_by_one(table[UID].take(pa.array(sound)))))]] = len(masks) + 1
    return faults


def _examples(table: pa.Table, info: DatasetInfo, columns: Columns) -> pa.Table:
    linked = bool(columns.linked)
    schema = examples_schema(info, annotators=bool(columns.annotators), groups=GROUPS in table.column_names, linked=linked)
    made = {LABEL: pc.index_in(table[LABEL], pa.array(info.labels, pa.string()))}
    if linked:
        made[LINKED] = linked_numbers(table[LINKED])
    read = [made.get(name, table[name]) for name in schema.names]
    return pa.Table.from_arrays(
        [column.cast(field.type).combine_chunks() for column, field in zip(read, schema, strict=True)], schema=schema
    )


def _require_usable(ingested: IngestedSet, columns: Columns) -> None:
    info = ingested.info
    where = f"{info.name} ({', '.join(ingested.files)})"
    for name, alternatives in zip(() if info.features else info.text + info.options, columns.text + columns.options, strict=True):
        if len(ingested.raw) and pc.all(is_blank(ingested.raw[name])).as_py():
            raise InputError(
                f"{where}: all {len(ingested.raw):,} texts of column `{alternatives[0]}` are empty; name the column that holds the text "
                "in `ingest.text`."
            )
    twice = ingested.reasons.get("duplicate uid", 0)
    if twice > len(ingested.raw) / 2:
        raise InputError(
            f"{where}: column `{columns.uid[0]}` does not identify rows: {twice:,} of {len(ingested.raw):,} repeat an earlier value; name "
            "another column in `ingest.uid`, or leave it out and uids are made from the content."
        )
    if not len(ingested.examples):
        raise InputError(f"{where}: none of its {ingested.rows_read:,} rows can be used: {reasons_phrase(ingested.quarantine)}.")


def reasons_phrase(quarantine: pa.Table) -> str:
    """Return the reasons of ``schema.QUARANTINE`` in words, the most frequent first: ``3 empty text, 1 label not in train (`x`)``.

    Of records with too many fields the first is named, and why that mostly is.
    """
    parts = []
    for reason, count in _reasons(quarantine).items():
        if reason == WRONG_NUMBER:
            parts.append(f"{count:,} {reason}{_too_many(quarantine)}")
            continue
        values: list[str] = []
        if reason.startswith("label not"):
            chosen = quarantine.filter(pc.equal(quarantine["reason"], reason))["value"]
            values = sorted(str(value) for value in pc.unique(chosen).to_pylist())
        shown = ", ".join(f"`{value[:40]}`" for value in values[:5]) + (", …" if len(values) > 5 else "")
        parts.append(f"{count:,} {reason}" + (f" ({shown})" if values else ""))
    return ", ".join(parts)


def _too_many(quarantine: pa.Table) -> str:
    for reason, said, row in zip(*(quarantine[name].to_pylist() for name in ("reason", "value", "row")), strict=True):
        found = _FIELDS.fullmatch(said or "") if reason == WRONG_NUMBER else None
        if found and int(found[1]) > int(found[2]):
            return f" (as in row {row}, {said}: a field with the separator in it has to stand in double quotes)"
    return ""


def _reasons(quarantine: pa.Table) -> dict[str, int]:
    return dict(Counter(quarantine["reason"].to_pylist()).most_common())
