"""The pairs of a collection's round as questions; answers go into the round's sheet, review/round-….csv."""

from __future__ import annotations

from threading import Lock
from typing import Any

from cartograph.data.spreadsheet import Record, read_sheet
from cartograph.errors import InputError
from cartograph.pairs.answers import REQUIRED, answers_in
from cartograph.pairs.tables import load_task
from tasks.collection.encode import PAIRS
from tasks.collection.parameters import Collect, sheet_of
from tasks.engine.workspace import Workspace
from tasks.reviewing.blind import write_cell
from tasks.reviewing.questions import brief_hold, require_unchanged

_ANSWERS = {1: "yes", 0: "no", -1: "skip"}


class PairQuestions:
    """The pairs of the round that waits for people: yes, no, or skip."""

    def __init__(self, space: Workspace, annotator: str) -> None:
        """Read the sheet of the round that waits, or of the last one that has a sheet.

        Args:
            space: the collection's.
            annotator: who answers; the sheet has no place for a name, so it is only shown.

        Raises:
            InputError: there is no sheet, or it does not fit the collection.
        """
        self._space, self._annotator = space, annotator
        names = [sheet_of(number) for number in range(1, space.settings.of(Collect).rounds + 1)]
        there = [name for name in names if space.resolve(name).exists()]
        if not there:
            raise InputError(
                f"{space.path} asks nothing yet: there is no {names[0]}; run `python -m flows.collect --workspace {space.typed}` first, "
                "with `collect.oracle: people` in params.yaml."
            )
        self._task = load_task(space.resolve(PAIRS))
        self._turn = Lock()
        for name in there:
            self._name, self._path = name, space.resolve(name)
            if len(self._known()) < len(self._records()):
                break

    def overview(self) -> dict[str, Any]:
        """Return the page's words and the answers so far."""
        known, records = self._known(), self._records()
        return {
            "kind": "pairs",
            "name": self._space.name,
            "annotator": self._annotator,
            "sheet": self._name,
            "count": len(records),
            "labels": [],
            "answers": {place: known[pair] for place, record in enumerate(records) if (pair := _pair(record)) in known},
            "empty": f"{self._name} asks about no pair.",
            "next": f"python -m flows.collect --workspace {self._space.typed}",
        }

    def question(self, place: int) -> dict[str, Any]:
        """Return both texts, the sheet's comment, and the answer."""
        cells = self._record(place).cells
        return {
            "fields": [["left", cells.get("left", ""), False], ["right", cells.get("right", ""), False]],
            "reason": cells.get("comment", ""),
            "answer": self._known().get(_pair(self._record(place)), ""),
        }

    def context(self, place: int) -> dict[str, Any]:
        """Return nothing: what a model thinks of a pair would lead the answer."""
        self._record(place)
        return {"near": [], "epochs": []}

    def answer(self, place: int, answer: str, before: str, *, settles: bool = False) -> dict[str, Any]:
        """Write an answer into the sheet."""
        if answer not in ("", *_ANSWERS.values()) or settles:
            raise InputError(f"{answer[:80]!r} is no answer to a pair; expected yes, no, or skip.")
        pair = _pair(self._record(place))
        with self._turn, brief_hold(self._space):
            require_unchanged(self._known().get(pair, ""), before, answer)
            write_cell(self._path, lambda cells: cells["pair"].strip() == pair, "label", answer)
        return {"answer": answer}

    def agreement(self) -> dict[str, Any]:
        """Return nothing: a round's sheet has one answer to a pair."""
        return {"lines": [], "disputed": []}

    def _records(self) -> list[Record]:
        """Return the sheet's rows, one of each pair."""
        rows = read_sheet(self._path.read_bytes(), self._name, REQUIRED)
        return list({_pair(record): record for record in reversed(rows) if _pair(record)}.values())[::-1]

    def _record(self, place: int) -> Record:
        records = self._records()
        if not 0 <= place < len(records):
            raise IndexError(place)
        return records[place]

    def _known(self) -> dict[str, str]:
        found = answers_in(self._path.read_bytes(), self._name, self._task)
        return {f"p{key}": _ANSWERS[answer] for key, answer in found.answers.items()}


def _pair(record: Record) -> str:
    return record.cells["pair"].strip()
