"""The models of pairs by name, without loading torch: one module each, two lines here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.data.json_files import read_json
from cartograph.errors import InputError

if TYPE_CHECKING:
    from cartograph.pairs.models.cosine import CosineModel, Embedder

COSINE_MODELS = {
    "cosine-bow": "vectors of n-grams, summed and trained; seconds on a CPU",
    "cosine-frozen": "a pretrained encoder's vectors, made once, and a linear map of them that is trained",
    "cosine-bert": "a pretrained encoder, fine-tuned (CosineBERT)",
}


def embedder_class(name: str) -> type[Embedder]:
    """Return the class of an embedder.

    Raises:
        InputError: there is no such model.
    """
    if name not in COSINE_MODELS:
        raise InputError(f"there is no model of pairs `{name}`; known: {', '.join(COSINE_MODELS)}.")
    from cartograph.pairs.models.bert import CosineBert
    from cartograph.pairs.models.bow import CosineBow
    from cartograph.pairs.models.frozen import CosineFrozen

    classes: dict[str, type[Embedder]] = {"cosine-bow": CosineBow, "cosine-frozen": CosineFrozen, "cosine-bert": CosineBert}
    return classes[name]


def load_model(folder: Path) -> CosineModel:
    """Return the cosine model that ``CosineModel.save`` wrote, calibration included: of a round, ``data/round-N/METHOD-SEED/model``."""
    from cartograph.pairs.models.calibration import Calibration
    from cartograph.pairs.models.cosine import CALIBRATION, CONFIG, CosineModel

    name = read_json(folder / CONFIG)["model"]
    return CosineModel(embedder_class(name).load(folder), Calibration.load(folder / CALIBRATION))
