"""The suspects as a sheet on which people decide: texts, given label, suggestion and reason, and columns to fill in."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.clean.cleaning import aligned
from cartograph.clean.decisions import COLUMNS, Decision, check, entries_of
from cartograph.data.arrays import Integers
from cartograph.data.images import shown_fields
from cartograph.data.spreadsheet import read_sheet, write_sheet
from cartograph.errors import InputError
from cartograph.schema import LABEL, UID, DatasetInfo, dataset_info

_BEFORE = ("rank", "uid")
_AFTER = ("given_label", "suggested_label", "probability", "suggested_probability", "reason", *COLUMNS[1:])
_EMPTY = ("",) * len(COLUMNS[1:])


@dataclass(frozen=True)
class Suspect:
    """A row whose label is doubted, and all that a reviewer is shown of it.

    Attributes:
        texts: of ``DatasetInfo.fields``, in order; an image as a small picture (``images.shown_fields``).
        suggested: the label that fits better; empty where nothing is known of one.
        probability: that the given label is wrong, in [0, 1].
        suggested_probability: mean predicted probability of the suggested label, in [0, 1].
    """

    rank: int
    uid: str
    texts: tuple[str, ...]
    given: str
    suggested: str
    probability: float
    suggested_probability: float
    reason: str


NEXT = 50
"""How many rows below the list are asked about where nobody says how many."""


def lists_none(noise: pa.Table) -> bool:
    """Return whether an audit that looked for suspects found none."""
    return not pc.any(noise["flagged"]).as_py() and bool(noise.num_rows and pc.max(noise["probability"]).as_py() > 0)


def flagged_rows(noise: pa.Table) -> pa.Array:
    """Return the places of the flagged rows in a table of suspects (``schema.NOISE``), most suspect first."""
    flagged = pc.indices_nonzero(noise["flagged"])
    return flagged.take(pc.sort_indices(noise["rank"].take(flagged)))


def down_the_list(noise: pa.Table) -> Integers:
    """Return the places of the flagged rows, most suspect first, and behind them of those that rank below.

    What ranks above the last of the list and is not on it has another form of its own class for suggestion, and is left out.
    """
    rank, listed = noise["rank"].to_numpy(), noise["flagged"].to_numpy(zero_copy_only=False)
    asked = np.flatnonzero(listed | (rank > rank[listed].max(initial=0)))
    return asked[np.argsort(rank[asked])]


def asked_rows(noise: pa.Table, decided: Container[str], further: int) -> pa.Array:
    """Return the places of the flagged rows, most suspect first, and behind them of rows that rank below.

    Args:
        noise: suspects (``schema.NOISE``).
        decided: uids of rows that people decided about.
        further: how many undecided rows below the list there are to be at most; with any, those that are decided come, too.
    """
    flagged = flagged_rows(noise)
    if not further:
        return flagged
    below = down_the_list(noise)[len(flagged) :]
    open_ = np.array([uid not in decided for uid in noise[UID].take(pa.array(below)).to_pylist()], bool)
    return pa.concat_arrays([flagged.cast(pa.int64()), pa.array(below[~open_ | (np.cumsum(open_) <= further)], pa.int64())])


def suspects(examples: pa.Table, noise: pa.Table, limit: int, decided: Container[str] = (), further: int = 0) -> list[Suspect]:
    """Return the flagged rows that nobody has decided about, most suspect first, at most ``limit``, and rows that rank below them.

    Args:
        examples: the train set (``schema.examples_schema``).
        noise: its suspects (``schema.NOISE``), in any order.
        decided: uids that are left out.
        further: how many rows below the list are asked about as well.

    Raises:
        InputError: the suspects are of another train set.
    """
    noise = aligned(noise, examples)
    order = asked_rows(noise, decided, further)
    undecided = [uid not in decided for uid in noise[UID].take(order).to_pylist()]
    return suspects_at(examples, noise, order.filter(pa.array(undecided, pa.bool_()))[: limit + further])


def suspects_at(examples: pa.Table, noise: pa.Table, places: pa.Array) -> list[Suspect]:
    """Return some rows with what is said of them.

    Args:
        examples: the train set (``schema.examples_schema``).
        noise: its suspects (``schema.NOISE``), in the order of ``examples``.
        places: of the rows, in both.
    """
    info = dataset_info(examples.schema)
    found = []
    rows = examples.take(places)
    shown = zip(*shown_fields(rows, info), strict=True)
    for row, texts, doubt in zip(rows.select([UID, LABEL]).to_pylist(), shown, noise.take(places).to_pylist(), strict=True):
        known = doubt["suggested"] >= 0 and not math.isnan(doubt["suggested_probability"])
        found.append(
            Suspect(
                rank=doubt["rank"],
                uid=row[UID],
                texts=texts,
                given=info.labels[row[LABEL]],
                suggested=info.labels[doubt["suggested"]] if known else "",
                probability=doubt["probability"],
                suggested_probability=doubt["suggested_probability"] if known else math.nan,
                reason=doubt["reason"],
            )
        )
    return found


def text_columns(info: DatasetInfo, taken: Sequence[str]) -> tuple[str, ...]:
    """Return a sheet's names for the text columns: their own, unless another column of the sheet is called so.

    >>> text_columns(DatasetInfo("train", "train", "single", ("comment",), (), ("a", "b")), ["uid", "comment"])
    ('comment (text)',)
    """
    names: list[str] = []
    for field in info.fields:
        name = field
        while name.strip().lower() in {*taken, *(other.strip().lower() for other in names)}:
            name += " (text)"
        names.append(name)
    return tuple(names)


def review_sheet(info: DatasetInfo, found: Sequence[Suspect]) -> bytes:
    """Return the sheet as CSV; the columns ``decision``, ``new_label``, ``by`` and ``comment`` are empty, for people to fill in."""
    rows = []
    for suspect in found:
        numbers = (_number(suspect.probability), _number(suspect.suggested_probability))
        rows.append((suspect.rank, suspect.uid, *suspect.texts, suspect.given, suspect.suggested, *numbers, suspect.reason, *_EMPTY))
    return write_sheet((*_BEFORE, *text_columns(info, (*_BEFORE, *_AFTER)), *_AFTER), rows)


def _number(value: float) -> str | float:
    return "" if math.isnan(value) else round(value, 4)


def require_saved(content: bytes, name: str, kept: Sequence[Decision], given: Mapping[str, str], labels: Sequence[str], way: str) -> None:
    """Check that nothing on a sheet that is about to be replaced would be lost.

    Args:
        content: of the sheet.
        name: what messages call it.
        kept: all decisions that are kept, also those about rows that are gone or have changed since.
        given: uid -> label name, of every row of the train set.
        labels: the class names.
        way: the command that takes decisions in.

    Raises:
        InputError: somebody has filled in rows whose decisions are not among ``kept``, or the sheet cannot be read; the message
            says how to keep them.
    """
    try:
        entries = [entry for entry in entries_of(read_sheet(content, name, ("uid", "decision")), name, by="?") if entry.filled]
    except InputError as error:
        raise InputError(f"{error} Until then nobody can tell what it holds, and it is not replaced; or delete the file.") from error
    try:
        filled = check(entries, name, given, labels, kept=True)
        ends = {(one.uid, one.outcome(given.get(one.uid, ""))) for one in kept}
        lost = sum((one.uid, one.outcome(given.get(one.uid, ""))) not in ends for one in filled)
    except InputError:
        lost = len(entries)
    if lost:
        raise InputError(
            f"{name} holds decisions about {lost:,} rows that were not taken in and would be lost, since the sheet is written again. "
            f"Take them in with `{way}`, or delete the file."
        )
