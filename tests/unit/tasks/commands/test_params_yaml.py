from __future__ import annotations

import yaml

from tasks.commands.params_yaml import RECIPES, encoder, recipe
from tasks.engine.workspace import CODE


def test_the_encoder_of_a_probe_is_set_in_the_section_embed() -> None:
    assert (recipe("probe", "x/y"), encoder("probe", "x/y")) == ({"model": "probe"}, {"pretrained": "x/y"})
    assert (recipe("transformer", "x/y")["pretrained"], encoder("transformer", "x/y")) == ("x/y", {"pretrained": "x/y"})
    assert (recipe("vision", "x/y")["pretrained"], encoder("vision", "x/y")) == ("x/y", {})
    assert encoder("probe", "") == {}


def test_recipes_start_from_the_rates_of_the_models() -> None:
    from cartograph.models.registry import MODELS, model_class

    assert RECIPES.keys() == MODELS.keys()
    default = yaml.safe_load((CODE / "params.yaml").read_text(encoding="utf-8"))["train"]
    for name, keys in RECIPES.items():
        assert (default | keys)["learning_rate"] == model_class(name).learning_rate, name
