"""The interactive map as the page needs it: the layout, densities and names of the Plotly figure, which the page draws by itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from cartograph.data.arrays import Array, Integers
from cartograph.page.encode import whole_numbers


def drawn_rows(figure: go.Figure) -> Integers:
    """Return the places of the rows that the figure draws, sorted."""
    places = [_places(trace) for trace in figure.data if trace.customdata is not None]
    return np.unique(np.concatenate(places)) if places else np.empty(0, dtype=np.int64)


def map_content(figure: go.Figure, carried: Sequence[int] | Array) -> dict[str, Any]:
    """Return the figure as JSON values, its points as positions among the carried rows.

    A trace with ``customdata`` (places of its rows) is one of points: its coordinates are left out, since the rows have them.
    The template is left out too: the page's own style sets colours for light and dark.

    Args:
        figure: from ``figures.interactive_map``.
        carried: places of the carried rows, sorted.
    """
    content: dict[str, Any] = json.loads(figure.to_json())
    content["layout"].pop("template", None)
    levels = []
    for index, trace in enumerate(figure.data):
        if trace.customdata is None:
            continue
        drawn = content["data"][index]
        marker = drawn.get("marker", {})
        positions = np.searchsorted(np.asarray(carried), _places(trace))
        levels.append(
            {
                "name": trace.name or "",
                "rank": trace.legendrank or index,
                "color": marker.get("color"),
                "symbol": marker.get("symbol", "circle"),
                "size": marker.get("size", 5),
                "opacity": marker.get("opacity", drawn.get("opacity", 0.8)),
                "positions": whole_numbers(positions),
            }
        )
        axes = {name: drawn[name] for name in ("xaxis", "yaxis") if name in drawn}
        content["data"][index] = {
            "type": "scatter",
            "mode": "markers",
            "x": [None],
            "y": [None],
            "hoverinfo": "skip",
            "showlegend": False,
            **axes,
        }
    return {"data": content["data"], "layout": content["layout"], "levels": levels}


def _places(trace: Any) -> Integers:
    return np.asarray(trace.customdata, dtype=np.int64).reshape(-1)
