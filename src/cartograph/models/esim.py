"""ESIM: two texts, each word of one aligned with the words of the other by attention (Chen et al., *Enhanced LSTM for NLI*, ACL 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import nn
from torch.nn import functional

from cartograph.models.ngrams import Vocabulary
from cartograph.models.word_ids import Sequences, highest, mean
from cartograph.models.word_lstm import DROPOUT, EMBEDDED, Recurrent

_HIDDEN, _LAST = 64, 64


class Esim(Recurrent):
    """LSTM over both texts, soft alignment of their words, comparison of each word with its aligned ones, a second LSTM, and a classifier.

    A single text is aligned with itself. See ``Recurrent``.
    """

    name: ClassVar[str] = "esim"

    def __init__(self, task: str, labels: Sequence[str], max_length: int, vocabulary: Vocabulary) -> None:
        super().__init__(task, labels, max_length, vocabulary)
        self.reader = Sequences(EMBEDDED, _HIDDEN)
        self.compared = nn.Linear(8 * _HIDDEN, _HIDDEN)
        self.composer = Sequences(_HIDDEN, _HIDDEN)
        self.hidden = nn.Linear(4 * _HIDDEN * (1 if task == "single" else 2), _LAST)
        self.last = nn.Linear(_LAST, 1 if task == "choice" else len(self.labels))

    def logits_and_features(self, **inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Align, compare, compose and classify."""
        first, mask = self._read(inputs["first"])
        if "second" in inputs:
            second, other = self._read(inputs["second"])
            joined = torch.cat([self._composed(first, mask, second, other), self._composed(second, other, first, mask)], dim=1)
        else:
            joined = self._composed(first, mask, first, mask)
        hidden = torch.tanh(self.hidden(functional.dropout(joined, DROPOUT, self.training)))
        features = functional.dropout(hidden, DROPOUT, self.training)
        return self.last(features), features

    def _read(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        words, mask = self.embedded(ids)
        return self.reader(words, mask), mask

    def _composed(self, own: torch.Tensor, mask: torch.Tensor, other: torch.Tensor, other_mask: torch.Tensor) -> torch.Tensor:
        """Return (rows, 4 · hidden): mean and maximum over the words of one side, each compared with the words of the other."""
        scores = (own @ other.transpose(1, 2)).masked_fill(~other_mask[:, None, :], float("-inf"))
        aligned = functional.softmax(scores, dim=2) @ other
        enhanced = torch.cat([own, aligned, own - aligned, own * aligned], dim=2)
        compared = functional.dropout(functional.relu(self.compared(enhanced)), DROPOUT, self.training)
        states = self.composer(compared, mask)
        return torch.cat([mean(states, mask), highest(states, mask)], dim=1)
