"""The sheets of a collection's round: the one that the round reads, and each annotator's own copy, of which it has what they agree on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.data.spreadsheet import header_of, read_sheet, write_sheet
from cartograph.data.whole_files import write_whole
from cartograph.errors import InputError
from cartograph.pairs.answers import REQUIRED, WORDS, answer_sheet, answers_in
from cartograph.pairs.tables import load_task
from tasks.collection.encode import PAIRS
from tasks.collection.parameters import Collect, sheet_of
from tasks.engine.workspace import Workspace
from tasks.reviewing.questions import slug

if TYPE_CHECKING:
    from cartograph.pairs.annotators import Agreed
    from cartograph.pairs.pair_space import Keys

_BY, _OWN = "by", "-by-"
_SAID = re.compile(r"[^;]+: (?:yes|no|skip)(?:; [^;]+: (?:yes|no|skip))+")
_FIRST = "the sheet"
# Whose answers those are that stood on a round's sheet before anybody had one of their own.


def sheets_of(space: Workspace) -> list[RoundSheets]:
    """Return the sheets of all rounds that have asked already, the first round's first.

    Raises:
        InputError: none has.
    """
    names = [sheet_of(number) for number in range(1, space.settings.of(Collect).rounds + 1)]
    there = [name for name in names if space.resolve(name).exists()]
    if not there:
        raise InputError(
            f"{space.path} asks nothing yet: there is no {names[0]}; run `python -m flows.collect --workspace {space.typed}` first, "
            "with `collect.oracle: people` in params.yaml."
        )
    return [RoundSheets(space, name) for name in there]


class RoundSheets:
    """The sheet of one round, ``review/round-….csv``, and the annotators' own, ``review/round-…-by-NAME.csv``."""

    def __init__(self, space: Workspace, name: str) -> None:
        """Name the sheets.

        Args:
            space: the collection's.
            name: of the round's sheet.
        """
        self.name, self.path = name, space.resolve(name)
        self.task = load_task(space.resolve(PAIRS))

    @property
    def keys(self) -> Keys:
        """The pairs on the round's sheet, in its order.

        Raises:
            InputError: it cannot be read.
        """
        import numpy as np

        listed = answers_in(self.path.read_bytes(), self.name, self.task).listed
        cells = [record.cells["pair"].strip()[1:] for record in read_sheet(self.path.read_bytes(), self.name, REQUIRED)]
        return np.array(list(dict.fromkeys(int(cell) for cell in cells if cell.isdecimal() and int(cell) in listed)), np.int64)

    @property
    def about(self) -> dict[int, str]:
        """The comment on each pair that has one."""
        rows = read_sheet(self.path.read_bytes(), self.name, REQUIRED)
        own = {record.cells["pair"].strip(): record.cells.get("comment", "") for record in rows}
        return {key: own[f"p{key}"] for key in self.keys.tolist() if own.get(f"p{key}")}

    def own(self, annotator: str) -> Path:
        """Return where an annotator's own sheet is."""
        return self.path.with_name(f"{self.path.stem}{_OWN}{slug(annotator)}.csv")

    def begin(self, annotator: str) -> Path:
        """Return an annotator's own sheet, written without answers where it is not there; those of the round's are kept too."""
        if not self.answers():
            known = answers_in(self.path.read_bytes(), self.name, self.task).answers
            if known:
                self._write_own(_FIRST, known)
        path = self.own(annotator)
        if not path.exists():
            self._write_own(annotator, {})
        return path

    def answers(self) -> dict[str, dict[int, int]]:
        """Return what each annotator with a sheet of their own answered, by key.

        Raises:
            InputError: a sheet has what is no answer.
        """
        found = {}
        for path in sorted(self.path.parent.glob(f"{self.path.stem}{_OWN}*.csv")):
            content = path.read_bytes()
            rows = read_sheet(content, path.name, REQUIRED)
            who = next((record.cells[_BY] for record in rows if record.cells.get(_BY)), path.stem.rpartition(_OWN)[2])
            found[who] = dict(answers_in(content, path.name, self.task).answers)
        return found

    def take(self, annotator: str, answers: Mapping[int, int]) -> None:
        """Write answers into an annotator's own sheet, over earlier ones, and what all agree on into the round's."""
        self.begin(annotator)
        self._write_own(annotator, {**self.answers().get(annotator, {}), **answers})
        self.merge()

    def merge(self, emptied: int | None = None) -> Agreed:
        """Write what the annotators agree on into the round's sheet, and return it; a pair is open there where they differ.

        What somebody wrote there about such a pair, after seeing who said what, stays.

        Args:
            emptied: key of a pair whose answer was taken back; open where nobody else has answered it.
        """
        from cartograph.pairs.annotators import agreed

        found = agreed(self.answers())
        content = self.path.read_bytes()
        header = [*dict.fromkeys((*header_of(content, self.name), "comment"))]
        rows = [{**record.cells} for record in read_sheet(content, self.name, REQUIRED)]
        for row in rows:
            pair = row["pair"].strip()
            key = int(pair[1:]) if pair[1:].isdecimal() else -1
            if key in found.answers:
                said_before = _SAID.fullmatch(row.get("comment", "")) is not None
                row |= {"label": WORDS[found.answers[key]], "comment": "" if said_before else row.get("comment", "")}
            elif key == emptied and key not in found.disputed:
                row["label"] = ""
            elif key in found.disputed and row.get("comment") != found.disputed[key]:
                row |= {"label": "", "comment": found.disputed[key]}
        write_whole(self.path, write_sheet(header, ([row.get(name, "") for name in header] for row in rows)))
        return found

    def disputed(self) -> dict[int, str]:
        """Return the pairs about which annotators differ and nobody has settled it: key -> who said what."""
        from cartograph.pairs.annotators import agreed

        settled = answers_in(self.path.read_bytes(), self.name, self.task).answers
        return {key: said for key, said in agreed(self.answers()).disputed.items() if key not in settled}

    def _write_own(self, annotator: str, answers: Mapping[int, int]) -> None:
        path = self.own(annotator)
        why = self.about if not path.exists() else {}
        sheet = answer_sheet(self.task, self.keys, answers, why)
        header = header_of(sheet, path.name)
        rows = read_sheet(sheet, path.name, REQUIRED)
        write_whole(path, write_sheet((*header, _BY), ([*(record.cells[name] for name in header), annotator] for record in rows)))
