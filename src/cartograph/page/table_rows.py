"""The rows of a table of features as a page carries them: values by column, which are unusual for the row's label, and what is usual."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Bools, Integers
from cartograph.features.unusual import FAR, rarity, shown_values, usual_values
from cartograph.page.encode import script_json
from cartograph.schema import dataset_info
from cartograph.wording import cut

_LONGEST_NAME = 60
_MOST_UNUSUAL = 5


def table_of_rows(examples: pa.Table, places: Integers, listed: Bools, allowance: int) -> dict[str, Any]:
    """Return ``texts`` and ``table`` of the rows that a page carries.

    Where they would take more than the allowance, rows that no section lists keep only what is unusual of them.

    Args:
        examples: all rows (``schema.examples_schema``).
        places: (n_rows,) those that are carried.
        listed: (n_rows,) which of them sections refer to.
        allowance: bytes that the values may take in the page.
    """
    share = rarity(examples)[places]
    order = np.argsort(share, axis=1, kind="stable")[:, :_MOST_UNUSUAL]
    far = np.take_along_axis(share, order, axis=1) < FAR
    unusual = [row[mask].tolist() for row, mask in zip(order, far, strict=True)]
    values = shown_values(examples.take(pa.array(places)))
    if len(script_json(values).encode()) > allowance:
        kept = [set(row) for row in unusual]
        values = [
            [value if inside or place in own else "" for value, inside, own in zip(column, listed.tolist(), kept, strict=True)]
            for place, column in enumerate(values)
        ]
    names = [cut(feature.name, _LONGEST_NAME) for feature in dataset_info(examples.schema).features]
    return {"texts": [], "table": {"names": names, "values": values, "unusual": unusual, "usual": usual_values(examples)}}
