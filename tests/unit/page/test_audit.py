from __future__ import annotations

import pyarrow as pa
import pytest

from cartograph.errors import InputError
from cartograph.page.audit import align


def test_rows_of_another_run_are_refused() -> None:
    table = pa.table({"uid": ["a", "c"]})
    assert align(table, pa.chunked_array([["c", "a"]]), "train.parquet")["uid"].to_pylist() == ["c", "a"]
    with pytest.raises(InputError, match=r"train\.parquet has no row with uid 'b', which the data map has \(1 such rows\)"):
        align(table, pa.chunked_array([["a", "b"]]), "train.parquet")
