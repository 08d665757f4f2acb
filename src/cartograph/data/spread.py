"""Independent pieces of one computation, one after the other here or at the same time elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from cartograph.data.progress import Progress

Found = TypeVar("Found")


class Spread(Protocol):
    """Computes pieces, wherever that is."""

    def __call__(
        self, pieces: Sequence[Callable[[Progress | None], Found]], heard: Callable[[int], Progress | None] = lambda number: None
    ) -> Iterator[Found]:
        """Yield what the pieces return, in their order.

        Args:
            pieces: what to compute, in any order or at the same time; where that is in other processes they are pickled, and see the
                same files.
            heard: from a piece's number to what it says how far it is; of pieces that are computed elsewhere nobody asks.

        Raises:
            CartographError: as a piece raises it; or those who computed it are lost.
        """
        ...


def in_turn(
    pieces: Sequence[Callable[[Progress | None], Found]], heard: Callable[[int], Progress | None] = lambda number: None
) -> Iterator[Found]:
    """Compute them in this process, one after the other; see ``Spread``."""
    return (piece(heard(number)) for number, piece in enumerate(pieces))
