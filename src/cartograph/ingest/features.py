"""Which columns of a data set are features, and what each holds: looked at once, in the train set."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import pyarrow as pa

from cartograph.errors import InputError
from cartograph.ingest.columns import ALL, Columns, File, label_columns, texts_of
from cartograph.ingest.labeller_names import names_a_labeller
from cartograph.ingest.values import feature_of, says_nothing


def with_kinds(files: Sequence[File], columns: Columns) -> Columns:
    """Return the columns of a table of features with what each holds (``Columns.kinds``).

    Of all columns those are left out that identify a row or say nothing of it: without a value, numbered from row to row or by a name
    that says so (``row_names``), a different name in most rows, lists and images; those that a file's header leaves out, or names as a
    class beside the label; and those whose name says that they hold who labelled (``labeller_names``), whose errors models would learn and
    never doubt.

    Args:
        files: of the train set.
        columns: those that are asked for.

    Raises:
        InputError: a file lacks a column that is asked for, it is the label, or no column is left.
    """
    own = [name for file in files for name in (*label_columns(file, columns.label), *(columns.label), *columns.uid, *columns.annotators)]
    own += [*columns.linked, *columns.labelled_by]
    taken = {part for name in (*own, *columns.groups) for part in (name, *name.split("+"))}
    everything = columns.features == ALL
    names = _all(files) if everything else columns.features
    if not everything and (wrong := sorted(taken & set(names))):
        raise InputError(
            f"`{wrong[0]}` is named as a feature and as label, uid, annotators, group, what links rows or who labelled them; "
            "leave it out of the features."
        )
    stated = {name: what for file in files for name, what in file.batch.stated.items()}
    kinds, left_out = [], []
    for name in names:
        if name in taken:
            continue
        texts = pa.chunked_array([chunk for file in files for chunk in texts_of(file, (name,)).chunks], pa.string())
        feature = feature_of(name, texts, named=name in columns.categories or stated.get(name) in ("category", "class"))
        if everything and (stated.get(name) in ("left out", "class") or names_a_labeller(name) or says_nothing(texts, feature)):
            left_out.append(name)
        else:
            kinds.append(feature)
    if unknown := [name for name in columns.categories if name not in names]:
        raise InputError(f"`categories` names `{unknown[0]}`, which is no feature; the features are {', '.join(names)}.")
    if not kinds:
        raise InputError(
            f"{', '.join(file.name for file in files)}: no column beside the label can be a feature; name them, or use --text."
        )
    return replace(columns, kinds=tuple(kinds), left_out=tuple(left_out))


def could_be_features(files: Sequence[File], read: Collection[str]) -> list[str]:
    """Return the columns that would be features if all were read, but for those of ``read``, in the first file's order."""
    found = []
    for name in _all(files):
        if name not in read and not names_a_labeller(name):
            texts = pa.chunked_array([chunk for file in files for chunk in texts_of(file, (name,)).chunks], pa.string())
            if not says_nothing(texts, feature_of(name, texts)):
                found.append(name)
    return found


def _all(files: Sequence[File]) -> tuple[str, ...]:
    """Return the columns that every file has and that hold one value per row, in the first file's order."""
    common = set.intersection(*(set(file.batch.table.column_names) for file in files))
    first = files[0].batch.table
    return tuple(
        field.name
        for field in first.schema
        if field.name in common and not (pa.types.is_list(field.type) or pa.types.is_binary(field.type))
    )
