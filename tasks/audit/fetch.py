"""The step `fetch`: files at URLs, queries of databases and lake tables, fetched once, within the size limit, checksums verified."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field

from cartograph.config import Section, Settings
from cartograph.data.json_files import read_json, write_json
from tasks.audit.parameters.files import FileEntry
from tasks.audit.parameters.ingest import Sources
from tasks.audit.sources import FETCHED, check_sum, fetched_name
from tasks.engine.digest import digest_path
from tasks.engine.step import Hints, Inputs, Out, Step
from tasks.engine.workspace import project_root
from tasks.presentation.console import progress

_RECORD = "files.json"
_MEGABYTE = 1_000_000


class Fetch(Section):
    """The section ``fetch`` of params.yaml."""

    max_megabytes: float = Field(
        1000, gt=0, description="largest file at a URL, or result of a query or a table; anything larger is not fetched"
    )
    max_seconds: float = Field(600, gt=0, description="seconds that a query of a database, or reading a lake table, may take")
    follow: bool = Field(
        False,
        description="ask at every audit whether a file at a URL, a query's watermark, or a table's newest version has changed; false: only "
        "with --force fetch, or if ingest changes; a table stays at the version first read",
    )


def run(params: Fetch, inputs: Inputs, out: Out) -> str:
    """Fetch what is not here as the server has it; return how many files there are, and how many were fetched.

    Raises:
        InputError: a file cannot be had, is too large, or is not the one of its checksum.
    """
    entries = remote_entries(out.workspace.settings)
    staged = out[FETCHED].parent.parent
    fetched, size = fetch_all(entries, staged, params, known=out.workspace.path)
    return "; ".join([f"{len(entries):,} files, {size / _MEGABYTE:,.1f} MB, {fetched:,} fetched", *_versions(staged / FETCHED)])


def _versions(folder: Path) -> list[str]:
    """Return what the record says of tables: which version each was read at."""
    return [f"{one['table']} at {one['what']} {one['version']}" for one in _read_record(folder).values() if "table" in one]


def remote_entries(settings: Settings) -> list[FileEntry]:
    """Return the entries of an audit that stand at URLs, in databases or in lakes, one per URL, query or table."""
    from cartograph.read.formats import local_paths
    from cartograph.read.remote import is_remote

    ingest = settings.of(Sources)
    found: dict[str, FileEntry] = {}
    for _, entries in () if ingest.is_built_in else ingest.sets().values():
        for entry in entries:
            for path in filter(is_remote, local_paths(entry.path)):
                found.setdefault(path, entry if entry.asked else FileEntry(path=path, sha256=entry.sha256))
    return list(found.values())


def fetch_all(entries: Sequence[FileEntry], root: Path, limits: Fetch, known: Path) -> tuple[int, int]:
    """Write files at URLs and rows of queries and tables, and a record of them, below ``data/fetch``; return how many were fetched, and
    all bytes.

    Args:
        entries: one per URL, query or table.
        root: a folder that has no such files yet.
        limits: of sizes and times.
        known: a folder that may have such files from before: one is taken from there if its checksum is the wanted one, or, where none is
            given, if the server says, or the query's watermark, that it has not changed. A table stays at the version that was read
            before, unless ``limits.follow``.
    """
    before, record, fetched = _read_record(known / FETCHED), {}, 0
    for entry in entries:
        name, target = fetched_name(entry.path), root / fetched_name(entry.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        own, mark = _unchanged(entry, known / name, before.get(entry.path), limits)
        if own is None:
            digest = _fetch(entry, target, limits, mark)
            own = {"sha256": digest, "mark": mark, "bytes": target.stat().st_size, **_version_of(entry, mark)}
            fetched += 1
        else:
            shutil.copyfile(known / name, target)
        record[entry.path] = own
    write_json(root / FETCHED / _RECORD, record)
    return fetched, sum(one["bytes"] for one in record.values())


def _unchanged(entry: FileEntry, file: Path, old: dict[str, Any] | None, limits: Fetch) -> tuple[dict[str, Any] | None, str | None]:
    """Return what is recorded of a file that is still the wanted one, else None; and the server's mark of it, where it was asked."""
    mark = _mark(entry, old, limits)
    if old is None or not file.is_file() or digest_path(file) != old["sha256"]:
        return None, mark
    same = old["sha256"] == entry.sha256 if entry.sha256 else mark is not None and mark == old["mark"]
    return (old if same else None), mark


def _mark(entry: FileEntry, old: dict[str, Any] | None, limits: Fetch) -> str | None:
    """Return what changes whenever a source does: as the server says of a file, as its watermark of a query, the version of a table."""
    from cartograph.read.databases import Query, mark_of
    from cartograph.read.lakes import LakeTable, look_at, mark_of_version
    from cartograph.read.remote import check_url, look

    asked = entry.asked
    if isinstance(asked, LakeTable):
        # What is pinned, by its entry or by the first read, needs no look at the table.
        if asked.version is not None:
            return mark_of_version(asked.version)
        return str(old["mark"]) if old and not limits.follow else look_at(asked.below(project_root()), limits.max_seconds).mark
    if isinstance(asked, Query):
        return None if entry.sha256 else mark_of(asked, limits.max_seconds)
    check_url(entry.path)
    return None if entry.sha256 else look(entry.path).mark


def _fetch(entry: FileEntry, target: Path, limits: Fetch, mark: str | None) -> str:
    from cartograph.read import databases, lakes
    from cartograph.read.remote import fetch

    most, asked = round(limits.max_megabytes * _MEGABYTE), entry.asked
    if asked is None:
        with progress("fetch", "bytes") as update:
            found = fetch(entry.path, target, max_bytes=most, progress=update)
    else:
        if isinstance(asked, databases.Query):
            databases.snapshot(asked, target, max_bytes=most, seconds=limits.max_seconds)
        else:
            table = replace(asked.below(project_root()), version=lakes.version_in(mark or ""))
            lakes.snapshot(table, target, max_bytes=most, seconds=limits.max_seconds)
        found = digest_path(target)
    check_sum(entry, found)
    return found


def _version_of(entry: FileEntry, mark: str | None) -> dict[str, Any]:
    """Return what the record says of a table besides: its name, and which version was read."""
    from cartograph.read.lakes import LakeTable, version_in

    asked = entry.asked
    return {"table": asked.table, "what": asked.where, "version": version_in(mark or "")} if isinstance(asked, LakeTable) else {}


def _read_record(folder: Path) -> Mapping[str, dict[str, Any]]:
    try:
        return {str(url): dict(one) for url, one in read_json(folder / _RECORD).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def is_wanted(settings: Settings) -> bool:
    """Return whether an audit has a file at a URL, a query, or a lake table."""
    ingest = settings.of(Sources)
    return not ingest.is_built_in and any("://" in entry.path for _, files in ingest.sets().values() for entry in files)


STEP = Step(
    name="fetch",
    run=run,
    params=Fetch,
    outputs=(FETCHED,),
    when=is_wanted,
    reads=("ingest",),
    hints=Hints(always=lambda settings: settings.of(Fetch).follow),
)
