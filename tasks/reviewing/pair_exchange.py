"""A round's pairs given out as Label Studio tasks or another sheet, and the answers of annotators taken in."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from cartograph.data.json_files import json_text
from cartograph.data.whole_files import write_whole
from cartograph.errors import InputError
from tasks.engine.workspace import Workspace, as_typed
from tasks.presentation.console import say
from tasks.reviewing.pair_sheets import RoundSheets, sheets_of
from tasks.reviewing.questions import require_name


def give_out(space: Workspace, out: str) -> None:
    """Write the newest round's pairs as Label Studio tasks with their configuration, and, where a file is named, as a sheet.

    Args:
        space: the collection's.
        out: the sheet to write for an annotator, the tasks beside it; empty: the tasks alone, in ``reports``.

    Raises:
        InputError: no round has asked yet, or the sheet exists.
    """
    from cartograph.pairs.answers import answer_sheet
    from cartograph.pairs.label_studio import CONFIGURATION, tasks

    sheets = sheets_of(space)[-1]
    base = Path(out).expanduser() if out else space.resolve(f"reports/{sheets.path.name}")
    if out and base.exists():
        raise InputError(f"{base} exists already; name another file for the sheet.")
    keys, about = sheets.keys, sheets.about
    names = [base.with_suffix(".labelstudio.json"), base.with_suffix(".labelstudio.xml")]
    write_whole(names[0], json_text(tasks(sheets.task, keys, about)))
    write_whole(names[1], CONFIGURATION.encode())
    option = f"python -m tasks review --workspace {space.typed}"
    if out:
        write_whole(base, answer_sheet(sheets.task, keys, None, about))
        say(f"{as_typed(base)}: {len(keys):,} pairs; write yes, no, or skip into the column label. Then:")
        say(f"  {option} --import {shlex.quote(as_typed(base))} --by NAME")
    say(f"For Label Studio: {as_typed(names[0])}, {len(keys):,} pairs, with the configuration {as_typed(names[1])}.")
    say("Then, with its JSON export:")
    say(f"  {option} --import EXPORT.json")


def take_in(space: Workspace, contents: Mapping[str, bytes], by: str) -> None:
    """Take in what annotators answered: Label Studio's exports, or filled sheets; say how far they agree.

    Args:
        space: the collection's.
        contents: name -> content of each file.
        by: who answered; needed for a sheet.

    Raises:
        InputError: a file holds no answer to the newest round's pairs, or what is no answer, or nobody is named for a sheet.
    """
    from cartograph.pairs.annotators import agreement_lines

    sheets = sheets_of(space)[-1]
    found = [(who, answers) for name, content in contents.items() for who, answers in _answers(sheets, name, content, by).items()]
    if not any(answers for _, answers in found):
        raise InputError(f"{next(iter(contents))} holds no answer; expected yes, no, or skip for pairs of {sheets.name}.")
    for who, answers in found:
        sheets.take(require_name(who), answers)
        say(f"{len(answers):,} answers of {who}, in {as_typed(sheets.own(who))}.")
    for line in agreement_lines(sheets.answers()):
        say(line)
    disputed = sheets.disputed()
    if disputed:
        say(f"{len(disputed):,} pairs are answered differently, and asked again in {sheets.name}, with who said what beside them.")
    say(f"{sheets.name} has what they agree on. Next: python -m flows.collect --workspace {space.typed}")


def _answers(sheets: RoundSheets, name: str, content: bytes, by: str) -> dict[str, dict[int, int]]:
    from cartograph.pairs.answers import answers_in
    from cartograph.pairs.label_studio import answers_of_export

    keys = sheets.keys
    if content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{"):
        return answers_of_export(content, name, sheets.task, keys, by)
    if not by:
        raise InputError(f"{name} is a sheet, which does not say who answered; add --by NAME.")
    asked = set(keys.tolist())
    return {by: {key: answer for key, answer in answers_in(content, name, sheets.task).answers.items() if key in asked}}
