from __future__ import annotations

from io import BytesIO

import numpy as np
from PIL import Image

from cartograph.figures.saving import half_size


def test_a_figure_at_half_its_size_is_the_same_picture_in_few_colours() -> None:
    pixels = np.full((31, 60, 3), 255, dtype=np.uint8)
    pixels[10:20, 20:40] = (200, 55, 45)
    png = BytesIO()
    Image.fromarray(pixels).save(png, "png")
    small = half_size(png.getvalue())
    with Image.open(BytesIO(small)) as image:
        assert image.size == (30, 16) and image.mode == "P"
        seen = image.convert("RGB")
        assert seen.getpixel((0, 0)) == (255, 255, 255)
        np.testing.assert_allclose(seen.getpixel((15, 7)), (200, 55, 45), atol=4)
    assert small == half_size(png.getvalue())
