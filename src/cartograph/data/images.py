"""Images as rows of a set: canonical PNGs made once from files of any kind, and their pixels, digests and thumbnails.

A canonical image is a PNG without any metadata, grey or RGB, upright, its longer side bounded. It is made when a set is read; a
file that cannot be converted is set aside with a reason.
"""

from __future__ import annotations

import base64
import io
import struct
import warnings
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b

import numpy as np
import pyarrow as pa
from PIL import Image, UnidentifiedImageError

from cartograph.data.arrays import Array, Bools, Integers, Pixels
from cartograph.schema import DatasetInfo

MAX_BYTES = 50_000_000
"""Largest file that is read as an image."""
MAX_PIXELS = 50_000_000
"""Most pixels that are decoded, by an image's header, before anything is unpacked."""
SHOWN_SIDE = 64
"""Longer side, in pixels, of a picture that is shown to people outside of the page."""

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
# What Pillow's decoders raise for files that are cut short or damaged.
_DAMAGED = (OSError, ValueError, SyntaxError, EOFError, MemoryError, ArithmeticError, LookupError, TypeError, struct.error)
_ORIENTATION = 0x0112
_TURNS = dict(
    enumerate(
        (
            Image.Transpose.FLIP_LEFT_RIGHT,
            Image.Transpose.ROTATE_180,
            Image.Transpose.FLIP_TOP_BOTTOM,
            Image.Transpose.TRANSPOSE,
            Image.Transpose.ROTATE_270,
            Image.Transpose.TRANSVERSE,
            Image.Transpose.ROTATE_90,
        ),
        start=2,
    )
)
_PREFIX = "data:image/png;base64,"


class Unusable(Exception):
    """An image that cannot be used, with the reason for its quarantine and the details."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason, self.detail = reason, detail


def canonical_png(content: bytes, side: int) -> bytes:
    """Return an image file as a canonical PNG.

    PNG, JPEG, WebP, GIF (first frame), BMP and TIFF are read, whatever the file's name. The image is turned by its EXIF orientation, put on
    white where it is transparent, and scaled down where its longer side has more than ``side`` pixels.

    Raises:
        Unusable: the file or the image is too large, is no image, or is cut short or damaged.
    """
    if len(content) > MAX_BYTES:
        raise Unusable("image too large", f"{len(content):,} bytes, at most {MAX_BYTES:,} are read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=_FORMATS) as opened:
                _require_size(opened.width, opened.height)
                return _png(_upright(opened), side)
    except UnidentifiedImageError as error:
        raise Unusable("not an image", "empty file" if not content else f"begins with {content[:8]!r}") from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise Unusable("image too large", f"more than {MAX_PIXELS:,} pixels") from error
    except _DAMAGED as error:
        raise Unusable("image cut short or damaged", (str(error).splitlines() or [type(error).__name__])[0][:200]) from error


def png_of(array: Array, side: int) -> bytes:
    """Return an array as a canonical PNG.

    Args:
        array: (height, width), (height, width, channels) of 1, 3 or 4 channels, or (channels, height, width) of 1 or 3; whole numbers from
            0 to 255, floating-point numbers from 0 to 1, or booleans.
        side: as in ``canonical_png``.

    Raises:
        Unusable: another shape, other values, or too large.
    """
    values = np.asarray(array)
    if values.ndim == 3 and values.shape[2] not in (1, 3, 4) and values.shape[0] in (1, 3):
        values = np.moveaxis(values, 0, 2)
    if values.ndim not in (2, 3) or (values.ndim == 3 and values.shape[2] not in (1, 3, 4)) or 0 in values.shape:
        raise Unusable("not an image", f"an array of shape {values.shape}; expected height x width, or with 1, 3 or 4 channels")
    _require_size(values.shape[1], values.shape[0])
    scaled = _bytes_of(values)
    return _png(_plain(Image.fromarray(scaled[:, :, 0] if scaled.ndim == 3 and scaled.shape[2] == 1 else scaled)), side)


def _bytes_of(values: Array) -> Pixels:
    if values.dtype == np.uint8:
        return np.ascontiguousarray(values, dtype=np.uint8)
    if values.dtype == np.bool_:
        return values.astype(np.uint8) * np.uint8(255)
    if values.dtype.kind not in "iuf":
        raise Unusable("not an image", f"an array of {values.dtype}; expected numbers")
    numbers, most = values.astype(np.float64), 1.0 if values.dtype.kind == "f" else 255.0
    if not np.isfinite(numbers).all() or numbers.min() < 0 or numbers.max() > most:
        raise Unusable("pixel values out of range", f"{numbers.min():g} to {numbers.max():g}; expected 0 to {most:g}")
    return np.rint(numbers * (255.0 / most)).astype(np.uint8)


def _require_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise Unusable("image too large", f"{width:,} x {height:,} pixels, at most {MAX_PIXELS:,} are read")


def _upright(opened: Image.Image) -> Image.Image:
    opened.load()
    # Not ImageOps.exif_transpose: it writes the EXIF again, and stumbles over entries that have nothing to do with the picture.
    turn = _TURNS.get(opened.getexif().get(_ORIENTATION, 1))
    return _plain(opened if turn is None else opened.transpose(turn))


def _plain(image: Image.Image) -> Image.Image:
    """Return an image in grey or RGB; only its pixels are taken along."""
    if image.mode.startswith("I;16"):
        return Image.fromarray(np.rint(np.asarray(image, dtype=np.float64) / 257.0).astype(np.uint8))
    if image.mode in ("I", "F"):
        raise Unusable("not an image", f"{image.mode}, 32 bits a pixel: which value is white is not known; save it with 8 or 16")
    grey = image.mode in ("1", "L", "LA")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        over = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", over.size, "white"), over)
    return image.convert("L" if grey else "RGB")


def _png(image: Image.Image, side: int) -> bytes:
    if max(image.size) > side:
        image = image.resize(_bounded(image.size, side), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    Image.fromarray(np.asarray(image)).save(file, "PNG", optimize=False)
    return file.getvalue()


def _bounded(size: tuple[int, int], side: int) -> tuple[int, int]:
    scale = side / max(size)
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def open_png(png: bytes) -> Image.Image:
    """Return a canonical image, decoded."""
    with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
        image.load()
        return image


def sizes_of(column: pa.ChunkedArray) -> Integers:
    """Return (n_images, 3): width, height and channels of canonical images, from their headers."""
    headers = (png[:26] for png in column.to_pylist())
    sizes = [(int.from_bytes(head[16:20]), int.from_bytes(head[20:24]), 3 if head[25] == 2 else 1) for head in headers]
    return np.array(sizes, np.int64).reshape(-1, 3)


def pixels_of(column: pa.ChunkedArray, width: int, height: int, channels: int, threads: int = 1) -> Pixels:
    """Return canonical images at one size, ``(n_images, height, width, channels)``; others are scaled, grey and RGB turned into each other.

    Args:
        column: binary, without nulls.
        width: in pixels.
        height: in pixels.
        channels: 1 or 3.
        threads: how many images are decoded at once.
    """
    pixels = np.empty((len(column), height, width, channels), np.uint8)

    def decode(row: int, png: bytes) -> None:
        image = open_png(png).convert("L" if channels == 1 else "RGB")
        if image.size != (width, height):
            image = image.resize((width, height), Image.Resampling.BILINEAR)
        pixels[row] = np.asarray(image).reshape(height, width, channels)

    if threads <= 1 or len(column) <= 1:
        for row, png in enumerate(column.to_pylist()):
            decode(row, png)
    else:
        with ThreadPoolExecutor(min(threads, len(column))) as pool:
            for _ in pool.map(decode, range(len(column)), column.to_pylist()):
                pass
    return pixels


def are_of_one_colour(column: pa.ChunkedArray) -> Bools:
    """Return for each canonical image whether all its pixels are the same."""
    extrema = (open_png(png).getextrema() for png in column.to_pylist())
    ranges = (one if isinstance(one[0], tuple) else (one,) for one in extrema)
    return np.array([all(low == high for low, high in channels) for channels in ranges], np.bool_)


def image_digests(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return what identifies each canonical image: 32 hexadecimal digits of its size and pixels, however they are packed; null for null."""
    return pa.chunked_array([pa.array([None if png is None else _digest(png) for png in column.to_pylist()], pa.string())])


def _digest(png: bytes) -> str:
    image = open_png(png)
    return blake2b(f"{image.mode} {image.width} {image.height} ".encode() + image.tobytes(), digest_size=16).hexdigest()


def thumbnail(png: bytes, side: int) -> str:
    """Return a canonical image as a ``data:`` address, scaled down where its longer side has more than ``side`` pixels."""
    image = open_png(png)
    return _PREFIX + base64.b64encode(png if max(image.size) <= side else _png(image, side)).decode("ascii")


def shown_fields(table: pa.Table, info: DatasetInfo, side: int = SHOWN_SIDE) -> list[list[str]]:
    """Return what people are shown of each row, a list per field: texts as they are, images as small pictures (``thumbnail``)."""
    return [
        [thumbnail(value, side) for value in table[name].to_pylist()] if name in info.images else table[name].to_pylist()
        for name in info.fields
    ]
