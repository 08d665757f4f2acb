"""Products of rows and weight columns: in float32, or in bfloat16 on processors that multiply such numbers several times as fast.

A number of bfloat16 has 8 significant bits. Of rows about their mean, rounding moves each value by .2 % at most, at random, and a sum over
thousands of rows far less than those rows' own chance does, so that an optimum found with such products gives the same predictions (what is
left of the difference, ``benchmarks/aflite.py`` prints). A rounded weight would move every row's score the same way: so weights are
evaluated where bfloat16 has them (``nearest_halves``), and only a last step, after which nothing is evaluated, ends between. Sums stay in
float32, and a classifier that does not converge so, or has many weights beside its training rows, goes on in float32.
"""

from __future__ import annotations

import torch
from torch import Tensor

HALF_NOISE = 3e-4
"""Rounding of a mean of losses from such products, as a share of it."""

_WORTH = 2**21


def pays(device: torch.device, rows: int, width: int) -> bool:
    """Return whether products of so many rows are to be of bfloat16."""
    return device.type == "cpu" and rows * width >= _WORTH and multiplies_halves()


def multiplies_halves() -> bool:
    """Return whether this processor has instructions for products of bfloat16."""
    known = torch.cpu.get_capabilities()
    return bool(known.get("avx512_bf16") or known.get("amx_bf16"))


def halved(rows: Tensor, about: Tensor) -> Tensor:
    """Return rows (n, d) less ``about`` (d,) in bfloat16."""
    return (rows - about).bfloat16()


def nearest_halves(points: Tensor, about: Tensor) -> Tensor:
    """Return weights (k, (d + 1) · columns) whose products with rows in bfloat16 are exact: rounded, with the same scores at ``about``."""
    weights = points.reshape(len(points), len(about) + 1, -1).clone()
    whole = weights[:, :-1].clone()
    weights[:, :-1] = whole.bfloat16()
    weights[:, -1] += about @ (whole - weights[:, :-1])
    return weights.reshape(len(points), -1)


class Product:
    """Scores of rows, and gradients from the scores' derivatives.

    Args:
        columns: (d + 1, k) weights; the last row is the intercepts.
        about: (d,) what rows given in bfloat16 are less of; None where rows are given as they are, in float32.
    """

    def __init__(self, columns: Tensor, about: Tensor | None) -> None:
        # Rows of weights against rows of features: the other way round, products of few columns take four times as long.
        self._weights, self._shift, self._about = columns[:-1].T.contiguous(), columns[-1].contiguous(), about
        if about is not None:
            self._shift = self._shift + self._weights @ about
            self._weights = self._weights.bfloat16()

    def scores(self, rows: Tensor) -> Tensor:
        """Return (n, k), float32."""
        return torch.nn.functional.linear(rows, self._weights).float().add_(self._shift)

    def some_scores(self, rows: Tensor, row: Tensor, column: Tensor, apart: int) -> Tensor:
        """Return scores of some rows by some columns, float32, ``(k // apart, number)``: by each column, and by those ``apart`` from it.

        Args:
            rows: (n, d).
            row: (number,) places in ``rows``.
            column: (number,) below ``apart``.
            apart: of how many columns one of each ``apart`` belongs together.
        """
        place = row * len(self._weights) + column
        whole = torch.nn.functional.linear(rows, self._weights).flatten()
        found = torch.empty(len(self._weights) // apart, len(place), device=rows.device)
        for number, own in enumerate(found):
            first = number * apart
            torch.index_select(self._shift[first:], 0, column, out=own)
            own += whole[first:].index_select(0, place)
        return found

    def back(self, rows: Tensor, residual: Tensor) -> Tensor:
        """Return the sum over rows of their derivatives by score (n, k) times the rows, intercept last, ``(k, d + 1)``, float32."""
        found = self.nothing()
        sums = residual.float().sum(dim=0)
        found[:, :-1] = residual.to(rows.dtype).T @ rows
        found[:, -1] = sums
        if self._about is not None:
            found[:, :-1] += sums[:, None] * self._about
        return found

    def nothing(self) -> Tensor:
        """Return zeros in the shape of ``back``."""
        return torch.zeros(len(self._weights), self._weights.shape[1] + 1, device=self._weights.device)
