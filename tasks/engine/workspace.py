"""A workspace: the folder of one audit, its parameters, its lock and its journal."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cartograph.config import Section, Settings, load_settings, read_yaml
from cartograph.errors import InputError
from tasks.engine.lock import hold, writing
from tasks.engine.snapshot import KEPT_PARAMS, PARAMS, Snapshot

CODE = Path(__file__).resolve().parent.parent.parent
"""The folder of src, tasks and flows."""
_project = CODE

STATE = ".cartograph"
"""The folder of a workspace where staging folders, checkpoints, the lock and the journal are kept."""

_SHOWN = 60
_OWN = ("data/", "reports/", "review/", "params.yaml")


def project_root() -> Path:
    """Return the project's folder: its dvc.yaml and params.yaml are the default workspace's, every other workspace is inside it."""
    return _project


def as_typed(path: Path) -> str:
    """Return a path as one types it from the project's root."""
    return path.relative_to(project_root()).as_posix() if path.is_absolute() and path.is_relative_to(project_root()) else str(path)


def user_file(path: str) -> str:
    """Return the declared name of a file that the user keeps outside the workspace's own folders."""
    return f"file:{path}"


@dataclass(frozen=True)
class Workspace:
    """The folder of one audit.

    Attributes:
        path: absolute path, inside the project's root.
        settings: every section of its params.yaml, validated.
        snapshot: what the audit that holds it lives by; None where none does.
    """

    path: Path
    settings: Settings
    snapshot: Snapshot | None = None

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
        return self.path / STATE

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

    def content(self, name: str) -> Path:
        """Return where the content of a declared input stands: of params.yaml, while an audit runs, as it was when that began.

        Raises:
            InputError: as ``resolve``.
        """
        return self.path / KEPT_PARAMS if name == PARAMS and self.snapshot is not None else self.resolve(name)

    def journal(self, step: str, fingerprint: str, seconds: float) -> None:
        """Note that a step was executed: one JSON line in ``.cartograph/journal.jsonl``, where that can be written."""
        line = json.dumps({"step": step, "fingerprint": fingerprint, "seconds": round(seconds, 3), "ended": time.time()})
        with suppress(OSError):
            self.state.mkdir(parents=True, exist_ok=True)
            with (self.state / "journal.jsonl").open("a", encoding="utf-8") as file:
                file.write(line + "\n")

    def executions(self) -> list[dict[str, object]]:
        """Return the journal's entries, oldest first; a line cut short by a crash is passed over."""
        path = self.state / "journal.jsonl"
        entries = []
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []:
            try:
                entries.append(json.loads(line))
            except (ValueError, RecursionError):
                continue
        return entries

    @contextmanager
    def lock(self, holder: str) -> Iterator[str]:
        """Hold the workspace: one audit at a time. The lock ends with the process, however it ends. Yields its token.

        Raises:
            InputError: somebody else holds it; the message says who.
        """
        with hold(self.state, holder) as token:
            yield token

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Do the block, which changes files of the workspace, as its holder.

        Raises:
            LostLockError: the audit that this is part of no longer holds it.
        """
        if self.snapshot is None:
            yield
            return
        with writing(self.state, self.snapshot.token):
            yield


def read_workspace(path: str | Path, sections: Callable[[Mapping[str, Any]], Mapping[str, type[Section]]]) -> Workspace:
    """Return the workspace in a folder, its parameters validated.

    Args:
        path: from the current folder, or from the project's root.
        sections: what its params.yaml holds -> the models of its sections.

    Raises:
        InputError: not a folder inside the project, or its params.yaml is missing or wrong; also where libraries, which take names of
            files to be UTF-8, would look for it elsewhere.
    """
    try:
        given = Path(path).expanduser()
    except RuntimeError:
        # The home of nobody: a folder that is called so.
        given = Path(path)
    try:
        folder = given.resolve() if given.exists() else (project_root() / given).resolve()
        folder.exists()
    except (OSError, ValueError) as error:
        shown = str(path) if len(str(path)) <= _SHOWN else f"{str(path)[:_SHOWN]}…"
        raise InputError(f"workspace {shown!r} cannot be the path of a folder ({error}); correct it.".replace(str(path), shown)) from error
    if (encoding := sys.getfilesystemencoding()) != "utf-8" and not str(folder).isascii():
        raise InputError(
            f"workspace {str(path)!a} has a path with non-ASCII letters, and file names are in {encoding} here; set "
            "PYTHONUTF8=1, or a UTF-8 locale such as LC_ALL=C.UTF-8."
        )
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
