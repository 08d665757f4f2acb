from __future__ import annotations

from pathlib import Path

import pytest

from cartograph.errors import InputError
from tests.workspaces import open_new


def test_tables_are_refused_with_what_there_is_instead(project: Path) -> None:
    ingest = {"train": "f.csv", "label_columns": "tags", "text": "text"}
    with pytest.raises(InputError, match=r"tables are written for rows with one label; leave `tables` out: reports/suspects.csv"):
        open_new(project / "workspaces/tables", ingest=ingest, publish={"tables": {"table": "out", "format": "delta"}})
