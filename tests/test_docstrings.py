"""Every example in a docstring runs and shows what it says, in the module's own names."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = [
    (path.relative_to(base), path.read_text(encoding="utf-8").count(">>> "))
    for base, folder in ((ROOT / "src", "cartograph"), (ROOT, "tasks"), (ROOT, "flows"))
    for path in sorted((base / folder).rglob("*.py"))
]
MODULES = {".".join(path.with_suffix("").parts).removesuffix(".__init__"): count for path, count in FILES if count}


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    examples = [one for one in doctest.DocTestFinder().find(module, name) if one.examples]
    assert sum(len(one.examples) for one in examples) == MODULES[name]
    for one in examples:
        said: list[str] = []
        one.globs["np"] = np
        assert doctest.DocTestRunner().run(one, out=said.append).failed == 0, "".join(said)
