"""A frame or a file as a source of rows, as the step `ingest` reads it, and which of its columns are asked for."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from cartograph.errors import InputError
from cartograph.ingest.columns import ALL, File, parts_of
from cartograph.ingest.nested import column_at
from cartograph.read.arrow import raw_columns
from cartograph.read.encodings import mixed_sentence
from cartograph.read.excel import sheet_named
from cartograph.read.formats import guessed_encoding, read
from cartograph.read.source import Batch, Source


@dataclass(frozen=True)
class FileForm:
    """How a file is read.

    Attributes:
        encoding: of a text file; empty to find it out.
        columns: names by position of a file without a header, an empty name for a column that is left out.
    """

    encoding: str = ""
    columns: tuple[str, ...] = ()


_NUMBERED = "Columns that are numbered get such names by `frame.columns = frame.columns.map(str)`."


def other_column(option: str, name: str, read: Sequence[str]) -> tuple[str, ...]:
    """Return the name of the column that an option names beside those that are read, or nothing.

    Raises:
        InputError: it is one of those that are read.
    """
    if name and name in read:
        raise InputError(f"column {name!r} is named in `{option}` and as what is read of the rows; name a column of its own in `{option}`.")
    return (name,) if name else ()


def text_names(text: str | Sequence[str]) -> list[str]:
    """Return the text columns, of which one may be given without a list around it.

    Raises:
        InputError: a name that is no text.
    """
    names = list(text) if isinstance(text, Sequence) and not isinstance(text, str) else [text]
    for name in names:
        require_name("text", name)
    return names


def require_name(option: str, name: object) -> None:
    """Check that the name of a column is a text.

    Raises:
        InputError: it is a number, as of a frame without names of its own.
    """
    if not isinstance(name, str):
        raise InputError(f"`{option}` must be the name of a column, a text, but is {name!r}. {_NUMBERED}")


def asked_features(names: Sequence[str], features: bool | Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a table of features, ``ALL`` for every one; none of texts.

    Raises:
        InputError: both texts and features are named, no text or more than two, or one twice.
    """
    if names and features:
        raise InputError("name texts or features, not both.")
    asked = () if not features else ALL if features is True else tuple(features)
    if not asked and len(names) not in (1, 2):
        table = "" if names else ", or give `features=True` where the columns are numbers and categories"
        raise InputError(f"text names {len(names)} columns; name one, or two for pairs{table}.")
    if len(set(names)) < len(names):
        raise InputError(f"column {names[0]!r} is named twice as a text; name two columns for pairs, or one.")
    return asked


def opened(
    data: pd.DataFrame | str | Path,
    names: Sequence[str],
    asked: Sequence[str],
    labels: Sequence[str],
    form: FileForm,
    links: Sequence[str] = (),
) -> tuple[File, pd.DataFrame]:
    """Return a frame or a file as a source of the step `ingest`, and its rows as they were given.

    Args:
        data: as in ``read_rows``.
        names: the text columns.
        asked: the columns of a table of features; ``ALL``: every column beside the labels.
        labels: the label columns.
        form: how a file is read; a warning says which encoding was found out.
        links: the columns that are read beside these: whose equal values link rows, and who gave the label.

    Raises:
        InputError: neither a frame nor a path, a file that cannot be read, or a column of a frame that is missing, or there twice, or whose
            names have levels.
    """
    if not isinstance(data, pd.DataFrame | str | Path):
        raise InputError(f"what is audited must be a pandas data frame or the path of a file, but is a {type(data).__name__}.")
    if not isinstance(data, pd.DataFrame):
        source = source_of(data, form)
        if source.encoding and not form.encoding:
            mixed = mixed_sentence(Path(data), source.encoding)
            warnings.warn(f"{source.name} is not UTF-8; it is read as {source.encoding}.{mixed}", stacklevel=4)
        batch = read(source)
        file, frame = File(source.name, batch), batch.table.to_pandas().set_index(batch.rows.to_numpy())
        # An item of a list, such as `annotations.0.value`, is no column of its own yet.
        for name in (*names, *(() if asked == ALL else asked), *labels, *links):
            if name not in frame and (item := column_at(batch.table, name)) is not None:
                frame[name] = item.to_pandas().to_numpy()
        return file, frame
    _require_plain_names(data)
    if asked:
        data = data.set_axis(data.columns.map(str), axis=1)
    labels = [part for name in labels for part in parts_of(name, data.columns)]
    own = [name for name in data.columns if name not in labels] if asked == ALL else [*names, *asked, *links]
    _require_columns(data, [*own, *labels, *(name for name in links if name not in own)])
    return File("frame", Batch(as_texts(data[[*own, *labels]]), pa.array(np.arange(len(data))))), data


def source_of(data: str | Path, form: FileForm) -> Source:
    """Return a file as it is read: in its form, or in the encoding that it seems to have; of a workbook the sheet that is named."""
    path, sheet = sheet_named(data)
    encoding = form.encoding or guessed_encoding(Path(path))
    return Source(path, Path(data).name, encoding=encoding or None, columns=form.columns, split=sheet)


def as_texts(frame: pd.DataFrame) -> pa.Table:
    """Return a frame as a source has it: a text per cell, null where a value is missing; halves of characters as escapes."""
    columns = frame.reset_index(drop=True)
    return raw_columns(pa.Table.from_pandas(columns.astype(object).where(columns.notna(), None).map(_plain), preserve_index=False), "frame")


def _plain(value: Any) -> str | None:
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    text = str(value)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _require_plain_names(frame: pd.DataFrame) -> None:
    if (levels := frame.columns.nlevels) > 1:
        raise InputError(
            f"the frame's column names have {levels} levels, but one is needed: "
            "frame.columns = ['_'.join(map(str, name)) for name in frame]."
        )


def _require_columns(frame: pd.DataFrame, names: Sequence[str]) -> None:
    for name in names:
        if name not in frame.columns:
            numbered = f" {_NUMBERED}" if name in {str(column) for column in frame.columns} else ""
            raise InputError(f"the frame has no column {name!r}; its columns are {', '.join(map(str, frame.columns))}.{numbered}")
        if (number := int((frame.columns == name).sum())) > 1:
            raise InputError(f"the frame has {number} columns {name!r}; rename or drop the others.")
    if not len(frame):
        raise InputError("the frame has no rows.")
