"""A small RoBERTa made from a configuration, with a byte-level BPE tokenizer trained on the data: for machines without a hub."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

import pyarrow as pa
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import RobertaConfig, RobertaForMultipleChoice, RobertaForSequenceClassification, RobertaTokenizerFast

from cartograph.models.base import sides_of
from cartograph.models.transformer import Transformer
from cartograph.schema import DatasetInfo

_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_VOCABULARY = 8_000
_SAMPLE = 100_000


class Tiny(Transformer):
    """Two layers of width 128, trained from scratch."""

    name: ClassVar[str] = "tiny"
    has_unused: ClassVar[bool] = False
    learning_rate: ClassVar[float] = 1e-3

    @classmethod
    def create(cls, info: DatasetInfo, train: pa.Table, *, max_length: int = 128, pretrained: str | None = None) -> Self:
        """Train the tokenizer on the train set and draw the weights; ``pretrained`` is not used."""
        tokenizer = _tokenizer(_texts(train, info))
        config = RobertaConfig(
            vocab_size=len(tokenizer),
            hidden_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=512,
            max_position_embeddings=max_length + 2,
            type_vocab_size=1,
            num_labels=len(info.labels),
            id2label=dict(enumerate(info.labels)),
            label2id={label: number for number, label in enumerate(info.labels)},
            bos_token_id=0,
            pad_token_id=1,
            eos_token_id=2,
        )
        network = (RobertaForMultipleChoice if info.task == "choice" else RobertaForSequenceClassification)(config)
        return cls(network, tokenizer, info.task, info.labels, max_length)


def _texts(train: pa.Table, info: DatasetInfo) -> Iterator[str]:
    step = max(train.num_rows // _SAMPLE, 1)
    for side in sides_of(train.take(list(range(0, train.num_rows, step))), info):
        yield side.first
        if side.second is not None:
            yield side.second


def _tokenizer(texts: Iterator[str]) -> RobertaTokenizerFast:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_VOCABULARY,
        min_frequency=2,
        special_tokens=list(_SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=True)
    return RobertaTokenizerFast(tokenizer_object=tokenizer, add_prefix_space=True, model_max_length=512)
