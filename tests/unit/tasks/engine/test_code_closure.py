from __future__ import annotations

from pathlib import Path

from tasks.engine.code_closure import PACKAGES, code_closure
from tasks.engine.workspace import CODE


def names(file: Path) -> set[str]:
    return {path.relative_to(CODE).as_posix() for path in code_closure(file)}


def test_imports_are_followed_inside_functions_and_through_modules() -> None:
    found = names(CODE / "tasks" / "audit" / "measure.py")
    assert {"tasks/audit/measure.py", "tasks/engine/step.py", "tasks/engine/workspace.py", "src/cartograph/maps/measures.py"} <= found
    assert "src/cartograph/schema.py" in found


def test_a_step_does_not_depend_on_the_list_of_all_steps_or_on_its_neighbours() -> None:
    found = names(CODE / "tasks" / "audit" / "measure.py")
    assert "tasks/pipelines.py" not in found
    assert "tasks/audit/report.py" not in found
    assert "src/cartograph/planted.py" not in found


def test_relative_imports(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    package = tmp_path / "cartograph"
    (package / "inner").mkdir(parents=True)
    for name, text in {
        "__init__.py": "",
        "a.py": "from .inner import b\n",
        "inner/__init__.py": "",
        "inner/b.py": "from .. import c\nfrom . import d as e\n",
        "c.py": "import os\n",
        "inner/d.py": "import cartograph.c\n",
        "unused.py": "",
    }.items():
        (package / name).write_text(text)
    monkeypatch.setitem(PACKAGES, "cartograph", tmp_path)
    found = {path.relative_to(tmp_path).as_posix() for path in code_closure(package / "a.py")}
    expected = {"a.py", "__init__.py", "inner/__init__.py", "inner/b.py", "inner/d.py", "c.py"}
    assert found == {f"cartograph/{name}" for name in expected}
