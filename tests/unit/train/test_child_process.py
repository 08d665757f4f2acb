from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from cartograph.errors import CartographError, InputError
from cartograph.train.child_process import ProgressLines, answer, run_child


def test_progress_comes_as_lines_among_others(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    code = "print('progress 1 4'); print('progress of another kind'); print('progress 4 4')"
    run_child([sys.executable, "-c", code], tmp_path / "child.log", "training", lambda done, total: calls.append((done, total)))
    assert calls == [(1, 4), (4, 4)]


def test_only_the_last_of_lines_that_come_at_once_is_certain(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ProgressLines()
    for done in range(1, 6):
        lines(done, 5)
    assert capsys.readouterr().out.splitlines()[-1] == "progress 5 5"


def test_a_process_that_ends_otherwise_is_named_with_its_last_words(tmp_path: Path) -> None:
    (tmp_path / "error.json").write_text('{"message": "of an earlier one"}')
    with pytest.raises(CartographError, match=r"training ended with code 3: no room \(all of it in .*child\.log\)"):
        run_child(
            [sys.executable, "-c", "import sys; print('no room', file=sys.stderr); sys.exit(3)"], tmp_path / "child.log", "training", None
        )


def test_what_was_refused_is_left_for_the_starter(tmp_path: Path) -> None:
    def refuse(job: dict[str, Any]) -> None:
        raise InputError(f"no {job['wanted']}")

    job = tmp_path / "job.json"
    job.write_text(json.dumps({"starter": os.getpid(), "folder": str(tmp_path), "wanted": "rows"}))
    assert answer(job, refuse) == InputError.exit_code
    assert json.loads((tmp_path / "error.json").read_text()) == {"message": "no rows"}
    assert answer(job, lambda job: None) == 0
