"""The errors a user is meant to read: one sentence that names what, where, what was expected, what came, and the way out."""

from __future__ import annotations


class CartographError(Exception):
    """An error whose message is written for the user; drivers print it without a traceback.

    ``exit_code`` is what a command ends with: 2 for bad usage or input.
    """

    exit_code = 2


class InputError(CartographError):
    """The input (a file, a row, a parameter, a folder) cannot be used as it is."""


class NoColumnError(InputError):
    """A file has no column of that name."""


class CellError(CartographError):
    """Cells of a step failed, each alone: everything else was done, and says what it is without."""


class GateError(CartographError):
    """The audit ran, and what it found is beyond a bound that the parameters set."""

    exit_code = 1


class WaitingError(CartographError):
    """All that can be done is done: people have to answer before it goes on. Neither finished nor failed."""

    exit_code = 3
