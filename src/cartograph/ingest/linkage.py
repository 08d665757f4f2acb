"""Which rows of a train set a column of the user's links, such as a patient, a speaker or a document, and what is to be said of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.data.linked_rows import LARGEST, MOST
from cartograph.ingest.columns import is_blank
from cartograph.wording import counted, cut, listing, percent, share

_LONGEST, _MOST_NAMED = 60, 3


@dataclass(frozen=True)
class Linkage:
    """What a column links.

    Attributes:
        column: its name.
        used: rows of the train set.
        linked: those that are held out together with others.
        groups: in how many groups.
        largest: the value that is in most rows.
        most: in how many.
        whole: names of the classes whose rows, two or more, all have one value.
    """

    column: str
    used: int
    linked: int
    groups: int
    largest: str
    most: int
    whole: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What is held out together."""
        if not self.groups:
            return f"{self._named} links no rows."
        return (
            f"Rows with the same {self._named} are held out together: {self.linked:,} of {self.used:,} in {counted(self.groups, 'group')}."
        )

    @property
    def warnings(self) -> dict[str, str]:
        """What it links too little or too much: a check that failed -> what was found."""
        findings = {}
        if not self.groups and self.most <= 1:
            findings[LINKS] = f"no value of {self._named} is in two rows, so each is held out on its own"
        elif self.most > LARGEST * self.used:
            held = "on their own" if self.most > MOST * self.used else "together, so models that score them learn from the others alone"
            findings[NOT_TOO_MANY] = (
                f"“{cut(self.largest, _LONGEST)}” of {self._named} is in {self.most:,} of {self.used:,} rows "
                f"({share(self.most, self.used)}), which are held out {held}"
            )
        if self.whole:
            named = listing([f"“{cut(name, _LONGEST)}”" for name in self.whole[:_MOST_NAMED]])
            more = f", and {len(self.whole) - _MOST_NAMED:,} more" if len(self.whole) > _MOST_NAMED else ""
            findings[NOT_WHOLE] = f"rows of {named}{more} have one {self._named} each, so no model that scores them knows their class"
        return findings

    @property
    def _named(self) -> str:
        return f"`{cut(self.column, _LONGEST)}`"


LINKS, NOT_TOO_MANY, NOT_WHOLE = "a column links rows", "no value links too many rows", "no class is linked as a whole"
"""What is checked of such a column."""

EXPECTED = {
    LINKS: "values in two rows or more",
    NOT_TOO_MANY: f"at most {percent(LARGEST)} of the rows",
    NOT_WHOLE: "every class with two values or more",
}
"""What each check expects."""


def linked_numbers(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a number for each row, int32, from 0 on as they first occur: equal for equal texts; null of blank ones.

    White space around a text does not count.

    >>> linked_numbers(pa.chunked_array([["ann", "", "bo", " ann", None]])).to_pylist()
    [0, None, 1, 0, None]
    """
    kept = pc.if_else(is_blank(texts), None, pc.utf8_trim_whitespace(texts)).cast(pa.large_string())
    encoded = pa.concat_arrays(kept.chunks).dictionary_encode() if kept.num_chunks else pa.array([], pa.string()).dictionary_encode()
    return pa.chunked_array([encoded.indices.cast(pa.int32())])


def linkage_of(column: str, texts: pa.ChunkedArray, numbers: pa.ChunkedArray, labels: pa.ChunkedArray, names: tuple[str, ...]) -> Linkage:
    """Return what a column links.

    Args:
        column: its name.
        texts: its values, of the rows that are used.
        numbers: as ``linked_numbers`` makes them of these.
        labels: label ids of these rows.
        names: of the classes.
    """
    own = numbers.fill_null(-1).to_numpy()
    given, place, counts = np.unique(own[own >= 0], return_index=True, return_counts=True)
    if not len(given):
        return Linkage(column, len(own), 0, 0, "", 0, ())
    most = int(counts.argmax())
    value = texts.take(pa.array(np.flatnonzero(own >= 0)[place[most : most + 1]]))[0].as_py().strip()
    together = (counts > 1) & (counts <= MOST * len(own))
    alone = np.where((own < 0) | ~together[own], len(counts) + np.arange(len(own)), own)
    ids = labels.to_numpy()
    pairs = np.unique(np.stack([ids, alone]), axis=1)[0]
    rows, values = np.bincount(ids, minlength=len(names)), np.bincount(pairs, minlength=len(names))
    whole = tuple(name for name, many, one in zip(names, rows, values, strict=True) if many > 1 and one == 1)
    return Linkage(column, len(own), int(counts[together].sum()), int(together.sum()), value, int(counts[most]), whole)
