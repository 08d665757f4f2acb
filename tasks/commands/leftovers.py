"""Files of earlier and killed audits that no next audit uses, with their sizes and the reason."""

from __future__ import annotations

import logging
import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.data.json_files import read_json
from cartograph.errors import InputError
from tasks.audit.parameters.ingest import Sources
from tasks.engine.dvc_turn import dvc_turn
from tasks.engine.receipt import fingerprint, fresh, read_receipt
from tasks.engine.step import Step
from tasks.engine.workspace import Workspace, project_root
from tasks.pipelines import pipeline, steps_of

if TYPE_CHECKING:
    from dvc.repo import Repo
    from dvc_data.hashfile.db import HashFileDB

_DATA_DOCS = "reports/data_docs"
_VERSIONS = ("dvc.lock", "dvc.yaml", "params.yaml", ".dvc", ".dvcignore")
_MD5 = re.compile(r"^ *(?:- )?md5: ([0-9a-f]{32}(?:\.dir)?)$", re.MULTILINE)
_HALF_WRITTEN = ("dvc.yaml.tmp", "data/*.receipt.json.tmp", "data/*/*.receipt.json.tmp", "review/*.tmp")


@dataclass(frozen=True)
class Leftover:
    """Files that nothing uses.

    Attributes:
        what: what they are, in a word or two.
        why: why no next audit uses them.
        paths: files and folders to remove whole.
        size: bytes on disk.
    """

    what: str
    why: str
    paths: tuple[Path, ...]
    size: int


def of_workspace(space: Workspace) -> Iterator[Leftover]:
    """Yield what a workspace holds that its next audit would not use; the caller holds its lock.

    Checkpoints that the next run of their step would take up are no leftovers, and neither are those of a step whose inputs are
    missing, since then nobody knows.
    """
    steps = {step.name: step for step in steps_of(space.settings)}
    yield from _checkpoints(space, steps)
    yield from _leftover("staging", "half-written outputs of a run that was killed", _below(space.state / "staging"))
    yield from _leftover("files", "cut short when a run was killed", [path for name in _HALF_WRITTEN for path in space.path.glob(name)])
    yield from _data_docs(space)
    yield from _prefect_results(space, steps)


def of_project() -> Iterator[Leftover]:
    """Yield what the project's root holds besides its workspaces that nothing uses."""
    made = project_root() / "mlflow.db.new"
    yield from _leftover("MLflow", "a database that was being made when a run was killed", [made] if made.exists() else [])


def _checkpoints(space: Workspace, steps: dict[str, Step]) -> Iterator[Leftover]:
    for folder in _below(space.state / "checkpoints"):
        step = steps.get(folder.name)
        if step is None:
            yield from _leftover(f"checkpoints of {folder.name}", "of a step that this audit does not have", [folder])
            continue
        try:
            wanted = None if fresh(step, space) else fingerprint(step, space)
        except InputError:
            continue
        stale = [path for path in _below(folder) if path.name != wanted]
        yield from _leftover(f"checkpoints of {folder.name}", "of parameters, inputs or code that are no longer these", stale)


def _data_docs(space: Workspace) -> Iterator[Leftover]:
    """Yield validation pages of sets that the audit no longer has; all of them where it has none."""
    ingest = space.settings.find(Sources)
    sets = {"index", *ingest.sets()} if ingest is not None else set()
    pages = [path for path in _below(space.path / _DATA_DOCS) if path.suffix != ".html" or path.stem not in sets]
    yield from _leftover("Data Docs", "pages of sets that this audit does not have", pages)


def _prefect_results(space: Workspace, steps: dict[str, Step]) -> Iterator[Leftover]:
    """Yield Prefect's records of results that no receipt of the workspace has: its cache would never be asked for them again."""
    names = "|".join(re.escape(step.name) for step in pipeline(space.settings))
    key = re.compile(rf"({names})(@.+)?-{re.escape(space.relative.replace('/', '-'))}-(?P<fingerprint>[0-9a-f]{{64}})")
    receipts = (read_receipt(step, space) for step in steps.values())
    current = {receipt.fingerprint for receipt in receipts if receipt is not None}
    dead = [
        path
        for path in _below(prefect_storage())
        if (match := key.fullmatch(path.name)) is not None and match["fingerprint"] not in current
    ]
    yield from _leftover("Prefect's results", f"{len(dead):,} records of steps that have run otherwise since", dead)


def prefect_storage() -> Path:
    """Return the folder in which Prefect keeps results, as its variables say."""
    named = os.environ.get("PREFECT_LOCAL_STORAGE_PATH") or os.environ.get("PREFECT_RESULTS_LOCAL_STORAGE_PATH")
    return Path(named) if named else Path(os.environ.get("PREFECT_HOME") or "~/.prefect").expanduser() / "storage"


def _below(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _leftover(what: str, why: str, paths: Iterable[Path]) -> Iterator[Leftover]:
    # An empty folder of staging or checkpoints is what every step leaves; it is no news.
    kept = tuple(path for path in paths if path.is_file() or size_of(path))
    if kept:
        yield Leftover(what, why, kept, sum(map(size_of, kept)))


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files below a folder; links count as themselves."""
    if path.is_symlink() or not path.is_dir():
        return path.lstat().st_size
    return sum(size_of(child) for child in path.iterdir())


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep DVC's remarks off the console: it has one per output of an audit that was never made, in every commit."""
    logger = logging.getLogger("dvc")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def unused_cache(*, remove: bool) -> tuple[int, int] | None:
    """Return bytes and number of the files in DVC's cache that nothing refers to, and have DVC remove them if asked.

    What the project's folder, any commit of its git repository, any experiment of DVC's, or the dvc.lock of any run in the project's own
    MLflow refers to is in use.
    None where the cache is outside the project: other projects may share it, and what they use is not known here.

    Raises:
        InputError: DVC cannot tell: its repository is in use, or a file of it cannot be read.
    """
    from dvc.exceptions import DvcException
    from dvc.repo import Repo, lock_repo
    from dvc_data.hashfile.gc import gc
    from dvc_data.hashfile.hash_info import HashInfo

    try:
        with _quiet(), dvc_turn(project_root()), Repo(str(project_root())) as repo, lock_repo(repo):
            cache = repo.cache.local
            if not Path(cache.path).resolve().is_relative_to(project_root()):
                return None
            if not (names := list(cache.all())):
                return 0, 0
            used = {found for objects in repo.used_objs(revs=_revisions(repo)).values() for found in objects}
            used |= {HashInfo("md5", name) for name in _used_by_mlflow(cache)}
            known = {found.value for found in used}
            unused = [Path(cache.oid_to_path(name)) for name in names if name not in known]
            size = sum(map(size_of, unused))
            if remove and unused:
                gc(cache, used)
    except (DvcException, subprocess.SubprocessError) as error:
        raise InputError(
            f"DVC cannot tell what of its cache is in use ({error}); `dvc gc --workspace --all-commits --dry` says more."
        ) from error
    return size, len(unused)


def _used_by_mlflow(cache: HashFileDB) -> set[str]:
    """Return what the audits in the project's own MLflow have in DVC's cache: files, folders, and the files of those folders."""
    found: set[str] = set()
    for lock in (project_root() / "mlartifacts").glob("*/*/artifacts/dvc.lock"):
        found.update(_MD5.findall(lock.read_text(encoding="utf-8")))
    for name in [name for name in found if name.endswith(".dir")]:
        listing = Path(cache.oid_to_path(name))
        if listing.exists():
            found.update(entry["md5"] for entry in read_json(listing))
    return found


def _revisions(repo: Repo) -> list[str]:
    """Return commits, those of experiments among them, that have between them all versions that any has.

    DVC reads the whole pipeline of each commit that it is given, which takes a second: where the files that say which versions there are
    did not change, one commit speaks for all, and commits without any are left out.
    """
    from dvc.scm import NoSCM, iter_revs

    if isinstance(repo.scm, NoSCM):
        return []
    found: dict[tuple[str, ...], str] = {}
    for revision in iter_revs(repo.scm, all_commits=True, all_experiments=True):
        found.setdefault(_versions_in(revision), revision)
    found.pop((), None)
    return list(found.values())


def _versions_in(revision: str) -> tuple[str, ...]:
    """Return the files of a commit that say which versions DVC has, each with its content's id; nothing where none has any."""
    listed = subprocess.run(["git", "ls-tree", "-r", "-z", revision], cwd=project_root(), capture_output=True, check=True).stdout
    entries = [entry.decode(errors="surrogateescape") for entry in listed.split(b"\0")]
    kept = [entry for entry in entries if entry.endswith(_VERSIONS)]
    return tuple(kept) if any(entry.endswith(("dvc.lock", ".dvc")) for entry in kept) else ()
