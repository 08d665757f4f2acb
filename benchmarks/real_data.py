"""Where the data sets are that benchmarks read: CARTOGRAPH_DATA, or ../shared/data beside the project."""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(os.environ.get("CARTOGRAPH_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
