"""The data map as an interactive Plotly figure: the same table, points, colours and shapes as the still one."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa

from cartograph.data.arrays import Integers
from cartograph.errors import InputError
from cartograph.figures.palette import DENSITY, MUTED, Level, check_map, correctness_levels, sample_points
from cartograph.maps.regions import AMBIGUOUS, EASY, HARD, region_lines
from cartograph.schema import REGIONS
from cartograph.wording import percent

_PLANE = (0.0, 0.82)
_SIDE = (0.845, 1.0)
_BINS = 50
_LINE_WIDTH = 64
_MOST_LINES = 4


def interactive_map(
    measures: pa.Table,
    texts: Sequence[str] | None = None,
    *,
    max_points: int = 25_000,
    seed: int = 13,
    labels: Sequence[str] = (),
    always: Iterable[int] = (),
) -> go.Figure:
    """Draw the data map with Plotly: variability across, confidence up, one trace per level of correctness.

    A point's ``customdata`` is the index of its row in ``measures``. Coordinates are float32, so that 25,000 points
    take half a megabyte of page. Beside the plane are the densities of all rows: variability above it, confidence to the
    right, correctness in the corner, bars in the colours of the levels. Backgrounds are transparent and colours hold on light
    and on dark pages; the page sets the colour of the type (``layout.font.color``). ``layout.meta`` has the numbers of rows and of points.

    Args:
        measures: a table of ``schema.MEASURES``, as ``map_table`` returns it.
        texts: what hovering shows, one plain text per row (markup in it is escaped), with the label given
            and the label predicted; None where the page shows its own card: hovering then gives the coordinates alone.
        max_points: most points drawn.
        seed: of the sample.
        labels: label names by id; needed where ``texts`` are given.
        always: indices of rows that are always among the points drawn.

    Returns:
        A Plotly figure; ``figure.write_html("map.html")`` writes it.

    Raises:
        InputError: the table lacks a column, or there are texts of another number of rows.

    >>> from cartograph.maps.measures import Measures
    >>> from cartograph.maps.table import map_table
    >>> measures = Measures(confidence=np.array([0.9, 0.2]), variability=np.array([0.0, 0.3]), correctness=np.array([1.0, 0.5]))
    >>> table = map_table(["a", "b"], np.array([0, 1]), measures)
    >>> interactive_map(table, ["fine film", "dull"], labels=["no", "yes"]).layout.meta["rows"]
    2
    """
    check_map(measures, *(() if texts is None else ("gold", "predicted")))
    if texts is not None and len(texts) != measures.num_rows:
        raise InputError(f"`texts` must have one text per row of the table ({measures.num_rows:,}), but has {len(texts):,}.")
    shown = sample_points(measures.num_rows, max_points, np.random.default_rng(seed), always)
    levels = correctness_levels(measures.column("correctness").to_numpy())
    hover = None if texts is None else _hover_texts(measures, texts, labels, shown)
    figure = go.Figure(layout=_layout(measures, len(shown)))
    # The fewest on top, as in the still figure; the legend still reads from never to always right.
    for rank, level in sorted(enumerate(levels), key=lambda item: -len(item[1].rows)):
        figure.add_trace(_points(measures, level, rank, shown, hover))
    figure.add_traces(_densities(measures, levels))
    _name_regions(figure, measures)
    return figure


def _points(measures: pa.Table, level: Level, rank: int, shown: Integers, hover: dict[int, str] | None) -> go.Scattergl:
    rows = np.intersect1d(level.rows, shown, assume_unique=True)
    x, y = (measures.column(name).to_numpy()[rows].astype(np.float32) for name in ("variability", "confidence"))
    facts = "confidence %{y:.3f} · variability %{x:.3f}<br>predicted as given: " + level.label
    return go.Scattergl(
        x=x,
        y=y,
        customdata=rows.astype(np.int32),
        text=None if hover is None else [hover[row] for row in rows.tolist()],
        mode="markers",
        name=level.label,
        legendrank=rank + 1,
        marker={
            "color": level.colour,
            "symbol": level.symbol,
            "size": 5 if len(shown) > 5000 else 7,
            "opacity": 0.7,
            "line": {"width": 0},
        },
        hovertemplate=(facts if hover is None else "%{text}<br>" + facts) + "<extra></extra>",
    )


def _hover_texts(measures: pa.Table, texts: Sequence[str], labels: Sequence[str], shown: Integers) -> dict[int, str]:
    part = measures.select(["gold", "predicted"]).take(pa.array(shown)).to_pylist()
    return {row: _hover_text(texts[row], labels, **ids) for row, ids in zip(shown.tolist(), part, strict=True)}


def _hover_text(text: str, labels: Sequence[str], gold: int, predicted: int | None) -> str:
    lines = textwrap.wrap(text, _LINE_WIDTH, max_lines=_MOST_LINES, placeholder=" …")
    given = f"given {labels[gold]}" + ("" if predicted is None else f" · predicted {labels[predicted]}")
    return "<br>".join(escape(line) for line in [*lines, given])


def _densities(measures: pa.Table, levels: Sequence[Level]) -> list[go.Bar]:
    n_rows = max(measures.num_rows, 1)
    bars = []
    for name, span, axes in (("variability", _span(measures), {"yaxis": "y2"}), ("confidence", (0.0, 1.0), {"xaxis": "x2"})):
        counts, edges = np.histogram(measures.column(name).to_numpy(), bins=_BINS, range=span)
        middles, shares = ((edges[:-1] + edges[1:]) / 2).round(4).tolist(), (counts / n_rows).round(5).tolist()
        across = name == "variability"
        bars.append(
            go.Bar(
                x=middles if across else shares,
                y=shares if across else middles,
                orientation="v" if across else "h",
                width=float(edges[1] - edges[0]),
                marker={"color": DENSITY, "line": {"width": 0}},
                showlegend=False,
                hovertemplate=f"{name} " + ("%{x:.2f}: %{y:.1%}" if across else "%{y:.2f}: %{x:.1%}") + " of rows<extra></extra>",
                **axes,
            )
        )
    bars.append(
        go.Bar(
            x=[level.label for level in levels],
            y=[round(len(level.rows) / n_rows, 5) for level in levels],
            marker={"color": [level.colour for level in levels], "line": {"width": 0}},
            showlegend=False,
            hovertemplate="correctness %{x}: %{y:.1%} of rows<extra></extra>",
            xaxis="x3",
            yaxis="y3",
        )
    )
    return bars


def _layout(measures: pa.Table, n_shown: int) -> dict[str, Any]:
    bare = {"showgrid": False, "zeroline": False, "showticklabels": False, "fixedrange": True}
    plain = {
        "zeroline": False,
        "gridcolor": "rgba(128,128,128,0.18)",
        "linecolor": MUTED,
        "showline": True,
        "ticks": "outside",
        "tickcolor": MUTED,
    }
    return {
        "template": "none",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 52, "r": 12, "t": 44, "b": 46},
        "hovermode": "closest",
        "dragmode": "pan",
        "bargap": 0,
        "font": {"size": 13},
        "legend": {"orientation": "h", "x": 0, "y": 1.01, "yanchor": "bottom", "title": {"text": "correctness "}, "itemsizing": "constant"},
        "meta": {"rows": measures.num_rows, "points": n_shown},
        "xaxis": {
            **plain,
            "domain": _PLANE,
            "range": [-0.008, _span(measures)[1] + 0.008],
            "title": {"text": "variability", "standoff": 6},
        },
        "yaxis": {
            **plain,
            "domain": _PLANE,
            "range": [-0.016, 1.06],
            "title": {"text": "confidence", "standoff": 6},
            "tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1],
        },
        "xaxis2": {**bare, "domain": _SIDE, "anchor": "y"},
        "yaxis2": {**bare, "domain": _SIDE, "anchor": "x"},
        "xaxis3": {**bare, "domain": _SIDE, "anchor": "y3", "type": "category"},
        "yaxis3": {**bare, "domain": _SIDE, "anchor": "x3"},
    }


def _span(measures: pa.Table) -> tuple[float, float]:
    return 0.0, max(0.5, float(measures.column("variability").to_numpy().max(initial=0.0)))


def _name_regions(figure: go.Figure, measures: pa.Table) -> None:
    right = _span(measures)[1]
    lines = region_lines(measures)
    counts = {entry["values"]: entry["counts"] for entry in measures.column("region").value_counts().to_pylist()}
    places = {EASY: (0.0, 1.03, "left"), AMBIGUOUS: (right, 1.03, "right"), HARD: (0.19, 0.03, "left")}
    for name in REGIONS:
        if name not in lines:
            continue
        path = "M" + " L".join(f"{x:.6g},{y:.6g}" for x, y in lines[name])
        figure.add_shape(type="path", path=path, line={"color": MUTED, "width": 1.2, "dash": "dash"})
        x, y, side = places[name]
        text = f"{name}  {percent(counts[name] / measures.num_rows)}"
        figure.add_annotation(x=x, y=y, text=text, xanchor=side, yanchor="middle", showarrow=False)
