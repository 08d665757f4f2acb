"""Who may import what: the rules of the architecture, read from the code."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.engine.dag import upstream
from tasks.pipelines import STEPS, open_workspace

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted([*ROOT.glob("src/cartograph/**/*.py"), *ROOT.glob("tasks/*.py"), *ROOT.glob("flows/*.py")])
HEAVY = {
    "numpy",
    "pandas",
    "pyarrow",
    "torch",
    "transformers",
    "sklearn",
    "matplotlib",
    "plotly",
    "mlflow",
    "great_expectations",
    "prefect",
    "dvc",
    "datasets",
}


def imports(file: Path, *, top_level: bool = False) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    nodes = _outside_functions(tree) if top_level else ast.walk(tree)
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module or "")
    return {name.split(".")[0] for name in found}


def _outside_functions(tree: ast.Module) -> list[ast.AST]:
    found: list[ast.AST] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting.extend(ast.iter_child_nodes(node))
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_imports_run_one_way(file: Path) -> None:
    name = file.relative_to(ROOT).as_posix()
    used = imports(file)
    if name.startswith("src/cartograph"):
        assert not used & {"tasks", "flows", "prefect", "dvc", "mlflow", "great_expectations"}
    if name.startswith("tasks/"):
        assert "flows" not in used
        assert "prefect" not in used
        assert not imports(file, top_level=True) & HEAVY
    if name != "tasks/audit/publish.py":
        assert "mlflow" not in used
    if not name.startswith("tasks/expectations"):
        assert "great_expectations" not in used


def test_only_training_code_imports_torch() -> None:
    allowed = {"train", "trainings", "models", "dynamics", "solver"}
    for file in FILES:
        parts = file.relative_to(ROOT).with_suffix("").parts
        if imports(file) & {"torch", "transformers", "accelerate"}:
            assert any(part.split("_")[0] in allowed for part in parts), f"{file} imports torch"


def test_no_grab_bag_modules() -> None:
    forbidden = {"utils", "helpers", "common", "misc"}
    assert not [file for file in FILES if file.stem in forbidden]


def test_steps_stand_after_what_they_read() -> None:
    settings = open_workspace(ROOT).settings
    seen: set[str] = set()
    for step in STEPS:
        assert upstream(step, STEPS, settings) <= seen, step.name
        seen.add(step.name)


def test_help_needs_no_heavy_library() -> None:
    code = f"import sys; import tasks.__main__; print(sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_machine_without_the_drivers_can_train() -> None:
    code = (
        "import sys\n"
        "for name in ('prefect', 'mlflow', 'great_expectations', 'dvc'): sys.modules[name] = None\n"
        "import tasks.__main__, tasks.audit.train, cartograph.train.fit\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
