"""A step: declared once, run by hand, by Prefect or by DVC; its fingerprint, its receipt, and how it is run safely."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from typing import Any

from cartograph.config import Params, Settings
from cartograph.errors import CartographError, InputError
from tasks.closure import code_closure
from tasks.digest import digest_json, digest_path
from tasks.workspace import ROOT, Workspace

Paths = tuple[str, ...]


class Inputs(Mapping[str, Path]):
    """The declared inputs of a running step: declared name -> path on disk."""

    def __init__(self, workspace: Workspace, names: Paths) -> None:
        self._paths = {name: workspace.resolve(name) for name in names}

    def __getitem__(self, name: str) -> Path:
        return self._paths[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


@dataclass(frozen=True)
class Out:
    """Where a running step writes.

    ``out[name]`` is the staged path of a declared output: a folder that exists already, or a file in a folder that
    exists. Nothing is seen under the real name until the whole step has succeeded.

    Attributes:
        workspace: the workspace, for what is no output (its name, its settings).
        checkpoints: a folder that outlives a killed run and is gone after a successful one; the same fingerprint
            finds it again.
        docs: the folder ``reports/`` for pages with times in them, which are nobody's tracked output.
        failed: where a step that is about to raise may leave what it has, so that nothing is lost; made by the step,
            removed when it next succeeds.
        cell: a matrix step's values in this cell; empty for any other step.
    """

    workspace: Workspace
    staged: Mapping[str, Path]
    checkpoints: Path
    docs: Path
    failed: Path
    cell: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Path:
        return self.staged[name]


def _always(settings: Settings) -> bool:
    return True


@dataclass(frozen=True)
class Matrix:
    """The grid of a step that runs once per combination of values.

    Attributes:
        axes: keys of the step's own section that hold the axes' values, in order, each with the name that its value has in a
            cell and in the braces of declared inputs: ``{"subset": "subsets", "seed": "seeds"}``.
    """

    axes: Mapping[str, str]

    def cells(self, params: Params) -> list[dict[str, Any]]:
        """Return every combination, the last axis fastest."""
        values = [list(getattr(params, key)) for key in self.axes.values()]
        return [dict(zip(self.axes, combination, strict=True)) for combination in product(*values)]


@dataclass(frozen=True)
class Step:
    """One step of an audit.

    Attributes:
        name: its section in params.yaml, its stage in dvc.yaml, its task in Prefect.
        run: ``(params, inputs, out) -> summary``; the summary is the step's one line on the console.
        params: the model of its section.
        inputs: what it reads, relative to the workspace (``data/ingest``) or, for a user's own files, as
            ``settings`` name them; a tuple, or a function of all settings.
        optional: what it reads besides where it exists, such as a file that a person may leave (``review/decisions.csv``): absent,
            it is no input at all; once it is there, ``inputs`` has it, and its content counts.
        outputs: what it writes, relative to the workspace; a name with a suffix is a file, any other a folder.
        persistent: the outputs that a person may have written into: DVC leaves them in place for the step to look at.
        resources: ``gpu`` where it uses an accelerator if there is one: such steps run one at a time.
        libraries: distributions whose version decides its numbers.
        environment: environment variables whose value decides where its result goes.
        when: whether an audit with these settings has this step.
        needs_versions: whether what ran before it must be recorded in dvc.lock first, because it reports that.
        reads: other sections of params.yaml that it depends on (``retrain`` trains as ``train`` says); it finds them in
            ``out.workspace.settings``.
        matrix: the grid of a step that is a stage per cell, named ``retrain@original-1``; its declared inputs may hold
            the cell's values, as ``data/select/{subset}.parquet``, and its output is ``data/retrain/original-1``.
        cell: the values of the cell that this is, set by ``expand``.
    """

    name: str
    run: Callable[[Any, Inputs, Out], str]
    params: type[Params]
    inputs: Paths | Callable[[Settings], Paths] = ()
    optional: Paths = ()
    outputs: Paths | Callable[[Settings], Paths] = ()
    persistent: Paths = ()
    resources: str = "cpu"
    libraries: Paths = ()
    environment: Paths = ()
    when: Callable[[Settings], bool] = field(default=_always)
    needs_versions: bool = False
    reads: Paths = ()
    matrix: Matrix | None = None
    cell: Mapping[str, Any] = field(default_factory=dict)

    @property
    def section(self) -> str:
        """Its section in params.yaml: its name, without the cell."""
        return self.name.partition("@")[0]

    def expand(self, settings: Settings) -> tuple[Step, ...]:
        """Return the step itself, or a matrix step's cells."""
        if self.matrix is None:
            return (self,)
        cells = self.matrix.cells(settings[self.name])
        return tuple(replace(self, name=f"{self.name}@{'-'.join(map(str, cell.values()))}", matrix=None, cell=cell) for cell in cells)

    def inputs_of(self, settings: Settings) -> Paths:
        """Return the declared inputs under these settings."""
        declared = self.inputs(settings) if callable(self.inputs) else self.inputs
        return tuple(name.format(**self.cell) for name in declared) if self.cell else declared

    def inputs_in(self, workspace: Workspace) -> Paths:
        """Return the declared inputs in a workspace, with those of the optional ones that exist."""
        return (*self.inputs_of(workspace.settings), *(name for name in self.optional if workspace.resolve(name).exists()))

    def outputs_of(self, settings: Settings) -> Paths:
        """Return the declared outputs under these settings."""
        declared = self.outputs(settings) if callable(self.outputs) else self.outputs
        return declared or (f"data/{self.name.replace('@', '/')}",)

    @property
    def receipt_name(self) -> str:
        """Where the step's receipt stands, relative to the workspace."""
        return f"data/{self.name.replace('@', '/')}.receipt.json"

    @property
    def code(self) -> tuple[Path, ...]:
        """The step's static first-party import closure, as absolute paths."""
        return code_closure(Path(self.run.__code__.co_filename))


def fingerprint(step: Step, workspace: Workspace) -> str:
    """Return the identity of what a step would compute now: parameters, inputs, code and deciding versions.

    Raises:
        InputError: an input is not there.
    """
    inputs = {}
    for name in step.inputs_in(workspace):
        path = workspace.resolve(name)
        if not path.exists():
            raise InputError(_missing_input(step, name, path))
        inputs[name] = digest_path(path)
    return digest_json(
        {
            "step": step.name,
            "params": {name: workspace.settings[name].model_dump(mode="json") for name in (step.section, *step.reads)},
            "cell": dict(step.cell),
            "inputs": inputs,
            "outputs": step.outputs_of(workspace.settings),
            "code": {path.relative_to(ROOT).as_posix(): digest_path(path) for path in step.code},
            "versions": versions(step.libraries),
            "environment": {name: os.environ.get(name, "") for name in step.environment},
        }
    )


def _missing_input(step: Step, name: str, path: Path) -> str:
    if name.startswith(("data/", "reports/")):
        return f"step `{step.name}` needs {path}, which an earlier step makes; run `python -m flows.audit` or that step first."
    return f"step `{step.name}` needs {path}, which does not exist; correct the path in params.yaml."


def versions(libraries: Paths) -> dict[str, str]:
    """Return the installed version of each distribution (``-`` where it is not installed)."""
    found = {}
    for name in libraries:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "-"
    return found


@dataclass(frozen=True)
class Receipt:
    """What a finished step left: kept beside its outputs, without any time in it."""

    step: str
    fingerprint: str
    outputs: dict[str, str]
    versions: dict[str, str]
    summary: str

    def write(self, path: Path) -> None:
        """Write the receipt in one stroke: a reader sees the old one, none, or this one."""
        temporary = path.with_name(path.name + ".tmp")
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(self.__dict__, file, indent=1, sort_keys=True, ensure_ascii=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


def read_receipt(step: Step, workspace: Workspace) -> Receipt | None:
    """Return the step's receipt, or None where there is none that can be read."""
    try:
        return Receipt(**json.loads(workspace.resolve(step.receipt_name).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def fresh(step: Step, workspace: Workspace, expected: str | None = None) -> Receipt | None:
    """Return the receipt if what is on disk is what the step would make now, else None.

    Outputs are read and compared by content, so a truncated or edited one is found.
    """
    receipt = read_receipt(step, workspace)
    if receipt is None:
        return None
    try:
        wanted = expected or fingerprint(step, workspace)
    except InputError:
        return None
    if receipt.fingerprint != wanted or set(receipt.outputs) != set(step.outputs_of(workspace.settings)):
        return None
    for name, digest in receipt.outputs.items():
        path = workspace.resolve(name)
        if not path.exists() or digest_path(path) != digest:
            return None
    return receipt


@dataclass(frozen=True)
class Outcome:
    """How a step ended: its receipt, whether it was executed, and the seconds that took."""

    receipt: Receipt
    executed: bool
    seconds: float


def run_step(step: Step, workspace: Workspace, *, force: bool = False) -> Outcome:
    """Run a step if it is not fresh; the caller holds the workspace's lock.

    The step writes into a staging folder on the same file system. Only when it has returned and every declared output is
    there are the outputs renamed into place, the old ones moved aside first, and the receipt written last. Whatever
    interrupts it leaves no receipt that verifies, so the next run does the step again.

    Raises:
        CartographError: as the step raises it; also for a full disk or a folder that cannot be written.
    """
    identity = fingerprint(step, workspace)
    if not force and (receipt := fresh(step, workspace, identity)) is not None:
        return Outcome(receipt, executed=False, seconds=0.0)
    started = time.perf_counter()
    try:
        receipt = _execute(step, workspace, identity)
    except OSError as error:
        raise _explain_os_error(step, workspace, error) from error
    seconds = time.perf_counter() - started
    workspace.journal(step.name, identity, seconds)
    return Outcome(receipt, executed=True, seconds=seconds)


def _execute(step: Step, workspace: Workspace, identity: str) -> Receipt:
    outputs = step.outputs_of(workspace.settings)
    _require_writable(step, workspace, (*outputs, step.receipt_name))
    checkpoints = workspace.state / "checkpoints" / step.name / identity
    with _staging(step, workspace) as staging:
        staged = {name: staging / "new" / name for name in outputs}
        for name, path in staged.items():
            (path.parent if Path(name).suffix else path).mkdir(parents=True, exist_ok=True)
        out = Out(workspace, staged, checkpoints, workspace.path / "reports", workspace.path / "data" / f"{step.name}.failed", step.cell)
        inputs = Inputs(workspace, step.inputs_in(workspace))
        summary = step.run(workspace.settings[step.section], inputs, out)
        for name, path in staged.items():
            if not path.exists():
                raise CartographError(f"step `{step.name}` ended without writing {name}: a defect of the step, please report it.")
        digests = {name: digest_path(path) for name, path in staged.items()}
        receipt = Receipt(step.name, identity, digests, versions(step.libraries), summary)
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


def _explain_os_error(step: Step, workspace: Workspace, error: OSError) -> Exception:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        free = shutil.disk_usage(workspace.path).free
        return InputError(
            f"step `{step.name}`: no space left on the disk of {workspace.path} ({free / 1e6:,.0f} MB free); free some, or "
            "move the workspace. What earlier runs left is unchanged."
        )
    if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return InputError(
            f"step `{step.name}` was refused {error.filename or workspace.path}: {error.strerror}; change its permissions. "
            "What earlier runs left is unchanged."
        )
    return error
