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
FILES = sorted([*ROOT.glob("src/cartograph/**/*.py"), *ROOT.glob("tasks/**/*.py"), *ROOT.glob("flows/**/*.py")])
ORDER = (
    *(f"cartograph.{name}" for name in ("errors", "wording", "schema", "config", "data", "statistics", "read", "ingest", "features")),
    *(f"cartograph.{name}" for name in ("maps", "dynamics", "figures", "models", "train", "planted", "compare", "audits", "bias")),
    *(
        f"cartograph.{name}"
        for name in ("adversarial_filter", "suspects", "clean", "write", "selection", "pairs", "page", "experiments", "frames")
    ),
    "cartograph.__main__",
    "cartograph",
    *(f"tasks.{name}" for name in ("presentation", "engine", "checks", "publishing", "audit", "labels", "collection")),
    *(f"tasks.{name}" for name in ("pipelines", "paper", "reviewing", "commands", "__main__")),
    "flows.engine",
    "flows",
)
"""The wings of the three floors, each above what it uses."""
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


def module_of(file: Path) -> str:
    base = ROOT / "src" if file.is_relative_to(ROOT / "src") else ROOT
    return ".".join(file.relative_to(base).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(file): file for file in FILES}


def imported_modules(name: str) -> set[str]:
    """Return the first-party modules that one imports, inside functions and under TYPE_CHECKING too."""
    file = MODULES[name]
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found |= {f"{base}.{alias.name}" for alias in node.names}
    known = {_known(name) for name in found}
    return {other for other in known if other and other != name}


def _known(name: str) -> str:
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name


IMPORTS = {name: imported_modules(name) for name in MODULES}


def wing_of(name: str) -> str:
    parts = name.split(".")
    return name if len(parts) == 1 else parts[0] if parts[0] == "flows" and parts[1] != "engine" else ".".join(parts[:2])


def test_no_module_imports_itself_through_others() -> None:
    reached: dict[str, set[str]] = {name: set(others) for name, others in IMPORTS.items()}
    changed = True
    while changed:
        changed = False
        for others in reached.values():
            further = set().union(*(reached[other] for other in others)) - others if others else set()
            others |= further
            changed = changed or bool(further)
    assert sorted(name for name, others in reached.items() if name in others) == []


@pytest.mark.parametrize("name", [name for name in MODULES if name not in ("tasks", "flows")])
def test_a_wing_imports_only_wings_below_it(name: str) -> None:
    place = ORDER.index(wing_of(name))
    above = {other for other in IMPORTS[name] - {"cartograph", "tasks", "flows"} if ORDER.index(wing_of(other)) > place}
    assert above == set(), f"{name} imports {sorted(above)}, which stand above it"


def test_the_roots_show_little() -> None:
    assert len(list((ROOT / "src/cartograph").glob("*.py"))) <= 6
    assert {file.name for file in (ROOT / "tasks").glob("*.py")} == {"__init__.py", "__main__.py", "pipelines.py"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_drivers_are_imported_only_where_they_belong(file: Path) -> None:
    name = file.relative_to(ROOT).as_posix()
    used = imports(file)
    if not name.startswith("flows/"):
        assert "prefect" not in used
    if not name.startswith(("flows/engine/dvc_commit.py", "tasks/commands/")):
        assert "dvc" not in used
    if not name.startswith("tasks/publishing/"):
        assert "mlflow" not in used
    if not name.startswith("tasks/checks/"):
        assert "great_expectations" not in used
    if name.startswith("tasks/"):
        assert not imports(file, top_level=True) & HEAVY


def test_only_training_code_imports_torch() -> None:
    allowed = {"train", "models", "dynamics"}
    alone = {"cartograph.experiments.trainings", "cartograph.adversarial_filter.classifiers", "cartograph.adversarial_filter.solver"}
    for name, file in MODULES.items():
        if imports(file) & {"torch", "transformers", "accelerate"}:
            assert set(name.split(".")) & allowed or any(name.startswith(one) for one in alone), f"{name} imports torch"


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
    code = f"import sys\nfrom tasks.__main__ import COMMANDS, app_for\napp_for([*COMMANDS]); print(sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_a_machine_without_the_drivers_can_train() -> None:
    code = (
        "import sys\n"
        "for name in ('prefect', 'mlflow', 'great_expectations', 'dvc'): sys.modules[name] = None\n"
        "import tasks.commands.single_steps, tasks.audit.train, cartograph.train.fit\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
