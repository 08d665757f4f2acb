from __future__ import annotations

import base64
import json
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from cartograph.figures.interactive_map import interactive_map
from cartograph.figures.palette import correctness_colour
from cartograph.figures.saving import save_figure
from cartograph.figures.still_map import data_map
from cartograph.maps.regions import AMBIGUOUS, EASY, HARD
from tests.drawn_maps import make_map


@pytest.mark.parametrize(
    "options", [{"n": 1}, {"n": 3}, {"n": 50, "epochs": 1}, {"n": 50, "epochs": 2, "include_ci": True}, {"n": 300, "epochs": 25}]
)
def test_odd_maps_are_drawn_too(options: dict[str, int], tmp_path: Path) -> None:
    table = make_map(**options)
    figure = data_map(table, max_points=100, seed=1, title="Odd")
    save_figure(figure, tmp_path / "map.png")
    left, right = figure.axes[0].get_xlim()
    assert left < 0 < table.column("variability").to_numpy().max() <= right or options.get("epochs") == 1
    interactive_map(table, None, max_points=100, seed=1, labels=["a", "b", "c"])


def decoded(value: object) -> np.ndarray:
    if isinstance(value, dict):
        return np.frombuffer(base64.b64decode(value["bdata"]), dtype=np.dtype(value["dtype"]))
    return np.asarray(value)


def test_the_interactive_map_has_a_trace_per_level_and_points_back_at_rows() -> None:
    table = make_map(900)
    figure = interactive_map(table, None, max_points=500, seed=4, labels=["a", "b", "c"], always=[7, 8, 9])
    content = json.loads(figure.to_json())
    traces = [trace for trace in content["data"] if "customdata" in trace]
    assert sorted(trace["name"] for trace in traces) == [f"{count}/6" for count in range(7)]
    rows = np.concatenate([decoded(trace["customdata"]) for trace in traces])
    assert len(rows) == len(set(rows.tolist())) == 500
    assert {7, 8, 9} <= set(rows.tolist())
    for trace in traces:
        inside = decoded(trace["customdata"])
        np.testing.assert_allclose(decoded(trace["x"]), table.column("variability").to_numpy()[inside], atol=1e-6)
        np.testing.assert_allclose(decoded(trace["y"]), table.column("confidence").to_numpy()[inside], atol=1e-6)
        assert len(set(table.column("correctness").to_numpy()[inside])) == 1
        assert trace["marker"]["color"] == correctness_colour(float(table.column("correctness").to_numpy()[inside[0]]))
        assert "text" not in trace
    assert [trace["name"] for trace in sorted(traces, key=lambda trace: trace["legendrank"])] == [f"{count}/6" for count in range(7)]
    assert content["layout"]["meta"] == {"rows": 900, "points": 500}
    names = {note["text"] for note in content["layout"]["annotations"]}
    assert names == {f"{EASY}  31\u00a0%", f"{AMBIGUOUS}  30\u00a0%", f"{HARD}  10\u00a0%"}
    assert figure.to_json() == interactive_map(table, None, max_points=500, seed=4, labels=["a", "b", "c"], always=[7, 8, 9]).to_json()


def test_hovering_shows_texts_and_labels_as_text() -> None:
    table = make_map(20)
    hostile = '<a href="javascript:alert(1)">x</a> & <b>bold</b> ' * 20
    figure = interactive_map(table, [hostile] * 20, max_points=20, seed=1, labels=["<i>a</i>", "b", "c"])
    shown = [text for trace in figure.data if trace.customdata is not None for text in trace.text]
    assert len(shown) == 20
    for text in shown:
        *lines, facts = text.split("<br>")
        assert "<" not in "".join([*lines, facts])
        assert hostile.startswith(unescape(" ".join(lines)).removesuffix(" …"))
        assert facts.startswith("given ")
        assert len(lines) <= 4
    assert any("&lt;i&gt;a&lt;/i&gt;" in text for text in shown)


def test_fifty_thousand_rows_make_a_small_figure() -> None:
    figure = interactive_map(make_map(50_000), None, max_points=25_000, seed=1, labels=["a", "b", "c"])
    assert len(figure.to_json()) < 520_000
