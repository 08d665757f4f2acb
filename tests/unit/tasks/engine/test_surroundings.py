"""What replaces the home of a user who has none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.engine import surroundings


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(surroundings, "OWN_HOME", tmp_path / "own")
    monkeypatch.delenv("PREFECT_HOME", raising=False)
    return tmp_path / "own"


def test_locks_left_behind_are_not_complained_of_and_other_filters_stay(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "error::BytesWarning")
    for _ in range(2):
        surroundings.prepare()
        assert os.environ["PYTHONWARNINGS"] == "error::BytesWarning,ignore:resource_tracker:UserWarning"
    left = "import os; from multiprocessing import get_context; lock = get_context('spawn').Lock(); os._exit(0)"
    assert subprocess.run([sys.executable, "-c", left], capture_output=True, check=True).stderr == b""


def test_a_home_that_is_there_stays(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    surroundings.prepare()
    assert Path.home() == tmp_path and not own.exists()


def test_a_home_that_is_no_folder_is_replaced(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nowhere"))
    surroundings.prepare()
    assert Path.home() == own and own.is_dir()


def test_where_no_home_can_be_made_the_user_keeps_none(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own.write_text("a file")
    monkeypatch.setenv("HOME", str(tmp_path / "nowhere"))
    surroundings.prepare()
    assert Path.home() == tmp_path / "nowhere"
