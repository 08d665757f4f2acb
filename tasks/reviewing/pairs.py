"""The pairs of a collection's round as questions; answers go into the round's sheet, or into the annotator's own beside it."""

from __future__ import annotations

from threading import Lock
from typing import Any

from cartograph.data.spreadsheet import Record, read_sheet
from cartograph.errors import InputError
from cartograph.pairs.answers import REQUIRED, WORDS, answers_in
from tasks.engine.workspace import Workspace
from tasks.reviewing.pair_sheets import sheets_of
from tasks.reviewing.questions import brief_hold, require_unchanged, write_cell


class PairQuestions:
    """The pairs of the round that waits for people: yes, no, or skip."""

    def __init__(self, space: Workspace, annotator: str, *, alone: bool = False) -> None:
        """Read the sheet of the round that waits, or of the last one that has a sheet.

        Args:
            space: the collection's.
            annotator: who answers.
            alone: answers go into a sheet of their own, so that they can be compared, and the round gets what all annotators agree on; the
                newest round asks.

        Raises:
            InputError: there is no sheet, it does not fit the collection, or it is answered by annotators with sheets of their own.
        """
        self._space, self._annotator, self._alone = space, annotator, alone
        self._turn = Lock()
        found = sheets_of(space)
        if alone:
            self._sheets = found[-1]
            with brief_hold(space):
                self._path = self._sheets.begin(annotator)
            return
        for sheets in found:
            self._sheets, self._path = sheets, sheets.path
            if len(self._known()) < len(self._records()):
                break
        if others := self._sheets.answers():
            raise InputError(
                f"{self._sheets.name} has what its annotators agree on ({', '.join(others)}); add --annotator NAME to answer, or to settle "
                "what they do not."
            )

    def overview(self) -> dict[str, Any]:
        """Return the page's words and the answers so far."""
        known, records = self._known(), self._records()
        return {
            "kind": "pairs",
            "name": self._space.name,
            "annotator": self._annotator,
            "sheet": self._sheets.name,
            "count": len(records),
            "labels": [],
            "answers": {place: known[pair] for place, record in enumerate(records) if (pair := _pair(record)) in known},
            "empty": f"{self._sheets.name} asks about no pair.",
            "next": f"python -m flows.collect --workspace {self._space.typed}",
        }

    def question(self, place: int) -> dict[str, Any]:
        """Return both texts, the sheet's comment, and the answer; of a pair on which annotators differ who said what."""
        cells, pair = self._record(place).cells, _pair(self._record(place))
        answer = self._known().get(pair, "")
        joint = self._disputed().get(pair, "") if answer else ""
        return {
            "fields": [["left", cells.get("left", ""), False], ["right", cells.get("right", ""), False]],
            "reason": f"Answered differently: {joint}" if joint else cells.get("comment", ""),
            "answer": answer,
            "joint": joint,
        }

    def context(self, place: int) -> dict[str, Any]:
        """Return nothing: what a model thinks of a pair would lead the answer."""
        self._record(place)
        return {"near": [], "epochs": []}

    def answer(self, place: int, answer: str, before: str, *, settles: bool = False) -> dict[str, Any]:
        """Write an answer into the sheet, or the common one of all annotators into the round's."""
        if answer not in ("", *WORDS.values()) or (settles and not (answer and self._alone)):
            raise InputError(f"{answer[:80]!r} is no answer to a pair; expected yes, no, or skip.")
        pair = _pair(self._record(place))
        with self._turn, brief_hold(self._space):
            if settles:
                require_unchanged(self._disputed().get(pair, ""), before, answer)
                write_cell(self._sheets.path, lambda cells: cells["pair"].strip() == pair, "label", answer)
                return {"answer": answer}
            require_unchanged(self._known().get(pair, ""), before, answer)
            write_cell(self._path, lambda cells: cells["pair"].strip() == pair, "label", answer)
            if self._alone:
                self._sheets.merge(None if answer else int(pair[1:]))
        return {"answer": answer}

    def agreement(self) -> dict[str, Any]:
        """Return how often two annotators agree, and the pairs on which they differ, of those that this one has answered."""
        from cartograph.pairs.annotators import agreement_lines

        disputed, known = self._disputed(), self._known()
        places = [place for place, record in enumerate(self._records()) if _pair(record) in disputed and _pair(record) in known]
        return {"lines": agreement_lines(self._sheets.answers()) if self._alone else [], "disputed": places}

    def _disputed(self) -> dict[str, str]:
        return {f"p{key}": said for key, said in self._sheets.disputed().items()} if self._alone else {}

    def _records(self) -> list[Record]:
        """Return the sheet's rows, one of each pair."""
        rows = read_sheet(self._path.read_bytes(), self._path.name, REQUIRED)
        return list({_pair(record): record for record in reversed(rows) if _pair(record)}.values())[::-1]

    def _record(self, place: int) -> Record:
        records = self._records()
        if not 0 <= place < len(records):
            raise IndexError(place)
        return records[place]

    def _known(self) -> dict[str, str]:
        found = answers_in(self._path.read_bytes(), self._path.name, self._sheets.task)
        return {f"p{key}": WORDS[answer] for key, answer in found.answers.items()}


def _pair(record: Record) -> str:
    return record.cells["pair"].strip()
