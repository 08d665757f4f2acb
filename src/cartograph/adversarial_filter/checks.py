"""Checks of a filter's arguments and of the free memory, before anything is computed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from cartograph.adversarial_filter.slices import VARIANTS
from cartograph.data.arrays import Array
from cartograph.data.kept_logits import WHOLE
from cartograph.errors import InputError

_BLOCK_BYTES = 2**26
_LARGEST = 1e15  # sums of squares of such values still are numbers of 32 bits
_CGROUP = Path("/sys/fs/cgroup")


def require_sizes(rows: int, target_size: int, n_partitions: int, train_size: int, slice_size: int, threshold: float, variant: str) -> None:
    """Check the numbers of a filter.

    Raises:
        InputError: one is out of range; the message names it, what was expected, and what came.
    """
    if train_size < 1:
        raise InputError(f"train_size must be at least 1, but is {train_size}; give each classifier some rows to train on.")
    if train_size >= rows:
        raise InputError(
            f"train_size is {train_size:,}, but there are {rows:,} rows in all, so none would be held out; give a train_size below "
            "target_size."
        )
    if train_size >= target_size:
        raise InputError(
            f"train_size ({train_size:,}) must be below target_size ({target_size:,}): the last rounds split what is left; make the one "
            "smaller or the other larger."
        )
    if slice_size < 1:
        raise InputError(f"slice_size must be at least 1, but is {slice_size}; it is the number of rows removed in a round.")
    if n_partitions < 1:
        raise InputError(f"n_partitions must be at least 1, but is {n_partitions}; the paper's experiments use 64 or so.")
    if not 0 <= threshold <= 1:
        raise InputError(f"threshold must be in [0, 1], but is {threshold}; predictability is a share of right predictions.")
    if variant not in VARIANTS:
        raise InputError(f"variant {variant!r} is not known; take one of {', '.join(VARIANTS)}.")


def require_data(features: Any, labels: Array, groups: Array | None) -> None:
    """Check the arrays of a filter, features block by block.

    Raises:
        InputError: shapes that do not fit, a value that is no finite number, labels or groups that cannot be sorted, labels of one
            class, or rows of one group.
    """
    _require_matrix("features", features)
    for name, values in (("labels", labels), ("groups", groups)):
        if values is not None and values.shape != (len(features),):
            raise InputError(f"{name} must be one per row of the features ({len(features):,}), but have the shape {values.shape}.")
    if len(kinds := _kinds("labels", labels)) < 2:
        raise InputError(f"all {len(labels):,} labels are of one class ({', '.join(map(str, kinds))}), so there is nothing to predict.")
    if groups is not None and len(_kinds("groups", groups)) < 2:
        raise InputError(
            f"all {len(labels):,} rows are of one group, so none could be held out; group them by something else, or not at all."
        )
    _require_finite("features", features)


def require_evaluation(name: str, features: Any, labels: Array, width: int) -> None:
    """Check an evaluation set that is filtered with the pool.

    Raises:
        InputError: its features are of another width than the pool's, not finite, or not one row per label.
    """
    what = f"features of evaluation set `{name}`"
    _require_matrix(what, features)
    if features.shape[1] != width or labels.shape != (len(features),):
        raise InputError(
            f"{what} must have {width:,} columns, as the pool's, and a row per label, but have the shape {tuple(features.shape)} beside "
            f"{len(labels):,} labels; make them as the pool's were made."
        )
    _require_finite(what, features)


def _require_matrix(what: str, features: Any) -> None:
    if features.ndim != 2 or features.shape[1] == 0:
        raise InputError(f"{what} must be a matrix (rows, dimensions), but have the shape {tuple(features.shape)}.")
    if not np.issubdtype(features.dtype, np.floating):
        raise InputError(f"{what} must be floating-point numbers, but are {features.dtype}; convert them with `.astype('float32')`.")


def _kinds(name: str, values: Array) -> Array:
    try:
        return np.unique(values)
    except TypeError as error:
        raise InputError(
            f"{name} must be of one kind that can be sorted, such as numbers or texts, but {error}; leave out rows without one."
        ) from error


def _require_finite(what: str, features: Any) -> None:
    size = max(1, _BLOCK_BYTES // (features.shape[1] * features.dtype.itemsize))
    most = min(_LARGEST, float(np.finfo(features.dtype).max))
    for start in range(0, len(features), size):
        # NaN is not below anything.
        fit = (np.abs(np.asarray(features[start : start + size])) <= most).all(axis=1)
        if not fit.all():
            row = start + int(np.flatnonzero(~fit)[0])
            column = int(np.flatnonzero(~(np.abs(np.asarray(features[row])) <= most))[0])
            raise InputError(
                f"{what} have {features[row, column]} in row {row}, column {column}: every value must be a finite number, at most "
                f"{most:g}; make the features again, or leave such rows out."
            )


def memory_to_keep(features: Any, n_partitions: int, train_size: int, classes: int, limit: int | None) -> int:
    """Return how many bytes of features may be held at once, and as many again be gathered.

    Args:
        features: (n_examples, d).
        n_partitions: number of splits.
        train_size: rows that a partition trains on.
        classes: number of classes.
        limit: bytes that the filter may take; None: what this machine has free.

    Raises:
        InputError: what is needed beside the features does not fit.
    """
    rows, width = features.shape
    columns = 1 if classes == 2 else classes
    weights = n_partitions * (width + 1) * columns * 4
    needed = rows * (n_partitions + 40) + train_size * width * 4 + 2**28
    # Of many classes the weights once more, by class, and the rows that are left; else the steps of a search, and a Hessian a class.
    needed += 3 * weights + rows * width * 4 if classes > WHOLE else 22 * weights + columns * (width + 1) ** 2 * 16
    free = available_bytes() if limit is None else limit
    if needed > free:
        raise InputError(
            f"AFLite on {rows:,} × {width:,} features with {n_partitions} partitions needs about {_gigabytes(needed)} of memory beside the "
            f"features, and {_gigabytes(free)} are free; take fewer partitions (n_partitions), or fewer dimensions."
        )
    return int(free - needed) // 2


def available_bytes() -> int:
    """Return the memory that this machine has free, within the bounds that a container sets."""
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
        bound, used = ((_CGROUP / f"memory.{name}").read_text(encoding="ascii").strip() for name in ("max", "current"))
        if bound != "max":
            free = min(free, int(bound) - int(used) + _file_bytes())
    except (OSError, StopIteration):
        pass
    return free


def _file_bytes() -> int:
    """Return what of a container's memory holds pages of files, which it gives up when memory is wanted."""
    lines = (_CGROUP / "memory.stat").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("inactive_file ", "active_file ")))


def _gigabytes(number: int) -> str:
    return f"{number / 1e9:,.1f} GB"
