"""What every listed model must do, of texts for single ones, pairs and multiple choice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from torch import nn

from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.models.base import IGNORED, Classifier, TextModel
from cartograph.models.registry import IMAGE_MODELS, TABLE_MODELS, TEXT_MODELS, model_class
from cartograph.models.tiny import Tiny
from cartograph.schema import Task
from cartograph.train.fit import fit
from cartograph.train.recipe import Recipe
from tests.training_sets import info_of, small_set, table, write_vision

TEXTS = [(name, task) for name in TEXT_MODELS for task in ("single", "pair", "choice")]
EVERY = [*TEXTS, *((name, "image") for name in IMAGE_MODELS), *((name, "table") for name in TABLE_MODELS)]
HOSTILE = [
    "",
    " ",
    "<script>alert(1)</script>",
    "\x00\u202e",
    "\U0001f600 \U0001f468\u200d\U0001f469",
    "word " * 500,
    "_",
    "ÄÖÜ ß ﬁ",
    "<s> </s> <pad> [SEP]",
]


@pytest.fixture(scope="session")
def pretrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose folders hold pretrained networks with random weights: one of texts, one of images."""
    folder = tmp_path_factory.mktemp("pretrained")
    for name in ("texts", "images"):
        (folder / name).mkdir()
    torch.manual_seed(0)
    Tiny.create(info_of("single"), small_set(), max_length=32).save(folder / "texts")
    write_vision(folder / "images")
    return folder


def make(name: str, task: Task, pretrained: Path, seed: int = 0) -> Classifier:
    torch.manual_seed(seed)
    kind = model_class(name)
    return kind.create(info_of(task), small_set(task), max_length=32, pretrained=str(pretrained / kind.reads)).eval()


@pytest.fixture(params=EVERY, ids=lambda param: "-".join(param))
def model(request: pytest.FixtureRequest, pretrained: Path) -> Classifier:
    return make(*request.param, pretrained)


@pytest.fixture(params=TEXTS, ids=lambda param: "-".join(param))
def text_model(request: pytest.FixtureRequest, pretrained: Path) -> Classifier:
    return make(*request.param, pretrained)


def outputs(model: Classifier, rows: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    examples = model.encode(small_set(model.task), info_of(model.task))
    with torch.no_grad():
        output = model(**model.batch(examples, np.array(rows)))
    return output.logits, output.features


def test_it_returns_loss_logits_and_features(model: Classifier) -> None:
    examples = model.encode(small_set(model.task), info_of(model.task))
    batch = model.batch(examples, np.arange(5))
    output = model(**batch)
    assert output.logits.shape == (5, 2)
    assert output.loss.item() == pytest.approx(nn.functional.cross_entropy(output.logits, batch["labels"]).item(), abs=1e-6)
    assert output.features.shape[:-1] == ((5, 2) if model.task == "choice" else (5,))
    assert model(**{name: value for name, value in batch.items() if name != "labels"}).loss is None
    ignored = model(**batch | {"labels": torch.tensor([1, IGNORED, IGNORED, IGNORED, IGNORED])})
    assert ignored.loss.item() == pytest.approx(nn.functional.cross_entropy(output.logits[:1], torch.tensor([1])).item(), abs=1e-6)


def test_all_parameters_have_a_part_in_the_loss_where_it_says_so(model: Classifier) -> None:
    examples = model.encode(small_set(model.task), info_of(model.task))
    loss = model(**model.batch(examples, np.arange(4))).loss
    if not model.by_stages:
        loss.backward()
    assert model.has_unused or all(parameter.grad is not None for parameter in model.parameters())


def test_features_are_the_input_of_the_last_layer_where_there_is_one(model: Classifier) -> None:
    logits, features = outputs(model, [3, 1, 4])
    layers = [module for module in model.modules() if isinstance(module, nn.Linear)]
    assert bool(layers) != model.by_stages
    for last in layers[-1:]:
        torch.testing.assert_close(last(features).reshape(logits.shape), logits)


def test_a_rows_logits_do_not_depend_on_its_neighbours(model: Classifier) -> None:
    together, _ = outputs(model, [7, 2, 9, 0])
    alone = torch.cat([outputs(model, [row])[0] for row in (7, 2, 9, 0)])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-5)


def test_a_saved_model_is_loaded_unchanged(model: Classifier, tmp_path: Path) -> None:
    model.save(tmp_path)
    assert (tmp_path / "model.safetensors").is_file()
    assert {path.suffix for path in tmp_path.iterdir()} <= {".json", ".safetensors", ".txt"}
    loaded = type(model).load(tmp_path).eval()
    assert (loaded.task, loaded.labels) == (model.task, model.labels)
    assert torch.equal(outputs(loaded, [0, 5])[0], outputs(model, [0, 5])[0])
    again = tmp_path / "again"
    again.mkdir()
    loaded.save(again)
    for path in again.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


def test_saved_files_do_not_contain_the_path_of_their_origin(model: Classifier, tmp_path: Path, pretrained: Path) -> None:
    model.save(tmp_path)
    for path in tmp_path.iterdir():
        content = path.read_bytes()
        assert str(pretrained).encode() not in content and str(tmp_path).encode() not in content, path.name


@pytest.mark.parametrize(("name", "task"), [one for one in EVERY if one[1] not in ("single", "choice") and one[0] != "boosting"])
def test_the_seed_decides_the_weights(name: str, task: Task, pretrained: Path) -> None:
    first, second, third = make(name, task, pretrained), make(name, task, pretrained), make(name, task, pretrained, seed=1)
    assert torch.equal(outputs(first, [0])[0], outputs(second, [0])[0])
    assert not torch.equal(outputs(first, [0])[0], outputs(third, [0])[0])


def test_any_text_can_be_read(text_model: TextModel) -> None:
    model, info = text_model, info_of(text_model.task)
    columns = {name: HOSTILE[shift:] + HOSTILE[:shift] for shift, name in enumerate(info.fields)}
    examples = model.encode(table(info, columns, [0] * len(HOSTILE)), info)
    assert examples.lengths.max() <= 64
    with torch.no_grad():
        assert torch.isfinite(model(**model.batch(examples, np.arange(len(HOSTILE)))).logits).all()


def test_it_reads_nothing_of_the_label(model: Classifier) -> None:
    data = small_set(model.task)
    info = info_of(model.task)
    field = data.schema.get_field_index("label")
    flipped = data.set_column(
        field, data.schema.field(field), pa.array([1 - label for label in data.column("label").to_pylist()], pa.int32())
    )
    given, other = model.encode(data, info), model.encode(flipped, info)
    for name, field in given.fields.items():
        np.testing.assert_array_equal(field.values, other.fields[name].values)


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXT_MODELS)
@pytest.mark.parametrize("task", ["single", "pair"])
def test_it_learns_a_label_that_one_word_decides(name: str, task: Task, pretrained: Path, tmp_path: Path) -> None:
    rate = 0.01 if name == "bow" else 0.002
    epochs = 12 if name in ("bow", "probe") else 6
    recipe = Recipe(
        model=name,
        epochs=epochs,
        batch_size=8,
        learning_rate=rate,
        seed=1,
        device="cpu",
        threads=1,
        max_length=32,
        pretrained=str(pretrained / "texts"),
        evaluate="end",
    )
    held = small_set(task, rows=40, seed=7, name="held", domain="id")
    result = fit(recipe, small_set(task, rows=160), {"held": held}, tmp_path)
    assert result.metrics["held.accuracy"] > 0.9
    assert result.metrics["train.failed"] == 0
    assert read_dynamics(result.dynamics).logits.shape == (160, epochs, 2)
