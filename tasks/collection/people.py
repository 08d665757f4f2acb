"""What people are asked about in one round of a collection, and what they answered: its sheet, earlier answers, contradictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.data.json_files import read_json, write_json
from cartograph.data.whole_files import write_whole
from tasks.collection.encode import PAIRS
from tasks.collection.parameters import folder_of, sheet_of
from tasks.engine.step import Inputs
from tasks.presentation.console import say

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.data.arrays import Integers8
    from cartograph.pairs.pair_space import Keys
    from cartograph.pairs.task import Task

CONTRADICTIONS = "contradictions.json"
# In the schema of collected pairs that people answered: which data their numbers are about.
_ABOUT = b"people answered about"


@dataclass(frozen=True)
class People:
    """The people of one round.

    Attributes:
        task: whose pairs.
        inputs: of the round.
        resolve: declared name -> path on disk.
        folder: what the round writes.
        before: the folder of the round before; None in the first.
        method: of the collection.
        seed: of the collection.
        number: of the round.
        rounds: how many there are.
    """

    task: Task
    inputs: Inputs
    resolve: Callable[[str], Path]
    folder: Path
    before: Path | None
    method: str
    seed: int
    number: int
    rounds: int

    def answers(self, batch: Keys) -> Integers8:
        """Return the answer to each pair of the round; write the sheet where it is missing.

        Raises:
            InputError: the sheet has what is no answer, or is about other pairs.
            WaitingError: pairs are not answered yet; the sheet is there.
        """
        from cartograph.errors import WaitingError
        from cartograph.pairs.answers import answer_sheet, read_answers, time_to_answer

        name = sheet_of(self.number)
        if name in self.inputs:
            return read_answers(self.inputs[name].read_bytes(), name, self.task, batch, say)
        known = self._earlier(name, batch)
        path = self.resolve(name)
        write_whole(path, answer_sheet(self.task, batch, known, self._why()))
        before = f" {len(known):,} of them were answered before, and have that answer there." if known else ""
        raise WaitingError(
            f"round {self.number} asks about {len(batch):,} pairs, about {time_to_answer(len(batch))} of a person's time: answer them in "
            f"{path} (yes, no, or skip), and run this again.{before}"
        )

    def consistent(self, table: pa.Table) -> pa.Table:
        """Return all labels, those that contradict others as skipped; write which, and what they contradict."""
        import numpy as np
        import pyarrow as pa

        from cartograph.pairs.implied import contradictions
        from cartograph.pairs.tables import SKIPPED, keys_of

        keys, labels = keys_of(table, len(self.task.right)), table["label"].to_numpy()
        found = contradictions(self.task, keys, labels)
        write_json(self.folder / CONTRADICTIONS, [{"pair": key, "against": path} for key, path in found.items()])
        if found:
            kept = np.where((labels == 0) & np.isin(keys, list(found)), SKIPPED, labels).astype(np.int8)
            table = table.set_column(table.column_names.index("label"), table.schema.field("label"), pa.array(kept))
        return table.replace_schema_metadata({_ABOUT: self._data()})

    def again(self, table: pa.Table) -> Keys:
        """Return the pairs that the next round asks about again: answers that contradict others, once."""
        import numpy as np

        from cartograph.pairs.tables import keys_of

        path = self.folder / CONTRADICTIONS
        found = [one["pair"] for one in read_json(path)] if path.exists() else []
        keys, times = np.unique(keys_of(table, len(self.task.right)), return_counts=True)
        return np.array([key for key in found if times[np.searchsorted(keys, key)] == 1], np.int64)

    def _why(self) -> dict[int, str]:
        """Return why a pair is asked about again, by key."""
        path = self.before / CONTRADICTIONS if self.before is not None else None
        if path is None or not path.exists():
            return {}
        return {
            one["pair"]: f"asked again: answered no, but yes to {', '.join(f'p{key}' for key in one['against'])} makes the two the same"
            for one in read_json(path)
        }

    def _earlier(self, name: str, batch: Keys) -> dict[int, int]:
        """Return what people answered before of a round's pairs, where its sheet is gone or no longer fitted.

        That is in the outputs of this round and later ones as they were before, if the data is still the same, and in the sheet as it
        was renamed.
        """
        import pyarrow.parquet as pq

        from cartograph.pairs.answers import answers_in, before_of
        from cartograph.pairs.tables import keys_of

        known: dict[int, int] = {}
        for number in range(self.number, self.rounds + 1):
            path = self.resolve(folder_of(self.method, self.seed, number)) / "collected.parquet"
            try:
                table = pq.read_table(path)
            except (OSError, ValueError):
                continue
            if (table.schema.metadata or {}).get(_ABOUT) == self._data():
                known |= zip(keys_of(table, len(self.task.right)).tolist(), table["label"].to_pylist(), strict=True)
        renamed = self.resolve(before_of(name))
        if renamed.exists():
            known |= answers_in(renamed.read_bytes(), before_of(name), self.task).answers
        return {key: known[key] for key in batch.tolist() if key in known}

    def _data(self) -> bytes:
        from tasks.engine.digest import digest_path

        return digest_path(self.inputs[PAIRS]).encode()
