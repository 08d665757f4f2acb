"""Where unit tests stand: those of ``src/cartograph/bias/words.py`` in ``bias/test_words.py``, of ``tasks`` in a folder of that name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
UNIT = ROOT / "tests" / "unit"
FILES = sorted(file for file in UNIT.glob("**/*.py") if file.name != "conftest.py")


def is_module(path: Path) -> bool:
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def module_of(test: Path) -> Path:
    """The module that a file of unit tests is about, without its suffix."""
    relative = test.relative_to(UNIT)
    base = ROOT if relative.parts[0] in ("tasks", "flows", "benchmarks") else ROOT / "src" / "cartograph"
    return base / relative.parent / test.stem.removeprefix("test_")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(UNIT).as_posix())
def test_a_file_of_unit_tests_stands_where_its_module_is(file: Path) -> None:
    assert file.name.startswith("test_"), "what several test files need belongs in tests/, not among them"
    assert is_module(module_of(file)), f"{module_of(file).relative_to(ROOT)}.py is not there; name the file after the module that it tests"


def test_workspaces_are_made_in_one_place() -> None:
    makers = [file for file in (ROOT / "tests").glob("**/*.py") if re.search(r"(?<![\w.])Workspace\(", file.read_text(encoding="utf-8"))]
    assert [file.name for file in makers if file != Path(__file__).resolve()] == ["workspaces.py"]
