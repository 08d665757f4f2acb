"""A step run safely: staged, installed in one stroke, and whatever interrupts it leaves nothing half-written."""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cartograph.data.spread import Spread, in_turn
from cartograph.data.whole_files import sync, sync_tree
from cartograph.errors import CartographError, InputError
from tasks.engine.digest import digest_path
from tasks.engine.edits import check_as_begun, check_unedited
from tasks.engine.failed_cell import leave_failure
from tasks.engine.lock import LostLockError
from tasks.engine.receipt import Receipt, code_digests, fresh, identity, input_digests, versions
from tasks.engine.step import Inputs, Out, Paths, Step
from tasks.engine.workspace import Workspace
from tasks.presentation.console import signs_of_life

_DISK_FULL = re.compile(
    r"no space left on device|disk quota exceeded|database or disk is full|StorageFull|PytorchStreamWriter failed writing|"
    r"file too large|\(os error (?:27|28|122)\)|unexpected pos \d+ vs|file write failed",
    re.IGNORECASE,
)
"""How torch, safetensors and SQLite say that a disk is full."""


@dataclass(frozen=True)
class Outcome:
    """How a step ended: its receipt, whether it was executed, and the seconds that took."""

    receipt: Receipt
    executed: bool
    seconds: float


def run_step(step: Step, workspace: Workspace, *, force: bool = False, spread: Spread = in_turn) -> Outcome:
    """Run a step if it is not fresh, its independent pieces where ``spread`` says; the caller holds the workspace's lock.

    The step writes into a staging folder on the same file system. Only when it has returned and every declared output is
    there are the outputs renamed into place, the old ones moved aside first, and the receipt written last. Whatever
    interrupts it leaves no receipt that verifies, so the next run does the step again.

    A cell of a matrix that says so leaves the reason in place of its output (``tasks.engine.failed_cell``), before the error is raised.

    Raises:
        CartographError: as the step raises it; also for a full disk or a folder that cannot be written.
    """
    inputs, code = input_digests(step, workspace, step.inputs_in(workspace)), code_digests(step)
    fingerprint = identity(step, workspace, inputs, code)
    if not force and (receipt := fresh(step, workspace, fingerprint)) is not None:
        return Outcome(receipt, executed=False, seconds=0.0)
    check_as_begun(step, workspace, inputs, code)
    started = time.perf_counter()
    try:
        with signs_of_life(step.name, note=course_note(step, workspace)):
            receipt = _execute(step, workspace, fingerprint, inputs, code, forced=force, spread=spread)
    except Exception as error:
        explained = _explained(step, workspace, error)
        if step.leaves_failure and not isinstance(error, LostLockError):
            _leave(step, workspace, explained)
        if explained is error:
            raise
        raise explained from error
    seconds = time.perf_counter() - started
    workspace.journal(step.name, fingerprint, seconds)
    return Outcome(receipt, executed=True, seconds=seconds)


def course_note(step: Step, workspace: Workspace) -> Path:
    """Return the file that says how far a step is while it runs, in whatever process."""
    return workspace.state / "running" / f"{step.name}.json"


def _leave(step: Step, workspace: Workspace, error: Exception) -> None:
    # Where not even that can be written, the error itself still tells.
    with suppress(OSError, LostLockError):
        leave_failure(step, workspace, str(error) if isinstance(error, CartographError) else f"{type(error).__name__}: {error}")


def _execute(
    step: Step,
    workspace: Workspace,
    fingerprint: str,
    before: Mapping[str, str],
    code: Mapping[str, str],
    *,
    forced: bool,
    spread: Spread,
) -> Receipt:
    outputs = step.outputs_of(workspace.settings)
    _require_writable(step, workspace, (*outputs, step.receipt_name))
    checkpoints = workspace.state / "checkpoints" / step.name / fingerprint
    with _staging(step, workspace) as staging:
        staged = {name: staging / "new" / name for name in outputs}
        for name, path in staged.items():
            (path.parent if Path(name).suffix else path).mkdir(parents=True, exist_ok=True)
        failed = workspace.path / "data" / f"{step.name}.failed"
        cell = step.cell.values if step.cell else {}
        out = Out(workspace, staged, checkpoints, workspace.path / "reports", failed, cell, forced, spread)
        inputs = Inputs(workspace, tuple(before))
        summary = step.run(workspace.settings[step.section], inputs, out)
        for name, path in staged.items():
            if not path.exists():
                raise CartographError(f"step `{step.name}` ended without writing {name}: a defect of the step, please report it.")
        digests = {name: digest_path(path) for name, path in staged.items()}
        receipt = Receipt(step.name, fingerprint, digests, versions(step.libraries), summary)
        check_unedited(step, workspace, before, code)
        for path in staged.values():
            sync_tree(path)
        with workspace.writing():
            _install(step, workspace, staged, staging / "old")
            receipt.write(workspace.resolve(step.receipt_name))
        shutil.rmtree(out.failed, ignore_errors=True)
    shutil.rmtree(workspace.state / "checkpoints" / step.name, ignore_errors=True)
    return receipt


@contextmanager
def _staging(step: Step, workspace: Workspace) -> Iterator[Path]:
    parent = workspace.state / "staging" / step.name
    shutil.rmtree(parent, ignore_errors=True)
    parent.mkdir(parents=True)
    folder = Path(tempfile.mkdtemp(dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _install(step: Step, workspace: Workspace, staged: Mapping[str, Path], old: Path) -> None:
    workspace.resolve(step.receipt_name).unlink(missing_ok=True)
    for name, path in staged.items():
        target = workspace.resolve(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() or target.is_symlink():
            aside = old / name
            aside.parent.mkdir(parents=True, exist_ok=True)
            target.rename(aside)
        path.rename(target)
    # Only then the receipt: after a power cut it does not outlive what it vouches for.
    for folder in {workspace.resolve(name).parent for name in staged}:
        sync(folder)


def _require_writable(step: Step, workspace: Workspace, names: Paths) -> None:
    for name in names:
        folder = workspace.resolve(name).parent
        while not folder.exists():
            folder = folder.parent
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            raise InputError(
                f"step `{step.name}` cannot write {workspace.resolve(name)}: {folder} is not a folder that this user can write; "
                "change its permissions, or move the workspace. Nothing was changed."
            )


def _explained(step: Step, workspace: Workspace, error: Exception) -> Exception:
    if isinstance(error, CartographError):
        return error
    if is_disk_full(error):
        free = shutil.disk_usage(workspace.path).free
        return InputError(
            f"step `{step.name}`: no space left on the disk of {workspace.path} ({free / 1e6:,.0f} MB free); free some, or "
            f"move the workspace. {_unchanged(step)}"
        )
    if not isinstance(error, OSError):
        return error
    if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return InputError(
            f"step `{step.name}` was refused {error.filename or workspace.path}: {error.strerror}; change its permissions. "
            f"{_unchanged(step)}"
        )
    if isinstance(error, FileExistsError | NotADirectoryError | IsADirectoryError) and error.filename is not None:
        named = Path(os.fsdecode(error.filename))
        # The system names the path that it was to open, which may lie below the file that is in the way.
        path = next(path for path in (named, *named.parents) if os.path.lexists(path))
        kind = "folder" if path.is_dir() else "file"
        return InputError(
            f"step `{step.name}`: {path} is a {kind}, where none belongs ({error.strerror}); delete it and run the step again. "
            f"{_unchanged(step)}"
        )
    return error


def is_disk_full(error: BaseException) -> bool:
    """Return whether an error, or what caused it, is that a file could not grow: libraries have words of their own for that."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError) and seen.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return True
        if not isinstance(seen, CartographError) and _DISK_FULL.search(str(seen)):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def _unchanged(step: Step) -> str:
    return f"What {'other cells and steps' if step.leaves_failure else 'earlier runs'} left is unchanged."
