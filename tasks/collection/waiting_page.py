"""The page that a collection leaves for the people it waits for: what it knows so far, and what it asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cartograph.data.json_files import read_json
from cartograph.data.whole_files import write_whole
from cartograph.errors import CartographError, WaitingError
from tasks.collection.parameters import Collect, folder_of, sheet_of
from tasks.collection.report import WAITING as PAGE
from tasks.collection.report import Report
from tasks.engine.receipt import fresh
from tasks.engine.step import Step
from tasks.engine.workspace import Workspace, project_root

if TYPE_CHECKING:
    from pathlib import Path

    from cartograph.page.collection.waiting import Waiting
    from cartograph.pairs.comparison import RoundResult
    from cartograph.pairs.task import Task

_WORDS = {1: "yes", 0: "no", -1: "skip"}


def leave_page(workspace: Workspace, steps: Sequence[Step], error: CartographError) -> bool:
    """Write the page of a collection that people answer and that ended with an error, where a round was to come; return whether it was."""
    collect = workspace.settings.find(Collect)
    if collect is None or collect.oracle != "people":
        return False
    named = {step.name: step for step in steps}
    names = [f"round-{number}@{collect.methods[0]}-{collect.seeds[0]}" for number in range(1, collect.rounds + 1)]
    number = next((place for place, name in enumerate(names, start=1) if fresh(named[name], workspace) is None), None)
    if number is None or not workspace.resolve("data/pairs").exists():
        return False

    from cartograph.page.collection.pages import waiting_page

    write_whole(workspace.resolve(PAGE), waiting_page(_content(workspace, number, error)))
    return True


def _content(workspace: Workspace, number: int, error: CartographError) -> Waiting:
    import pyarrow.parquet as pq

    from cartograph.page.collection.waiting import Waiting
    from cartograph.page.step_results import HowMade
    from cartograph.pairs.comparison import summary
    from cartograph.pairs.tables import load_task

    collect = workspace.settings.of(Collect)
    sheet = workspace.resolve(sheet_of(number))
    answers, pairs = _sheet(sheet, sheet_of(number), load_task(workspace.resolve("data/pairs")))
    arms = [_arm(workspace, done) for done in range(1, number)]
    last = [workspace.resolve(_folder(workspace, number - 1))] if arms else []
    table = summary(arms, 0).to_pylist() if arms else []
    labels = [pq.read_table(folder / "collected.parquet")["label"].to_pylist() for folder in last]
    return Waiting(
        number=number,
        rounds=collect.rounds,
        why=str(error),
        waits=isinstance(error, WaitingError),
        sheet=sheet.relative_to(project_root()).as_posix(),
        answers=answers,
        pairs=pairs,
        summary=table,
        labels=sum(label in (0, 1) for column in labels for label in column),
        mistakes=[one for folder in last for one in read_json(folder / "findings.json")["mistakes"][:10]],
        texts=workspace.settings.of(Report).text_characters,
        how_made=HowMade(
            name=workspace.name,
            command=f"python -m flows.collect --workspace {workspace.typed}",
            parameters={name: section.model_dump(mode="json") for name, section in workspace.settings.items()},
        ),
    )


def _arm(workspace: Workspace, number: int) -> RoundResult:
    import numpy as np

    from cartograph.pairs.comparison import RoundResult

    collect = workspace.settings.of(Collect)
    folder = workspace.resolve(_folder(workspace, number))
    draws = np.load(folder / "resampled.npy", allow_pickle=False)
    return RoundResult(collect.methods[0], collect.seeds[0], number, read_json(folder / "scores.json")["numbers"], draws)


def _folder(workspace: Workspace, number: int) -> str:
    collect = workspace.settings.of(Collect)
    return folder_of(collect.methods[0], collect.seeds[0], number)


def _sheet(path: Path, name: str, task: Task) -> tuple[dict[str, int] | None, list[tuple[str, str, str]]]:
    """Return how many pairs of a sheet have which answer, None where an answer is not valid, and its pairs."""
    from cartograph.data.spreadsheet import read_sheet
    from cartograph.pairs.answers import answers_in

    if not path.exists():
        return None, []
    content, pairs = path.read_bytes(), []
    try:
        for record in read_sheet(content, name, ("left", "right", "label")):
            pairs.append((record.cells["left"], record.cells["right"], record.cells["label"].strip()))
        found = answers_in(content, name, task)
    except CartographError:
        return None, pairs
    counts = Counter(_WORDS[answer] for answer in found.answers.values())
    return {**{word: counts[word] for word in _WORDS.values()}, "open": len(found.listed) - len(found.answers)}, pairs
