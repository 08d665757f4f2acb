"""The second built-in data set: scikit-learn's images of handwritten digits, with planted label errors.

The 1,797 images of 8 x 8 grey levels are the test part of the UCI set *Optical Recognition of Handwritten Digits* (Alpaydin and Kaynak
1998). Of the train rows a share is given a wrong label. Images that are in no other set are altered, each in one of four ways, to make a
set that is out of distribution.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from PIL import Image

from cartograph import schema
from cartograph.data.arrays import Integers, Objects, Pixels
from cartograph.data.images import png_of
from cartograph.planted.corpus import SLIPS, PlantedCorpus, slips

MOST = 1200
"""Train rows at most; the other 597 images are those of the evaluation sets."""

_VALIDATION = 297
_BRIGHTEST = 16


def generate(rows: int, seed: int) -> PlantedCorpus:
    """Return the images in three sets; the same arguments give the same sets.

    ``train``; ``validation``, in distribution; and ``altered``, out of distribution: images that are shifted by one or two pixels, turned
    by 20 to 40 degrees, strewn with noise, or inverted, as often each; a column of each name says so. Of the train rows 3 % are
    flipped, uniformly to another digit. A uid is the image's place in ``sklearn.datasets.load_digits``.

    Args:
        rows: number of train rows, at most ``MOST``.
        seed: of the split, the flips and the alterations.

    Raises:
        ValueError: more train rows than there are.
    """
    from sklearn.datasets import load_digits

    if rows > MOST:
        raise ValueError(f"the digits have at most {MOST:,} train rows, not {rows:,}")
    rng = np.random.default_rng([seed, rows])
    bundle = load_digits()
    images, labels = np.rint(bundle.images * (255 / _BRIGHTEST)).astype(np.uint8), bundle.target.astype(np.int64)
    order = rng.permutation(len(images))
    held_out = order[MOST:]
    parts = {"train": order[:rows], "validation": held_out[:_VALIDATION], "altered": held_out[_VALIDATION:]}
    given = labels.copy()
    flipped = rng.choice(parts["train"], round(SLIPS * rows), replace=False)
    given[flipped] = (labels[flipped] + rng.integers(1, 10, len(flipped))) % 10
    kinds = np.array(["plain"] * len(images), object)
    kinds[flipped] = "flipped"
    sets = {name: _table(images[places], given[places], places) for name, places in parts.items() if name != "altered"}
    sets["altered"] = _altered(images[parts["altered"]], given[parts["altered"]], parts["altered"], rng)
    truth = [_truth(name, places, kinds[places], labels[places]) for name, places in parts.items()]
    return PlantedCorpus(sets, pa.concat_tables(truth))


def _table(images: Pixels, labels: Integers, places: Integers) -> pa.Table:
    pngs = pa.array([png_of(image, max(image.shape)) for image in images], pa.binary())
    return pa.table({schema.UID: _uids(places), "image": pngs, schema.LABEL: [str(label) for label in labels.tolist()]})


def _uids(places: Integers) -> list[str]:
    return [f"digit-{place:04d}" for place in places.tolist()]


def _truth(name: str, places: Integers, kinds: Objects, labels: Integers) -> pa.Table:
    names = [str(label) for label in labels.tolist()]
    rows = len(names)
    return pa.table([_uids(places), [name] * rows, kinds.tolist(), names, slips(kinds), [False] * rows], schema=schema.TRUTH)


Alter = Callable[[Pixels, np.random.Generator], Pixels]


def _altered(images: Pixels, labels: Integers, places: Integers, rng: np.random.Generator) -> pa.Table:
    names = list(ALTERATIONS)
    chosen = rng.permutation(np.arange(len(images)) % len(names))
    changed = np.stack([ALTERATIONS[names[which]](image, rng) for which, image in zip(chosen.tolist(), images, strict=True)])
    table = _table(changed, labels, places)
    for number, name in enumerate(names):
        table = table.append_column(name, pa.array(["yes" if which == number else "" for which in chosen.tolist()]))
    return table


def _shifted(image: Pixels, rng: np.random.Generator) -> Pixels:
    far, side = int(rng.integers(1, 3)), int(rng.integers(4))
    padded = np.pad(image, far)
    down, right = ((0, far), (2 * far, far), (far, 0), (far, 2 * far))[side]
    height, width = image.shape
    return padded[down : down + height, right : right + width]


def _rotated(image: Pixels, rng: np.random.Generator) -> Pixels:
    degrees = float(rng.uniform(20, 40) * rng.choice((-1, 1)))
    return np.asarray(Image.fromarray(image).rotate(degrees, Image.Resampling.BILINEAR), dtype=np.uint8)


def _noisy(image: Pixels, rng: np.random.Generator) -> Pixels:
    return np.clip(image + rng.normal(0, 80, image.shape), 0, 255).astype(np.uint8)


def _inverted(image: Pixels, rng: np.random.Generator) -> Pixels:
    return np.asarray(255 - image, dtype=np.uint8)


ALTERATIONS: dict[str, Alter] = {"shifted": _shifted, "rotated": _rotated, "noisy": _noisy, "inverted": _inverted}
"""What is done to an image that is out of distribution, by the name of its group."""
