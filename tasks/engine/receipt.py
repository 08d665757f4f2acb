"""What a step would compute now, its fingerprint, and what it left when it last ran, its receipt."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from cartograph.data.json_files import json_text, read_json
from cartograph.data.whole_files import write_whole
from cartograph.errors import InputError
from tasks.engine.digest import COMPILED, digest_json, digest_path
from tasks.engine.step import Paths, Step
from tasks.engine.workspace import CODE, Workspace


def fingerprint(step: Step, workspace: Workspace) -> str:
    """Return the identity of what a step would compute now: parameters, inputs, code and deciding versions.

    Raises:
        InputError: an input is not there, or cannot be read.
    """
    return identity(step, workspace, input_digests(step, workspace, step.inputs_in(workspace)), code_digests(step))


def identity(step: Step, workspace: Workspace, inputs: Mapping[str, str], code: Mapping[str, str]) -> str:
    """Return the fingerprint of a step whose inputs and code have these digests."""
    spread = set(step.cell.spread) if step.cell else None
    return digest_json(
        {
            "step": step.name,
            "params": {
                name: workspace.settings[name].model_dump(mode="json", exclude=spread if name == step.section else None)
                for name in (step.section, *step.reads)
            },
            "cell": dict(step.cell.values) if step.cell else {},
            "inputs": dict(inputs),
            "outputs": step.outputs_of(workspace.settings),
            "code": dict(code),
            "versions": versions(step.libraries),
            "environment": {name: os.environ.get(name, "") for name in step.hints.environment},
        }
    )


def input_digests(step: Step, workspace: Workspace, names: Paths) -> dict[str, str]:
    """Return the digests of some of a step's inputs by name.

    Raises:
        InputError: one is not there, or cannot be read.
    """
    inputs = {}
    for name in names:
        path = workspace.content(name)
        try:
            if not path.exists():
                raise InputError(_missing_input(step, name, path))
            inputs[name] = digest_path(path)
        except OSError as error:
            raise InputError(
                f"step `{step.name}` needs {error.filename or path}, which cannot be read ({error.strerror}); change its permissions."
            ) from error
    return inputs


def code_digests(step: Step) -> dict[str, str]:
    """Return the digest of each file and package folder of code that a step depends on, by its path from the project's root."""
    return {path.relative_to(CODE).as_posix(): digest_path(path, without=COMPILED) for path in step.code}


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
        write_whole(path, json_text(self.__dict__))


def read_receipt(step: Step, workspace: Workspace) -> Receipt | None:
    """Return the step's receipt, or None where it is missing or cannot be read."""
    try:
        receipt = Receipt(**read_json(workspace.resolve(step.receipt_name)))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    texts = (receipt.step, receipt.fingerprint, receipt.summary)
    tables = (receipt.outputs, receipt.versions)
    sound = all(isinstance(text, str) for text in texts) and all(isinstance(table, dict) for table in tables)
    return receipt if sound else None


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
        try:
            if digest_path(path) != digest:
                return None
        except OSError:
            # Gone, or not to be read: it is made again.
            return None
    return receipt
