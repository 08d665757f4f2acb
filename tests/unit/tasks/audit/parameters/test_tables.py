from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from cartograph.read.lakes import LakeTable
from cartograph.write.destination import Schema
from tasks.audit.parameters.tables import Tables


def test_a_place_is_a_schema_or_a_lake_table(tmp_path: Path) -> None:
    assert Tables(database="env:REVIEWS_DB").target(tmp_path) == Schema("env:REVIEWS_DB", "cartograph")
    assert Tables(table="found", format="delta").target(tmp_path) == LakeTable(str(tmp_path / "found"), "delta")
    named = LakeTable("shop.found", "iceberg", catalog="env:CATALOG")
    assert Tables(table="shop.found", catalog="env:CATALOG").target(tmp_path) == named


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"database": "env:X", "table": "found"},
        {"database": "env:X", "format": "delta"},
        {"database": "postgresql://ann:s3cret@host/x"},
        {"database": "env:X", "into": 'x"; drop table reviews; --'},
        {"table": "shop.found", "format": "iceberg"},
        {"table": "s3://ann:s3cret@host/found"},
    ],
)
def test_what_is_no_place_is_refused_without_what_may_be_secret(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as raised:
        Tables(**given)
    assert "s3cret" not in " ".join(str(error["msg"]) for error in raised.value.errors())
