"""Blocks that draw numbers: line charts, dot plots, small maps, and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cartograph.page.blocks import Block


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
        group: the heading above it; dots of one group follow one another.
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
class Heat(Block):
    """How often pairs of labels occur.

    Attributes:
        caption: what is counted.
        meaning: how to read it, in words that follow the caption.
        alternative: its most frequent pairs in words.
        labels: the names along both sides.
        pairs: row, column and count of each pair that occurs, as places in ``labels``.
    """

    kind = "heat"
    caption: str
    meaning: str
    alternative: str
    labels: Sequence[str]
    pairs: Sequence[tuple[int, int, int]]


@dataclass(frozen=True)
class Picture(Block):
    """A question with its answer in words and, where there is one, a still picture.

    Attributes:
        title: the question.
        text: the answer.
        note: where it is from.
        source: the picture as a ``data:image/png`` address; empty for an answer without one.
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
