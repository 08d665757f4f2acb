"""What every listed model of images must do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from torch import nn

from cartograph.data.images import png_of
from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.errors import InputError
from cartograph.models.base import IGNORED, Classifier
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


def make(name: str, pretrained: str, seed: int = 0, rows: pa.Table | None = None) -> Classifier:
    torch.manual_seed(seed)
    train = small_images() if rows is None else rows
    return model_class(name).create(INFO, train, max_length=32, pretrained=pretrained).eval()


@pytest.fixture(params=IMAGE_MODELS)
def model(request: pytest.FixtureRequest, pretrained: str) -> Classifier:
    return make(request.param, pretrained)


def outputs(model: Classifier, rows: list[int], data: pa.Table | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    examples = model.encode(small_images() if data is None else data, INFO)
    with torch.no_grad():
        output = model(**model.batch(examples, np.array(rows)))
    return output.logits, output.features


def test_it_returns_loss_logits_and_features(model: Classifier) -> None:
    batch = model.batch(model.encode(small_images(), INFO), np.arange(5))
    output = model(**batch)
    assert output.logits.shape == (5, 2) and output.features.shape[0] == 5 and output.features.ndim == 2
    assert output.loss.item() == pytest.approx(nn.functional.cross_entropy(output.logits, batch["labels"]).item(), abs=1e-6)
    assert model(**{name: value for name, value in batch.items() if name != "labels"}).loss is None
    ignored = model(**batch | {"labels": torch.tensor([1, IGNORED, IGNORED, IGNORED, IGNORED])})
    assert ignored.loss.item() == pytest.approx(nn.functional.cross_entropy(output.logits[:1], torch.tensor([1])).item(), abs=1e-6)


def test_features_are_the_input_of_the_last_layer(model: Classifier) -> None:
    logits, features = outputs(model, [3, 1, 4])
    last = [module for module in model.modules() if isinstance(module, nn.Linear)][-1]
    torch.testing.assert_close(last(features), logits)


def test_a_rows_logits_do_not_depend_on_its_neighbours(model: Classifier) -> None:
    together, _ = outputs(model, [7, 2, 9, 0])
    alone = torch.cat([outputs(model, [row])[0] for row in (7, 2, 9, 0)])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-5)


def test_a_saved_model_is_loaded_unchanged(model: Classifier, tmp_path: Path) -> None:
    model.save(tmp_path)
    assert (tmp_path / "model.safetensors").is_file()
    loaded = type(model).load(tmp_path).eval()
    assert (loaded.task, loaded.labels) == ("image", model.labels)
    assert torch.equal(outputs(loaded, [0, 5])[0], outputs(model, [0, 5])[0])
    again = tmp_path / "again"
    again.mkdir()
    loaded.save(again)
    for path in again.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


def test_saved_files_do_not_contain_the_path_of_their_origin(model: Classifier, tmp_path: Path, pretrained: str) -> None:
    model.save(tmp_path)
    for path in tmp_path.iterdir():
        content = path.read_bytes()
        assert pretrained.encode() not in content and str(tmp_path).encode() not in content, path.name


@pytest.mark.parametrize("name", IMAGE_MODELS)
def test_the_seed_decides_the_weights(name: str, pretrained: str) -> None:
    first, second, third = make(name, pretrained), make(name, pretrained), make(name, pretrained, seed=1)
    assert torch.equal(outputs(first, [0])[0], outputs(second, [0])[0])
    assert not torch.equal(outputs(first, [0])[0], outputs(third, [0])[0])


def test_images_of_any_size_and_colour_can_be_read(model: Classifier) -> None:
    shapes = [(1, 1), (1, 200), (200, 1), (30, 20, 3), (8, 10), (3, 5, 3)]
    odd = table(INFO, {"image": [png_of(np.full(shape, 77, np.uint8), 256) for shape in shapes]}, [0] * len(shapes))
    logits, _ = outputs(model, list(range(len(shapes))), odd)
    assert torch.isfinite(logits).all()


@pytest.mark.parametrize("name", IMAGE_MODELS)
@pytest.mark.parametrize("shape", [(1, 1), (70, 40, 3), (5, 300)])
def test_it_can_be_made_for_images_of_any_size(name: str, shape: tuple[int, ...], pretrained: str) -> None:
    rows = table(INFO, {"image": [png_of(np.full(shape, value, np.uint8), 256) for value in (10, 200)]}, [0, 1])
    assert torch.isfinite(outputs(make(name, pretrained, rows=rows), [0, 1], rows)[0]).all()


def test_it_reads_nothing_but_the_image(model: Classifier) -> None:
    data = small_images()
    field = data.schema.get_field_index("label")
    flipped = data.set_column(field, data.schema.field(field), pa.array([1 - label for label in data["label"].to_pylist()], pa.int32()))
    given, other = model.encode(data, INFO), model.encode(flipped, INFO)
    assert all(np.array_equal(given.fields[name].values, other.fields[name].values) for name in given.fields)


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
