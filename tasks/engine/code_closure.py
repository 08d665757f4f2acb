"""The first-party files that a module's code depends on, read from its import statements without running them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tasks.engine.workspace import CODE

PACKAGES = {"cartograph": CODE / "src", "tasks": CODE}


def code_closure(file: Path) -> tuple[Path, ...]:
    """Return a module's file and every first-party file it imports, directly or not, sorted.

    Imports inside functions count. A package's ``__init__.py`` counts with any of its modules, but for
    ``tasks/pipelines.py``: it lists all steps, so one step's edit would be every step's.
    """
    found: set[Path] = set()
    waiting = [file.resolve()]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting.extend(_imported(current, current.stat().st_mtime_ns))
    return tuple(sorted(found))


@cache
def _imported(file: Path, changed: int) -> tuple[Path, ...]:
    tree = ast.parse(file.read_text(encoding="utf-8"), filename=str(file))
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(file, node)
            names.add(base)
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return tuple(path for name in sorted(names) for path in _files(name))


def _absolute(file: Path, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    for base in PACKAGES.values():
        if file.is_relative_to(base) and file.relative_to(base).parts[0] in PACKAGES:
            parent = file.relative_to(base).parent.parts
            parent = parent[: len(parent) - node.level + 1]
            return ".".join([*parent, *([node.module] if node.module else [])])
    return node.module or ""


def _files(name: str) -> list[Path]:
    parts = name.split(".")
    base = PACKAGES.get(parts[0])
    if base is None:
        return []
    files = []
    for depth in range(1, len(parts) + 1):
        package = base.joinpath(*parts[:depth])
        module = package.with_suffix(".py")
        if (package / "__init__.py").is_file():
            if parts[:depth] != ["tasks"]:
                files.append(package / "__init__.py")
        elif module.is_file():
            files.append(module)
            break
        else:
            break
    return [file.resolve() for file in files]
