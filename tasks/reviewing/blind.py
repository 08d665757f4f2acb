"""The blind check as questions: rows without label or prediction; answers are the annotator's own copy of the blind sheet."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from cartograph.clean.blind_check import Key, draw, in_words, read_answers, score
from cartograph.data.spreadsheet import read_sheet
from cartograph.data.whole_files import write_whole
from cartograph.errors import InputError
from tasks.audit import clean
from tasks.engine.workspace import Workspace
from tasks.reviewing.questions import PICTURE_SIDE, brief_hold, require_unchanged, shown_rows, slug, write_cell

if TYPE_CHECKING:
    import pyarrow as pa


def drawn_sheet(space: Workspace, tables: tuple[pa.Table, pa.Table]) -> tuple[Key, bytes]:
    """Return the blind sheet of an audit and its key; the same audit gives the same."""
    import numpy as np

    return draw(*tables, np.random.default_rng(space.settings.of(clean.CleanSection).seed))


def key_path(space: Workspace, sheet: str) -> Path:
    """Return where a blind sheet's key stands."""
    return space.path / "review" / f"blind-{sheet}.key.json"


class BlindQuestions:
    """The rows of the blind sheet: which label each should have."""

    def __init__(self, space: Workspace, tables: tuple[pa.Table, pa.Table], annotator: str) -> None:
        """Draw the sheet, and write the annotator's copy and the key where they are not there.

        Args:
            space: the audit's.
            tables: the train set and its suspects.
            annotator: who answers.
        """
        self._space, self._annotator = space, annotator
        self._key, empty = drawn_sheet(space, tables)
        self._path = space.path / "review" / f"blind-{self._key.sheet}-{slug(annotator)}.csv"
        self._examples, self._turn = tables[0], Lock()
        with brief_hold(space):
            for path, content in ((key_path(space, self._key.sheet), self._key.to_json().encode()), (self._path, empty)):
                if not path.exists():
                    write_whole(path, content)

    def overview(self) -> dict[str, Any]:
        """Return the page's words, what may be answered, and the answers so far."""
        known = self._answers(self._path)
        answers = {place: known[item.item] for place, item in enumerate(self._key.items) if item.item in known}
        *labels, ambiguous = self._key.answers
        return {
            "kind": "blind",
            "name": self._space.name,
            "annotator": self._annotator,
            "count": len(self._key.items),
            "labels": labels,
            "ambiguous": ambiguous,
            "answers": answers,
            "empty": "",
            "next": "",
        }

    def question(self, place: int) -> dict[str, Any]:
        """Return a row's texts, and what this annotator answered; nothing of its label or the model's."""
        import pyarrow as pa
        import pyarrow.compute as pc

        from cartograph.schema import UID

        item = self._item(place)
        row = self._examples.take(pa.array([pc.index(self._examples[UID], item.uid).as_py()]))
        answer = self._answers(self._path).get(item.item, "")
        return {"fields": shown_rows(row, PICTURE_SIDE)[0], "keys": list(self._key.answers[:-1][:9]), "answer": answer}

    def context(self, place: int) -> dict[str, Any]:
        """Return nothing: what the model says would show what it thinks of the label."""
        self._item(place)
        return {"near": [], "epochs": []}

    def answer(self, place: int, answer: str, before: str, *, settles: bool = False) -> dict[str, Any]:
        """Write an answer into the annotator's sheet."""
        item = self._item(place)
        if (answer and answer not in self._key.answers) or settles:
            raise InputError(f"{answer[:80]!r} is no answer to a row of the blind sheet; expected one of its classes.")
        with self._turn, brief_hold(self._space):
            require_unchanged(self._answers(self._path).get(item.item, ""), before, answer)
            write_cell(self._path, lambda cells: cells["item"].strip() == item.item, "answer", answer)
        return {"answer": answer}

    def agreement(self) -> dict[str, Any]:
        """Return what the answers say of the suspects, with those of another annotator where there are some."""
        own = self._answers(self._path)
        if not own:
            return {"lines": [], "disputed": []}
        lines = []
        for path in sorted(self._path.parent.glob(f"blind-{self._key.sheet}-*.csv")):
            theirs = self._answers(path) if path != self._path else {}
            if own.keys() & theirs.keys():
                name = path.stem.removeprefix(f"blind-{self._key.sheet}-")
                lines += [f"With {name}: {line}." for line in in_words(score(self._key, [own, theirs]))]
        return {"lines": lines or [f"{line}." for line in in_words(score(self._key, [own]))], "disputed": []}

    def _item(self, place: int) -> Any:
        if not 0 <= place < len(self._key.items):
            raise IndexError(place)
        return self._key.items[place]

    def _answers(self, path: Path) -> dict[str, str]:
        content = path.read_bytes()
        if not any(record.cells["answer"].strip() for record in read_sheet(content, path.name, ("item", "answer"))):
            return {}
        return read_answers(content, path.name, self._key)
