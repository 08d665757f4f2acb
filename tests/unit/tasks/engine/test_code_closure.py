from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tasks.engine import code_closure as kept
from tasks.engine.code_closure import PACKAGES, code_closure
from tasks.engine.digest import COMPILED
from tasks.engine.receipt import code_digests
from tasks.engine.workspace import CODE
from tasks.pipelines import STEPS


def names(file: Path) -> set[str]:
    return {path.relative_to(CODE).as_posix() for path in code_closure(file)}


MEASURE = CODE / "tasks" / "audit" / "measure.py"


def test_a_step_depends_on_its_module_on_the_engine_and_on_whole_wings() -> None:
    assert {"tasks/audit/measure.py", "tasks/engine", "src/cartograph/maps", "src/cartograph/schema.py"} <= names(MEASURE)


def test_a_step_does_not_depend_on_the_list_of_steps_on_its_neighbours_on_presentation_or_on_the_public_face() -> None:
    found = names(MEASURE)
    assert not found & {"tasks/pipelines.py", "tasks/audit", "tasks/audit/report.py", "tasks/presentation", "src/cartograph/__init__.py"}
    assert "src/cartograph/planted" not in found


def package(folder: Path, **modules: str) -> Path:
    for name, text in modules.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        for parent in (path.parent, *path.parent.parents):
            if parent == folder.parent:
                break
            (parent / "__init__.py").touch()
        path.write_text(text)
    return folder


def test_imports_are_followed_from_any_module_of_a_package_whatever_their_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = package(
        tmp_path / "cartograph",
        a="from .inner import b\n",
        inner__b="from .. import c\nfrom . import d as e\n",
        inner__d="import cartograph.other.f\n",
        inner__deep__g="",
        other__f="def late():\n    from cartograph.last import h\n",
        last__h="",
        c="import os\n",
        unused__i="",
    )
    monkeypatch.setitem(PACKAGES, "cartograph", tmp_path)
    found = {path.relative_to(folder).as_posix() for path in code_closure(folder / "a.py")}
    assert found == {"a.py", "inner", "c.py", "other", "last"}


def test_a_change_in_a_package_changes_exactly_the_steps_that_depend_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(CODE / "src", tmp_path / "src", ignore=shutil.ignore_patterns(COMPILED, "*.egg-info"))
    shutil.copytree(CODE / "tasks", tmp_path / "tasks", ignore=shutil.ignore_patterns(COMPILED))
    before = {step.name: code_digests(step) for step in STEPS}

    def changed(edited: str) -> set[str]:
        whole = (CODE / edited).read_text()
        (tmp_path / edited).write_text(whole + "\n# A remark.\n")
        found = set()
        for step in STEPS:
            for path in step.code:
                copy = tmp_path / path.relative_to(CODE)
                monkeypatch.setattr("tasks.engine.receipt.CODE", tmp_path)
                monkeypatch.setattr(type(step), "code", property(lambda _, copy=copy: (copy,)))
                name = path.relative_to(CODE).as_posix()
                if code_digests(step)[name] != before[step.name][name]:
                    found.add(step.name)
                monkeypatch.undo()
        (tmp_path / edited).write_text(whole)
        return found

    def users(unit: str) -> set[str]:
        return {step.name for step in STEPS if CODE / unit in step.code}

    assert changed("src/cartograph/maps/measures.py") == users("src/cartograph/maps") >= {"measure", "noise", "report"}
    assert not users("src/cartograph/maps") & {"fetch", "ingest", "train", "tune"}
    assert changed("src/cartograph/models/frozen/embeddings.py") == users("src/cartograph/models") >= {"embed", "train"}
    assert changed("tasks/audit/measure.py") == {"measure"}
    assert changed("tasks/engine/running.py") == {step.name for step in STEPS}
    assert changed("tasks/presentation/console.py") == set()


def test_compiled_files_beside_the_code_do_not_count(tmp_path: Path) -> None:
    from tasks.engine.digest import digest_path

    (tmp_path / "a.py").touch()
    before = digest_path(tmp_path, without=COMPILED)
    (tmp_path / COMPILED).mkdir()
    (tmp_path / COMPILED / "a.pyc").touch()
    assert digest_path(tmp_path, without=COMPILED) == before != digest_path(tmp_path)


def test_imports_are_kept_by_digest_and_anything_else_there_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(kept, "_FILE", tmp_path / "kept" / "imports.json")
    monkeypatch.setattr(kept, "CODE", tmp_path / "code")
    folder = package(tmp_path / "code" / "cartograph", a="from cartograph import b\n", b="", c="")
    monkeypatch.setitem(PACKAGES, "cartograph", tmp_path / "code")

    def found(content: str | None = None) -> set[str]:
        """In a new process, with that content kept."""
        if content is not None:
            (tmp_path / "kept" / "imports.json").write_text(content)
        kept._kept.cache_clear()
        kept._imported.cache_clear()
        names = {path.name for path in code_closure(folder / "a.py")}
        return names

    assert found() == {"a.py", "b.py"}
    stored = json.loads((tmp_path / "kept" / "imports.json").read_text())
    digest, *names = stored["cartograph/a.py"]
    assert names == ["cartograph", "cartograph.b"]
    stored["cartograph/a.py"] = [digest, "cartograph.c"]
    assert found(json.dumps(stored)) == {"a.py", "c.py"}, "not parsed again"
    for garbage in ("", "[]", "{", json.dumps({"cartograph/a.py": {"0": 1}}), json.dumps({"cartograph/a.py": "x"}), "[" * 10_000):
        assert found(garbage) == {"a.py", "b.py"}
    (folder / "a.py").write_text("import cartograph.c\n")
    assert found() == {"a.py", "c.py"}
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "kept" / "imports.json").unlink()
    assert found() == {"a.py", "c.py"}
    assert not (tmp_path / "kept" / "imports.json").exists()
