"""The lock of a workspace, the token of whoever holds it, and what stands in their place."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from cartograph.errors import InputError
from tasks.engine.lock import LostLockError, hold, writing
from tests.full_disk import full_disk


def hold_until_killed(state: Path, says: Connection) -> None:
    with hold(state, "the audit") as token:
        says.send(token)
        time.sleep(600)


def killed_holder(state: Path) -> str:
    """Take the lock in a process that is then killed; return its token."""
    context = multiprocessing.get_context("spawn")
    hears, says = context.Pipe(duplex=False)
    process = context.Process(target=hold_until_killed, args=(state, says))
    process.start()
    token = hears.recv()
    with writing(state, token):
        pass
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    return token


def test_who_holds_the_lock_writes(tmp_path: Path) -> None:
    with hold(tmp_path, "an audit") as token, writing(tmp_path, token):
        pass


def test_a_writer_whose_audit_was_killed_does_not_write_though_nobody_else_holds_the_lock(tmp_path: Path) -> None:
    token = killed_holder(tmp_path)
    with pytest.raises(LostLockError, match=r"no longer held by the audit .*; nothing was written"), writing(tmp_path, token):
        raise AssertionError


def test_a_writer_whose_audit_was_killed_does_not_write_beside_the_next_one(tmp_path: Path) -> None:
    token = killed_holder(tmp_path)
    with hold(tmp_path, "the next audit") as own:
        with pytest.raises(LostLockError), writing(tmp_path, token):
            raise AssertionError
        with writing(tmp_path, own):
            pass


@pytest.mark.parametrize("content", [b"\xff\xfe\x00garbage", b"", b"{" * 100_000])
def test_a_lock_file_may_hold_anything(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "lock").write_bytes(content)
    with hold(tmp_path, "an audit") as token, writing(tmp_path, token):
        pass


@pytest.mark.parametrize("name", ["", "lock", "door"])
def test_what_stands_in_the_place_of_a_state_file_is_named(tmp_path: Path, name: str) -> None:
    state = tmp_path / ".cartograph"
    if name:
        (state / name).mkdir(parents=True)
    else:
        state.write_text("a file")
    with pytest.raises(InputError) as raised, hold(state, "an audit"):
        raise AssertionError
    kind = "folder, where a file" if name else "file, where a folder"
    assert str(raised.value) == f"{state / name if name else state} is a {kind} of Cartograph's own belongs; delete it and try again."


def test_an_error_of_the_block_is_no_error_of_the_lock(tmp_path: Path) -> None:
    with pytest.raises(FileExistsError, match="its own"), hold(tmp_path, "an audit"):
        raise FileExistsError("its own")


def test_a_full_disk_is_a_sentence(tmp_path: Path) -> None:
    with full_disk(), pytest.raises(InputError, match="cannot be held: no space left on its disk"), hold(tmp_path, "an audit"):
        raise AssertionError
    with hold(tmp_path, "an audit") as token, writing(tmp_path, token):
        pass
