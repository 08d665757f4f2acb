from __future__ import annotations

import os
from pathlib import Path

import pytest

from tasks.engine import kept_results
from tasks.engine.kept_results import computed_once
from tests.workspaces import make_workspace


class Computation:
    """Writes a file, and counts how often."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, folder: Path) -> None:
        self.times += 1
        (folder / "inner").mkdir()
        (folder / "inner" / "value.txt").write_text("42")


def test_a_result_is_computed_once_and_anew_where_that_is_asked_for(tmp_path: Path) -> None:
    workspace, compute = make_workspace(tmp_path), Computation()
    for _ in range(3):
        assert (computed_once(workspace, "kind", "key", compute) / "inner" / "value.txt").read_text() == "42"
    assert compute.times == 1
    computed_once(workspace, "kind", "other", compute)
    computed_once(workspace, "another kind", "key", compute)
    assert compute.times == 3
    computed_once(workspace, "kind", "key", compute, again=True)
    assert compute.times == 4


@pytest.mark.parametrize("damage", ["changed", "gone", "more", "no digest", "a file", "bytes"])
def test_a_damaged_result_is_computed_again(tmp_path: Path, damage: str) -> None:
    workspace, compute = make_workspace(tmp_path), Computation()
    result = computed_once(workspace, "kind", "key", compute)
    if damage == "changed":
        (result / "inner" / "value.txt").write_text("43")
    elif damage == "gone":
        (result / "inner" / "value.txt").unlink()
    elif damage == "more":
        (result / "more.txt").touch()
    elif damage == "no digest":
        (result.parent / "digest").unlink()
    elif damage == "bytes":
        (result.parent / "digest").write_bytes(b"\xff\xfe")
    else:
        result.parent.rename(tmp_path / "aside")
        result.parent.write_text("a file")
    assert (computed_once(workspace, "kind", "key", compute) / "inner" / "value.txt").read_text() == "42"
    assert compute.times == 2


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    workspace, compute = make_workspace(tmp_path), Computation()

    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        computed_once(workspace, "kind", "key", fail)
    assert list((workspace.state / "results" / "kind").iterdir()) == []
    computed_once(workspace, "kind", "key", compute)
    assert compute.times == 1


def test_those_used_last_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_results, "_MOST", 2)
    workspace, compute = make_workspace(tmp_path), Computation()
    for place, key in enumerate("abac"):
        folder = computed_once(workspace, "kind", key, compute).parent
        # File systems differ in how finely they tell the time.
        os.utime(folder, (place, place))
    assert sorted(path.name for path in (workspace.state / "results" / "kind").iterdir()) == ["a", "c"]
