"""A workspace: the folder of one audit, its parameters, its lock and its journal."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cartograph.config import Section, Settings, load_settings, read_yaml
from cartograph.errors import InputError

CODE = Path(__file__).resolve().parent.parent.parent
"""The folder of src, tasks and flows."""
_project = CODE

_OWN = ("data/", "reports/", "review/", "params.yaml")


def project_root() -> Path:
    """Return the project's folder: its dvc.yaml and params.yaml are the default workspace's, every other workspace is inside it."""
    return _project


def user_file(path: str) -> str:
    """Return the declared name of a file that the user keeps outside the workspace's own folders."""
    return f"file:{path}"


@dataclass(frozen=True)
class Workspace:
    """The folder of one audit.

    Attributes:
        path: absolute path, inside the project's root.
        settings: every section of its params.yaml, validated.
    """

    path: Path
    settings: Settings

    def __post_init__(self) -> None:
        """Take sections in a plain mapping too."""
        object.__setattr__(self, "settings", Settings(self.settings))

    @property
    def name(self) -> str:
        """Its name in MLflow and Prefect: ``default`` for the root, else the path below ``workspaces/``."""
        parts = self.path.relative_to(project_root()).parts
        parts = parts[1:] if parts[:1] == ("workspaces",) else parts
        return "-".join(parts) or "default"

    @property
    def relative(self) -> str:
        """Its path from the root, ``.`` for the root itself."""
        return self.path.relative_to(project_root()).as_posix()

    @property
    def typed(self) -> str:
        """Its path from the root as one types it in a shell: quoted where it has spaces or the like."""
        return shlex.quote(self.relative)

    @property
    def state(self) -> Path:
        """Where staging folders, checkpoints, the lock and the journal are kept; nobody's output."""
        return self.path / ".cartograph"

    def resolve(self, name: str) -> Path:
        """Return the path of a declared input or output.

        Raises:
            InputError: the name is neither a user's file nor below the workspace's own folders.
        """
        if name.startswith("file:"):
            return (project_root() / Path(name.removeprefix("file:")).expanduser()).absolute()
        if not name.startswith(_OWN) or ".." in Path(name).parts:
            raise InputError(f"{name} is not inside the workspace {self.path}; its files stand under {', '.join(_OWN)}.")
        return self.path / name

    def journal(self, step: str, fingerprint: str, seconds: float) -> None:
        """Note that a step was executed: one JSON line in ``.cartograph/journal.jsonl``."""
        self.state.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"step": step, "fingerprint": fingerprint, "seconds": round(seconds, 3), "ended": time.time()})
        with (self.state / "journal.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def executions(self) -> list[dict[str, object]]:
        """Return the journal's entries, oldest first; a line cut short by a crash is passed over."""
        path = self.state / "journal.jsonl"
        entries = []
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            try:
                entries.append(json.loads(line))
            except ValueError:
                continue
        return entries

    @contextmanager
    def lock(self, holder: str) -> Iterator[None]:
        """Hold the workspace: one audit at a time. The lock ends with the process, however it ends.

        Raises:
            InputError: somebody else holds it; the message says who.
        """
        try:
            self.state.mkdir(parents=True, exist_ok=True)
            file = (self.state / "lock").open("a+", encoding="utf-8")
        except PermissionError as error:
            raise InputError(
                f"workspace {self.path} cannot be written by this user ({error.strerror}: {error.filename}); "
                "change its permissions, or move it."
            ) from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                file.seek(0)
                raise InputError(
                    f"workspace {self.path} is busy: {file.read().strip() or 'another audit'} holds it; wait for it to end, or stop it."
                ) from error
            file.truncate(0)
            since = time.strftime("%Y-%m-%d %H:%M:%S")
            file.write(f"`{holder}` (process {os.getpid()} on {socket.gethostname()}, since {since})")
            file.flush()
            try:
                yield
            finally:
                file.truncate(0)


def read_workspace(path: str | Path, sections: Callable[[Mapping[str, Any]], Mapping[str, type[Section]]]) -> Workspace:
    """Return the workspace in a folder, its parameters validated.

    Args:
        path: from the current folder, or from the project's root.
        sections: what its params.yaml holds -> the models of its sections.

    Raises:
        InputError: not a folder inside the project, or its params.yaml is missing or wrong.
    """
    try:
        given = Path(path).expanduser()
    except RuntimeError:
        # The home of nobody: a folder that is called so.
        given = Path(path)
    folder = given.resolve() if given.exists() else (project_root() / given).resolve()
    project = project_root()
    if not folder.is_relative_to(project):
        raise InputError(
            f"workspace {folder} is outside the project {project}, whose DVC repository it belongs to; "
            f"make it under {project / 'workspaces'}."
        )
    if not folder.is_dir():
        raise InputError(
            f"workspace {folder} does not exist; make it with `python -m tasks init {shlex.quote(str(given))} --train FILE --text COLUMN "
            "--label COLUMN`."
        )
    return Workspace(folder, load_settings(folder / "params.yaml", sections(read_yaml(folder / "params.yaml"))))
