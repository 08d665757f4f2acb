"""Which rows of pairs share a text: they belong together wherever a model scores rows that it did not see.

Pairs are seldom drawn one by one. SNLI has every premise three times, once with each label, and WikiQA every question with all its
candidates, of which one answers it. A model that has read a row's siblings knows its label from how the set was made, and not from its
texts: of 2,525 pairs of SNLI with their authors' labels it explained .8 of the labels' entropy, took 2 for wrong where a majority of five
annotators disagreed with 160, and ranked no better than chance. So what shares a text is held out together (Roberts et al., Ecography 2017;
scikit-learn's ``GroupKFold``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Integers
from cartograph.schema import dataset_info

_BLOCK = 20_000

LARGEST = 0.1
"""Share of the rows above which no group may be: chains of shared texts can link most of a set, and one fold holds a fifth."""


def shared_texts(table: pa.Table) -> Integers | None:
    """Return the group of each row of a set (``schema.examples_schema``), as ``linked_rows`` does; None unless its rows are pairs."""
    info = dataset_info(table.schema)
    if info.task != "pair" or not table.num_rows:
        return None
    return linked_rows(_ids([_texts(table[name]) for name in info.fields]))


def linked_texts(rows: Sequence[str | Sequence[str]]) -> Integers | None:
    """Return the group of each row of texts of several fields, as ``linked_rows`` does; None of single texts.

    >>> linked_texts([("a", str(row)) for row in range(2)] + [(f"b{row}", str(row + 2)) for row in range(20)])[:3].tolist()
    [0, 0, 1]
    """
    if not len(rows) or isinstance(rows[0], str):
        return None
    return linked_rows(_ids(zip(*rows, strict=True)))


def linked_rows(fields: Sequence[Integers]) -> Integers | None:
    """Return each row's group, numbered as they first occur, ``(n_examples,)``: rows that share a text, even through others, are in one.

    Where such chains link more than ``LARGEST`` of the rows, the field that repeats itself most groups them alone, and where one of its
    texts is in as many rows the next one. None where all groups are of one row, or no field will do.

    Args:
        fields: the id of each row's text, per field, ``(n_examples,)`` each; equal ids are equal texts, in whatever field.

    >>> rows = np.arange(40)
    >>> linked_rows([rows // 2, 100 + rows])[:6].tolist()
    [0, 0, 1, 1, 2, 2]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not len(fields) or not len(fields[0]):
        return None
    first, number = fields[0], 1 + max(int(field.max()) for field in fields)
    ends = np.concatenate([first] * (len(fields) - 1) or [first]), np.concatenate(fields[1:] or [first])
    chained = connected_components(coo_array((np.ones(len(ends[0]), bool), ends), shape=(number, number)), directed=False)[1][first]
    for groups in (chained, *sorted(fields, key=lambda field: len(np.unique(field)))):
        _, rows, numbered = np.unique(groups, return_index=True, return_inverse=True)
        numbered = np.argsort(np.argsort(rows))[numbered]
        largest = int(np.bincount(numbered).max())
        if largest == 1:
            return None
        if largest <= LARGEST * len(first):
            return numbered
    return None


def _texts(column: pa.ChunkedArray) -> Iterator[str]:
    for start in range(0, len(column), _BLOCK):
        yield from column.slice(start, _BLOCK).to_pylist()


def _ids(fields: Iterable[Iterable[str]]) -> list[Integers]:
    """Return the id of each text, per field; texts are compared by digests of 64 bits, since together they are far larger."""
    digests = [b"".join(blake2b(str(text).encode(), digest_size=8).digest() for text in texts) for texts in fields]
    ids = np.unique(np.frombuffer(b"".join(digests), np.uint64), return_inverse=True)[1]
    return np.split(ids, len(digests))
