"""A new workspace for files: made as a whole once they could be read, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cartograph.config import Settings, load_settings, read_yaml
from cartograph.errors import InputError
from cartograph.wording import cut
from tasks.audit.parameters.ingest import Ingest, Sources
from tasks.audit.sources import FETCHED
from tasks.commands.dvc_yaml import write
from tasks.commands.label_names import names_of
from tasks.commands.params_yaml import render
from tasks.commands.profiles import USUAL, keys_of_profile
from tasks.commands.understood import say_what_was_read
from tasks.engine.lock import hold
from tasks.engine.workspace import STATE, Workspace, project_root
from tasks.pipelines import open_workspace, sections
from tasks.presentation.console import say

if TYPE_CHECKING:
    from cartograph.ingest.canonical import IngestedSet

_LONGEST_NAME = 100


def new_folder(given: str, *, force: bool) -> Path:
    """Return the folder of a workspace that is to be made.

    Raises:
        InputError: it is outside the project, a file, not empty, or a workspace already.
    """
    path = Path(given).expanduser()
    folder = (path if path.is_absolute() else project_root() / path).resolve()
    if not folder.is_relative_to(project_root()) or folder == project_root():
        raise InputError(
            f"workspace {folder} is not inside the project {project_root()}, whose DVC repository it belongs to; make it under workspaces/."
        )
    check_name(folder.relative_to(project_root()))
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder to make, such as workspaces/{folder.stem}.")
    if (folder / "params.yaml").exists():
        if not force:
            raise InputError(f"{folder} is a workspace already; edit its params.yaml, or replace that with --force.")
    elif folder.exists() and any(folder.iterdir()) and not folder.is_relative_to(project_root() / "workspaces"):
        raise InputError(f"{folder} is neither empty nor a workspace; give a new folder, such as workspaces/{folder.name}.")
    return folder


def check_name(path: Path) -> None:
    """Check that a workspace's path from the project's root can be a name of folders, in MLflow, and in Prefect.

    Raises:
        InputError: a part of it is too long, or has characters that cannot be seen.
    """
    given = str(path)
    if any(len(os.fsencode(part)) > _LONGEST_NAME for part in path.parts) or len(given) > 3 * _LONGEST_NAME:
        raise InputError(f"workspace {cut(given, 60)}: each folder's name has at most {_LONGEST_NAME} bytes; choose a shorter one.")
    if not given.isprintable():
        raise InputError(f"workspace {given!r}: a name has no line ends and no control characters; choose another.")


def make(
    folder: Path,
    ingest: dict[str, Any],
    train: dict[str, object],
    profile: str,
    more: Mapping[str, Mapping[str, object]] | None = None,
    label_names: str = "",
) -> None:
    """Make a workspace in a folder once its files could be read, and print how they were understood.

    Args:
        folder: as ``new_folder`` returns it.
        ingest: the section of that name.
        train: keys of the section of that name that differ from the defaults.
        profile: how much the audit does; empty for the usual one.
        more: likewise of other sections.
        label_names: a file with the names of the labels; empty where they are names.

    Raises:
        InputError: a file or column is missing, or there is no such profile.
    """
    content = render({"ingest": ingest, "train": train, **(more or {}), **keys_of_profile(profile or USUAL)})
    params = validated(content, folder).of(Ingest)
    with tempfile.TemporaryDirectory() as fetched:
        sets = _read_sets(params, Path(fetched))
        if label_names:
            names = names_of(label_names, sets[0].info.labels)
            ingest = {**ingest, "label_names": names, "labels": [names[label] for label in sets[0].info.labels]}
            content = render({"ingest": ingest, "train": train, **(more or {}), **keys_of_profile(profile or USUAL)})
            params = validated(content, folder).of(Ingest)
            sets = _read_sets(params, Path(fetched))
        write_workspace(folder, content, Path(fetched))
    say_what_was_read(params, sets)
    say_what_was_made(folder)


def write_workspace(folder: Path, content: str, fetched: Path) -> None:
    """Write a workspace's params.yaml and dvc.yaml, and take over what was fetched to read its rows."""
    with made_whole(folder):
        (folder / "params.yaml").write_text(content, encoding="utf-8")
        write(open_workspace(folder))
        _keep_fetched(fetched, folder)


def say_what_was_made(folder: Path) -> None:
    """Print which files a new workspace has."""
    relative = folder.relative_to(project_root()).as_posix()
    say(f"Made {relative}/params.yaml and {relative}/dvc.yaml.")


def validated(content: str, folder: Path) -> Settings:
    """Return the settings of a params.yaml that is to stand in a folder.

    Raises:
        InputError: a parameter is wrong.
    """
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "params.yaml"
        path.write_text(content, encoding="utf-8")
        try:
            return load_settings(path, sections(read_yaml(path)))
        except InputError as error:
            raise InputError(str(error).replace(str(path), str(folder / "params.yaml"))) from error


def _read_sets(params: Ingest, fetched: Path) -> list[IngestedSet]:
    """Return the sets; what stands at URLs or in databases is fetched into a folder first."""
    from cartograph.ingest.canonical import ingest
    from tasks.audit.ingest import columns_of, inputs_of, labelling_of, read_sets

    raw_sets, _ = read_sets(params, fetched_inputs(params, inputs_of, fetched))
    return ingest(raw_sets, columns_of(params), labelling_of(params))


def fetched_inputs(params: Sources, inputs_of: Callable[[Settings], tuple[str, ...]], fetched: Path) -> dict[str, Path]:
    """Return where the files stand that a section ``ingest`` names, by declared name; what is not here is fetched into a folder first."""
    from tasks.audit import fetch

    space = Workspace(project_root(), Settings({"ingest": params}))
    entries = fetch.remote_entries(space.settings)
    if entries:
        fetch.fetch_all(entries, fetched, fetch.Fetch(), known=fetched)
    return {name: fetched / name if name.startswith(FETCHED) else space.resolve(name) for name in inputs_of(space.settings)}


def _keep_fetched(fetched: Path, folder: Path) -> None:
    """Put the files that were fetched to be read here where the step `fetch` finds them."""
    if (fetched / FETCHED).is_dir():
        shutil.rmtree(folder / FETCHED, ignore_errors=True)
        shutil.copytree(fetched / FETCHED, folder / FETCHED)


@contextmanager
def made_whole(folder: Path) -> Iterator[None]:
    """Make a folder for the block to fill; where the block fails, everything is as it was before.

    Raises:
        InputError: it is a workspace that an audit holds, or it cannot be written.
    """
    first_new = next((path for path in (*reversed(folder.parents), folder) if not path.exists()), None)
    with hold(folder / STATE, "python -m tasks init") if (folder / "params.yaml").exists() else nullcontext():
        kept = {name: (folder / name).read_bytes() for name in ("params.yaml", "dvc.yaml") if (folder / name).exists()}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            yield
        except BaseException as error:
            for name in ("params.yaml", "dvc.yaml"):
                (folder / name).unlink(missing_ok=True)
            for name, content in kept.items():
                (folder / name).write_bytes(content)
            if first_new is not None:
                shutil.rmtree(first_new, ignore_errors=True)
            if isinstance(error, PermissionError):
                raise InputError(
                    f"workspace {folder} cannot be written: {error.strerror}; change the permissions of {folder.parent}."
                ) from error
            raise
