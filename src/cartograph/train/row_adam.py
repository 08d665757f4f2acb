"""AdamW that touches only the embeddings of a batch's features, and computes what it would compute if it touched them all.

Adam moves an embedding on for a while after its feature was last seen, by a momentum that fades; of 65,000 embeddings a batch has a few
hundred. Here such a move is made up for when the feature comes again: the sum of the fading steps since is the same for all
embeddings last seen at the same step, so that it is kept per step. What differs from the plain algorithm is rounding, and that Adam's
epsilon does not grow beside the square root of a second moment that fades: both far below what another seed changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from cartograph.data.arrays import Floats32, Integers
from cartograph.models.row_table import RowTable

_BETAS = (0.9, 0.999)
_EPSILON = 1e-8
_FADED = 256
"""Steps after which a momentum has faded to 2e-12 of what it was."""
_SCALES = (1 - _BETAS[0], math.sqrt(1 - _BETAS[1]))
"""Moments are kept as sums: the first is divided by this, the second by the square of this."""
_FADING = (_BETAS[0] / math.sqrt(_BETAS[1])) ** np.arange(_FADED, 0, -1)


class RowAdamW(torch.optim.AdamW):
    """AdamW without weight decay for a model on the CPU some of whose parameters are tables of rows, with gradients clipped at a norm.

    ``settle`` is due before anybody reads the tables: after the last step, and before a state is kept.

    Args:
        parameters: those that every batch moves.
        tables: the others; from now on they read their rows through this optimiser.
        lr: peak rate.
        most: the norm of all gradients together, at most.
    """

    def __init__(self, parameters: Iterable[torch.nn.Parameter], tables: Sequence[RowTable], *, lr: float, most: float = 1.0) -> None:
        super().__init__(parameters, lr=lr, betas=_BETAS, eps=_EPSILON, weight_decay=0.0, fused=True)
        self._most = most
        self._clock = _Clock()
        self._tables = [_Rows(table, self._clock) for table in tables]

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Clip, and move every parameter that has a gradient; ``closure`` is not used."""
        dense = [parameter.grad for group in self.param_groups for parameter in group["params"] if parameter.grad is not None]
        read = [rows.gradient() for rows in self._tables]
        squares = [float(torch.linalg.vector_norm(gradient)) ** 2 for gradient in dense]
        squares += [float(np.vdot(gradient, gradient)) for _, gradient in read]
        factor = self._most / (math.sqrt(sum(squares)) + 1e-6)
        if factor < 1:
            for gradient in [*dense, *(gradient for _, gradient in read)]:
                gradient *= factor
        super().step()
        rate = float(self.param_groups[0]["lr"])
        for rows, (state, gradient) in zip(self._tables, read, strict=True):
            rows.move(state, gradient, self._clock.steps + 1, rate)
        self._clock.tick(rate)

    def settle(self) -> None:
        """Make up for all that is due."""
        for rows in self._tables:
            rows.settle()

    def state_dict(self) -> dict[str, Any]:
        """Return the state; the tables are settled."""
        kept = [{"first": torch.from_numpy(rows.first), "second": torch.from_numpy(rows.second)} for rows in self._tables]
        return super().state_dict() | {"steps": self._clock.steps, "tables": kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the state of an optimiser of the same model."""
        state = dict(state_dict)
        steps, kept = state.pop("steps"), state.pop("tables")
        super().load_state_dict(state)
        self._clock.start(steps)
        for rows, content in zip(self._tables, kept, strict=True):
            rows.first[:], rows.second[:], rows.last[:] = content["first"].numpy(), content["second"].numpy(), steps


class _Clock:
    """The steps taken, and of each how far rows last moved then have moved since, in units of the ratio of their moments."""

    def __init__(self) -> None:
        self.start(0)

    def start(self, steps: int) -> None:
        self.steps = steps
        self.moves = np.zeros(steps + _FADED)

    def tick(self, rate: float) -> None:
        self.steps += 1
        if self.steps >= len(self.moves):
            self.moves = np.concatenate([self.moves, np.zeros(len(self.moves))])
        first = max(self.steps - _FADED, 0)
        self.moves[first : self.steps] += _size(rate, self.steps) * _FADING[first - self.steps :]


class _State(NamedTuple):
    """Rows as they are now: their places, weights, and both moments."""

    places: Integers
    weight: Floats32
    first: Floats32
    second: Floats32


class _Rows:
    """A table's rows, their moments, and the step at which each was last moved."""

    def __init__(self, table: RowTable, clock: _Clock) -> None:
        self.weight: Floats32 = table.weight.detach().numpy()
        self.first, self.second = np.zeros_like(self.weight), np.zeros_like(self.weight)
        self.last = np.zeros(len(self.weight), np.int64)
        self._clock = clock
        self._read: list[tuple[_State, torch.Tensor]] = []
        table.reader = self.read

    def read(self, places: Integers) -> torch.Tensor:
        """Return rows as they are now, as a leaf that takes their gradient."""
        state = self._now(places)
        rows = torch.from_numpy(state.weight).requires_grad_()
        self._read.append((state, rows))
        return rows

    def _now(self, places: Integers) -> _State:
        """Return rows moved as far as they would have moved with a gradient of 0 in each step since their last."""
        last = self.last[places]
        ages = self._clock.steps - last
        weight, first, second = (values.take(places, axis=0) for values in (self.weight, self.first, self.second))
        weight -= _ratio(first, second, self._clock.moves[last].astype(np.float32)[:, None], _EPSILON)
        first *= (_BETAS[0] ** ages).astype(np.float32)[:, None]
        second *= (_BETAS[1] ** ages).astype(np.float32)[:, None]
        return _State(places, weight, first, second)

    def gradient(self) -> tuple[_State, Floats32]:
        """Return the rows that were read since the last step, and their gradient."""
        read = [(state, rows.grad.numpy()) for state, rows in self._read if rows.grad is not None]
        self._read = []
        if len(read) == 1:
            return read[0]
        places = np.concatenate([state.places for state, _ in read]) if read else np.empty(0, np.int64)
        places, position = np.unique(places, return_inverse=True)
        total = np.zeros((len(places), self.weight.shape[1]), np.float32)
        for (_, gradient), own in zip(read, np.split(position, np.cumsum([len(state.places) for state, _ in read])), strict=False):
            total[own] += gradient
        return self._now(places), total

    def move(self, state: _State, gradient: Floats32, step: int, rate: float) -> None:
        """Take a step with rows as they are now."""
        places, weight, first, second = state
        first *= _BETAS[0]
        first += gradient
        second *= _BETAS[1]
        second += gradient * gradient
        bias = math.sqrt(1 - _BETAS[1] ** step)
        weight -= _ratio(first, second, _size(rate, step), bias * _EPSILON)
        self.weight[places], self.first[places], self.second[places], self.last[places] = weight, first, second, step

    def settle(self) -> None:
        """Write down all rows as they are now."""
        _, self.weight[:], self.first[:], self.second[:] = self._now(np.arange(len(self.weight)))
        self.last[:] = self._clock.steps


def _ratio(first: Floats32, second: Floats32, factor: Floats32 | float, epsilon: float) -> Floats32:
    """Return the ratio of the first moment to the square root of the second, times a factor."""
    ratio: Floats32 = np.sqrt(second)
    ratio += epsilon / _SCALES[1]
    np.divide(first, ratio, out=ratio)
    ratio *= factor * (_SCALES[0] / _SCALES[1])
    return ratio


def _size(rate: float, step: int) -> float:
    """Return what a step multiplies the ratio of the two moments by."""
    return rate * math.sqrt(1 - _BETAS[1] ** step) / (1 - _BETAS[0] ** step)
