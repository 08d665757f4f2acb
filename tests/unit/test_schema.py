from __future__ import annotations

import doctest

import pyarrow as pa
import pytest

from cartograph import schema


def test_examples() -> None:
    assert doctest.testmod(schema).failed == 0


def test_columns_hold_no_nulls_unless_marked() -> None:
    made = schema.schema_of({"uid": "string", "epoch": "int32?", "logits": pa.list_(pa.float32(), 3)})
    assert made == pa.schema(
        [
            pa.field("uid", pa.string(), nullable=False),
            pa.field("epoch", pa.int32()),
            pa.field("logits", pa.list_(pa.float32(), 3), nullable=False),
        ]
    )


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(ValueError, match="tsring"):
        schema.schema_of({"uid": "tsring"})
