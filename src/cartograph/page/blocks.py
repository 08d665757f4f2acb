"""A section of a page and its blocks; each kind of block is drawn by the function of the same name in ``assets/``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

Cell = str | int | float | None
CellKind = Literal["text", "count", "probability", "share", "points", "code", "picture"]


@dataclass(frozen=True)
class Block:
    """A part of a section. ``kind`` names the function that draws it."""

    kind: ClassVar[str]

    def listed(self) -> Iterable[int]:
        """Return the rows that the block refers to, by their place in the measures table."""
        return ()

    def content(self) -> dict[str, Any]:
        """Return the block as JSON values."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class Definitions(Block):
    """Terms with their one-line meanings."""

    kind = "definitions"
    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Map(Block):
    """The data map; its points and texts are the page's own."""

    kind = "map"
    alternative: str


@dataclass(frozen=True)
class Column:
    """A column of a table: its title, how its cells are written and sorted, and what it means."""

    title: str
    cell: CellKind = "text"
    meaning: str = ""


@dataclass(frozen=True)
class Table(Block):
    """A table of values; ``folded`` hides it behind its caption."""

    kind = "table"
    caption: str
    columns: Sequence[Column]
    cells: Sequence[Sequence[Cell]]
    folded: bool = False


@dataclass(frozen=True)
class Check:
    """One check of the data and its outcome."""

    set: str
    check: str
    passed: bool
    critical: bool
    expected: str
    found: str
    where: str


@dataclass(frozen=True)
class Checks(Block):
    """Checks: the failed ones open, the others folded."""

    kind = "checks"
    checks: Sequence[Check]


@dataclass(frozen=True)
class Facts(Block):
    """Names and values."""

    kind = "facts"
    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Command(Block):
    """A command to type."""

    kind = "command"
    text: str


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        id: its anchor.
        title: its heading.
        lead: one or two sentences that say what is found in it.
        blocks: its content.
        why: where it cannot be made: why not, in a sentence; then ``blocks`` is empty.
        short: its name in the page's navigation, where the title is long.
    """

    id: str
    title: str
    lead: str = ""
    blocks: Sequence[Block] = ()
    why: str = ""
    short: str = ""

    def listed(self) -> set[int]:
        """Return the rows that the section refers to."""
        return {int(row) for block in self.blocks for row in block.listed()}

    def content(self) -> dict[str, Any]:
        """Return the section as JSON values."""
        return {
            "id": self.id,
            "title": self.title,
            "short": self.short or self.title,
            "lead": self.lead,
            "why": self.why,
            "blocks": [block.content() for block in self.blocks],
        }
