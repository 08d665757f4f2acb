"""Texts as sequences of word ids, and an LSTM over them, for models that read words in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from cartograph.models.base import Side
from cartograph.models.encoded import Ragged
from cartograph.models.ngrams import Counts, Vocabulary, Words, blocks
from cartograph.schema import DatasetInfo

PADDING, UNKNOWN, FIRST = 0, 1, 2
_LEAST, _MOST = 2, 32_768


def word_vocabulary(train: pa.Table, info: DatasetInfo, max_length: int) -> Vocabulary:
    """Return the words that occur twice or more in a train set, at most the 32,768 most frequent."""
    counts = Counts()
    for block in blocks(train, info):
        for texts in ([side.first for side in block], [side.second or "" for side in block]):
            counts.add(Words(texts, max_length).hashes)
    return counts.vocabulary(least=_LEAST, most=_MOST)


def read_words(sides: Sequence[Side], vocabulary: Vocabulary, max_length: int, *, second: bool) -> dict[str, Ragged]:
    """Return the word ids of the ``first`` texts and, where wanted, of the ``second``; a text without words is one unknown word."""
    columns = {"first": [side.first for side in sides]}
    if second:
        columns["second"] = [side.second or "" for side in sides]
    return {name: _ids(texts, vocabulary, max_length) for name, texts in columns.items()}


def _ids(texts: Sequence[str], vocabulary: Vocabulary, max_length: int) -> Ragged:
    words = Words(texts, max_length)
    ids = np.full(len(words.hashes), UNKNOWN, np.int32)
    if len(vocabulary):
        place = np.minimum(np.searchsorted(vocabulary.hashes, words.hashes), len(vocabulary) - 1)
        ids = np.where(vocabulary.hashes[place] == words.hashes, place + FIRST, UNKNOWN).astype(np.int32)
    lengths = np.diff(words.offsets)
    if (lengths > 0).all():
        return Ragged(ids, words.offsets)
    kept = np.maximum(lengths, 1)
    offsets = np.concatenate(([0], np.cumsum(kept)))
    filled = np.full(offsets[-1], UNKNOWN, np.int32)
    filled[np.arange(len(ids)) + np.repeat(offsets[:-1] - words.offsets[:-1], lengths)] = ids
    return Ragged(filled, offsets)


def padded(fields: dict[str, Any]) -> dict[str, torch.Tensor]:
    """Return the ids of each side as a matrix, padded behind."""
    return {name: torch.from_numpy(field.padded(PADDING)) for name, field in fields.items()}


class Sequences(torch.nn.Module):
    """A bidirectional LSTM over padded sequences, which ignores the padding behind a sequence's end."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(width, hidden, batch_first=True, bidirectional=True)

    def forward(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return (rows, length, 2 · hidden) states, zero behind each row's end."""
        lengths = mask.sum(dim=1).cpu()
        packed = torch.nn.utils.rnn.pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
        padded, _ = torch.nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=states.shape[1])
        states_of_rows: torch.Tensor = padded
        return states_of_rows


def highest(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the maximum over each row's own positions."""
    return states.masked_fill(~mask[:, :, None], float("-inf")).amax(dim=1)


def mean(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the mean over each row's own positions."""
    return (states * mask[:, :, None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)
