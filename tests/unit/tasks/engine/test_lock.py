"""The lock of a workspace, the token of whoever holds it, and what is found in their place."""

from __future__ import annotations

import errno
import fcntl
import multiprocessing
import os
import re
import signal
import socket
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from cartograph.errors import InputError
from tasks.engine.lock import BusyError, LostLockError, hold, is_held, writing
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


def test_who_comes_second_is_told_who_holds_the_workspace_since_when(tmp_path: Path) -> None:
    state = tmp_path / "new" / ".cartograph"
    with hold(state, "python -m flows.audit"):
        assert is_held(state)
        with pytest.raises(BusyError) as raised, hold(state, "another"):
            raise AssertionError
    process = rf"`python -m flows\.audit` \(process {os.getpid()} on {re.escape(socket.gethostname())}, since [\d-]{{10}} [\d:]{{8}}\)"
    assert re.fullmatch(
        rf"workspace {re.escape(str(state.parent))} is busy: {process} holds it; wait for it to end, or stop it\.", str(raised.value)
    )
    assert not is_held(state)
    assert (state / "lock").read_bytes() == b"", "nobody's name stays behind"


def test_who_holds_the_workspace_without_saying_so_is_another_audit(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(BusyError, match="is busy: another audit holds it"), hold(tmp_path, "an audit"):
            raise AssertionError


def test_nobody_looks_or_comes_while_the_holder_writes(tmp_path: Path) -> None:
    done: list[bool] = []
    with hold(tmp_path, "an audit") as token:
        looking = threading.Thread(target=lambda: done.append(is_held(tmp_path)))
        with writing(tmp_path, token):
            looking.start()
            looking.join(0.1)
            assert done == []
        looking.join(10)
        assert done == [True]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "cannot be held: no space left on its disk; free some, or move the workspace."),
        (errno.ENOLCK, "is on a file system without file locks (why), so two audits could write at once"),
        (errno.EROFS, "cannot be written by this user (why: "),
        (errno.EACCES, "cannot be written by this user (why: "),
    ],
)
def test_what_keeps_a_workspace_from_being_held_is_a_sentence(
    number: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, "why")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(InputError) as raised, hold(tmp_path / "state", "an audit"):
        raise AssertionError
    assert str(raised.value).startswith(f"workspace {tmp_path} {words}")


@pytest.mark.parametrize("error", [OSError(errno.EIO, "why"), PermissionError(errno.EACCES, "why", "/elsewhere/file")])
def test_other_errors_and_those_of_other_files_are_left_as_they_are(
    error: OSError, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(OSError, match="why") as raised, hold(tmp_path, "an audit"):
        raise AssertionError
    assert raised.value is error
