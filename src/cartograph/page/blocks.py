"""What a section is built from: each kind of block is drawn by the function of the same name in ``assets/``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
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
        return {"kind": self.kind, **{item.name: _plain(getattr(self, item.name)) for item in fields(self)}}


def _plain(value: Any) -> Any:
    if isinstance(value, Block):
        return value.content()
    if hasattr(value, "__dataclass_fields__"):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


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
class Region:
    """One region's card: how many rows, where they lie, and some of them."""

    name: str
    meaning: str
    rows: int
    share: str
    bounds: Sequence[tuple[str, str]]
    examples: Sequence[int]


@dataclass(frozen=True)
class Regions(Block):
    """Cards of regions."""

    kind = "regions"
    regions: Sequence[Region]

    def listed(self) -> Iterable[int]:
        """Return the examples of all regions."""
        return (row for region in self.regions for row in region.examples)


@dataclass(frozen=True)
class RowList:
    """Rows in their order, under a name."""

    name: str
    meaning: str
    rows: Sequence[int]


@dataclass(frozen=True)
class RowTables(Block):
    """Tables of rows, one shown at a time; sortable, filterable, each row opens its card."""

    kind = "rowTables"
    lists: Sequence[RowList]

    def listed(self) -> Iterable[int]:
        """Return the rows of all tables."""
        return (row for rows in self.lists for row in rows.rows)


@dataclass(frozen=True)
class Suspect:
    """A row whose label is doubted.

    Attributes:
        place: its place in the measures table.
        rank: 1 = most suspect.
        probability: that its label is wrong, in [0, 1].
        suggested: id of the label suggested instead.
        reason: why, in words.
    """

    place: int
    rank: int
    probability: float
    suggested: int
    reason: str


@dataclass(frozen=True)
class SuspectTable(Block):
    """Suspects in their order; sortable, filterable, each row opens its card."""

    kind = "suspects"
    caption: str
    suspects: Sequence[Suspect]

    def listed(self) -> Iterable[int]:
        """Return the rows of all listed suspects."""
        return (suspect.place for suspect in self.suspects)


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
    """One check of the data and what came of it."""

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
class Series:
    """A line of a chart; ``ends`` are the intervals of its values, where it has such."""

    name: str
    values: Sequence[float | None]
    ends: Sequence[tuple[float, float] | None] = ()


@dataclass(frozen=True)
class Chart:
    """Lines over a common x; ``marks`` are the x values' names."""

    title: str
    meaning: str
    x_title: str
    x: Sequence[float]
    series: Sequence[Series]
    y_range: tuple[float, float] | None = None
    whole_x: bool = False


@dataclass(frozen=True)
class Charts(Block):
    """Charts side by side, with their numbers folded beneath."""

    kind = "charts"
    charts: Sequence[Chart]


@dataclass(frozen=True)
class Dot:
    """A number with its interval.

    Attributes:
        name: what it is of.
        value: the number; ``low`` and ``high`` are the ends of its interval.
        text: the number as it is written beside.
        marks: numbers drawn small on the same line.
        group: heading that it stands under; dots of one group follow one another.
        style: which colour and shape, from 0; None for the text's own colour.
    """

    name: str
    value: float
    low: float
    high: float
    text: str
    marks: Sequence[float] = ()
    group: str = ""
    style: int | None = None


@dataclass(frozen=True)
class DotPlot:
    """Dots with intervals, one per line, over a common x from ``x_range[0]`` to ``x_range[1]``; ``zero`` draws a line at 0."""

    title: str
    meaning: str
    x_title: str
    dots: Sequence[Dot]
    x_range: tuple[float, float]
    zero: bool = False


@dataclass(frozen=True)
class Dots(Block):
    """Dot plots side by side, with a note beneath."""

    kind = "dots"
    plots: Sequence[DotPlot]
    note: str = ""


@dataclass(frozen=True)
class Plane:
    """A small map of some rows: variability and confidence, flat."""

    title: str
    note: str
    variability: Sequence[float]
    confidence: Sequence[float]


@dataclass(frozen=True)
class Planes(Block):
    """Small maps side by side, on the same axes."""

    kind = "planes"
    planes: Sequence[Plane]


@dataclass(frozen=True)
class Picture(Block):
    """A question with its answer in words and, where there is one, a still picture.

    Attributes:
        title: the question.
        text: the answer.
        note: where it is from.
        source: the picture as a ``data:image/png`` address; empty where there is none.
        alternative: what it shows, in words.
        width: in pixels of a usual screen.
    """

    kind = "picture"
    title: str
    text: str
    note: str = ""
    source: str = ""
    alternative: str = ""
    width: int = 0


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
