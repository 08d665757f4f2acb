"""What replaces the home of a user who has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.engine import surroundings


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(surroundings, "OWN_HOME", tmp_path / "own")
    monkeypatch.delenv("PREFECT_HOME", raising=False)
    return tmp_path / "own"


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
