"""What the review page asks: what every kind of question has in common, and how an answer gets to the disk."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from cartograph.data.spreadsheet import header_of, read_sheet, write_sheet
from cartograph.data.whole_files import write_whole
from cartograph.errors import InputError
from tasks.engine.lock import BusyError
from tasks.engine.workspace import Workspace

if TYPE_CHECKING:
    import pyarrow as pa

_PATIENCE = 3.0
_PAUSE = 0.02
HOLDER = "python -m tasks review --open"
PICTURE_SIDE = 320
"""Most pixels of the longer side of an image that is asked about."""


class ChangedError(InputError):
    """The answer was another than the one that somebody meant to replace.

    Attributes:
        now: the answer as it is.
    """

    def __init__(self, now: str) -> None:
        super().__init__(f"this was answered in the meantime, in another tab or program: {now or 'the answer was taken back'}.")
        self.now = now


class Questions(Protocol):
    """One kind of question, in its order. Questions are named by their place, from 0."""

    def overview(self) -> dict[str, Any]:
        """Return what the page needs before its first question: ``kind``, ``title``, ``labels``, ``answers`` by place, and words."""
        ...

    def question(self, place: int) -> dict[str, Any]:
        """Return what is asked, and ``answer`` as it stands on the disk.

        Raises:
            IndexError: there is no such question.
        """
        ...

    def context(self, place: int) -> dict[str, Any]:
        """Return what takes longer to find out: the row's epochs and the rows nearest to it."""
        ...

    def answer(self, place: int, answer: str, before: str, *, settles: bool = False) -> dict[str, Any]:
        """Write an answer; when this returns it is on the disk. Return it as it was understood.

        Args:
            place: of the question.
            answer: in words of its kind; empty takes the answer back.
            before: the answer that this one is to replace, as the page knows it.
            settles: it is the common answer of all who answered.

        Raises:
            ChangedError: the answer on the disk is neither ``before`` nor ``answer``.
            InputError: it is no possible answer, or cannot be written now.
            IndexError: there is no such question.
        """
        ...

    def agreement(self) -> dict[str, Any]:
        """Return how far people agree: ``lines``, and the places of ``disputed`` questions."""
        ...


@contextmanager
def brief_hold(space: Workspace) -> Iterator[None]:
    """Hold a workspace for as long as it takes to write one answer; wait a moment for another page that does the same.

    Raises:
        InputError: an audit holds it, so nothing is written.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        holding = space.lock(HOLDER)
        try:
            holding.__enter__()
            break
        except BusyError as error:
            if time.monotonic() > until:
                raise InputError(f"not saved: {error}") from error
            time.sleep(_PAUSE)
    try:
        yield
    finally:
        holding.__exit__(None, None, None)


def require_unchanged(now: str, before: str, answer: str) -> None:
    """Check that an answer replaces what its writer thinks that it replaces.

    Raises:
        ChangedError: it does not.
    """
    if now not in (before, answer):
        raise ChangedError(now)


def shown_rows(rows: pa.Table, side: int) -> list[list[tuple[str, str, bool]]]:
    """Return what is shown of each row: its fields' names, texts, values or small pictures, and whether they are pictures.

    Args:
        rows: of a set of examples (``schema.examples_schema``).
        side: most pixels of a picture's longer side.
    """
    from cartograph.data.images import shown_fields
    from cartograph.features.unusual import shown_values
    from cartograph.schema import dataset_info

    info = dataset_info(rows.schema)
    if info.features:
        names = [feature.name for feature in info.features]
        return [[(name, value, False) for name, value in zip(names, row, strict=True)] for row in zip(*shown_values(rows), strict=True)]
    images = [name in info.images for name in info.fields]
    return [list(zip(info.fields, shown, images, strict=True)) for shown in zip(*shown_fields(rows, info, side), strict=True)]


def require_name(name: str) -> str:
    """Return an annotator's name without surrounding blanks.

    Raises:
        InputError: it cannot be distinguished from other names in a file of decisions.
    """
    name = name.strip()
    if not name or ";" in name or len(name) > 80 or not name.isprintable():
        raise InputError(f"--annotator is {name[:80]!r}; give a name of up to 80 characters, without a semicolon.")
    return name


def write_cell(path: Path, chosen: Callable[[dict[str, str]], bool], column: str, value: str) -> None:
    """Write a sheet again with another value in a column of the chosen rows."""
    content = path.read_bytes()
    header = header_of(content, path.name)
    rows = [dict(record.cells) for record in read_sheet(content, path.name, (column,))]
    for row in rows:
        if chosen(row):
            row[column] = value
    write_whole(path, write_sheet(header, ([row.get(name, "") for name in header] for row in rows)))


def slug(name: str) -> str:
    """Return a name as part of a file's; names that differ give other parts."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")
    return plain if plain == name else f"{plain or 'annotator'}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
