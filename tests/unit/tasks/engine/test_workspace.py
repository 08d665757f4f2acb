"""A workspace: its files, its lock and its journal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cartograph.errors import InputError
from tasks.engine.running import run_step
from tests.small_steps import STEP, space


def test_names_that_leave_the_workspace_are_refused(tmp_path: Path) -> None:
    for name in ("../x", "data/../../x", "elsewhere/x", "/etc/passwd"):
        with pytest.raises(InputError, match="is not inside the workspace"):
            space(tmp_path).resolve(name)
    assert space(tmp_path).resolve("file:/etc/hosts") == Path("/etc/hosts")


def test_one_lock_per_workspace_says_who_holds_it(tmp_path: Path) -> None:
    expected = rf"is busy: `first` \(process {os.getpid()} on .*, since .*\) holds it"
    with space(tmp_path).lock("first"), pytest.raises(InputError, match=expected), space(tmp_path).lock("second"):
        pass
    with space(tmp_path).lock("third"):
        pass


def test_a_journal_line_cut_short_is_passed_over(tmp_path: Path) -> None:
    run_step(STEP, space(tmp_path))
    with (tmp_path / ".cartograph/journal.jsonl").open("a") as file:
        file.write('{"step": "dou')
    assert len(space(tmp_path).executions()) == 1
