from __future__ import annotations

import pytest

from cartograph.errors import InputError
from cartograph.pairs.models.registry import embedder_class


def test_an_unknown_model_is_named() -> None:
    with pytest.raises(InputError, match=r"^there is no model of pairs `cosine`; known: cosine-bow, cosine-frozen, cosine-bert\.$"):
        embedder_class("cosine")
