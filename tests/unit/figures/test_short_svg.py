from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cartograph.figures.saving import figure_style
from cartograph.figures.short_svg import shorten
from cartograph.figures.still_map import data_map
from tests.drawn_maps import make_map

NAME, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
PICTURE = re.compile(r'data:image/png;base64,([^"]*)"')


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("svg") / "map.svg"
    with figure_style():
        data_map(make_map(), max_points=300, seed=4, title='A <title d="M 0.123456 1">').savefig(path, dpi=200)
    return path.read_text(encoding="utf-8")


def outlines(svg: str) -> list[tuple[list[str], list[float]]]:
    """Return commands and numbers of every outline in the order in which they are drawn or defined."""
    defined = {path.get("id"): path.get("d") or "" for path in ET.fromstring(svg).iter(f"{NAME}path") if path.get("id")}
    found = []
    for element in ET.fromstring(svg).iter():
        linked = defined.get(element.get(LINK, "")[1:], "") if element.get(LINK, "").startswith("#outline-") else None
        data = linked if linked is not None else element.get("d") if element.tag == f"{NAME}path" else None
        if data and not (element.get("id") or "").startswith("outline-"):
            found.append((re.findall("[A-Za-z]", data), [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", data)]))
    return found


def test_every_outline_is_drawn_where_it_was(written: str) -> None:
    before, after = outlines(written), outlines(shorten(written))
    assert len(after) == len(before) > 20
    for (commands, numbers), (others, near) in zip(before, after, strict=True):
        assert others == commands
        np.testing.assert_allclose(near, numbers, atol=0.00501)


def test_it_takes_half_of_the_bytes_and_an_outline_with_a_halo_is_written_once(written: str) -> None:
    short = shorten(written)
    assert 2 * len(short) < len(written)
    long = [data for data in re.findall(r'\bd="([^"]*)"', short) if len(data) > 200]
    assert len(long) == len(set(long)) >= 4
    styles = re.findall(r'href="#outline-1"[^>]*style="([^"]*)"', short)
    assert len(styles) == 2 and "stroke-width: 3" in styles[0] and "stroke-width: 3" not in styles[1]


def test_its_points_are_the_same_picture_in_256_colours(written: str) -> None:
    before, after = (Image.open(BytesIO(base64.b64decode(PICTURE.search(svg)[1]))) for svg in (written, shorten(written)))
    assert after.mode == "P" and after.size == before.size
    was, now = (np.asarray(image.convert("RGBA")).astype(float) for image in (before, after))
    seen = [pixels[..., :3] * pixels[..., 3:] / 255 + 255 - pixels[..., 3:] for pixels in (was, now)]
    assert (now[..., 3][was[..., 3] == 0] == 0).all(), "nothing is drawn between the points"
    assert np.abs(seen[0] - seen[1])[was[..., 3] > 0].mean() < 5


def test_texts_stay_texts_in_a_font_that_is_there(written: str) -> None:
    def texts(svg: str) -> list[str]:
        return [element.text or "" for element in ET.fromstring(svg).iter(f"{NAME}text")]

    short = shorten(written)
    assert texts(short) == texts(written) and 'A <title d="M 0.123456 1">' in texts(short)
    assert short.count("font-family: 'DejaVu Sans', Verdana, sans-serif;") == len(texts(short))


def test_what_is_short_already_stays() -> None:
    assert shorten('<svg>\n<path d="M 0 1 L 2.5 3"/>\n</svg>\n') == '<svg>\n<path d="M 0 1 L 2.5 3"/>\n</svg>\n'
    assert shorten('<path d="M 1e-05 -0.001 \nL 2.10 10.00 \nz\n"/>') == '<path d="M 1e-05 -0 L 2.1 10 z"/>'
