"""Labels as given, and their class names and ids."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.arrays import Integers
from cartograph.errors import InputError

MAX_CLASSES = 10_000
_SOME_ROWS, _MOST_NUMBERS, _MOST_NAMES = 20, 0.5, 0.9
"""Different values that are no classes, as a share of these rows or more: of numbers, which are measurements then, and of names."""


@dataclass(frozen=True)
class Labelling:
    """How a given label is read.

    Attributes:
        separator: a label ends before it (``:`` makes ``DESC`` of ``DESC:manner``); None to take it whole.
        names: given label -> class name, for sets that name the same classes otherwise; others stay as they are.
        order: the class names in the order of their ids; empty for numeric, else alphabetical order of those in train.
        unlabelled: values that mean that a row has no gold label.
    """

    separator: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ("-",)


def class_names(given: pa.ChunkedArray, labelling: Labelling) -> pa.ChunkedArray:
    """Return the class name of each given label: trimmed, cut at the separator, renamed; null where nothing is left."""
    names = pc.utf8_trim_whitespace(given)
    if labelling.separator:
        names = pc.list_element(pc.split_pattern(names, labelling.separator, max_splits=1), 0)
        names = pc.utf8_trim_whitespace(names)
    encoded = names.combine_chunks().dictionary_encode()
    renamed = [labelling.names.get(name, name) or None for name in encoded.dictionary.to_pylist()]
    return pa.chunked_array([pc.take(pa.array(renamed, pa.string()), encoded.indices)])


def annotator_names(given: pa.ChunkedArray, labelling: Labelling) -> pa.ChunkedArray:
    """Return the lists of annotators' labels with each label read as the gold labels are."""
    lists = given.combine_chunks()
    names = class_names(pa.chunked_array([lists.flatten()]), labelling).combine_chunks()
    lengths = np.asarray(pc.fill_null(pc.list_value_length(lists), 0), dtype=np.int32)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pa.chunked_array([pa.ListArray.from_arrays(offsets, names, mask=lists.is_null())])


def classes(names: pa.ChunkedArray, labelling: Labelling) -> tuple[str, ...]:
    """Return the class names of a train set in the order of their ids.

    Raises:
        InputError: the column has too many different values to be a label.
    """
    if labelling.order:
        return labelling.order
    names_in_use = [name for name in pc.unique(names).to_pylist() if name is not None and name not in labelling.unlabelled]
    labelled = len(names) - names.null_count
    numeric = all(map(_is_number, names_in_use))
    most = labelled * (_MOST_NUMBERS if numeric else _MOST_NAMES) if labelled >= _SOME_ROWS else MAX_CLASSES
    if len(names_in_use) > min(most, MAX_CLASSES):
        numbers = " (numbers are no classes: divide them into a few ranges first)" if numeric else ""
        raise InputError(
            f"the label column of train has {len(names_in_use):,} different values in {labelled:,} rows, such as "
            f"{', '.join(repr(name) for name in sorted(names_in_use)[:3])}; expected the names of a few classes{numbers}: name another "
            "column (--label, or `ingest.label` in params.yaml), or cut the labels with `ingest.label_separator`; rows with several labels "
            "each are audited by `cartograph audit FILE --text COLUMN --labels COLUMN`, in a workspace made with `init --labels COLUMN`."
        )
    return tuple(sorted(names_in_use, key=_natural))


def _is_number(name: str) -> bool:
    try:
        float(name.replace(",", "."))
    except ValueError:
        return False
    return True


def _natural(name: str) -> tuple[int, int, str]:
    digits = name.removeprefix("-")
    return (0, int(name), name) if digits.isascii() and digits.isdigit() and len(digits) < 18 else (1, 0, name)


def chosen_options(given: pa.ChunkedArray, table: pa.Table, options: Sequence[str]) -> pa.ChunkedArray:
    """Return for each multiple-choice row the name of the option its label points at; null where it points at none.

    A set writes its labels in one of these ways, and the one that fits most of its rows is taken: the option's number from 1,
    its index from 0, its column's name, its letter (A, B, …), or its own text.
    """
    values = pc.utf8_trim_whitespace(given).combine_chunks()
    count = len(options)
    spellings = [[str(index + 1) for index in range(count)], [str(index) for index in range(count)], list(options)]
    spellings.append(list(string.ascii_uppercase[:count]))
    ways = [_positions(values, spelling) for spelling in spellings]
    own_text = np.full(len(values), -1)
    for index in reversed(range(count)):
        same = pc.fill_null(pc.equal(values, pc.utf8_trim_whitespace(table[options[index]]).combine_chunks()), False)
        own_text[same.to_numpy(zero_copy_only=False)] = index
    ways.append(own_text)
    best = max(ways, key=lambda positions: int((positions >= 0).sum()))
    names = pa.array([*options, None], pa.string())
    return pa.chunked_array([pc.take(names, pa.array(np.where(best < 0, count, best)))])


def _positions(values: pa.Array, spelling: Sequence[str]) -> Integers:
    positions = pc.fill_null(pc.index_in(values, pa.array(spelling, pa.string())), -1)
    return np.asarray(positions, dtype=np.int64)
