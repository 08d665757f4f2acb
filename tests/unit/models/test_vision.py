"""Pretrained networks of images: how they read them, what is refused, and frozen vectors of whole sets."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from transformers import AutoModel

from cartograph.data.images import pixels_of
from cartograph.errors import InputError
from cartograph.features.vectors import read_features
from cartograph.models.frozen.image_encoder import embed_images
from cartograph.models.image_pretrained import ImageReading, Standardised
from cartograph.models.last_layer import penultimate_features
from cartograph.models.vision import Vision
from cartograph.train.fit import fit
from cartograph.train.inference import infer
from cartograph.train.recipe import Recipe
from tests.stand_in_gpu import stand_in_gpu
from tests.training_sets import info_of, small_images, write_vision

CONFIG = SimpleNamespace(num_channels=3, image_size=32)


def reading(folder: Path, given: Any, config: Any = CONFIG) -> ImageReading:
    (folder / "preprocessor_config.json").write_text(given if isinstance(given, str) else json.dumps(given))
    return ImageReading.of(config, folder)


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ({"size": {"height": 20, "width": 30}}, (30, 20)),
        ({"size": {"shortest_edge": 24}}, (24, 24)),
        ({"size": {"shortest_edge": 24}, "crop_size": {"height": 16, "width": 16}, "do_center_crop": True}, (16, 16)),
        ({"size": {"shortest_edge": 24}, "crop_size": 16, "do_center_crop": False}, (24, 24)),
        ({"size": 18}, (18, 18)),
        ({}, (32, 32)),
    ],
)
def test_every_spelling_of_an_image_size_is_read(tmp_path: Path, given: dict[str, Any], size: tuple[int, int]) -> None:
    found = reading(tmp_path, given)
    assert (found.width, found.height) == size
    assert ImageReading.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_every_spelling_of_mean_and_deviation_is_read(tmp_path: Path) -> None:
    assert reading(tmp_path, {"image_mean": [0.1, 0.2, 0.3], "image_std": [1, 2, 3]}).mean == (0.1, 0.2, 0.3)
    assert reading(tmp_path, {"do_normalize": False, "image_mean": [9, 9, 9]}).deviation == (1.0, 1.0, 1.0)
    grey = reading(tmp_path, {"image_mean": [0.1, 0.2, 0.3]}, SimpleNamespace(num_channels=1, image_size=[8, 9]))
    assert grey.mean == (pytest.approx(0.2),) and (grey.width, grey.height) == (9, 8)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{", "is not JSON"),
        ({"size": {"longest_edge": 3}}, "cannot be understood"),
        ({"image_mean": ["a", "b", "c"]}, "cannot be understood"),
        ({"size": 100_000}, "asks for images of 100000 x 100000 pixels; expected 1 to 1,024"),
        ({"size": -4}, "asks for images of -4 x -4 pixels"),
    ],
)
def test_a_faulty_preprocessor_configuration_is_refused(tmp_path: Path, given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        reading(tmp_path, given)


def test_pixels_are_scaled_and_standardised(tmp_path: Path) -> None:
    rows = small_images(3, shape=(16, 16, 3))
    given = reading(tmp_path, {"size": 16, "image_mean": [0.5] * 3, "image_std": [0.25] * 3})
    pixels = given.pixels(rows["image"])
    assert pixels.shape == (3, 3, 16, 16) and pixels.dtype == torch.uint8
    standardised = Standardised(given)
    assert not standardised.state_dict()
    found = standardised(pixels)
    assert found.dtype == torch.float32
    assert torch.allclose(found, (pixels.double() / 255 - 0.5).float() / 0.25, atol=1e-6)
    assert float(found.min()) >= -2 and float(found.max()) <= 2


@pytest.mark.parametrize("kind", ["vit", "resnet"])
@pytest.mark.parametrize("channels", [1, 3])
def test_networks_of_both_kinds_are_trained_and_loaded_again(kind: str, channels: int, tmp_path: Path) -> None:
    (tmp_path / "network").mkdir()
    write_vision(tmp_path / "network", kind, channels)
    start = str(tmp_path / "network")
    recipe = Recipe(model="vision", epochs=1, batch_size=16, learning_rate=1e-3, device="cpu", threads=1, pretrained=start)
    rows = small_images(48)
    result = fit(recipe, rows, {}, tmp_path / "fit")
    found = penultimate_features("vision", result.model, {"train": rows}, device="cpu")["train"]
    assert found.shape == (48, 16) and np.isfinite(found).all()


def test_a_network_is_given_standardised_pixels_trained_or_frozen(tmp_path: Path) -> None:
    (tmp_path / "network").mkdir()
    write_vision(tmp_path / "network")
    given = {"size": 16, "image_mean": [0.1, 0.4, 0.7], "image_std": [0.2, 0.5, 0.9]}
    (tmp_path / "network/preprocessor_config.json").write_text(json.dumps(given))
    rows = small_images(6)
    pixels = torch.from_numpy(pixels_of(rows["image"], 16, 16, 3)).permute(0, 3, 1, 2).double() / 255
    mean, deviation = (torch.tensor(given[name]).reshape(1, 3, 1, 1) for name in ("image_mean", "image_std"))
    standard = ((pixels - mean) / deviation).float()
    model = Vision.create(info_of("image"), rows, pretrained=str(tmp_path / "network")).eval()
    batch = model.batch(model.encode(rows, info_of("image")), np.arange(6))
    assert torch.allclose(model(**batch).logits, model.network(pixel_values=standard).logits, atol=1e-4)
    pq.write_table(rows, tmp_path / "rows.parquet")
    (tmp_path / "out").mkdir()
    embed_images(str(tmp_path / "network"), {"train": tmp_path / "rows.parquet"}, tmp_path / "out", device="cpu")
    frozen = AutoModel.from_pretrained(tmp_path / "network")(pixel_values=standard).last_hidden_state.mean(dim=1).detach().numpy()
    assert np.allclose(read_features(tmp_path / "out/train.parquet")[1], frozen, atol=5e-3)  # written in 16 bits


def test_for_a_gpu_images_are_decoded_by_another_thread_wherever_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "network").mkdir()
    write_vision(tmp_path / "network")
    decoded: list[int] = []
    pixels = ImageReading.pixels

    def spy(self: ImageReading, column: pa.ChunkedArray) -> torch.Tensor:
        decoded.append(threading.get_ident())
        return pixels(self, column)

    monkeypatch.setattr(ImageReading, "pixels", spy)
    rows, found = small_images(24), {}
    for device in ("cpu", "cuda"):
        recipe = Recipe(
            model="vision", epochs=1, batch_size=8, learning_rate=1e-3, device=device, threads=1, pretrained=str(tmp_path / "network")
        )
        with stand_in_gpu(monkeypatch):
            folder, held = tmp_path / device, small_images(10, name="test", domain="id")
            made: list[Callable[[], Any]] = [
                lambda recipe=recipe, folder=folder, held=held: fit(recipe, rows, {"test": held}, folder),
                lambda recipe=recipe, folder=folder: infer(recipe, folder / "model", rows).logits,
                lambda device=device, folder=folder: penultimate_features("vision", folder / "model", {"train": rows}, device=device),
            ]
            for make in made:
                decoded.clear()
                found[device] = make()
                assert decoded and (threading.get_ident() in decoded) == (device == "cpu")
    assert np.allclose(found["cpu"]["train"], found["cuda"]["train"], atol=1e-4)


def test_the_head_is_new_and_the_rest_is_not(tmp_path: Path) -> None:
    write_vision(tmp_path)
    one, other = (Vision.create(info_of("image"), small_images(), pretrained=str(tmp_path)) for _ in range(2))
    weights = [dict(model.network.named_parameters()) for model in (one, other)]
    assert not torch.equal(weights[0]["classifier.weight"], weights[1]["classifier.weight"])
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0] if not name.startswith("classifier"))


def test_a_folder_without_a_classifier_of_images_is_refused(tmp_path: Path) -> None:
    def create(pretrained: str | None) -> None:
        Vision.create(info_of("image"), small_images(), pretrained=pretrained)

    with pytest.raises(InputError, match="model `vision` needs `pretrained`"):
        create(None)
    with pytest.raises(InputError, match=r"no model folder: it lacks config\.json, model\.safetensors"):
        create(str(tmp_path))
    with pytest.raises(InputError, match=r"is no folder; give one with config\.json, model\.safetensors, or a hub id"):
        create("./nowhere")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    (tmp_path / "model.safetensors").write_bytes(b"x")
    with pytest.raises(InputError, match="cannot be used as an encoder"):
        create(str(tmp_path))


@pytest.mark.parametrize("kind", ["vit", "resnet"])
def test_a_frozen_network_gives_every_image_a_vector(kind: str, tmp_path: Path) -> None:
    (tmp_path / "network").mkdir()
    write_vision(tmp_path / "network", kind)
    rows = {"train": small_images(20), "held": small_images(7, seed=3)}
    for name, table in rows.items():
        pq.write_table(table, tmp_path / f"{name}-rows.parquet")
    seen: list[int] = []
    (tmp_path / "out").mkdir()
    found = embed_images(
        str(tmp_path / "network"),
        {name: tmp_path / f"{name}-rows.parquet" for name in rows},
        tmp_path / "out",
        batch_size=8,
        device="cpu",
        progress=lambda done, total: seen.append(done),
    )
    assert found == (27, 16, 0) and seen == [8, 16, 20, 27]
    _, vectors = read_features(tmp_path / "out/train.parquet", rows["train"]["uid"])
    assert vectors.shape == (20, 16) and len(np.unique(vectors, axis=0)) == 20
    if kind == "resnet":
        sets = {"train": tmp_path / "train-rows.parquet"}
        with pytest.raises(InputError, match=r"has no first state .* set `embed\.pooling` to mean"):
            embed_images(str(tmp_path / "network"), sets, tmp_path / "out", pooling="cls", device="cpu")


@pytest.mark.parametrize("kind", ["vit", "resnet"])
def test_images_are_embedded_the_same_on_a_gpu_and_one_waits_for_it_once_a_set(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "network").mkdir()
    write_vision(tmp_path / "network", kind)
    pq.write_table(small_images(20), tmp_path / "rows.parquet")
    found = {}
    for device in ("cpu", "auto"):
        (tmp_path / device).mkdir()
        with stand_in_gpu(monkeypatch) as gpu:
            embed_images(str(tmp_path / "network"), {"train": tmp_path / "rows.parquet"}, tmp_path / device, batch_size=4, device=device)
        assert (gpu.copies, gpu.waits) == ((0, []) if device == "cpu" else (5, ["cpu"]))
        found[device] = read_features(tmp_path / device / "train.parquet")[1]
    assert np.allclose(found["auto"], found["cpu"], atol=2e-3)  # written in 16 bits


def test_a_network_from_the_hub_reads_images_as_its_folder_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the hub leaves it in its cache: networks of both kinds of use are given images of the preprocessor's size and moments."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    kept = tmp_path / "hub/models--owner--network"
    (kept / "snapshots/abc").mkdir(parents=True)
    (kept / "refs").mkdir()
    (kept / "refs/main").write_text("abc")
    write_vision(kept / "snapshots/abc", "resnet")
    pq.write_table(small_images(6), tmp_path / "rows.parquet")
    found = []
    for name in ("owner/network", str(kept / "snapshots/abc")):
        folder = tmp_path / str(len(found))
        folder.mkdir()
        embed_images(name, {"train": tmp_path / "rows.parquet"}, folder, device="cpu")
        found.append(read_features(folder / "train.parquet")[1])
    assert np.array_equal(*found)
    assert Vision.create(info_of("image"), small_images(), pretrained="owner/network").reading.width == 20
