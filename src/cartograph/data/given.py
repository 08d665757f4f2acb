"""What a caller gives as arrays, also as lists, checked: the entries of the public interface read their arguments with these."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cartograph.data.arrays import Array, Bools
from cartograph.errors import InputError


def array_of(values: npt.ArrayLike, what: str) -> Array:
    """Return values as an array, without a copy where they are one.

    Args:
        values: an array, or lists.
        what: what messages call them.

    Raises:
        InputError: they are no array, such as lists of different lengths.
    """
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{what} cannot be read as an array ({reason}); give an array, or lists of equal lengths.") from error


def numbers_of(values: npt.ArrayLike, what: str) -> Any:
    """Return numbers as an array of their own type.

    Raises:
        InputError: as ``array_of``, or they are no numbers.

    >>> numbers_of([[1, 2.5]], "logits")
    array([[1. , 2.5]])
    """
    found = array_of(values, what)
    if found.dtype.kind not in "fiub":
        raise InputError(f"{what} must be numbers, but are {found.dtype}; convert them, for example with `.astype('float64')`.")
    return found


def label_ids(values: npt.ArrayLike, what: str = "labels") -> Any:
    """Return label ids as an array of whole numbers.

    Raises:
        InputError: as ``array_of``, or they are of another type, such as floating-point numbers, which would be cut off.

    >>> label_ids([0, 2, 1])
    array([0, 2, 1])
    """
    found = array_of(values, what)
    if found.size == 0:
        return found.astype(np.int64)
    if found.dtype.kind not in "iu":
        raise InputError(
            f"{what} must be integers from 0 on, but are {found.dtype}; number them with `np.unique(labels, return_inverse=True)[1]`."
        )
    return found


def flags_of(values: npt.ArrayLike, what: str) -> Bools:
    """Return yes or no of each row, also of 0 and 1.

    Raises:
        InputError: as ``array_of``, or they are neither.

    >>> flags_of([0, 1], "relevant")
    array([False,  True])
    """
    found = array_of(values, what)
    if found.dtype.kind != "b" and not (found.dtype.kind in "fiu" and bool(((found == 0) | (found == 1)).all())):
        raise InputError(f"{what} must be True or False for each row, but are {found.dtype}.")
    return found.astype(bool, copy=False)
