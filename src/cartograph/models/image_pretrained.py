"""Images as pretrained networks read them: size, channels and standardisation, from a folder's own configuration.

Images are scaled to the network's size, width and height each on their own, and standardised as its preprocessor says. They are not
cropped, so that the network reads the whole image.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import torch
from torch import nn

from cartograph.data.images import pixels_of
from cartograph.data.json_files import read_json
from cartograph.errors import InputError

PREPROCESSOR = "preprocessor_config.json"
_USUAL_SIDE = 224
_HALF = (0.5, 0.5, 0.5)


@dataclass(frozen=True)
class ImageReading:
    """Size and standardisation of an image for one network.

    Attributes:
        width: in pixels.
        height: in pixels.
        channels: 1 or 3.
        mean: of each channel, taken off after pixels are scaled to [0, 1].
        deviation: of each channel, by which they are then divided.
    """

    width: int
    height: int
    channels: int
    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    @classmethod
    def of(cls, config: Any, folder: Path) -> Self:
        """Read a network's configuration, and the preprocessor's in its folder where there is one.

        Raises:
            InputError: neither makes sense.
        """
        given = _preprocessor(folder)
        channels = int(getattr(config, "num_channels", 3))
        if channels not in (1, 3):
            raise InputError(f"{folder} reads images of {channels} channels; expected 1 or 3.")
        try:
            width, height = _size(given.get("crop_size") if given.get("do_center_crop") else None, given.get("size"), config)
            moments = given if given.get("do_normalize", True) else {"image_mean": (0.0,) * channels, "image_std": (1.0,) * channels}
            mean = _numbers(moments.get("image_mean", _HALF), channels)
            deviation = _numbers(moments.get("image_std", _HALF), channels)
        except (TypeError, ValueError, KeyError) as error:
            raise InputError(
                f"{folder / PREPROCESSOR} cannot be understood ({error}); it should give `size`, `image_mean` and `image_std`."
            ) from error
        if not (0 < width <= 1024 and 0 < height <= 1024) or min(deviation) <= 0:
            raise InputError(f"{folder / PREPROCESSOR} asks for images of {width} x {height} pixels; expected 1 to 1,024 each way.")
        return cls(width, height, channels, mean, deviation)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        """Read back what ``to_json`` gave."""
        return cls(**content | {name: tuple(content[name]) for name in ("mean", "deviation")})

    def to_json(self) -> dict[str, Any]:
        """Return the reading as JSON values."""
        return asdict(self)

    def pixels(self, column: pa.ChunkedArray) -> torch.Tensor:
        """Return canonical images at the network's size, (n_images, channels, height, width) uint8; torch's threads decode them."""
        pixels = pixels_of(column, self.width, self.height, self.channels, torch.get_num_threads())
        return torch.from_numpy(pixels).permute(0, 3, 1, 2)


class Standardised(nn.Module):
    """Pixels as a network reads them, made where the network runs: a fourth of the bytes are moved there.

    Args:
        reading: the network's.
    """

    mean: torch.Tensor
    deviation: torch.Tensor

    def __init__(self, reading: ImageReading) -> None:
        super().__init__()
        for name in ("mean", "deviation"):
            self.register_buffer(name, torch.tensor(getattr(reading, name)).reshape(1, -1, 1, 1), persistent=False)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """Return (n_images, channels, height, width) float32 of uint8."""
        return (pixels.float() / 255 - self.mean) / self.deviation


def preprocessor_folder(name: str, *, local: bool) -> Path:
    """Return the folder of a network's preprocessor configuration: its own, or the hub's cache."""
    if local:
        return Path(name)
    from transformers.utils import cached_file

    found = cached_file(name, PREPROCESSOR, _raise_exceptions_for_missing_entries=False)
    return Path(found).parent if found else Path(name)


def _preprocessor(folder: Path) -> dict[str, Any]:
    path = folder / PREPROCESSOR
    if not path.is_file():
        return {}
    try:
        content = read_json(path)
    except ValueError as error:
        raise InputError(f"{path} is not JSON ({error}); fetch the folder again.") from error
    return content if isinstance(content, dict) else {}


def _size(crop: Any, size: Any, config: Any) -> tuple[int, int]:
    """Return width and height: of the crop, else of the scaled image, else of the network's own configuration."""
    wanted = crop or size or getattr(config, "image_size", _USUAL_SIDE)
    if isinstance(wanted, dict):
        side = wanted.get("shortest_edge")
        return (int(wanted["width"]), int(wanted["height"])) if side is None else (int(side), int(side))
    if isinstance(wanted, Sequence):
        return int(wanted[1]), int(wanted[0])
    return int(wanted), int(wanted)


def _numbers(values: Any, channels: int) -> tuple[float, ...]:
    found = tuple(float(value) for value in (values if isinstance(values, Sequence) else [values] * channels))
    return found if len(found) == channels else (sum(found) / len(found),) * channels
