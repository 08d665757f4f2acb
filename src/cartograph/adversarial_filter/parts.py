"""A round's classifiers fitted in several parts, which other processes may compute at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cartograph.adversarial_filter.classifiers import JointLogistic, Rows
from cartograph.adversarial_filter.forecast import Report, unheard
from cartograph.data.arrays import Array, Bools, Integers32
from cartograph.data.progress import Progress
from cartograph.data.spread import Spread, in_turn

if TYPE_CHECKING:
    from cartograph.adversarial_filter.solver.joint_fit import Weights

_COUNTED = 1_000


class _Found(NamedTuple):
    """What a part's classifiers predict, and their weights."""

    right: Integers32
    others: list[Integers32]
    weights: Weights | None


@dataclass(frozen=True)
class InParts:
    """Logistic regressions as ``JointLogistic`` fits them, in so many parts of as many partitions each.

    Each part begins at the mean weights of all partitions of the round before. Sums over fewer columns round otherwise: predictions are
    those of one part, but for rows on a boundary. The same number of parts makes the same bytes wherever they are computed.

    Attributes:
        whole: how they are fitted.
        parts: how many.
        spread: where.
        folder: takes the features where ``spread`` does not compute in this process: all who do see it.
    """

    whole: JointLogistic
    parts: int
    spread: Spread
    folder: Path | None

    def tally(
        self, pool: Rows, train: Bools, others: Sequence[Rows], seed: int, report: Report = unheard
    ) -> tuple[Integers32, list[Integers32]]:
        """See ``Classifier``."""
        report(0.0)
        seen = [self._seen(number, rows) for number, rows in enumerate((pool, *others))]
        groups = [part for part in np.array_split(np.arange(train.shape[1]), self.parts) if len(part)]
        pieces = [partial(_tally, self.whole, seen, _Packed.of(train[:, part]), seed) for part in groups]

        def heard(number: int) -> Progress:
            return lambda done, total: report((number + done / total) / len(groups))

        right = [np.zeros(len(rows.places), np.int32) for rows in seen]
        weights = []
        for number, found in enumerate(self.spread(pieces, heard), 1):
            for count, more in zip(right, (found.right, *found.others), strict=True):
                count += more
            weights.append(found.weights)
            report(number / len(groups))
        self.whole.go_on_from([each for each in weights if each is not None])
        return right[0], right[1:]

    def _seen(self, number: int, rows: Rows) -> Rows:
        """Return rows that other processes can have: their features lie on the disk."""
        if self.spread is in_turn or self.folder is None:
            return rows
        path = self.folder / f"features-{number}.npy"
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".tmp")
            with unfinished.open("wb") as file:
                np.save(file, rows.features)
            unfinished.replace(path)
        return Rows(path, rows.places.astype(np.int32), rows.labels.astype(np.int16))


@dataclass(frozen=True)
class _Packed:
    """Which rows each partition trains on, eight to a byte."""

    bits: Array
    rows: int

    @classmethod
    def of(cls, train: Bools) -> _Packed:
        return cls(np.packbits(train, axis=0), len(train))

    def unpacked(self) -> Bools:
        return np.unpackbits(self.bits, axis=0, count=self.rows).astype(bool)


def _tally(whole: JointLogistic, seen: Sequence[Rows], train: _Packed, seed: int, progress: Progress | None) -> _Found:
    def report(share: float) -> None:
        if progress is not None and share:
            progress(round(_COUNTED * share), _COUNTED)

    pool, *others = (Rows(_opened(rows.features), rows.places.astype(np.int64), rows.labels.astype(np.int64)) for rows in seen)
    right, theirs, weights = whole.tally_from(pool, train.unpacked(), others, seed, report)
    return _Found(right, theirs, weights)


def _opened(features: Any) -> Any:
    return np.load(features, mmap_mode="r", allow_pickle=False) if isinstance(features, Path) else features
