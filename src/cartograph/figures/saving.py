"""Figures saved as files: the same figure gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from threading import RLock
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from cartograph.figures.palette import INK, MUTED
from cartograph.figures.short_svg import shorten

_LOCK = RLock()
_COLOURS = 128


STYLE: dict[Any, Any] = {
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.labelsize": 10,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "svg.fonttype": "none",
    "svg.hashsalt": "cartograph",
    "text.color": INK,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
}


@contextmanager
def figure_style() -> Iterator[None]:
    """Have artists made, and figures written, in the style of all still figures; one thread at a time."""
    with _LOCK, matplotlib.rc_context():
        # From the defaults, so that a matplotlibrc of the user's changes nothing.
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as the path's suffix says (``.png``, of 128 colours, or ``.svg``), short; the same figure gives the same bytes."""
    metadata = {"Date": None, "Creator": None} if path.suffix == ".svg" else {"Software": None}
    with figure_style():
        figure.savefig(path, dpi=200, metadata=metadata)
    if path.suffix == ".png":
        _reduce(path)
    elif path.suffix == ".svg":
        path.write_text(shorten(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


def half_size(png: bytes) -> bytes:
    """Return a PNG without transparency at half its width and height, in 64 colours; the same picture gives the same bytes."""
    from PIL import Image

    small = BytesIO()
    with Image.open(BytesIO(png)) as image:
        scaled = image.convert("RGB").resize(((image.width + 1) // 2, (image.height + 1) // 2), Image.Resampling.LANCZOS)
    scaled.quantize(_COLOURS // 2, dither=Image.Dither.NONE).save(small, "png", optimize=True)
    return small.getvalue()


def _reduce(path: Path) -> None:
    """Write a PNG again, with few colours: a third as large."""
    from PIL import Image

    with Image.open(path) as image:
        few = image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)
