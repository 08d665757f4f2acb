"""The first-party code that a step depends on, read from import statements without running them.

A step depends on its own module, on the modules of other steps that it uses, and on whole packages of everything else: a wing of the
library (``src/cartograph/read``), or the engine. Presentation belongs to no step.

What a file imports is kept among Python's compiled files by the file's digest: to parse them all takes longer than most steps.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from cartograph.data.whole_files import write_whole
from tasks.engine.digest import COMPILED
from tasks.engine.workspace import CODE

PACKAGES = {"cartograph": CODE / "src", "tasks": CODE}

_STEPS = ("tasks/audit", "tasks/labels", "tasks/collection")
"""Packages whose modules count one by one: each is a step, or what a few of them share."""

_PRESENTATION = "tasks/presentation"

_FILE = Path(__file__).parent / COMPILED / "imports.json"
"""File, from the project's root -> its digest and the names that it imports; where it holds anything else, it is made again."""


def code_closure(file: Path) -> tuple[Path, ...]:
    """Return the files and package folders that a module depends on, directly or not, sorted; its own file is among them.

    Imports inside functions count, and so does what any module of a package imports. A package's ``__init__.py`` counts with its folder
    alone: those of packages whose modules count one by one hold a docstring, and the library's own lists its public names.
    """
    units: set[Path] = set()
    seen: set[Path] = set()
    waiting = [file.resolve()]
    packages = tuple(PACKAGES.items())
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        unit = _unit(current, packages)
        if unit is None:
            continue
        if unit not in units:
            units.add(unit)
            waiting.extend(_modules_in(unit) if unit != current else ())
        waiting.extend(_imported(current, current.stat().st_mtime_ns))
    _keep()
    return tuple(sorted(units))


def _modules_in(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != COMPILED]
        yield from (Path(parent, name) for name in names if name.endswith(".py"))


@cache
def _unit(file: Path, packages: tuple[tuple[str, Path], ...]) -> Path | None:
    """Return the folder or file whose content stands for a module; None for one that no step depends on."""
    base = next((base for name, base in packages if file.is_relative_to(base / name)), None)
    if base is None:
        return file
    package, *inner = file.relative_to(base).parts
    if inner == ["__init__.py"]:
        return None
    if len(inner) == 1:
        return file
    folder = f"{package}/{inner[0]}"
    if folder == _PRESENTATION:
        return None
    if folder in _STEPS:
        return None if inner[-1] == "__init__.py" else file
    return base / folder


_learnt: list[str] = []


@cache
def _imported(file: Path, changed: int) -> tuple[Path, ...]:
    content = file.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    own = file.relative_to(CODE).as_posix() if file.is_relative_to(CODE) else None
    known = _kept().get(own)
    if known is None or known[0] != digest:
        known = [digest, *_names(file, content)]
        if own is not None:
            _kept()[own] = known
            _learnt.append(own)
    bases = ((name, PACKAGES.get(name.partition(".")[0])) for name in known[1:])
    return tuple(dict.fromkeys(path for name, base in bases if base is not None for path in _files(name, base)))


def _names(file: Path, content: bytes) -> list[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(content, filename=str(file))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(file, node)
            names.add(base)
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return sorted(name for name in names if name.partition(".")[0] in PACKAGES)


@cache
def _kept() -> dict[str | None, list[str]]:
    try:
        kept = json.loads(_FILE.read_text(encoding="utf-8"))
        return {
            file: entry
            for file, entry in kept.items()
            if isinstance(entry, list) and entry and all(isinstance(name, str) for name in entry)
        }
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _keep() -> None:
    """Keep what was learnt about imports for the next process, where Python keeps compiled code too and the folder can be written."""
    if _learnt and not sys.dont_write_bytecode:
        with suppress(OSError):
            write_whole(_FILE, json.dumps(dict(_kept()), sort_keys=True))
    _learnt.clear()


def _absolute(file: Path, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    for base in PACKAGES.values():
        if file.is_relative_to(base) and file.relative_to(base).parts[0] in PACKAGES:
            parent = file.relative_to(base).parent.parts
            parent = parent[: len(parent) - node.level + 1]
            return ".".join([*parent, *([node.module] if node.module else [])])
    return node.module or ""


@cache
def _files(name: str, base: Path) -> tuple[Path, ...]:
    """Return the files that an import of a name runs: those of the packages that it is in, and its own."""
    package, within = base.joinpath(*name.split(".")), name.rpartition(".")[0]
    files = _files(within, base) if within else ()
    if within and not (package.parent / "__init__.py").is_file():
        return files
    own = next((file for file in (package / "__init__.py", package.with_suffix(".py")) if file.is_file()), None)
    return files if own is None else (*files, own.resolve())
