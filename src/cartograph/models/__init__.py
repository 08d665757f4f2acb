"""Models that a map can be made with: one module each, one line in ``MODELS`` and one in ``model_class``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartograph.errors import InputError

if TYPE_CHECKING:
    from cartograph.models.base import TextModel

MODELS = {
    "bow": "embedding bag over hashed word n-grams",
    "lstm": "bidirectional LSTM over words, from scratch",
    "esim": "LSTMs with attention between the two texts of a pair, from scratch",
    "tiny": "small RoBERTa made from the data, for machines without a hub",
    "probe": "small head on the vectors of a frozen encoder, which are made once",
    "transformer": "pretrained encoder from a local folder or the hub",
}
"""Name -> what it is; known without loading torch."""


def model_class(name: str) -> type[TextModel]:
    """Return the class of a model.

    Raises:
        InputError: no model has this name.
    """
    if name not in MODELS:
        raise InputError(f"no model is called `{name}`; known: {', '.join(MODELS)}.")
    from cartograph.models.bow import Bow
    from cartograph.models.esim import Esim
    from cartograph.models.lstm import Lstm
    from cartograph.models.probe import Probe
    from cartograph.models.tiny import Tiny
    from cartograph.models.transformer import Transformer

    classes: dict[str, type[TextModel]] = {
        "bow": Bow,
        "lstm": Lstm,
        "esim": Esim,
        "tiny": Tiny,
        "probe": Probe,
        "transformer": Transformer,
    }
    return classes[name]
