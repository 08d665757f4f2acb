"""Image files and arrays made canonical: what is read, what is refused and why, and what is read from them again."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image, ImageOps, UnidentifiedImageError

from cartograph.data import images
from cartograph.data.images import (
    Unusable,
    are_of_one_colour,
    canonical_png,
    image_digests,
    open_png,
    pixels_of,
    png_of,
    shown_fields,
    sizes_of,
    thumbnail,
)
from tests.training_sets import info_of, small_images

GREY = np.array([[0, 50, 100], [150, 200, 250]], np.uint8)


def file_of(image: Image.Image, kind: str, **more: object) -> bytes:
    content = io.BytesIO()
    image.save(content, kind, **more)
    return content.getvalue()


def column(*pngs: bytes) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(pngs, pa.binary())])


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(open_png(png))


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "GIF", "WEBP"])
def test_formats_without_loss_keep_their_pixels(kind: str) -> None:
    png = canonical_png(file_of(Image.fromarray(GREY), kind, **({"lossless": True} if kind == "WEBP" else {})), 256)
    found = pixels(png)
    assert np.array_equal(found if found.ndim == 2 else found[..., 0], GREY)


def test_a_jpeg_is_recognised_by_its_content() -> None:
    flat = Image.new("RGB", (40, 20), (200, 10, 30))
    found = pixels(canonical_png(file_of(flat, "JPEG", quality=95), 256))
    assert found.shape == (20, 40, 3) and np.abs(found.astype(int) - (200, 10, 30)).max() < 6


def test_nothing_but_pixels_is_kept() -> None:
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    content = file_of(Image.fromarray(GREY), "PNG", exif=exif.tobytes())
    assert b"taken at home" in content and b"taken at home" not in canonical_png(content, 256)
    kinds = [kind for kind in (b"tEXt", b"iTXt", b"zTXt", b"eXIf", b"iCCP") if kind in canonical_png(content, 256)]
    assert kinds == []


@pytest.mark.parametrize("orientation", range(10))
def test_orientation_is_applied(orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    content = file_of(Image.fromarray(GREY), "PNG", exif=exif.tobytes())
    turned = pixels(canonical_png(content, 256))
    assert np.array_equal(turned, np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(content)))))
    assert orientation != 6 or np.array_equal(turned, np.rot90(GREY, -1))


def test_damaged_metadata_does_no_harm() -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "taken at home"
    content = file_of(Image.new("L", (8, 4), 9), "JPEG", exif=exif).replace(b"\x01\x0e\x00\x02", b"\x01\x0e\x00\x00", 1)
    assert open_png(canonical_png(content, 256)).size == (4, 8)


def test_transparency_is_laid_on_white() -> None:
    clear = Image.new("RGBA", (4, 4), (255, 0, 0, 0))
    assert pixels(canonical_png(file_of(clear, "PNG"), 256)).min() == 255
    assert pixels(canonical_png(file_of(Image.new("LA", (4, 4), (0, 0)), "PNG"), 256)).tolist() == [[255] * 4] * 4


def test_sixteen_bits_become_eight() -> None:
    wide = Image.fromarray(np.array([[0, 65535], [257, 514]], np.uint16))
    assert pixels(canonical_png(file_of(wide, "PNG"), 256)).tolist() == [[0, 255], [1, 2]]


def test_a_large_image_is_scaled_down_and_a_small_one_is_not() -> None:
    png = canonical_png(file_of(Image.new("RGB", (300, 100), "navy"), "PNG"), 60)
    assert open_png(png).size == (60, 20)
    assert open_png(canonical_png(file_of(Image.new("L", (1000, 1), 7), "PNG"), 10)).size == (10, 1)
    assert open_png(canonical_png(file_of(Image.fromarray(GREY), "PNG"), 256)).size == (3, 2)


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few kilobytes that claims to be of this size."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")


@pytest.mark.parametrize(("width", "height"), [(60_000, 60_000), (10_000, 6_000), (2_000_000_000, 2)])
def test_a_bomb_is_not_unpacked(width: int, height: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image.Image, "load", lambda self: pytest.fail("it was unpacked"))
    with pytest.raises(Unusable, match="image too large"):
        canonical_png(bomb(width, height), 256)


def test_a_large_file_is_not_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MAX_BYTES", 10)
    with pytest.raises(Unusable, match=r"image too large: 11 bytes, at most 10 are read"):
        canonical_png(b"x" * 11, 256)


@pytest.mark.parametrize(
    "content",
    [b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", b"MZ\x90", b"label,text\n"],
)
def test_what_is_no_image_is_refused(content: bytes) -> None:
    with pytest.raises(Unusable) as caught:
        canonical_png(content, 256)
    assert caught.value.reason == "not an image"


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "TIFF", "WEBP", "BMP"])
def test_a_file_cut_anywhere_is_refused_or_read(kind: str) -> None:
    rng = np.random.default_rng(0)
    whole = file_of(Image.fromarray(rng.integers(0, 255, (24, 24, 3), dtype=np.uint8)), kind)
    reasons = set()
    for end in range(0, len(whole) - 20, max(len(whole) // 40, 1)):
        try:
            canonical_png(whole[:end], 256)
        except Unusable as error:
            reasons.add(error.reason)
    assert "image cut short or damaged" in reasons
    assert reasons <= {"image cut short or damaged", "not an image"}


@given(place=st.integers(0, 400), value=st.integers(0, 255))
def test_a_tampered_file_is_refused_or_read(place: int, value: int) -> None:
    content = bytearray(file_of(Image.fromarray(np.arange(256, dtype=np.uint8).reshape(16, 16)), "PNG"))
    content[place % len(content)] = value
    try:
        open_png(canonical_png(bytes(content), 64))
    except Unusable as error:
        assert error.detail


@given(arrays.arrays(np.uint8, arrays.array_shapes(min_dims=2, max_dims=2, max_side=9)))
def test_grey_arrays_come_back(values: np.ndarray) -> None:
    height, width = values.shape
    png = png_of(values, 256)
    assert np.array_equal(pixels_of(column(png), width, height, 1)[0, ..., 0], values)
    assert sizes_of(column(png)).tolist() == [[width, height, 1]]


def test_arrays_of_every_kind() -> None:
    colour = np.random.default_rng(0).integers(0, 255, (5, 6, 3), dtype=np.uint8)
    assert np.array_equal(pixels(png_of(colour, 256)), colour)
    assert np.array_equal(pixels(png_of(np.moveaxis(colour, 2, 0), 256)), colour)
    assert np.array_equal(pixels(png_of(colour / 255.0, 256)), colour)
    assert np.array_equal(pixels(png_of(GREY[..., None].astype(np.int64), 256)), GREY)
    assert pixels(png_of(np.array([[True, False]]), 256)).tolist() == [[255, 0]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros(4), r"not an image: an array of shape \(4,\)"),
        (np.zeros((4, 4, 2)), r"not an image: an array of shape \(4, 4, 2\)"),
        (np.zeros((0, 4)), r"not an image: an array of shape \(0, 4\)"),
        (np.full((2, 2), 16.0), "pixel values out of range: 16 to 16; expected 0 to 1"),
        (np.full((2, 2), -1), "pixel values out of range: -1 to -1; expected 0 to 255"),
        (np.full((2, 2), np.nan), "pixel values out of range"),
        (np.array([["a", "b"]]), "not an image: an array of <U1; expected numbers"),
    ],
)
def test_arrays_that_are_no_images(values: np.ndarray, message: str) -> None:
    with pytest.raises(Unusable, match=message):
        png_of(values, 256)


def test_digests_are_of_the_pixels_and_not_of_the_file() -> None:
    one, other = file_of(Image.fromarray(GREY), "PNG", compress_level=0), file_of(Image.fromarray(GREY), "PNG", compress_level=9)
    assert one != other
    changed = GREY.copy()
    changed[1, 2] += 1
    first, second, third, none = image_digests(pa.chunked_array([pa.array([one, other, png_of(changed, 9), None])])).to_pylist()
    assert first == second != third and none is None
    assert len(set(image_digests(column(png_of(GREY, 9), png_of(GREY.reshape(3, 2), 9))).to_pylist())) == 2


def test_pixels_are_read_at_one_size_and_colour() -> None:
    found = pixels_of(column(png_of(GREY, 9), png_of(np.full((10, 10, 3), 90, np.uint8), 99)), 4, 5, 3)
    assert found.shape == (2, 5, 4, 3) and set(found[1].reshape(-1)) == {90}


def test_several_threads_decode_the_same_pixels_and_raise_what_goes_wrong() -> None:
    table = small_images(20)["image"]
    assert np.array_equal(pixels_of(table, 9, 7, 3, threads=4), pixels_of(table, 9, 7, 3))
    with pytest.raises(UnidentifiedImageError):
        pixels_of(column(png_of(GREY, 9), b"no image"), 4, 5, 3, threads=2)


def test_images_of_one_colour_are_found() -> None:
    flat = np.zeros((3, 3, 3), np.uint8) + np.array([1, 2, 3], np.uint8)
    assert are_of_one_colour(column(png_of(GREY, 9), png_of(flat, 9), png_of(np.ones((2, 2), bool), 9))).tolist() == [False, True, True]


def test_people_are_shown_small_pictures() -> None:
    rows = small_images(3, shape=(80, 120))
    [shown] = shown_fields(rows, info_of("image"), 40)
    assert all(uri.startswith("data:image/png;base64,") and len(uri) < 4_000 for uri in shown)
    png = rows["image"][0].as_py()
    assert len(thumbnail(png, 20)) < len(thumbnail(png, 200))
