"""What every listed model of images must do, beside what every model must."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch

from cartograph.data.images import png_of
from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.errors import InputError
from cartograph.models.base import Classifier
from cartograph.models.registry import IMAGE_MODELS, model_class
from cartograph.train.fit import fit
from cartograph.train.recipe import Recipe
from tests.training_sets import info_of, small_images, small_set, table, write_vision

INFO = info_of("image")


@pytest.fixture(scope="session")
def pretrained(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny vision transformer with random weights, as a user has a pretrained one in a folder."""
    folder = tmp_path_factory.mktemp("pretrained")
    write_vision(folder)
    return str(folder)


def make(name: str, pretrained: str, train: pa.Table) -> Classifier:
    torch.manual_seed(0)
    return model_class(name).create(INFO, train, max_length=32, pretrained=pretrained).eval()


def are_read(model: Classifier, images: pa.Table) -> bool:
    with torch.no_grad():
        output = model(**model.batch(model.encode(images, INFO), np.arange(len(images))))
    return bool(torch.isfinite(output.logits).all())


@pytest.mark.parametrize("name", IMAGE_MODELS)
def test_images_of_any_size_and_colour_can_be_read(name: str, pretrained: str) -> None:
    shapes = [(1, 1), (1, 200), (200, 1), (30, 20, 3), (8, 10), (3, 5, 3)]
    odd = table(INFO, {"image": [png_of(np.full(shape, 77, np.uint8), 256) for shape in shapes]}, [0] * len(shapes))
    assert are_read(make(name, pretrained, small_images()), odd)


@pytest.mark.parametrize("name", IMAGE_MODELS)
@pytest.mark.parametrize("shape", [(1, 1), (70, 40, 3), (5, 300)])
def test_it_can_be_made_for_images_of_any_size(name: str, shape: tuple[int, ...], pretrained: str) -> None:
    rows = table(INFO, {"image": [png_of(np.full(shape, value, np.uint8), 256) for value in (10, 200)]}, [0, 1])
    assert are_read(make(name, pretrained, rows), rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", IMAGE_MODELS)
def test_it_learns_which_half_is_bright(name: str, pretrained: str, tmp_path: Path) -> None:
    recipe = Recipe(
        model=name,
        epochs=6 if name == "cnn" else 10,
        batch_size=8,
        learning_rate=0.002,
        seed=1,
        device="cpu",
        threads=1,
        pretrained=pretrained,
    )
    held = small_images(rows=40, seed=7, name="held", domain="id")
    result = fit(recipe, small_images(rows=160), {"held": held}, tmp_path)
    assert result.metrics["held.accuracy"] > 0.9 and result.metrics["train.failed"] == 0
    assert read_dynamics(result.dynamics).logits.shape == (160, recipe.epochs, 2)


def test_a_model_of_another_kind_of_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"model `bow` reads texts, but the rows are images; use one of {', '.join(IMAGE_MODELS)}"):
        fit(Recipe(model="bow"), small_images(), {}, tmp_path)
    with pytest.raises(InputError, match="model `cnn` reads images, but the rows are texts; use one of bow, lstm"):
        fit(Recipe(model="cnn"), small_set(), {}, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", IMAGE_MODELS)
def test_a_killed_training_ends_in_the_same_bytes(name: str, pretrained: str, tmp_path: Path) -> None:
    recipe = Recipe(model=name, epochs=3, batch_size=16, learning_rate=0.002, device="cpu", threads=1, pretrained=pretrained)
    whole = fit(recipe, small_images(), {}, tmp_path / "whole")

    class Killed(Exception):
        pass

    def kill(done: int, total: int) -> None:
        if done > 0.6 * total:
            raise Killed

    with pytest.raises(Killed):
        fit(recipe, small_images(), {}, tmp_path / "cut", progress=kill)
    again = fit(recipe, small_images(), {}, tmp_path / "cut")
    for path in [*whole.dynamics.iterdir(), *whole.model.iterdir()]:
        assert path.read_bytes() == (tmp_path / "cut" / path.relative_to(whole.folder)).read_bytes(), path.name
    assert again.metrics == whole.metrics
