"""Several labels of a row, each a yes or no of its own: from a column of lists or separated names, or a column of 0 and 1 per label."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy import ndarray

from cartograph.data.arrays import Bools
from cartograph.errors import InputError
from cartograph.ingest.missing import is_missing
from cartograph.wording import counted, cut

YES, NO = ("1", "true", "yes", "y", "t"), ("0", "false", "no", "n", "f")
"""What a cell of a column of 0 and 1 may hold, in either case; ``1.0`` and ``0.0`` too."""

SEPARATORS = ("|;", ",")
"""Characters between names: the comma only in a column that has neither of the others, since a name may hold one."""

Form = Literal["columns", "lists", "separated"]
_LISTS = (list, tuple, set, frozenset, ndarray)


class Fault(NamedTuple):
    """A row whose labels cannot be read: its place, the column, the cell and what is wrong with it."""

    place: int
    column: str
    value: str | None
    reason: str


@dataclass(frozen=True)
class LabelSets:
    """Which labels each row has.

    Attributes:
        names: of the labels; of lists in alphabetical order, else as the columns were named.
        given: whether a row has a label, ``(n_rows, n_labels)``; False throughout in a row with a fault.
        faults: rows that cannot be used, at most one each.
        form: ``columns`` of 0 and 1, ``lists``, or ``separated`` names.
        separator: written between names, of the form ``separated``.
        empty: rows of separated names with an empty cell, which are read as rows with none of the labels.
    """

    names: tuple[str, ...]
    given: Bools
    faults: tuple[Fault, ...]
    form: Form
    separator: str = ""
    empty: int = 0


def label_sets(columns: Mapping[str, Sequence[Any]], where: str) -> LabelSets:
    """Return which labels each row has.

    One column holds lists (also written as JSON or as Python writes them) or names between ``|``, ``;`` or commas; several columns, or one
    that holds nothing else, hold 0 and 1, yes and no, true and false. Where a label is missing, its row is a fault: in lists a cell
    without a value (``[]`` has no label), of columns an empty cell. An empty cell of separated names has no label. What counts as missing
    or empty is ``missing.MISSING``, ``?``, ``NA`` and ``-`` among them.

    Args:
        columns: name -> (n_rows,) cells: texts, numbers, booleans, lists, None.
        where: what messages call the data.

    Raises:
        InputError: a column of several in which most cells are neither yes nor no, or a column without a single label.

    >>> found = label_sets({"tags": ["war|love", "", "love"]}, "films.csv")
    >>> found.names, found.given.tolist()
    (('love', 'war'), [[True, True], [False, False], [True, False]])
    """
    if len(columns) == 1:
        ((name, cells),) = columns.items()
        if not _all_yes_or_no(cells):
            return _listed(name, cells, where)
    return _yes_or_no(columns, where)


def names_of(cell: Any, separator: str = "") -> list[str]:
    """Return the labels that a cell names, in its order; none of a cell without a value.

    Args:
        cell: of a column whose form is ``lists`` or ``separated``.
        separator: as ``LabelSets`` has it; empty of lists.
    """
    if _is_missing(cell):
        return []
    if not separator:
        return _as_list(cell) or []
    return _separated(str(cell), next(marks for marks in SEPARATORS if separator in marks))


def _all_yes_or_no(cells: Sequence[Any]) -> bool:
    read = [_plain(cell) for cell in cells if not _is_missing(cell)]
    return bool(read) and all(value in YES or value in NO for value in read)


def _yes_or_no(columns: Mapping[str, Sequence[Any]], where: str) -> LabelSets:
    number = len(next(iter(columns.values())))
    given, faults = np.zeros((number, len(columns)), dtype=bool), dict[int, Fault]()
    for place, (name, cells) in enumerate(columns.items()):
        strange = []
        for row, cell in enumerate(cells):
            if _is_missing(cell):
                faults.setdefault(row, Fault(row, name, None, "no label"))
                continue
            value = _plain(cell)
            given[row, place] = value in YES
            if value not in YES and value not in NO:
                strange.append(value)
                faults.setdefault(row, Fault(row, name, str(cell), "label neither yes nor no"))
        if strange and len(strange) > number / 2:
            raise InputError(
                f"column `{name}` of {where} holds neither yes nor no in {len(strange):,} of {number:,} rows, such as {strange[0][:40]!r}; "
                "expected 0 or 1, yes or no, true or false. A single column of lists or of names between `|` is named alone."
            )
    given[list(faults)] = False
    return LabelSets(tuple(columns), given, tuple(faults[row] for row in sorted(faults)), "columns")


def _listed(name: str, cells: Sequence[Any], where: str) -> LabelSets:
    texts = [cell for cell in cells if isinstance(cell, str) and not _is_missing(cell)]
    as_lists = len(texts) < sum(not _is_missing(cell) for cell in cells) or (bool(texts) and all(map(_bracketed, texts)))
    split = "" if as_lists else next((each for each in SEPARATORS if any(mark in text for text in texts for mark in each)), SEPARATORS[0])
    faults, rows, empty = [], [], 0
    for place, cell in enumerate(cells):
        found: list[str] | None = []
        if not as_lists:
            empty += _is_missing(cell)
            found = [] if _is_missing(cell) else _separated(str(cell), split)
        elif _is_missing(cell):
            faults.append(Fault(place, name, None, "no label"))
        elif (found := _as_list(cell)) is None:
            faults.append(Fault(place, name, cut(str(cell), 200), "labels that are no list"))
        rows.append(found or [])
    names = sorted({label for row in rows for label in row})
    if not names:
        raise InputError(
            f"column `{name}` of {where} names no label in {counted(len(cells), 'row')}; expected lists, or names between `|`, `;` or `,`."
        )
    place_of = {label: place for place, label in enumerate(names)}
    given = np.zeros((len(rows), len(names)), dtype=bool)
    for place, row in enumerate(rows):
        given[place, [place_of[label] for label in row]] = True
    mark = "" if as_lists else max(split, key=lambda mark: sum(text.count(mark) for text in texts))
    return LabelSets(tuple(names), given, tuple(faults), "lists" if as_lists else "separated", mark, empty)


def _plain(cell: Any) -> str:
    return str(cell).strip().lower().removesuffix(".0")


def _is_missing(cell: Any) -> bool:
    if cell is None:
        return True
    if isinstance(cell, _LISTS):
        return False
    return is_missing(str(cell))


def _bracketed(text: str) -> bool:
    return text.strip().startswith("[") and text.strip().endswith("]")


def _separated(text: str, marks: str) -> list[str]:
    for mark in marks[1:]:
        text = text.replace(mark, marks[0])
    return [part.strip() for part in text.split(marks[0]) if part.strip()]


def _as_list(cell: Any) -> list[str] | None:
    """Return the names of a list, written or not; None of anything else."""
    if isinstance(cell, str):
        if not _bracketed(cell):
            return None
        try:
            cell = json.loads(cell)
        except ValueError:
            try:
                cell = ast.literal_eval(cell)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                return None
    if not isinstance(cell, _LISTS):
        return None
    items = [item for item in cell if not _is_missing(item)]
    return None if any(isinstance(item, list | dict | tuple) for item in items) else [str(item).strip() for item in items]
