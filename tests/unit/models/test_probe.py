from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from transformers import AutoModel, AutoTokenizer, RobertaConfig, RobertaModel

from cartograph.errors import InputError
from cartograph.models.base import Side, sides_of
from cartograph.models.frozen.embeddings import Embeddings, embed_sets
from cartograph.models.frozen.text_encoder import Encoder
from cartograph.models.probe import Probe
from cartograph.models.tiny import Tiny
from cartograph.schema import Task
from cartograph.train.fit import fit
from cartograph.train.recipe import Recipe
from cartograph.train.result import TrainingResult
from tests.training_sets import info_of, small_set, table

RECIPE = Recipe(model="probe", epochs=3, batch_size=8, learning_rate=0.002, seed=5, threads=1, device="cpu", max_length=24)
TEXTS = ["The dog barks", "", "The cat sleeps near the barn and near the river", "word " * 100, "The dog barks"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("source")
    torch.manual_seed(0)
    Tiny.create(info_of("single"), small_set(), max_length=32).save(folder)
    return str(folder)


def embed(source: str, folder: Path, task: Task = "single", **options: object) -> Path:
    files = {}
    folder.mkdir()
    for name, data in (("train", small_set(task)), ("held", small_set(task, rows=20, seed=9, name="held", domain="id"))):
        files[name] = folder.parent / f"{folder.name}-{name}.parquet"
        pq.write_table(data, files[name])
    (folder.parent / f"{folder.name}.json").write_text(json.dumps(embed_sets(source, files, folder, **{"max_length": 24, **options})))
    return folder


def one_by_one(source: str, texts: list[str], pooling: str, max_length: int) -> np.ndarray:
    tokenizer, network = AutoTokenizer.from_pretrained(source), AutoModel.from_pretrained(source, dtype=torch.float32).eval()
    vectors = []
    for text in texts:
        with torch.no_grad():
            states = network(**tokenizer(text, truncation=True, max_length=max_length, return_tensors="pt")).last_hidden_state[0]
        vectors.append((states.mean(0) if pooling == "mean" else states[0]).numpy())
    return np.stack(vectors)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_a_vector_is_the_pooled_states_of_its_text_alone(source: str, pooling: str) -> None:
    encoder = Encoder.load(source, pooling=pooling, max_length=20)  # type: ignore[arg-type]
    vectors, rows = encoder.distinct_vectors([Side(text) for text in TEXTS], batch_size=3)
    assert (len(vectors), rows.tolist()) == (4, [0, 1, 2, 3, 0])
    np.testing.assert_allclose(vectors[rows], one_by_one(source, TEXTS, pooling, 20), rtol=0, atol=1e-5)


def test_loading_an_encoder_draws_nothing(source: str) -> None:
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    Encoder.load(source, pooling="mean", max_length=20)
    assert torch.equal(torch.rand(1), expected)


@pytest.mark.parametrize(("task", "width"), [("single", 128), ("pair", 256), ("choice", 256)])
def test_every_set_is_embedded_by_uid(task: Task, width: int, source: str, tmp_path: Path) -> None:
    folder = embed(source, tmp_path / "embed", task)
    held = pq.read_table(folder / "held.parquet")
    kinds = {"uid": pa.string(), "content": pa.string(), "embedding": pa.list_(pa.float32(), width)}
    assert held.schema == pa.schema([pa.field(name, kind, nullable=False) for name, kind in kinds.items()])
    data, info = small_set(task, rows=20, seed=9, name="held", domain="id"), info_of(task, "held", "id")
    assert held.column("uid").to_pylist() == data.column("uid").to_pylist()
    now = Embeddings(source, 24).embed(sides_of(data, info), task)
    saved = Embeddings(str(folder), 99).saved(data, info)
    assert saved is not None and saved.shape == now.shape
    np.testing.assert_allclose(saved, now, rtol=0, atol=1e-5)
    flipped = data.take(list(range(20))[::-3])
    assert np.array_equal(Embeddings(str(folder), 99).saved(flipped, info), saved.reshape(20, -1)[::-3].reshape(-1, saved.shape[1]))


def test_a_text_is_embedded_once_in_whatever_set_it_occurs(source: str, tmp_path: Path) -> None:
    folder = embed(source, tmp_path / "embed", "pair")
    texts = set()
    for data in (small_set("pair"), small_set("pair", rows=20, seed=9)):
        texts |= set(data.column("premise").to_pylist()) | set(data.column("hypothesis").to_pylist())
    assert json.loads((tmp_path / "embed.json").read_text()) == [len(texts), 128, 0]
    first = pq.read_table(folder / "train.parquet").column("embedding").to_pylist()
    hypotheses = small_set("pair").column("hypothesis").to_pylist()
    twin = next((one, other) for one in range(60) for other in range(one) if hypotheses[one] == hypotheses[other])
    assert first[twin[0]][128:] == first[twin[1]][128:]


def test_the_same_sets_give_the_same_bytes_and_the_folder_is_an_encoder_again(source: str, tmp_path: Path) -> None:
    one, other = embed(source, tmp_path / "one"), embed(source, tmp_path / "other")
    again = embed(str(one), tmp_path / "again")
    assert {path.name for path in one.iterdir()} >= {"train.parquet", "held.parquet", "encoder.json", "config.json", "model.safetensors"}
    for path in one.iterdir():
        assert path.read_bytes() == (other / path.name).read_bytes() == (again / path.name).read_bytes(), path.name
        assert source.encode() not in path.read_bytes()


def content(result: TrainingResult) -> dict[str, bytes]:
    return {path.relative_to(result.folder).as_posix(): path.read_bytes() for path in result.model.rglob("*")}


@pytest.mark.slow
def test_a_training_on_saved_vectors_equals_one_on_vectors_computed_now(source: str, tmp_path: Path) -> None:
    folder = embed(source, tmp_path / "embed", "pair")
    held = {"held": small_set("pair", rows=20, seed=9, name="held", domain="id")}
    kept, now = (
        fit(Recipe(**RECIPE.to_json() | {"pretrained": pretrained}), small_set("pair"), held, tmp_path / f"{number}")
        for number, pretrained in enumerate((str(folder), source))
    )
    logits = [np.array(pq.read_table(result.predictions / "held.parquet").column("logits").to_pylist()) for result in (kept, now)]
    np.testing.assert_allclose(*logits, rtol=0, atol=1e-3)
    assert kept.training["parameters"] == (512 + 1) * 256 + (256 + 1) * 2


@pytest.mark.slow
def test_saved_vectors_need_no_encoder_until_the_model_is_saved(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = embed(source, tmp_path / "embed")
    recipe = Recipe(**RECIPE.to_json() | {"pretrained": str(folder)})
    whole = content(fit(recipe, small_set(), {}, tmp_path / "whole"))

    def stop(done: int, total: int) -> None:
        if done > 130:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Encoder, "load", None)
        fit(recipe, small_set(), {}, tmp_path / "cut", progress=stop)
    left = {path.name for path in (tmp_path / "cut" / "checkpoints" / "epoch=1").iterdir()}
    assert "head.safetensors" in left and "model.safetensors" not in left
    moved = Recipe(**RECIPE.to_json() | {"pretrained": str(folder.rename(tmp_path / "moved"))})
    calls: list[int] = []
    assert content(fit(moved, small_set(), {}, tmp_path / "cut", progress=lambda done, _: calls.append(done))) == whole
    assert calls[0] == 128
    embed(source, tmp_path / "embed", pooling="cls")
    fit(recipe, small_set(), {}, tmp_path / "cut", progress=lambda done, _: calls.append(done))
    assert calls[8] == 8


def test_vectors_of_other_data_are_refused(source: str, tmp_path: Path) -> None:
    folder = embed(source, tmp_path / "embed")
    other = table(info_of("single"), {"text": ["a", "b"]}, [0, 1], prefix="v")
    with pytest.raises(InputError) as raised:
        Probe.create(info_of("single"), other, pretrained=str(folder))
    assert str(raised.value) == (
        f"{folder / 'train.parquet'} has no embedding of uid 'v0000' (2 of 2 rows have none); it was made from other data: embed this data."
    )


def test_a_rows_input_is_standardised_over_the_train_set(source: str) -> None:
    model = Probe.create(info_of("pair"), small_set("pair"), max_length=24, pretrained=source).eval()
    examples = model.encode(small_set("pair"), info_of("pair"))
    seen = []
    model.hidden.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0].detach().numpy()))
    model(**model.batch(examples, np.arange(60)))
    np.testing.assert_allclose(seen[0].mean(0), 0, atol=1e-3)
    np.testing.assert_allclose(seen[0].std(0), 1, atol=1e-3)


def test_texts_that_are_all_alike_give_finite_logits(source: str) -> None:
    alike = table(info_of("single"), {"text": ["the same"] * 8}, [0, 1] * 4)
    model = Probe.create(info_of("single"), alike, max_length=24, pretrained=source).eval()
    other = model.encode(table(info_of("single"), {"text": ["another one"]}, [0]), info_of("single"))
    assert model(**model.batch(other, np.array([0]))).logits.abs().max() < 10


def test_a_folder_without_an_encoder_is_refused(source: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="model `probe` needs `pretrained`: a folder that the step `embed` made, an encoder's folder"):
        Probe.create(info_of("single"), small_set())
    with pytest.raises(InputError, match=r"is no model folder: it lacks config\.json, model\.safetensors, a tokenizer"):
        embed(str(tmp_path), tmp_path / "embed")
    with pytest.raises(InputError, match=r"pretrained model \./nowhere is no folder"):
        Encoder.load("./nowhere", pooling="mean", max_length=8)
    whole = Path(shutil.copytree(source, tmp_path / "broken"))
    (whole / "model.safetensors").write_bytes(b"\x00" * 100)
    with pytest.raises(InputError, match="broken cannot be used as an encoder: "):
        Encoder.load(str(whole), pooling="mean", max_length=8)


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is there")
def test_a_missing_gpu_is_an_input_error(source: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="device is `cuda`, but torch sees no GPU here; set it to `auto` or `cpu`"):
        embed(source, tmp_path / "embed", device="cuda")


def test_a_network_whose_folder_has_a_pooler_leaves_it_out(source: str, tmp_path: Path) -> None:
    shutil.copytree(source, tmp_path / "pooled")
    torch.manual_seed(4)
    RobertaModel(RobertaConfig.from_pretrained(source), add_pooling_layer=True).save_pretrained(tmp_path / "pooled")
    Encoder.load(str(tmp_path / "pooled"), pooling="mean", max_length=8).save(tmp_path)
    from safetensors import safe_open

    with safe_open(tmp_path / "model.safetensors", "pt") as weights:
        assert not [name for name in weights.keys() if "pooler" in name]  # noqa: SIM118
