"""Names of array types, one per type of element, for annotations all over the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Floats32 = npt.NDArray[np.float32]
Reals = npt.NDArray[np.floating[Any]]
"""Floating-point numbers of any width."""

Integers = npt.NDArray[np.int64]
"""Counts, keys, and the positions of rows as NumPy's searches return them."""
Integers32 = npt.NDArray[np.int32]
Integers8 = npt.NDArray[np.int8]
Ids = npt.NDArray[np.integer[Any]]
"""Whole numbers of any width: ids of labels, folds and groups."""

Bools = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]
Pixels = npt.NDArray[np.uint8]
Texts = npt.NDArray[np.str_]
Objects = npt.NDArray[np.object_]
Array = npt.NDArray[Any]
"""Elements of any type."""
