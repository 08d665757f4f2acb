from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartograph.figures.interactive_map import interactive_map
from cartograph.figures.palette import correctness_colour, correctness_levels, sample_points
from cartograph.figures.saving import save_figure
from cartograph.figures.still_map import data_map
from cartograph.maps.measures import Measures, compute_measures
from cartograph.maps.regions import AMBIGUOUS, EASY, HARD, assign_regions
from cartograph.maps.table import map_table


def make_map(n: int = 400, epochs: int = 6, include_ci: bool = False) -> pa.Table:
    rng = np.random.default_rng(2)
    gold = rng.integers(0, 3, n).astype(np.int32)
    logits = rng.normal(0, 1, (n, epochs, 3)).astype(np.float32)
    logits[np.arange(n), :, gold] += rng.normal(1, 2, (n, 1)).astype(np.float32)
    uids = [f"r{row:06}" for row in range(n)]
    measures = compute_measures(uids, logits, gold, include_ci=include_ci)
    return table_of(uids, gold, measures)


def table_of(uids: list[str], gold: np.ndarray, measures: Measures) -> pa.Table:
    shares = {"easy": 0.33, "ambiguous": 0.33, "hard": 0.1}
    return map_table(
        uids, gold, measures, assign_regions(uids, measures.confidence, measures.variability, **shares, rng=np.random.default_rng(1))
    )


@given(st.integers(0, 60), st.integers(1, 40), st.data())
def test_sampled_points_are_sorted_unique_exactly_many_and_hold_those_asked_for(n: int, most: int, data: st.DataObject) -> None:
    always = data.draw(st.lists(st.integers(0, n - 1))) if n else []
    points = sample_points(n, most, np.random.default_rng(3), always)
    assert points.tolist() == sorted(set(points.tolist()))
    assert len(points) == min(n, most)
    assert not len(points) or (points.min() >= 0 and points.max() < n)
    if len(set(always)) <= most:
        assert set(always) <= set(points.tolist())
    else:
        assert set(points.tolist()) <= set(always)
    assert points.tolist() == sample_points(n, most, np.random.default_rng(3), always).tolist()


def test_sampling_is_uniform_over_the_others() -> None:
    drawn = np.zeros(20)
    for seed in range(2000):
        drawn[sample_points(20, 6, np.random.default_rng(seed), always=[4])] += 1
    assert drawn[4] == 2000
    others = np.delete(drawn, 4) / 2000
    assert abs(others - 5 / 19).max() < 0.05


@given(st.integers(1, 30), st.data())
def test_levels_part_the_rows_in_order_of_correctness(epochs: int, data: st.DataObject) -> None:
    counts = np.array(data.draw(st.lists(st.integers(0, epochs), min_size=1, max_size=60)))
    correctness = counts / epochs
    levels = correctness_levels(correctness)
    assert sorted(np.concatenate([level.rows for level in levels]).tolist()) == list(range(len(counts)))
    assert len(levels) <= 9
    assert len({level.marker for level in levels}) == len({level.symbol for level in levels}) == len(levels)
    for lower, higher in pairwise(levels):
        assert correctness[lower.rows].max() < correctness[higher.rows].min()
    for level in levels:
        if level.value in (0, 1):
            assert set(correctness[level.rows]) == {level.value}
            assert level.symbol == ("circle" if level.value else "x")


def test_levels_are_named_by_epochs_where_they_are_few() -> None:
    assert [level.label for level in correctness_levels(np.arange(7) / 6)] == [f"{count}/6" for count in range(7)]
    assert [level.label for level in correctness_levels(np.array([0.1667, 0.0, 1.0]).round(4))] == ["0/6", "1/6", "6/6"]
    assert [level.label for level in correctness_levels(np.arange(21) / 20)] == [
        "0",
        "0–0.2",
        "0.2–0.4",
        "0.4–0.6",
        "0.6–0.8",
        "0.8–1",
        "1",
    ]


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("page", ["#ffffff", "#16181c"])
def test_every_colour_stands_out_on_a_light_and_on_a_dark_page(page: str) -> None:
    for correctness in np.linspace(0, 1, 25):
        low, high = sorted((luminance(page), luminance(correctness_colour(float(correctness)))))
        assert (high + 0.05) / (low + 0.05) >= 3


def test_the_map_draws_each_sampled_row_once_at_its_place_in_the_colour_of_its_correctness() -> None:
    table = make_map(900)
    plane = data_map(table, max_points=500, seed=4, title="Some data").axes[0]
    drawn = np.concatenate([np.asarray(points.get_offsets()) for points in plane.collections])
    assert len(drawn) == 500
    places = np.column_stack([table.column(name).to_numpy() for name in ("variability", "confidence")])
    row_at = {tuple(place): row for row, place in enumerate(places)}
    correctness = table.column("correctness").to_numpy()
    rows = set()
    for points in plane.collections:
        inside = [row_at[tuple(place)] for place in np.asarray(points.get_offsets())]
        assert len(set(correctness[inside])) == 1
        assert matplotlib.colors.to_hex(points.get_facecolor()[0]) == correctness_colour(float(correctness[inside[0]]))
        rows |= set(inside)
    assert len(rows) == 500


def test_the_map_names_its_regions_axes_and_rows() -> None:
    figure = data_map(make_map(900), max_points=500, seed=4, title="Some data")
    plane = figure.axes[0]
    assert {text.get_text() for text in plane.texts} == {
        "easy-to-learn  33\u00a0%",
        "ambiguous  33\u00a0%",
        "hard-to-learn  10\u00a0%",
        "unassigned  24\u00a0%",
    }
    assert (plane.get_xlabel(), plane.get_ylabel()) == ("variability", "confidence")
    assert [axes.get_xlabel() for axes in figure.axes[1:]] == ["confidence", "variability", "correctness"]
    assert {"Some data", "900 rows, 500 of them drawn"} <= {text.get_text() for text in figure.texts}
    assert [text.get_text() for text in plane.get_legend().get_texts()] == [f"{count}/6" for count in range(7)]


def test_densities_count_every_row() -> None:
    figure = data_map(make_map(900), max_points=50, seed=4, title="Some data")
    for axes in figure.axes[1:]:
        assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(1)


DRAW = """
import hashlib, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from tests.unit.figures.test_interactive_map import data_map, make_map, save_figure
figure = data_map(make_map(), max_points=300, seed=4, title="Some data")
for suffix in (".png", ".svg"):
    path = Path({folder!r}) / ("other" + suffix)
    save_figure(figure, path)
    print(hashlib.sha256(path.read_bytes()).hexdigest())
print("matplotlib.pyplot" in sys.modules)
"""


def test_the_same_table_gives_the_same_bytes_in_another_process_in_threads_and_under_a_users_own_style(tmp_path: Path) -> None:
    table = make_map()

    def digests(name: str) -> list[str]:
        figure = data_map(table, max_points=300, seed=4, title="Some data")
        paths = [tmp_path / f"{name}{suffix}" for suffix in (".png", ".svg")]
        for path in paths:
            save_figure(figure, path)
        return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]

    script = DRAW.format(tests=str(Path(__file__).parents[3]), folder=str(tmp_path))
    *elsewhere, pyplot = subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    assert pyplot == "False"
    with matplotlib.rc_context({"font.size": 21, "axes.grid": True, "savefig.dpi": 30, "svg.hashsalt": None}):
        before = dict(matplotlib.rcParams)
        with ThreadPoolExecutor(3) as threads:
            drawn = list(threads.map(digests, "abc"))
        assert dict(matplotlib.rcParams) == before
    assert drawn == [elsewhere] * 3


def test_another_seed_draws_another_sample() -> None:
    table = make_map()
    one, two = (data_map(table, max_points=50, seed=seed, title="x").axes[0].collections[0].get_offsets() for seed in (1, 2))
    assert np.asarray(one).tolist() != np.asarray(two).tolist()


@pytest.mark.parametrize("title", ["<script>alert(1)</script> --> ]]>", r"$\frac{", "a\nb\tc", "x" * 500, "", "数据.csv \u202e\x07"])
def test_a_hostile_title_is_only_text(title: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = data_map(make_map(60), max_points=300, seed=4, title=title)
        save_figure(figure, tmp_path / "map.png")
        save_figure(figure, tmp_path / "map.svg")
    tags = {element.tag.rsplit("}", 1)[-1] for element in ET.parse(tmp_path / "map.svg").iter()}
    assert "script" not in tags
    assert "image" in tags, "points are drawn as an image"


def test_a_large_svg_stays_small(tmp_path: Path) -> None:
    save_figure(data_map(make_map(25_000), max_points=25_000, seed=4, title="Large"), tmp_path / "map.svg")
    assert (tmp_path / "map.svg").stat().st_size < 1_000_000


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
    assert names == {f"{EASY}  33\u00a0%", f"{AMBIGUOUS}  33\u00a0%", f"{HARD}  10\u00a0%"}
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
