"""Rows to audit, from a data frame or a file: the canonical table, what was set aside and why, and the way back to one's own rows."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from cartograph.data.arrays import Bools, Floats32, Integers, Integers32
from cartograph.errors import InputError
from cartograph.frames.opened import FileForm, as_texts, asked_features, opened, other_column, require_name, source_of, text_names
from cartograph.ingest.canonical import IngestedSet, RawSet, ingest
from cartograph.ingest.columns import Columns, File, parts_of
from cartograph.ingest.features import could_be_features
from cartograph.ingest.forms import COMMA
from cartograph.ingest.labeller_names import labeller_sentence
from cartograph.ingest.labels import Labelling
from cartograph.ingest.near_copies import near_copies_sentence
from cartograph.ingest.nested import outer_column, with_items
from cartograph.ingest.values import feature_of
from cartograph.read.source import Batch, Source
from cartograph.schema import LABEL, ROW, WEIGHT
from cartograph.wording import cut, listing

_AS_IT_IS = FileForm()
_LONGEST = 40


@dataclass(frozen=True)
class Rows:
    """The rows of a frame or file.

    Attributes:
        given: the frame; of a file what was read of it, a string per cell, indexed by the number of the record, from 1 on.
        ingested: the canonical table and the quarantine, as the step `ingest` makes them.
        file: the source of both.
        columns: the names of the text columns, or of the features, and last of the label column.
        numbers: the number in the file of each row of ``given``.
        asked: the columns of a table of features as they were asked for; ``ALL`` for every one, none of texts.
        form: how the file was read; None of a frame.
        linked: the name of the column whose equal values link rows; empty without one.
        labelled_by: the name of the column that says who gave the label; empty without one.
        source: the file; None of a frame.
    """

    given: pd.DataFrame
    ingested: IngestedSet
    file: File
    columns: tuple[str, ...]
    numbers: Integers
    asked: tuple[str, ...] = ()
    form: FileForm | None = None
    linked: str = ""
    labelled_by: str = ""
    source: Source | None = None

    @property
    def places(self) -> Integers:
        """The place in ``given`` of each row of ``ingested.examples``."""
        places: Integers = np.searchsorted(self.numbers, self.ingested.examples[ROW].to_numpy())
        return places

    @property
    def spelled(self) -> list[Any]:
        """What each class is called most often in the rows, ``(n_classes,)``, of several the first: a text, or a number, a date, True."""
        counts = Counter(
            zip(self.ingested.examples[LABEL].to_pylist(), self.given[self.columns[-1]].iloc[self.places].tolist(), strict=True)
        )
        names: list[Any] = list(self.ingested.info.labels)
        for (label, value), _ in reversed(counts.most_common()):
            names[label] = value
        return names

    @property
    def not_read(self) -> dict[str, list[object]]:
        """The values of each column that is not read, of the rows of ``ingested.examples``."""
        names = [name for name in self.given.columns if name not in self.columns]
        return {str(name): self.given[name].iloc[self.places].tolist() for name in names}

    @property
    def whole_file(self) -> File:
        """The source with all its columns, those of a frame that are not read among them."""
        if self.form is not None:
            return self.file
        frame = self.given.set_axis(self.given.columns.map(str), axis=1)
        # What is made of several columns is no column of the frame.
        label = self.columns[-1]
        frame = frame.drop(columns=[label] if len(parts_of(label, frame.columns.drop(label))) > 1 else [])
        return File(self.file.name, Batch(as_texts(frame.loc[:, ~frame.columns.duplicated()]), self.file.batch.rows))

    @property
    def set_aside(self) -> pd.DataFrame:
        """The records that cannot be used: ``row`` (of the frame's index, or its number in the file), ``column``, ``value``, ``reason``."""
        table: pd.DataFrame = self.ingested.quarantine.select(["row", "column", "value", "reason"]).to_pandas()
        # Of an index with levels a row's name is the tuple of its values.
        known = pd.Series(self.given.index.to_flat_index(), index=self.numbers)
        own = table["column"].replace({LABEL: str(self.columns[-1])})
        found: pd.DataFrame = table.assign(row=[known.get(number, number) for number in table["row"]], column=own)
        return found

    @property
    def decimal_commas(self) -> bool:
        """Whether a column of the file, texts and labels apart, has numbers with decimal commas."""
        read = set() if self.ingested.info.features else {*map(str, self.columns[:-1])}
        table = self.whole_file.batch.table
        names = [name for name in table.column_names if name not in read and pa.types.is_string(table[name].type)]
        return any(feature_of(name, table[name]).form == COMMA for name in names if name != self.columns[-1])

    def columns_beside_sentence(self, most: int) -> str:
        """Return which columns could be read beside a single text and are not, at most so many by name; empty where there are none."""
        info = self.ingested.info
        parts = [part for name in map(str, self.columns) for part in (name, *name.split("+"))]
        read = {*parts, self.linked, self.labelled_by, *info.fields}
        if info.task != "single" or info.features or not (names := could_be_features([self.whole_file], read)):
            return ""
        more = [f"{len(names) - most:,} more"] if len(names) > most else []
        shown = listing([*(f"`{cut(name, _LONGEST)}`" for name in names[:most]), *more])
        are, text = "is" if len(names) == 1 else "are", cut(str(self.columns[0]), _LONGEST)
        return f"`{text}` alone is read; {shown} {are} not: with --features in place of --text all columns are read together"

    def labeller_sentence(self, option: str) -> str:
        """Return that a column may say who labelled, or that the named one has one value; else nothing."""
        if self.labelled_by and self.given[self.labelled_by].nunique() < 2:
            return f"`{cut(self.labelled_by, _LONGEST)}` has the same value in all rows, so labels are not doubted by who gave them."
        read = {self.columns[-1], self.linked, *(() if self.ingested.info.features else self.columns)}
        return "" if self.labelled_by else labeller_sentence([str(name) for name in self.given.columns if name not in read], option)

    def own_vectors(self, vectors: npt.ArrayLike, labels: str = "labels") -> Floats32:
        """Return the vectors of the rows of ``ingested.examples`` from those of all rows.

        Raises:
            InputError: there are more or fewer vectors than rows; ``labels`` is what is counted of these.
        """
        read = np.asarray(vectors, dtype=np.float32)
        if len(read) != len(self.given):
            raise InputError(f"there are vectors of {len(read):,} rows and {len(self.given):,} {labels}; give one vector per row.")
        return read[self.places]

    def require_no_weights(self) -> None:
        """Check that the column ``weight`` can be added.

        Raises:
            InputError: there is one.
        """
        if WEIGHT in self.given.columns:
            raise InputError(f"the rows have a column `{WEIGHT}` already, so that weights cannot be added to them; rename it.")

    def kept(self, stays: Bools, labels: Integers32, weights: Floats32 | None = None) -> pd.DataFrame:
        """Return the rows that stay, in their own order, with all columns that they came with.

        Args:
            stays: (n_examples,) which rows of ``ingested.examples``.
            labels: (n_examples,) their label ids.
            weights: (n_examples,) how much each row counts, which becomes the column ``weight``; None: no such column.

        Raises:
            InputError: they came with a column ``weight``.
        """
        if weights is not None:
            self.require_no_weights()
            return self.kept(stays, labels).assign(**{WEIGHT: weights[stays][np.argsort(self.places[stays], kind="stable")]})
        order = np.argsort(self.places[stays], kind="stable")
        chosen = self.given.iloc[self.places[stays][order]]
        before = self.ingested.examples["label"].to_numpy()[stays][order]
        after = labels[stays][order]
        if (before == after).all():
            return chosen
        spelled, label = self.spelled, self.columns[-1]
        changed = [None if one == two else spelled[two] for one, two in zip(before, after, strict=True)]
        new = {label: [old if own is None else own for old, own in zip(chosen[label], changed, strict=True)]}
        if self.form is not None and (outer := outer_column(self.file.batch.table.column_names, label)) is not None:
            cells = [cell.tolist() if hasattr(cell, "tolist") else cell for cell in chosen[outer]]
            new[outer] = with_items(cells, outer, label, changed)
        return chosen.assign(**new)


def read_rows(
    data: pd.DataFrame | str | Path,
    text: str | Sequence[str],
    label: str,
    features: bool | Sequence[str] = False,
    form: FileForm = _AS_IT_IS,
    linked: str = "",
    labelled_by: str = "",
) -> Rows:
    """Read a frame or a file as the step `ingest` does: what cannot be used is set aside with its reason, not refused.

    Args:
        data: a frame, or the path of a CSV, TSV, JSONL, Parquet or Excel file.
        text: the text column, or the two of pairs; empty of a table of features.
        label: the label column; ``a+b+c`` for the majority of several, which becomes a column of that name.
        features: of a table of features its columns; True: every column beside the label that can be one.
        form: how a file is read.
        linked: the column whose equal values link rows; empty without one.
        labelled_by: the column that says who gave the label; empty without one.

    Raises:
        InputError: a file that cannot be read, a column that is missing, or that links rows or is the label and is read as well, or no
            row that can be used.
    """
    names = text_names(text)
    require_name("label", label)
    asked = asked_features(names, features)
    if label in (*names, *asked):
        raise InputError(f"column {label!r} is the label, and named in `{'features' if asked else 'text'}`, too; leave it out there.")
    links = other_column("linked", linked, [*names, *asked, label])
    who = other_column("labelled_by", labelled_by, [*names, *asked, label])
    file, given = opened(data, names, asked, (label,), form, tuple(dict.fromkeys(links + who)))
    if isinstance(data, pd.DataFrame):
        _require_single_labels(given, label)
    columns = Columns(tuple((name,) for name in names), (), (label,), features=asked, linked=links, labelled_by=who)
    (found,) = ingest([RawSet("train", "train", (file,))], columns, Labelling(None, {}, (), ("-",)))
    names = [feature.name for feature in found.info.features] or names
    if label not in given.columns and len(parts_of(label, given.columns)) > 1:
        # The majority of several columns becomes one of its own.
        most = pd.Series(pd.array([None] * len(given), dtype=object), index=given.index)
        most.iloc[np.searchsorted(file.batch.rows.to_numpy(), found.examples[ROW].to_numpy())] = np.array(found.info.labels, object)[
            found.examples["label"].to_numpy()
        ]
        given = given.assign(**{label: most})
    own = None if isinstance(data, pd.DataFrame) else form
    source = None if isinstance(data, pd.DataFrame) else source_of(data, form)
    return Rows(given, found, file, (*names, label), file.batch.rows.to_numpy(), asked, own, linked, labelled_by, source)


def _require_single_labels(frame: pd.DataFrame, label: str) -> None:
    """Check that a frame's labels are one a row.

    Raises:
        InputError: a cell holds several values; with the first such row.
    """
    for name in parts_of(label, frame.columns):
        several = frame[name].map(pd.api.types.is_list_like)
        if several.any():
            raise InputError(
                f"column {name!r} holds {cut(str(frame[name][several].iloc[0]), 40)} in row {several.idxmax()!r}, expected one label; "
                f"rows with several labels are audited by `labels={name!r}` in place of `label`."
            )


def check_threshold(threshold: float) -> None:
    """Check the probability from which on a row is a suspect.

    Raises:
        InputError: it is not in (0, 1).
    """
    if not 0 < threshold < 1:
        raise InputError(
            f"threshold must be in (0, 1), but is {threshold}; rows whose label is wrong with at least this probability are suspects."
        )


def check_epochs(epochs: int | Literal["auto"]) -> None:
    """Check the number of epochs of the training behind the map.

    Raises:
        InputError: it is no whole number, or below 2, and not ``auto``.
    """
    if epochs != "auto" and (not isinstance(epochs, int) or epochs < 2):
        raise InputError(f"epochs must be 2 or more, a whole number, or auto, but is {epochs!r}.")


def warn_of_links(rows: Rows) -> None:
    """Warn where a column links too few rows or too many, rows are near copies that no column links, or a column may say who labelled."""
    linkage = rows.ingested.linkage
    said = near_copies_sentence(rows.ingested.near_copies, rows.not_read, "linked="), rows.labeller_sentence("labelled_by=")
    for warning in [*(linkage.warnings.values() if linkage is not None else ()), *filter(None, said)]:
        warnings.warn(warning, stacklevel=3)
