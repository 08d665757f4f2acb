"""The command `review`: writes sheets for people to fill in, and imports what they filled in."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cartograph.data.json_files import json_text
from cartograph.data.whole_files import write_whole
from cartograph.errors import InputError
from tasks.audit import clean
from tasks.audit import decisions as people
from tasks.audit.blind import FOUND, found_text
from tasks.audit.publish import mark_left
from tasks.collection.parameters import SECTION as COLLECTION
from tasks.commands.dvc_yaml import write as write_dvc_yaml
from tasks.engine.workspace import Workspace, as_typed
from tasks.labels.clean import require_own_answers
from tasks.pipelines import has_several_labels, open_workspace
from tasks.presentation.console import say

if TYPE_CHECKING:
    import pyarrow as pa

METRICS = "reports/blind.metrics.json"
_SHEET = re.compile(r"b[0-9a-f]{6}")


def review(
    workspace: Annotated[str, typer.Option("--workspace", "-w", help="Folder of the audit; the project's root by default.")] = ".",
    blind: Annotated[
        bool, typer.Option("--blind", help="Write a shuffled sheet of suspects and other rows, without labels or predictions.")
    ] = False,
    taken: Annotated[
        list[str] | None,
        typer.Option(
            "--import", help="A filled review sheet (CSV or .xlsx), a Label Studio export (JSON), or a filled blind sheet (one or two)."
        ),
    ] = None,
    by: Annotated[str, typer.Option(help="Who filled in the imported file, if it does not say so itself.")] = "",
    out: Annotated[str, typer.Option(help="Where to write the sheet instead.")] = "",
    opened: Annotated[bool, typer.Option("--open", help="Ask about rows one by one on a local page in the browser.")] = False,
    annotator: Annotated[str, typer.Option(help="With --open: your name; rows that others have decided are then asked, too.")] = "",
    further: Annotated[int, typer.Option(min=0, help="Ask about so many rows below the list of suspects as well, those doubted most.")] = 0,
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --open: the port of the page; by default any free one.")] = 0,
) -> None:
    """Review suspects or pairs on a local page, or write a review sheet, or import a filled one."""
    space = open_workspace(workspace or ".")
    mark_left(space)
    if taken and (blind or out):
        raise InputError("--import reads a filled sheet; leave out --blind and --out, which are for writing one.")
    if blind and has_several_labels(space.settings):
        raise InputError("--blind asks which one label a row has, and these rows have several; leave it out to review the suspects.")
    if opened and (taken or out or by):
        raise InputError("--open asks on a page; leave out --import, --out and --by (who answers is --annotator).")
    if opened:
        from tasks.reviewing.opening import open_review

        return open_review(space, lambda: _tables(space), annotator, port, lambda: _follow(space), blind=blind, further=further)
    if further and (taken or blind):
        raise InputError("--further adds rows to the suspects that are asked about; leave out --import and --blind.")
    if annotator or port:
        raise InputError("--annotator and --port are for the page; add --open.")
    with space.lock("python -m tasks review"):
        if COLLECTION in space.settings:
            from tasks.reviewing.opening import require_no_list
            from tasks.reviewing.pair_exchange import give_out, take_in

            require_no_list(space, blind=blind, further=further)
            return take_in(space, {str(path): _content(path) for path in _paths(taken)}, by.strip()) if taken else give_out(space, out)
        if taken:
            _take_in(space, _paths(taken), by.strip())
        elif blind:
            _draw_blind(space, out)
        else:
            _write_sheet(space, out, further)


def _paths(taken: Sequence[str]) -> list[Path]:
    return [Path(name).expanduser() for name in taken]


def _tables(space: Workspace) -> tuple[pa.Table, pa.Table]:
    """Return the train set and its suspects."""
    import pyarrow.parquet as pq

    paths = [space.resolve(name) for name in (clean.ROWS, clean.SUSPECTS)]
    missing = next((path for path in paths if not path.exists()), None)
    if missing is not None:
        raise InputError(f"there are no suspects to review yet: {missing} is missing; run `python -m flows.audit{_option(space)}` first.")
    rows, noise = (pq.read_table(path) for path in paths)
    return rows, noise


def _option(space: Workspace) -> str:
    return "" if space.relative == "." else f" --workspace {space.typed}"


def _decisions_file(space: Workspace) -> Path | None:
    path = space.resolve(people.DECISIONS)
    return path if path.exists() else None


def _write_sheet(space: Workspace, out: str, further: int) -> None:
    from cartograph.clean.review_sheet import NEXT, lists_none

    examples, noise = _tables(space)
    decisions = people.decisions_in(_decisions_file(space), examples)
    if out:
        sheet = _new(out)
        names = [sheet, sheet.with_suffix(".labelstudio.json"), sheet.with_suffix(".labelstudio.xml")]
    else:
        people.require_sheet_saved(space, examples)
        sheet, *_ = names = [space.resolve(name) for name in (people.SHEET, people.TASKS, people.CONFIGURATION)]
    sheet.parent.mkdir(parents=True, exist_ok=True)
    written = [path.with_name(path.name + ".tmp") for path in names]
    most = space.settings.of(clean.CleanSection).review_limit
    if unlisted := not further and lists_none(noise):
        further = NEXT
    count = people.write_review(most, examples, noise, decisions, *written, further=further)
    for path, name in zip(written, names, strict=True):
        path.replace(name)
    decided = f" ({len(decisions):,} rows are decided)" if decisions else ""
    what = "rows" if further else "suspects"
    why = ", the most doubted first, since no label is a suspect" if unlisted else ""
    say(f"{as_typed(sheet)}: {count:,} {what} to decide on{why}{decided}.")
    say("Fill in `decision` (keep, drop or relabel), `new_label` where it is relabel, and `by`; leave undecided rows empty. Then:")
    say(f"  python -m tasks review{_option(space)} --import {shlex.quote(as_typed(sheet))} --by NAME")
    say(f"For Label Studio: {as_typed(names[1])} with the configuration {as_typed(names[2])}; import its JSON export in the same way.")


def _follow(space: Workspace) -> None:
    write_dvc_yaml(space)


def _draw_blind(space: Workspace, out: str) -> None:
    from tasks.reviewing.blind import drawn_sheet, key_path

    key, content = drawn_sheet(space, _tables(space))
    folder = space.path / "review"
    sheet = _new(out) if out else folder / f"blind-{key.sheet}.csv"
    if sheet.exists() and sheet.read_bytes() != content:
        raise InputError(f"{sheet} is filled in already; import it, or write a fresh one elsewhere with --out FILE.")
    for path, data in ((key_path(space, key.sheet), key.to_json().encode()), (sheet, content)):
        write_whole(path, data)
    suspects = sum(item.predicted == "noise" for item in key.items)
    say(f"{as_typed(sheet)}: {suspects} suspects and {len(key.items) - suspects} other rows, shuffled.")
    say(f"Give each of two annotators a copy; the answer to each row is one of: {', '.join(key.answers)}. Then:")
    say(f"  python -m tasks review{_option(space)} --import ONE.csv --import OTHER.csv")
    say(f"Do not give {as_typed(key_path(space, key.sheet))} to the annotators: it says which rows are which.")


def _new(out: str) -> Path:
    path = Path(out).expanduser()
    if path.exists():
        raise InputError(f"{path} exists already; name another file for the sheet.")
    return path


def _take_in(space: Workspace, paths: Sequence[Path], by: str) -> None:
    contents = {str(path): _content(path) for path in paths}
    if len(contents) < len(paths):
        raise InputError(f"{paths[0]} is named twice; name the file of each annotator once.")
    kinds = {name: _kind(content, name) for name, content in contents.items()}
    if set(kinds.values()) == {"blind"}:
        _take_in_blind(space, contents, by)
    elif "blind" in kinds.values():
        name = next(name for name, kind in kinds.items() if kind == "blind")
        raise InputError(f"{name} is a blind sheet, the other is not; import them one after the other.")
    else:
        _take_in_decisions(space, contents, kinds, by)


def _content(path: Path) -> bytes:
    """Return what was filled in; of a workbook its first sheet, as CSV."""
    from cartograph.read.excel import SUFFIXES, as_csv

    if not path.is_file():
        raise InputError(f"{path} is not there; name the file that was filled in.")
    if path.suffix.lower() in SUFFIXES:
        return as_csv(path)
    return path.read_bytes()


def _kind(content: bytes, name: str) -> str:
    """Return what a file is by how it begins: ``label studio``, ``blind`` or ``decisions``."""
    from cartograph.clean.blind_check import COLUMNS
    from cartograph.data.spreadsheet import header_of

    if content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{"):
        return "label studio"
    return "blind" if set(COLUMNS) <= set(header_of(content, name)) else "decisions"


def _take_in_decisions(space: Workspace, contents: dict[str, bytes], kinds: dict[str, str], by: str) -> None:
    from cartograph.clean.decisions import check, merge_decisions, read_decisions, settle, write_decisions
    from cartograph.clean.label_studio import entries_of_export
    from cartograph.clean.reviewed import decided_table, errors_go_on
    from cartograph.clean.stale_decisions import is_current, row_checks

    examples, noise = _tables(space)
    given, labels = people.given_labels(examples)
    new = []
    for name, content in contents.items():
        if kinds[name] == "label studio":
            new += check(entries_of_export(content, name, labels, by), name, given, labels)
        else:
            new += read_decisions(content, name, given, labels, by)
    if not new:
        raise InputError(f"{next(iter(contents))} holds no decision; fill in the column `decision` with keep, drop or relabel.")
    if has_several_labels(space.settings):
        require_own_answers(new, examples)
    _, old = people.kept_decisions(_decisions_file(space), examples)
    every = merge_decisions(old, new)
    kept = set(every)
    checks = row_checks(examples)
    decided = settle([*(one for one in old if one in kept and is_current(one, checks)), *new], given)
    write_whole(space.resolve(people.DECISIONS), write_decisions(every, checks))
    write_dvc_yaml(space)
    counts = {what: sum(one.what == what for one in decided.values()) for what in ("keep", "drop", "relabel")}
    words = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    fresh = len({one.uid for one in new})
    say(f"{as_typed(space.resolve(people.DECISIONS))}: {len(decided):,} rows decided ({words}), {fresh:,} of them by this import.")
    if goes_on := errors_go_on(noise, decided_table(decided, given)):
        say(f"{goes_on} The next rows: python -m tasks review{_option(space)} --further 50")
    say(f"Clean with them: python -m flows.audit{_option(space)}")


def _take_in_blind(space: Workspace, contents: dict[str, bytes], by: str) -> None:
    from cartograph.clean.blind_check import answered_sheet, in_words, key_from_json, read_answers, score, sheet_of
    from tasks.reviewing.blind import key_path

    if len(contents) > 2:
        raise InputError(f"{len(contents)} blind sheets are named; import those of one annotator or of two.")
    sheets = {name: sheet_of(content, name) for name, content in contents.items()}
    first, *others = sheets.values()
    if any(other != first for other in others):
        raise InputError(f"these are different blind sheets: {', '.join(f'{name} is {sheet}' for name, sheet in sheets.items())}.")
    path = key_path(space, first) if _SHEET.fullmatch(first) else None
    if path is None or not path.exists():
        raise InputError(
            f"{next(iter(sheets))} is the blind sheet {first!r}, which was not drawn in {space.path}: its key is not under review/; "
            "name the workspace it was drawn in with --workspace."
        )
    key = key_from_json(path.read_text(encoding="utf-8"), str(path))
    answers = [read_answers(content, name, key) for name, content in contents.items()]
    numbers = score(key, answers)
    names = [by] if by and len(contents) == 1 else [Path(name).stem for name in contents]
    names = names if len(set(names)) == len(names) else [f"{name} {number}" for number, name in enumerate(names, start=1)]
    write_whole(space.resolve(METRICS), json_text(numbers))
    write_whole(space.resolve(FOUND), found_text(key, numbers))
    write_whole(space.path / "review" / f"blind-{first}.answers.csv", answered_sheet(key, answers, names))
    write_dvc_yaml(space)
    for line in in_words(numbers):
        say(line)
    answered = space.path / "review" / f"blind-{first}.answers.csv"
    say(f"Written to {as_typed(space.resolve(METRICS))}, and row by row to {as_typed(answered)}.")
    say(f"On the page: python -m flows.audit{_option(space)}")
