"""The lock of a workspace: one audit at a time, and nothing installed by a process whose audit no longer holds it."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from cartograph.errors import CartographError, InputError

_LOCK, _DOOR = "lock", "door"


class BusyError(InputError):
    """Somebody else holds the workspace."""


class LostLockError(CartographError):
    """The audit that this process works for no longer holds its workspace."""


@contextmanager
def hold(state: Path, holder: str) -> Iterator[str]:
    """Hold the workspace whose state is in a folder; yield a token that nobody else has. It ends with the process, however that ends.

    Args:
        state: the folder, made if it is missing.
        holder: what holds it, for the messages of others.

    Raises:
        BusyError: somebody else holds it; the message says who.
        InputError: nothing can be locked there; the message says what to do.
    """
    token = secrets.token_hex(8)
    with ExitStack() as stack:
        with _in_sentences(state):
            file = stack.enter_context(_opened(state, _LOCK))
            # What an earlier holder's process is installing just now is installed first; what it comes with later is refused.
            with _door(state):
                _lock(file, state)
                since = time.strftime("%Y-%m-%d %H:%M:%S")
                file.truncate(0)
                file.write(f"`{holder}` (process {os.getpid()} on {socket.gethostname()}, since {since})\n{token}\n".encode())
        try:
            yield token
        finally:
            file.truncate(0)


@contextmanager
def writing(state: Path, token: str) -> Iterator[None]:
    """Do the block as the holder of a workspace: nobody else can take it meanwhile.

    Raises:
        LostLockError: whoever took this token no longer holds it.
    """
    with ExitStack() as stack:
        with _in_sentences(state):
            stack.enter_context(_door(state))
            held = (_holder(state) or [])[1:2] == [token]
        if not held:
            raise LostLockError(
                f"workspace {state.parent} is no longer held by the audit that this process worked for; nothing was written."
            )
        yield


def is_held(state: Path) -> bool:
    """Return whether somebody holds the workspace now; whoever comes for it meanwhile waits for this look, and gets it.

    Raises:
        OSError: nothing can be locked there.
    """
    with _door(state):
        return _holder(state) is not None


def _holder(state: Path) -> list[str] | None:
    """Return the lines of whoever holds the workspace; None where nobody does."""
    with _opened(state, _LOCK) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _content(file)
        return None


def _lock(file: IO[bytes], state: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        who = (_content(file) or [""])[0].strip() or "another audit"
        raise BusyError(f"workspace {state.parent} is busy: {who} holds it; wait for it to end, or stop it.") from error


def _content(file: IO[bytes]) -> list[str]:
    file.seek(0)
    return file.read(10_000).decode("utf-8", "replace").splitlines()


@contextmanager
def _door(state: Path) -> Iterator[None]:
    with _opened(state, _DOOR) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def _opened(state: Path, name: str) -> Iterator[IO[bytes]]:
    state.mkdir(parents=True, exist_ok=True)
    with (state / name).open("a+b", buffering=0) as file:
        yield file


@contextmanager
def _in_sentences(state: Path) -> Iterator[None]:
    """Turn what opening and locking these files raises into sentences; what the caller's block raises is left as it is."""
    try:
        yield
    except OSError as error:
        if (sentence := _sentence(state, error)) is None:
            raise
        raise InputError(sentence) from error


def _sentence(state: Path, error: OSError) -> str | None:
    path = state if error.filename is None else Path(os.fsdecode(error.filename))
    if path != state and path.parent != state:
        return None
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"workspace {state.parent} cannot be held: no space left on its disk; free some, or move the workspace."
    if error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
        return (
            f"workspace {state.parent} is on a file system without file locks ({error.strerror}), so two audits could write at once; move "
            "the project to a local disk, or mount this one with locks."
        )
    if isinstance(error, FileExistsError | NotADirectoryError | IsADirectoryError):
        kind = "folder" if path.is_dir() else "file"
        return f"{path} is a {kind}, where a {'file' if path.is_dir() else 'folder'} of Cartograph's own belongs; delete it and try again."
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return f"workspace {state.parent} cannot be written by this user ({error.strerror}: {path}); change its permissions, or move it."
    return None
