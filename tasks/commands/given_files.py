"""Files as they are given to `init`, and the entries of params.yaml that name them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from cartograph.errors import InputError
from cartograph.wording import cut, names_between_commas
from tasks.commands.presets import converted
from tasks.engine.workspace import project_root
from tasks.presentation.console import say

Entry = str | dict[str, Any]

_LONGEST_PATH, _LONGEST_PART = 4096, 255
"""Bytes: of a path, and of a file's name in it, on the file systems that there are."""

_LOOK_SECONDS = 120


def files_and_columns(train: list[str], text: list[str], label: str, preset: str = "", encoding: str = "") -> dict[str, Any]:
    """Return the section ``ingest`` of such files: what is not given here is not there.

    Args:
        train: files of the train set, as the command line names them.
        text: text columns, each a name or alternatives with commas between them.
        label: label column, likewise.
        preset: the preset that converts the files; empty without one.
        encoding: of the files; empty to find it out.
    """
    absent: dict[str, Any] = {"features": [], "categories": []} | dict.fromkeys(
        ("image", "uid", "annotators", "linked", "labelled_by", "format", "label_separator")
    )
    found = {"train": entries_of(train, preset, encoding), "text": [names_in(name) for name in text], "label": names_in(label)}
    return {"source": "files", "evaluation": {}, "options": [], "columns": [], "encoding": encoding or None, **absent, **found}


def text_columns(given: list[str], pair: str) -> list[str]:
    """Return the text column, or of pairs both: --text may be given twice, as `cartograph audit` has it, or be followed by --text-pair.

    Raises:
        InputError: there are more than two, or one is empty.
    """
    names = [*given, *([pair] if pair else [])]
    if len(names) > 2 or not all(names):
        raise InputError(
            f"expected one text column, or two for pairs, but got {', '.join(map(repr, names))}; name the first with --text and the second "
            "with --text-pair. Alternative names for one column go between commas, options of multiple choice behind --option."
        )
    return names


def asked_features(everything: bool, given: list[str]) -> str | list[str]:
    """Return the key ``features`` of a table: ``all`` or the columns that are named; empty for other data.

    Raises:
        InputError: both are asked for.
    """
    if everything and given:
        raise InputError("--features reads all other columns; to read only some, name them with --feature instead.")
    return "all" if everything else [name for one in given for name in listed_names(one)]


def listed_names(given: str) -> list[str]:
    """Return the names in a list with commas between them, as a list also where it is one."""
    names = names_in(given)
    return [names] if isinstance(names, str) else names


def names_in(given: str) -> str | list[str]:
    """Return the names in a list with commas between them; a comma that belongs to a name has a backslash before it."""
    names = [name for name in names_between_commas(given) if name]
    return names[0] if len(names) == 1 else names


def by_position(given: str) -> list[str]:
    """Return the names in ``a,,c``; one that is left out is empty."""
    return names_between_commas(given) if given.strip() else []


def query_entry(query: str, database: str, watermark: str = "") -> Entry:
    """Return the entry of a query.

    Raises:
        InputError: the database is not written ``env:NAME``.
    """
    from cartograph.read.databases import variable_of

    variable_of(database)
    return {"query": query, "database": database, **({"watermark": watermark} if watermark else {})}


_TABLE = "table:"


def table_entry(given: str, catalog: str, columns: list[str], *, follow: bool) -> Entry:
    """Return the entry of a lake table, and print what it is: pinned to the version that it has now, unless it is followed.

    Args:
        given: path or URL of a Delta table, or NAMESPACE.NAME of an Iceberg table; with ``@VERSION`` for another than the newest.
        catalog: Iceberg's, as ``LakeTable`` has it; empty for a Delta table.
        columns: those that are read; empty for all.
        follow: whether audits take up newer versions; one that is given stays all the same.

    Raises:
        InputError: the table cannot be read, or has no such version or column.
    """
    from cartograph.read.lakes import WORDS, Format, LakeTable, check_table, look_at
    from cartograph.read.remote import is_remote

    name, at, version = given.rpartition("@")
    if not (at and version.isdecimal()) or (not catalog and not is_remote(given) and on_disk(given).exists()):
        name, version = given, ""
    name = name if catalog or is_remote(name) else stored(name)
    format: Format = "iceberg" if catalog else "delta"
    table = LakeTable(name, format, int(version) if version else None, catalog or None, tuple(columns))
    check_table(table)
    state = look_at(table.below(project_root()), _LOOK_SECONDS)
    kind, what = WORDS[format]
    held = "" if version else "; newer versions are read too (`fetch.follow`)" if follow else f"; its entry in params.yaml pins this {what}"
    say(f"{name}: {kind} table, {what} {state.version}, columns {', '.join(state.columns)}{held}.")
    pinned = {} if follow and not version else {what: state.version}
    return {
        "table": name,
        "format": format,
        **({"catalog": catalog} if catalog else {}),
        **pinned,
        **({"columns": columns} if columns else {}),
    }


def entries_of(given: list[str], preset: str, encoding: str) -> list[Entry]:
    """Return the entries of ``train`` or ``files`` for what is given: one each, for a pattern (``part-*.csv``) one per file.

    Args:
        given: files as the command line names them.
        preset: the preset that converts the files; empty without one.
        encoding: of the files; empty to find out that of each, which is printed where it is not UTF-8.

    Raises:
        InputError: a pattern fits no file, or a path can be none.
    """
    entries = [_entry(path, preset) for one in given for path in _matching(one)]
    return entries if encoding else [_with_encoding(entry) for entry in entries]


def _matching(given: str) -> list[str]:
    from cartograph.read.formats import there
    from cartograph.read.remote import is_remote

    if not set(given) & set("*?[") or is_remote(given) or "=" in given or there(given) or on_disk(given).exists():
        return [given]
    path = _expanded(given)
    bases = (Path(path.anchor),) if path.is_absolute() else (Path.cwd(), project_root())
    pattern = str(path.relative_to(path.anchor))
    try:
        found = next(filter(None, (sorted(file for file in base.glob(pattern) if file.is_file()) for base in bases)), [])
    except (ValueError, NotImplementedError) as error:
        raise InputError(f"{given} is no pattern of files ({error}); correct it.") from error
    if not found:
        raise InputError(f"no file fits {given}; correct the pattern.")
    return [str(file) for file in found]


def _expanded(given: str) -> Path:
    try:
        return Path(given).expanduser()
    except RuntimeError as error:
        raise InputError(f"{given} begins with the home of a user who is not there; correct the path.") from error


def _entry(given: str, preset: str) -> Entry:
    """Return an entry with its paths from the project's root, or absolute where they are outside."""
    from cartograph.read.compression import suffix_of
    from cartograph.read.excel import SUFFIXES as WORKBOOKS
    from cartograph.read.hub import PREFIX
    from cartograph.read.lines import fields_of
    from cartograph.read.remote import is_remote

    if given.startswith(PREFIX) or is_remote(given):
        return given
    fields = fields_of(given)
    if fields:
        return ",".join(f"{name}={path if is_remote(path) else stored(path)}" for name, path in fields.items())
    base, _, split = given.rpartition(":")
    if (
        base
        and not on_disk(given).exists()
        and (on_disk(base).is_dir() or (suffix_of(base) in (*WORKBOOKS, ".zip") and on_disk(base).is_file()))
    ):
        return {"path": stored(base), "split": split}
    entry: Entry = converted(preset, stored(given), on_disk(given))
    return entry


def _with_encoding(entry: Entry) -> Entry:
    """Return an entry with the encoding of a file that is not UTF-8, as it was guessed, which is printed."""
    from cartograph.read.encodings import mixed_sentence
    from cartograph.read.formats import guessed_encoding, local_paths
    from cartograph.read.hub import PREFIX
    from cartograph.read.remote import is_remote

    given = {"path": entry} if isinstance(entry, str) else entry
    if given["path"].startswith(PREFIX):
        return entry
    for path in local_paths(given["path"]):
        found = None if is_remote(path) else guessed_encoding(on_disk(path), given.get("format"))
        if found:
            mixed = mixed_sentence(on_disk(path), found)
            say(f"{Path(path).name} is not UTF-8; it reads as {found}, which its entry in params.yaml says as `encoding`.{mixed}")
            return {**given, "encoding": found}
    return entry


def told_encoding(path: str, format: str | None = None) -> str | None:
    """Return the encoding of a text file that is not UTF-8, as it was guessed, which is printed; None where there is nothing to guess."""
    from cartograph.read.encodings import mixed_sentence
    from cartograph.read.formats import guessed_encoding

    found = guessed_encoding(on_disk(path), format)
    if found:
        say(f"{Path(path).name} is not UTF-8; it is read as {found}.{mixed_sentence(on_disk(path), found)}")
    return found


def on_disk(given: str) -> Path:
    """Return where a path leads: from the current folder, or else from the project's root.

    Raises:
        InputError: no file can have it.
    """
    from cartograph.read.formats import there

    if not there(given) and (
        len(given) > _LONGEST_PATH or "\0" in given or any(len(os.fsencode(part)) > _LONGEST_PART for part in Path(given).parts)
    ):
        raise InputError(f"{cut(given, 100)!r} cannot be the path of a file: it is too long; correct the path.")
    path = _expanded(given)
    return path.resolve() if path.exists() or path.is_absolute() else (project_root() / path).resolve()


def stored(given: str) -> str:
    """Return a path as params.yaml has it: from the project's root, or absolute where it is outside."""
    path = on_disk(given)
    return path.relative_to(project_root()).as_posix() if path.is_relative_to(project_root()) else path.as_posix()


def evaluation_sets(
    given: list[str], preset: str = "", encoding: str = "", database: str = "", catalog: str = "", follow: bool = False
) -> dict[str, dict[str, Any]]:
    """Return the sets of ``evaluation`` for what is given as NAME=FILE[:ood], NAME=SELECT … of a database, or NAME=table:TABLE of a lake.

    Raises:
        InputError: one is written otherwise, or a set is of two domains.
    """
    sets: dict[str, dict[str, Any]] = {}
    for item in given:
        name, equals, path = item.partition("=")
        if not equals or not path:
            raise InputError(f"--eval {item}: an evaluation set is written NAME=FILE, or NAME=FILE:ood where it is out of distribution.")
        domain = "ood" if path.endswith(":ood") else "id"
        asked = database and re.match(r"\s*(select|with)\s", path, re.IGNORECASE)
        rows = path.removesuffix(":ood").removesuffix(":id")
        if rows.startswith(_TABLE):
            entries = [table_entry(rows.removeprefix(_TABLE), catalog, [], follow=follow)]
        else:
            entries = [query_entry(rows, database)] if asked else entries_of([rows], preset, encoding)
        known = sets.setdefault(name, {"files": [], "domain": domain})
        if known["domain"] != domain:
            raise InputError(f"--eval {item}: set `{name}` is given as {known['domain']} and as {domain}; a set is one of them.")
        known["files"] += entries
    return sets
