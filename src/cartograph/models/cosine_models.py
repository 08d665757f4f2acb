"""The embedders that a cosine model can have: one module each, one line here."""

from __future__ import annotations

from cartograph.errors import InputError
from cartograph.models.cosine import Embedder
from cartograph.pairs.models import COSINE_MODELS


def embedder_class(name: str) -> type[Embedder]:
    """Return the class of an embedder.

    Raises:
        InputError: none has this name.
    """
    if name not in COSINE_MODELS:
        raise InputError(f"no model of pairs is called `{name}`; known: {', '.join(COSINE_MODELS)}.")
    from cartograph.models.cosine_bert import CosineBert
    from cartograph.models.cosine_bow import CosineBow
    from cartograph.models.cosine_frozen import CosineFrozen

    classes: dict[str, type[Embedder]] = {"cosine-bow": CosineBow, "cosine-frozen": CosineFrozen, "cosine-bert": CosineBert}
    return classes[name]
