"""Models that a map can be made with: one module each, a line in ``MODELS``, an import and an entry in ``model_class``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartograph.errors import InputError

if TYPE_CHECKING:
    from cartograph.models.base import Classifier

TEXT_MODELS = {
    "bow": "embedding bag over hashed word n-grams",
    "lstm": "bidirectional LSTM over words, from scratch",
    "esim": "LSTMs with attention between the two texts of a pair, from scratch",
    "tiny": "small RoBERTa made from the data, for machines without a hub",
    "probe": "small head on the vectors of a frozen encoder, which are made once",
    "transformer": "pretrained encoder from a local folder or the hub",
}
IMAGE_MODELS = {
    "cnn": "small convolutional network over pixels, from scratch",
    "vision": "pretrained classifier of images from a local folder or the hub",
}
TABLE_MODELS = {
    "mlp": "perceptron over numbers and embedded categories, from scratch",
    "boosting": "gradient-boosted trees over numbers and categories, a few more in each epoch",
}
MODELS = TEXT_MODELS | IMAGE_MODELS | TABLE_MODELS
"""Name -> what it is; known without loading torch."""

FROM_A_FOLDER = ("transformer", "vision")
"""Models that start from a pretrained one."""

FIRST_EPOCHS = dict.fromkeys(MODELS, 8) | {"cnn": 12, "vision": 5, "transformer": 5}
"""Model -> passes over the train set to begin with."""

_BATCHES = {"bow": ((256_000, 256), (128_000, 128)), "mlp": ((128_000, 256), (4_000, 64), (0, 16))}
_BATCH = 64


def batch_for(model: str, rows: int) -> int:
    """Return how many rows an optimiser step of a model has where it is left open.

    More on large sets, where that costs no accuracy, and fewer of a small table, which would have few steps in an epoch.
    """
    return next((size for least, size in _BATCHES.get(model, ()) if rows >= least), _BATCH)


def model_class(name: str) -> type[Classifier]:
    """Return the class of a model.

    Raises:
        InputError: no model has this name.
    """
    if name not in MODELS:
        raise InputError(f"no model is called `{name}`; known: {', '.join(MODELS)}.")
    from cartograph.models.boosting import Boosting
    from cartograph.models.bow import Bow
    from cartograph.models.cnn import Cnn
    from cartograph.models.esim import Esim
    from cartograph.models.lstm import Lstm
    from cartograph.models.mlp import Mlp
    from cartograph.models.probe import Probe
    from cartograph.models.tiny import Tiny
    from cartograph.models.transformer import Transformer
    from cartograph.models.vision import Vision

    classes: dict[str, type[Classifier]] = {
        "bow": Bow,
        "lstm": Lstm,
        "esim": Esim,
        "tiny": Tiny,
        "probe": Probe,
        "transformer": Transformer,
        "cnn": Cnn,
        "vision": Vision,
        "mlp": Mlp,
        "boosting": Boosting,
    }
    return classes[name]
