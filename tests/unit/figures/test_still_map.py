"""The map as a picture: what it draws, and that it draws the same again."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from cartograph.figures.palette import correctness_colour
from cartograph.figures.saving import save_figure
from cartograph.figures.still_map import data_map
from tests.drawn_maps import make_map


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
        "easy-to-learn  31\u00a0%",
        "ambiguous  30\u00a0%",
        "hard-to-learn  10\u00a0%",
        "unassigned  29\u00a0%",
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
from cartograph.figures.saving import save_figure
from cartograph.figures.still_map import data_map
from tests.drawn_maps import make_map
figure = data_map(make_map(), max_points=300, seed=4, title="Some data")
for suffix in (".png", ".svg"):
    path = Path({folder!r}) / ("other" + suffix)
    save_figure(figure, path)
    print(hashlib.sha256(path.read_bytes()).hexdigest())
print("matplotlib.pyplot" in sys.modules)
"""


@pytest.mark.slow
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
