"""Which rows are linked: they belong together wherever a model scores rows that it did not see.

Rows are seldom drawn one by one. SNLI has every premise three times, once with each label, and WikiQA every question with all its
candidates, of which one answers it. A model that has read a row's siblings knows its label from how the set was made, and not from its
texts: of 2,525 pairs of SNLI with their authors' labels it explained .8 of the labels' entropy, took 2 for wrong where a majority of five
annotators disagreed with 160, and ranked no better than chance. So pairs that share a text are held out together, and so are rows that
share what the user named: a patient, a speaker, a document (Roberts et al., Ecography 2017; scikit-learn's ``GroupKFold``).

Copies of a text (of its words, whatever stands between them) are linked, too, where they are many: they often come with the label of what
they were copied from, so that each vouches for the others' error (of 3,300 texts, half of them two or three times there, 331 had one error
on all copies: "about 2 wrong"); and where 72 of 972 texts were there once more under another label and another full stop, models of one
that had read the other doubted 240 right labels of other rows. A text that occurs more often is left to all folds: what most of its rows
are labelled says what it is. But where nearly all such texts have one label on all their rows, they were labelled once and copied, and are
linked, too (of 500 messages, each six times there, 38 had one error on all six: "about 0 wrong").
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import cast

import numpy as np
import pandas as pd
import pyarrow as pa

from cartograph.data.arrays import Bools, Ids, Integers
from cartograph.data.coincidences import MOST_BY_CHANCE, agreeing_by_chance
from cartograph.data.components import components, numbered
from cartograph.data.words import WORD
from cartograph.errors import InputError
from cartograph.schema import LABEL, LINKED, VALUES, DatasetInfo, dataset_info

_BLOCK = 20_000
_WORDS = re.compile(WORD)

LARGEST = 0.1
"""Share of the rows above which no group may be that texts link: chains of them can link most of a set, and one fold holds a fifth."""

COPIES, COPIED, AMONG = 4, 0.05, 500
"""Most rows of a text that are linked as copies, the least share of the rows that are copies for any to be linked, and the fewest rows of
the set: of fewer no number of wrong labels is estimated, and models need each of them."""

UNANIMOUS = 0.95
"""Share of the texts of more rows than ``COPIES`` from which on, if all rows of each have one label, these are linked as copies, too."""

MOST = 0.5
"""Share of the rows above which rows are not held together that the user linked: models would learn from the smaller part."""


def row_groups(table: pa.Table) -> Integers | None:
    """Return the group of each row of a set (``schema.examples_schema``), as ``linked_rows`` does.

    Rows are linked by the column that the user named (``schema.LINKED``), pairs by the texts that they share, and copies of a text or of
    the values of a table of features.
    """
    if not table.num_rows:
        return None
    info = dataset_info(table.schema)
    if info.task not in ("single", "pair", "table"):
        return linked_rows([], named_groups(table))
    fields = [_values(table)] if info.features else _text_ids(table, info)
    labels = table[LABEL].to_numpy() if LABEL in table.column_names else None
    return linked_rows(fields if info.task == "pair" else _copies(fields, labels), named_groups(table))


def row_copies(table: pa.Table, groups: Integers | None) -> Integers | None:
    """Return a number for each row, equal for rows of one text, or several, that are of one group, ``(n_examples,)``.

    None where no rows are linked. In tables of features rows that may agree by chance (``coincidences``) are no copies: they may differ in
    what nobody recorded.
    """
    info = dataset_info(table.schema)
    if groups is None or not (info.features or info.task in ("single", "pair")):
        return None
    fields = [_not_by_chance(table)] if info.features else _text_ids(table, info)
    return numbered(np.unique(np.stack([groups, *fields], axis=1), axis=0, return_inverse=True)[1].reshape(-1))


def same_rows(table: pa.Table, groups: Integers | None) -> Integers | None:
    """Return a number for each row, equal for up to ``COPIES`` rows of the same words, whatever stands between them, ``(n_examples,)``.

    Of a table of features for rows of the same values, unless they may agree by chance. None where rows are linked, which models read
    apart, where nothing comes twice, and of what has neither words nor values.
    """
    info = dataset_info(table.schema)
    if groups is not None or not (info.features or info.task in ("single", "pair")) or not table.num_rows:
        return None
    fields = [_not_by_chance(table)] if info.features else _ids([_words_of(_texts(table[name])) for name in info.fields])
    own, copied = _copied(fields)
    return numbered(own) if copied.any() else None


def user_groups(table: pa.Table) -> Integers | None:
    """Return what ``row_groups`` does where the user linked rows; None where at most texts link them."""
    return row_groups(table) if LINKED in table.column_names else None


def named_groups(table: pa.Table) -> Integers | None:
    """Return the number of what links each row, ``(n_examples,)``, -1 where it stands alone; None where the user named no column."""
    if LINKED not in table.column_names:
        return None
    return cast(Integers, table[LINKED].fill_null(-1).to_numpy().astype(np.intp))


def linked_texts(rows: Sequence[str | Sequence[str]], named: Integers | None = None, labels: Ids | None = None) -> Integers | None:
    """Return the group of each row of texts, as ``linked_rows`` does: of several fields rows that share a text are linked, of one copies.

    Copies have the same words, whatever stands between them.

    >>> linked_texts([("a", str(row)) for row in range(2)] + [(f"b{row}", str(row + 2)) for row in range(20)])[:3].tolist()
    [0, 0, 1]
    """
    if not len(rows):
        return linked_rows([], named)
    if isinstance(rows[0], str):
        return linked_rows(_copies(_ids([_words_of(cast(Sequence[str], rows))]), labels), named)
    return linked_rows(_ids(zip(*rows, strict=True)), named)


def named_by(values: Sequence[Hashable], number: int, what: str = "values that link rows") -> Integers:
    """Return the number of what links each row, ``(n_examples,)``, -1 where it stands alone: None, an empty text, NaN.

    Args:
        values: of each row; equal ones are linked.
        number: of rows.
        what: the values are, for a message.

    Raises:
        InputError: there are others than so many values.

    >>> named_by(["ann", "", "bo", "ann", None], 5).tolist()
    [0, -1, 1, 0, -1]
    """
    if len(values) != number:
        raise InputError(f"there are {len(values):,} {what} and {number:,} labels; give one per row.")
    numbers: dict[Hashable, int] = {}
    missing = pd.isna(pd.Series(list(values), dtype=object))
    blank = [none or (isinstance(value, str) and not value.strip()) for value, none in zip(values, missing, strict=True)]
    return np.array([-1 if alone else numbers.setdefault(value, len(numbers)) for value, alone in zip(values, blank, strict=True)], np.intp)


def linked_rows(fields: Sequence[Integers], named: Integers | None = None) -> Integers | None:
    """Return each row's group, numbered as they first occur, ``(n_examples,)``: rows that share a text, even through others, are in one.

    Where such chains link more than ``LARGEST`` of the rows, the field that repeats itself most groups them alone, and where one of its
    texts is in as many rows the next one. None where all groups are of one row, or no field will do.

    Rows that the user linked are in one group, too, whatever their texts: where chains of both link too many rows, texts link them by one
    field, and else not at all. What the user linked may be larger than ``LARGEST``; above ``MOST`` of the rows its rows stand alone.

    Args:
        fields: the id of each row's text, per field, ``(n_examples,)`` each; equal ids are equal texts, in whatever field.
        named: the number of what the user says links a row, ``(n_examples,)``, negative where it stands alone; None where nothing does.

    >>> rows = np.arange(40)
    >>> linked_rows([rows // 2, 100 + rows])[:6].tolist()
    [0, 0, 1, 1, 2, 2]
    >>> linked_rows([], np.array([7, -1, 7, -1])).tolist()
    [0, 1, 0, 2]
    """
    by_repeats = sorted(fields, key=lambda field: len(np.unique(field)))
    if named is None:
        return _first_that_will_do([list(fields), *([field] for field in by_repeats)], LARGEST) if len(fields) and len(fields[0]) else None
    if not len(named):
        return None
    own = _alone_where_too_many(named) + 1 + max((int(field.max()) for field in fields), default=-1)
    bound = max(LARGEST, float(np.bincount(own).max()) / len(own))
    return _first_that_will_do([[own, *fields], *([own, field] for field in by_repeats), [own]], bound)


def _first_that_will_do(candidates: Sequence[Sequence[Integers]], bound: float) -> Integers | None:
    """Return the groups of the first fields whose chains make none of more than that share of the rows."""
    for fields in candidates:
        groups = numbered(_chained(fields))
        largest = int(np.bincount(groups).max())
        if largest == 1:
            return None
        if largest <= bound * len(groups):
            return groups
    return None


def _chained(fields: Sequence[Integers]) -> Integers:
    """Return a number for each row, equal for rows that share an id, even through others."""
    first, number = fields[0], 1 + max(int(field.max()) for field in fields)
    if len(fields) == 1:
        return first
    return components(np.concatenate([first] * (len(fields) - 1)), np.concatenate(fields[1:]), number)[first]


def _alone_where_too_many(named: Integers) -> Integers:
    """Return numbers from 0 on, one of its own for each row that stands alone or shares its with more than ``MOST`` of the rows."""
    _, number, counts = np.unique(named, return_inverse=True, return_counts=True)
    alone = (named < 0) | (counts[number] > MOST * len(named))
    own: Integers = np.where(alone, len(counts) + np.arange(len(named)), number)
    return own


def _copies(fields: Sequence[Integers], labels: Ids | None) -> list[Integers]:
    """Return the number of each row's texts together, as ``_copied`` does; nothing where copies are few."""
    own, copied = _copied(fields, labels)
    return [] if len(own) < AMONG or copied.sum() < COPIED * len(own) else [own]


def _copied(fields: Sequence[Integers], labels: Ids | None = None) -> tuple[Integers, Bools]:
    """Return the number of each row's texts together, and which rows are copies.

    A number of its own has a row of a text of more than ``COPIES`` rows, but where labels are given and nearly all such texts have one.
    """
    number = np.unique(np.stack(fields, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    counts = np.bincount(number)
    copied = (counts[number] > 1) & (counts[number] <= COPIES)
    if labels is not None and (many := counts > COPIES).any():
        unlike = np.zeros(len(counts), bool)
        first = np.empty(len(counts), np.int64)
        first[number[::-1]] = np.asarray(labels)[::-1]
        unlike[number[first[number] != labels]] = True
        if (~unlike[many]).mean() >= UNANIMOUS:
            # One of more rows than a group may have would undo all groups.
            copied |= (many & ~unlike & (counts <= LARGEST * len(number)))[number]
    return np.where(copied, number, len(counts) + np.arange(len(number))), copied


def _values(table: pa.Table) -> Integers:
    """Return the id of the values of each row of a table of features."""
    return np.unique(pd.util.hash_pandas_object(_columns(table), index=False).to_numpy(), return_inverse=True)[1]


def _columns(table: pa.Table) -> pd.DataFrame:
    return pd.DataFrame({place: column.to_pandas() for place, column in enumerate(table[VALUES].combine_chunks().flatten())})


def _not_by_chance(table: pa.Table) -> Integers:
    """Return the id of the values of each row of a table of features, its own where other rows may agree by chance."""
    own = _values(table)
    if own.max(initial=-1) + 1 == len(own):
        return own
    alone = agreeing_by_chance(_columns(table)) >= MOST_BY_CHANCE
    return np.where(alone, table.num_rows + np.arange(table.num_rows), own)


def _text_ids(table: pa.Table, info: DatasetInfo) -> list[Integers]:
    """Return the id of each text, per field: of a single one of its words, whatever stands between them; of a pair's of the text."""
    return _ids([_texts(table[name]) if info.task == "pair" else _words_of(_texts(table[name])) for name in info.fields])


def _words_of(texts: Iterable[str]) -> Iterator[str]:
    """Yield the words of each text, in lower case; of one without words the text."""
    return (" ".join(_WORDS.findall(text.lower())) or text for text in texts)


def _texts(column: pa.ChunkedArray) -> Iterator[str]:
    for start in range(0, len(column), _BLOCK):
        yield from column.slice(start, _BLOCK).to_pylist()


def _ids(fields: Iterable[Iterable[str]]) -> list[Integers]:
    """Return the id of each text, per field; texts are compared by digests of 64 bits, since together they are far larger."""
    digests = [b"".join(blake2b(str(text).encode(), digest_size=8).digest() for text in texts) for texts in fields]
    ids = np.unique(np.frombuffer(b"".join(digests), np.uint64), return_inverse=True)[1]
    return np.split(ids, len(digests))
