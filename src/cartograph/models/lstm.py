"""LSTM: a bidirectional LSTM over the words of each text, its maximum over time, and one hidden layer (Conneau et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import nn
from torch.nn import functional

from cartograph.models.ngrams import Vocabulary
from cartograph.models.word_ids import Sequences, highest
from cartograph.models.word_lstm import DROPOUT, EMBEDDED, Recurrent

_HIDDEN, _LAST = 64, 64


class Lstm(Recurrent):
    """One vector per text; of a pair both, the absolute value of their difference, and their product. See ``Recurrent``."""

    name: ClassVar[str] = "lstm"

    def __init__(self, task: str, labels: Sequence[str], max_length: int, vocabulary: Vocabulary) -> None:
        super().__init__(task, labels, max_length, vocabulary)
        self.reader = Sequences(EMBEDDED, _HIDDEN)
        self.hidden = nn.Linear(2 * _HIDDEN * (1 if task == "single" else 4), _LAST)
        self.last = nn.Linear(_LAST, 1 if task == "choice" else len(self.labels))

    def logits_and_features(self, **inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Read both sides with one LSTM, and classify."""
        joined = self._vector(inputs["first"])
        if "second" in inputs:
            second = self._vector(inputs["second"])
            joined = torch.cat([joined, second, (joined - second).abs(), joined * second], dim=1)
        hidden = functional.relu(self.hidden(functional.dropout(joined, DROPOUT, self.training)))
        features = functional.dropout(hidden, DROPOUT, self.training)
        return self.last(features), features

    def _vector(self, ids: torch.Tensor) -> torch.Tensor:
        words, mask = self.embedded(ids)
        return highest(self.reader(words, mask), mask)
