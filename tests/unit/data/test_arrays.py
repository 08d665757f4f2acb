from __future__ import annotations

import re
from pathlib import Path

import cartograph
import cartograph.data.arrays


def test_array_types_are_named_in_one_module_only() -> None:
    sources = Path(cartograph.__file__).parent.rglob("*.py")
    spelled = [path for path in sources if re.search(r"NDArray\[|np\.ndarray\b", path.read_text(encoding="utf-8"))]
    assert spelled == [Path(cartograph.data.arrays.__file__)]
