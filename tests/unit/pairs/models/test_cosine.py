"""Cosine models: what they learn, what a file keeps of them, and what the paper asks of their head."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from cartograph.errors import InputError
from cartograph.models import device
from cartograph.pairs.models.bert import CosineBert
from cartograph.pairs.models.bow import CosineBow
from cartograph.pairs.models.cosine import CosineModel, CosineRecipe, Embedder, Head, cosines, train_cosine
from cartograph.pairs.models.frozen import CosineFrozen
from cartograph.pairs.models.registry import COSINE_MODELS, load_model
from cartograph.pairs.models.untrained import untrained_encoder_vectors
from cartograph.pairs.task import Task
from tests.stand_in_gpu import stand_in_gpu

WORDS = ["sofa", "couch", "bike", "bicycle", "red", "blue", "old", "new", "big", "small"]
SYNONYMS = {"couch": "sofa", "bicycle": "bike"}


def texts_and_pairs() -> tuple[list[str], tuple[np.ndarray, np.ndarray], np.ndarray]:
    texts = [f"{thing} {age} {size}" for thing in WORDS[:4] for age in WORDS[4:8] for size in WORDS[8:]]
    meaning = [" ".join(SYNONYMS.get(word, word) for word in text.split()) for text in texts]
    left, right = np.triu_indices(len(texts), 1)
    label = np.array([meaning[one] == meaning[other] for one, other in zip(left, right, strict=True)], int)
    return texts, (left.astype(np.int64), right.astype(np.int64)), label


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("encoder")
    vocabulary = ["[PAD]", "[UNK]", *WORDS]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
    BertModel(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(params=list(COSINE_MODELS))
def made(request: pytest.FixtureRequest, encoder: str) -> Callable[[], Embedder]:
    def make() -> Embedder:
        if request.param == "cosine-bow":
            return CosineBow.create(texts_and_pairs()[0], 1)
        return CosineBert.create(encoder) if request.param == "cosine-bert" else CosineFrozen(12)

    return make


def encoded(embedder: Embedder):  # type: ignore[no-untyped-def]
    texts = texts_and_pairs()[0]
    if isinstance(embedder, CosineFrozen):
        one_hot = np.array([[word in text.split() for word in WORDS] for text in texts], np.float32)
        return embedder.encode_vectors(np.hstack([one_hot, np.ones((len(texts), 2), np.float32)]))
    return embedder.encode(texts)


def trained(embedder: Embedder, epochs: int = 3) -> tuple[CosineModel, np.ndarray]:
    read = encoded(embedder)
    _, pairs, label = texts_and_pairs()
    rate = 2e-4 if embedder.name == "cosine-bert" else embedder.learning_rate * 5
    model = train_cosine(embedder, read, read, pairs, label, CosineRecipe(epochs, 16, rate, embedder.head_factor / 5, 0))
    return model, cosines(embedder, read, read, pairs)


def separation(cosine: np.ndarray) -> float:
    label = texts_and_pairs()[2]
    above: float = (cosine[label == 1][:, None] > cosine[label == 0][None, :]).mean()
    return above


def test_training_brings_synonyms_together(made: Callable[[], Embedder]) -> None:
    embedder = made()
    read = encoded(embedder)
    before = separation(cosines(embedder, read, read, texts_and_pairs()[1]))
    _, after = trained(embedder)
    assert separation(after) > max(before + 0.02, 0.9)


def test_the_same_seed_trains_the_same_model(made: Callable[[], Embedder]) -> None:
    one, other = trained(made(), 1), trained(made(), 1)
    assert np.array_equal(one[1], other[1])
    assert one[0].calibration == other[0].calibration


def test_a_model_comes_back_from_its_files_with_its_calibration(made: Callable[[], Embedder], tmp_path: Path) -> None:
    model, cosine = trained(made(), 1)
    read = encoded(model.embedder)
    model.save(tmp_path)
    again = load_model(tmp_path)
    assert again.calibration == model.calibration
    found = cosines(again.embedder, read, read, texts_and_pairs()[1])
    assert np.allclose(found, cosine, atol=1e-6)
    assert np.allclose(again.calibration.probability(found), model.calibration.probability(cosine), atol=1e-5)


def test_vectors_have_length_one_and_do_not_depend_on_other_texts_of_the_batch(made: Callable[[], Embedder]) -> None:
    embedder = made()
    read = encoded(embedder)
    vectors = embedder.vectors(read)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    rows = np.array([7, 3])
    assert np.allclose(embedder.vectors({name: field.take(rows) for name, field in read.items()}), vectors[rows], atol=1e-5)


def test_the_head_normalises_over_all_batches_and_its_slope_stays_positive() -> None:
    head = Head()
    head.train()
    head(torch.tensor([0.1, 0.3]))
    head(torch.tensor([0.5, 0.9]))
    assert float(head.norm.running_mean) == pytest.approx((0.2 + 0.7) / 2)
    assert head.norm.weight is None
    assert float(head.w.detach()) > 0
    with torch.no_grad():
        head.w.fill_(-2.0)
    head.hold_positive()
    assert float(head.w.detach()) == 0


def test_there_is_no_dropout_in_training(encoder: str) -> None:
    embedder = CosineBert.create(encoder)
    dropouts = [module for module in embedder.modules() if isinstance(module, torch.nn.Dropout) and module.p > 0]
    seen: list[bool] = []
    for module in dropouts:
        module.register_forward_pre_hook(lambda module, _: seen.append(module.training))
    embedder.train()
    trained(embedder, 1)
    assert seen
    assert not any(seen)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_named(encoder: str) -> None:
    task = Task(["a"], ["b"], np.zeros(1, np.int8), False, False, np.array([0]), np.array([0]), np.ones(1, np.int8))
    for make in (lambda: CosineBert.create(encoder, "cuda"), lambda: untrained_encoder_vectors(encoder, task.left, task.right, "cuda")):
        with pytest.raises(InputError, match=r"^device is `cuda`, but torch sees no GPU here; set it to `auto` or `cpu`\.$"):
            make()


def test_on_a_gpu_it_trains_the_same_and_waits_for_vectors_only(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, pairs, label = texts_and_pairs()
    exact, waits = None, []
    for where, rows in (("cpu", 64), ("auto", 64), ("auto", 128)):
        few = (pairs[0][:rows], pairs[1][:rows])
        with stand_in_gpu(monkeypatch) as gpu:
            embedder = CosineBert.create(encoder, where)
            read = embedder.encode(texts)
            gpu.copies = gpu.slow_copies = 0
            train_cosine(embedder, read, read, few, label[:rows], CosineRecipe(1, 16, 1e-3, 100.0, 1))
            cosine = cosines(embedder, read, read, few)
        # Hugging Face's networks ask in every pass whether a text is padded.
        waits.append([name for name in gpu.waits if name != "__bool__"])
        if where == "cpu":
            exact = cosine
        elif rows == 64:
            assert np.allclose(cosine, exact, atol=1e-4)
            assert (gpu.copies > 8, gpu.slow_copies) == (True, 5)  # what the head and its normalisation hold
    assert waits[0] == []
    assert waits[1] == waits[2] == ["cpu", "cpu"]


def test_an_encoders_vectors_are_made_on_a_gpu_where_there_is_one(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = texts_and_pairs()[0]
    exact = untrained_encoder_vectors(encoder, texts, texts[:4], "auto")
    with stand_in_gpu(monkeypatch) as gpu:
        found = untrained_encoder_vectors(encoder, texts, texts[:4], "auto")
    assert gpu.copies > 0
    assert np.allclose(found.left, exact.left, atol=1e-6)
    assert np.allclose(found.right, exact.right, atol=1e-6)


def test_products_of_bfloat16_train_nearly_the_same_cosines(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, exact = trained(CosineBert.create(encoder), 1)
    monkeypatch.setattr(device, "has_bfloat16", lambda where: True)
    model, halved = trained(CosineBert.create(encoder), 1)
    assert halved.dtype == np.float32
    assert all(parameter.dtype == torch.float32 for parameter in model.embedder.parameters())
    assert not np.array_equal(halved, exact)
    assert np.abs(halved - exact).max() < 0.05
