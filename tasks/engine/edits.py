"""What people edit while an audit runs: it is never recorded as if it had been used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cartograph.config import read_yaml
from cartograph.data.whole_files import write_whole
from cartograph.errors import InputError
from cartograph.wording import listing
from tasks.engine.digest import COMPILED, digest_path
from tasks.engine.receipt import code_digests, input_digests
from tasks.engine.snapshot import KEPT_PARAMS, PARAMS, Snapshot
from tasks.engine.step import Paths, Step
from tasks.engine.workspace import CODE, Workspace

_MOST_NAMED = 5


def take_snapshot(workspace: Workspace, params: bytes, steps: Sequence[Step], token: str) -> Workspace:
    """Return a workspace that is held, with what its audit lives by from now on.

    Args:
        workspace: as params.yaml says.
        params: the content of params.yaml.
        steps: those of its audit.
        token: of its lock.
    """
    files: dict[str, str] = {}
    for name in dict.fromkeys(name for step in steps for name in step.inputs_of(workspace.settings) if name.startswith("file:")):
        try:
            files[name] = digest_path(workspace.resolve(name))
        except OSError:
            # The step that reads it says so.
            continue
    paths = sorted({path for step in steps for path in step.code})
    code = {path.relative_to(CODE).as_posix(): digest_path(path, without=COMPILED) for path in paths}
    write_whole(workspace.path / KEPT_PARAMS, params)
    return replace(workspace, snapshot=Snapshot(token, files, code))


def check_as_begun(step: Step, workspace: Workspace, inputs: Mapping[str, str], code: Mapping[str, str]) -> None:
    """Check that a step is about to read the files, and to run the code, that its audit began with.

    Args:
        step: the step.
        workspace: its workspace.
        inputs: digests of its inputs now.
        code: digests of its code now.

    Raises:
        InputError: some were edited since.
    """
    if workspace.snapshot is not None:
        _check(step, workspace, workspace.snapshot.files, inputs)
        _check(step, workspace, workspace.snapshot.code, code)


def check_unedited(step: Step, workspace: Workspace, inputs: Mapping[str, str], code: Mapping[str, str]) -> None:
    """Check that a step's inputs and code are still those that it began with.

    Args:
        step: the step.
        workspace: its workspace.
        inputs: digests of its inputs when it began.
        code: digests of its code when it began.

    Raises:
        InputError: some were edited, or are gone.
    """
    _check(step, workspace, inputs, input_digests(step, workspace, tuple(inputs)))
    _check(step, workspace, code, code_digests(step))


def _check(step: Step, workspace: Workspace, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    edited = [name for name, digest in now.items() if before.get(name, digest) != digest]
    if edited:
        names = listing([_shown(workspace, name) for name in edited[:_MOST_NAMED]])
        raise InputError(
            f"step `{step.name}`: {names} changed while it was in use, so this step was not recorded; run it again with the change."
        )


def _shown(workspace: Workspace, name: str) -> str:
    return str(workspace.resolve(name)) if name.startswith("file:") else name


def edits_of(step: Step, workspace: Workspace) -> list[str]:
    """Return the keys of params.yaml that a step depends on and that were edited since its workspace was held."""
    everything = PARAMS in step.inputs_of(workspace.settings)
    sections = {step.section, *step.reads}
    return [key for key in edited_keys(workspace) if everything or key.partition(".")[0] in sections]


def edited_keys(workspace: Workspace) -> list[str]:
    """Return the keys of params.yaml that were edited since the workspace was held; the file's name where it cannot be read any more."""
    if workspace.snapshot is None:
        return []
    try:
        now = read_yaml(workspace.path / PARAMS)
    except InputError:
        return [PARAMS]
    return list(_differing(read_yaml(workspace.content(PARAMS)), now))


def edited_files(workspace: Workspace) -> list[str]:
    """Return the user's files that were edited, or are gone, since the workspace was held."""
    edited = []
    for name, digest in workspace.snapshot.files.items() if workspace.snapshot is not None else ():
        path = workspace.resolve(name)
        try:
            same = digest_path(path) == digest
        except OSError:
            same = False
        if not same:
            edited.append(str(path))
    return edited


def remark_on_edits(workspace: Workspace) -> str | None:
    """Return the sentence for what was edited since the workspace was held; None where nothing was."""
    keys, files = edited_keys(workspace), edited_files(workspace)
    if not keys and not files:
        return None
    parts = [f"{PARAMS} ({_few(keys)})" if keys != [PARAMS] else PARAMS] if keys else []
    what = listing([*parts, *files[:_MOST_NAMED]])
    return f"{what} changed while this audit ran, whose results are of the version at its start; run it again for the new one."


def _few(names: Paths | list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")


def _differing(before: Mapping[str, Any], now: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key in dict.fromkeys([*before, *now]):
        old, new = before.get(key), now.get(key)
        if not prefix and isinstance(old or {}, Mapping) and isinstance(new or {}, Mapping):
            yield from _differing(old or {}, new or {}, f"{key}.")
        elif old != new or (key in before) != (key in now):
            yield f"{prefix}{key}"
