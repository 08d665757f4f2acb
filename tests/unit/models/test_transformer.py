from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from transformers import (
    BartConfig,
    BartForSequenceClassification,
    DebertaConfig,
    DebertaForSequenceClassification,
    XLNetConfig,
    XLNetForSequenceClassification,
)

from cartograph.errors import InputError
from cartograph.models.pretrained import looks_local
from cartograph.models.registry import model_class
from cartograph.models.tiny import Tiny
from cartograph.models.transformer import Transformer
from tests.training_sets import info_of, small_set


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoder")
    torch.manual_seed(0)
    Tiny.create(info_of("single"), small_set(), max_length=32).save(folder)
    return folder


@pytest.fixture
def copy(encoder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(encoder, tmp_path / "model"))


def create(pretrained: str | None, max_length: int = 16) -> Transformer:
    return Transformer.create(info_of("single"), small_set(), max_length=max_length, pretrained=pretrained)


def test_the_encoders_weights_are_loaded_and_the_head_is_new(encoder: Path) -> None:
    made, source = create(str(encoder)), Transformer.load(encoder)
    ours, theirs = made.network.state_dict(), source.network.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours if name.startswith("roberta."))
    assert made.network.config.id2label == {0: "quiet", 1: "loud"}


def test_a_head_that_was_trained_before_is_not_kept(encoder: Path) -> None:
    torch.manual_seed(3)
    made = create(str(encoder)).network.state_dict()["classifier.out_proj.weight"]
    assert not torch.equal(made, Transformer.load(encoder).network.state_dict()["classifier.out_proj.weight"])


def test_a_head_for_other_classes_is_ignored(copy: Path) -> None:
    info = info_of("single")
    three = type(info)(**vars(info) | {"labels": ("a", "b", "c")})
    made = Transformer.create(three, small_set(), max_length=16, pretrained=str(copy))
    assert made.network.config.num_labels == 3


@pytest.mark.parametrize(
    ("removed", "message"),
    [
        (["config.json"], "is no model folder: it lacks config.json."),
        (["model.safetensors"], "is no model folder: it lacks model.safetensors."),
        (["tokenizer.json"], "is no model folder: it lacks a tokenizer (tokenizer.json or a vocabulary)."),
        (["config.json", "model.safetensors", "tokenizer.json"], "it lacks config.json, model.safetensors, a tokenizer"),
    ],
)
def test_a_folder_that_is_no_model_says_what_is_missing(copy: Path, removed: list[str], message: str) -> None:
    for name in removed:
        (copy / name).unlink()
    with pytest.raises(InputError) as raised:
        create(str(copy))
    assert str(raised.value).startswith(str(copy)) and message in str(raised.value)


def test_pickled_weights_are_not_read(copy: Path) -> None:
    (copy / "model.safetensors").unlink()
    (copy / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch pwned'\ntR.")
    with pytest.raises(InputError, match=r"lacks model\.safetensors \(pytorch_model\.bin is not read: pickles can run code; convert it"):
        create(str(copy))


def test_code_in_the_folder_is_not_run(copy: Path, tmp_path: Path) -> None:
    config = json.loads((copy / "config.json").read_text())
    config |= {"model_type": "strange", "auto_map": {"AutoConfig": "evil.Config", "AutoModelForSequenceClassification": "evil.Model"}}
    (copy / "config.json").write_text(json.dumps(config))
    (copy / "evil.py").write_text(f"open({str(tmp_path / 'pwned')!r}, 'w')")
    with pytest.raises(InputError, match="cannot be used as an encoder"):
        create(str(copy))
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    ("damage", "message"),
    [("weights", "cannot be used as an encoder"), ("configuration", "cannot be used as an encoder")],
)
def test_damaged_files_are_an_input_error(copy: Path, damage: str, message: str) -> None:
    path = copy / ("model.safetensors" if damage == "weights" else "config.json")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match=message):
        create(str(copy))


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere/model", "~/nowhere", "a/b/c"])
def test_a_path_that_does_not_exist_is_no_hub_id(name: str) -> None:
    assert looks_local(name)
    with pytest.raises(InputError, match=r"is no folder; give one with config\.json, model\.safetensors and a tokenizer, or a hub id"):
        create(name)


def test_a_hub_that_is_not_reached_is_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert not looks_local("nobody/nothing")
    with pytest.raises(InputError, match="`nobody/nothing` is no folder here, and the hub did not give such a model"):
        create("nobody/nothing")


def test_no_name_and_an_unknown_model_are_input_errors() -> None:
    with pytest.raises(InputError, match="model `transformer` needs `pretrained`"):
        create(None)
    with pytest.raises(InputError, match=r"no model is called `bert`; known: bow, .*, transformer"):
        model_class("bert")


def test_texts_are_cut_to_the_encoders_longest_input(encoder: Path) -> None:
    made = create(str(encoder), max_length=512)
    assert made.max_length == 32
    examples = made.encode(small_set(), info_of("single"))
    assert examples.lengths.max() <= 32
    assert create(str(encoder), max_length=6).encode(small_set(), info_of("single")).lengths.max() == 6


def test_an_encoder_whose_configuration_names_no_longest_input_reads_what_its_tokenizer_does(tmp_path: Path) -> None:
    made = Tiny.create(info_of("single"), small_set(), max_length=32)
    made.tokenizer.model_max_length = 24
    config = XLNetConfig(vocab_size=len(made.tokenizer), d_model=16, n_layer=1, n_head=2, d_inner=16, pad_token_id=1)
    assert config.max_position_embeddings == -1
    XLNetForSequenceClassification(config).save_pretrained(tmp_path)
    made.tokenizer.save_pretrained(tmp_path)
    read = create(str(tmp_path), 32)
    assert read.max_length == 24
    assert read.encode(small_set(), info_of("single")).lengths.max() <= 24


def test_the_first_deberta_computes_without_bfloat16(encoder: Path, tmp_path: Path) -> None:
    assert create(str(encoder)).mixed_precision
    tokenizer = Transformer.load(encoder).tokenizer
    config = DebertaConfig(vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
    DebertaForSequenceClassification(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert not create(str(tmp_path)).mixed_precision


@pytest.mark.parametrize("dropped", [0.0, 0.1])
def test_steps_of_a_network_that_leaves_out_layers_do_not_repeat(encoder: Path, tmp_path: Path, dropped: float) -> None:
    tokenizer = Transformer.load(encoder).tokenizer
    shape = {name: 1 for side in ("encoder", "decoder") for name in (f"{side}_layers", f"{side}_attention_heads")}
    config = BartConfig(vocab_size=len(tokenizer), d_model=16, encoder_ffn_dim=16, decoder_ffn_dim=16, encoder_layerdrop=dropped, **shape)
    BartForSequenceClassification(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert create(str(tmp_path)).repeats_steps == (dropped == 0)
