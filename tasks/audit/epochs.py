"""The probability of each row's label, epoch by epoch, from the training dynamics of an audit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.data.arrays import Floats

DYNAMICS = "data/train/dynamics"


def label_probabilities(folder: Path, uids: pa.ChunkedArray) -> Floats | None:
    """Return the given label's probability per epoch, ``(n_examples, n_epochs)`` in [0, 1]; None where only coordinates were given.

    Args:
        folder: of the dynamics, as training leaves it.
        uids: the rows wanted, in this order.

    Raises:
        InputError: a row has no dynamics.
    """
    import pyarrow as pa

    from cartograph.data.subsets import rows_of
    from cartograph.dynamics.epoch_files import read_dynamics
    from cartograph.maps.measures import gold_probabilities
    from cartograph.schema import UID

    if not folder.is_dir():
        return None
    dynamics = read_dynamics(folder)
    table = pa.table({UID: pa.array(dynamics.uids, pa.string()), "place": pa.array(range(len(dynamics.uids)))})
    order = rows_of(table, uids, "the data map", DYNAMICS)["place"].to_numpy()
    probabilities: Floats = gold_probabilities(dynamics.uids, dynamics.logits, dynamics.gold)[order]
    return probabilities
