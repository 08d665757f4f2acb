from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from inspect import getdoc

import pytest

from tasks.__main__ import COMMANDS, main
from tests.checkout import ROOT


def test_the_list_says_of_each_command_what_its_own_help_begins_with(capsys: pytest.CaptureFixture[str]) -> None:
    for name, command in COMMANDS.items():
        function = getattr(import_module(f"tasks.commands.{command.module}"), command.function)
        assert (getdoc(function) or "").splitlines()[0] == command.line, name
        assert main([name, "--help"]) == 0
        assert f"python -m tasks {name}" in capsys.readouterr().out


def test_the_list_of_commands_needs_none_of_them() -> None:
    code = (
        "import sys; from tasks.__main__ import main; main(['--help'])\n"
        "print([name for name in sys.modules if name.startswith(('tasks.commands', 'tasks.audit', 'pydantic', 'numpy'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert all(name in done.stdout for name in COMMANDS)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_misspelt_command_is_told_the_one_that_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prun"]) == 2
    assert "Did you mean 'prune'" in capsys.readouterr().err
