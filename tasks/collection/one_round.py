"""One round of one method and seed: it asks about its batch, trains on all labels so far, scores the model, and chooses the next batch."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.data.json_files import write_json
from tasks.collection.encode import DATA as ENCODED
from tasks.collection.encode import PAIRS, learner, similar_of
from tasks.collection.parameters import MATCHED, Collect, Encode, folder_of, sheet_of
from tasks.engine.step import Inputs, Out
from tasks.engine.whole_files import write_whole
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.data.arrays import Array
    from cartograph.pairs.models.calibration import Calibration
    from cartograph.pairs.models.cosine import CosineModel
    from cartograph.pairs.models.learner import UtteranceVectors
    from cartograph.pairs.pair_space import Keys
    from cartograph.pairs.rounds import RoundScore

_SPLITS = ("dev", "test")
# In the schema of collected pairs that people answered: which data their numbers are about.
_PEOPLE = b"people answered about"


class Round:
    """One round of one method and seed."""

    def __init__(self, params: Collect, inputs: Inputs, out: Out) -> None:
        from cartograph.pairs.tables import load_task

        self.params, self.inputs, self.space = params, inputs, out.workspace
        self.encode = out.workspace.settings.of(Encode)
        self.method, self.seed, self.number = str(out.cell["method"]), int(out.cell["seed"]), int(out.cell["round"])
        self.folder = out[folder_of(self.method, self.seed, self.number)]
        self.task = load_task(inputs[PAIRS])

    def run(self) -> str:
        """Ask, train, score, and choose."""
        from cartograph.data.parquet import write_parquet
        from cartograph.errors import InputError
        from cartograph.pairs.rounds import require_budget
        from cartograph.pairs.tables import SKIPPED

        require_budget(self.task, self.params.sizes)
        table = self._labels_so_far()
        write_parquet(table, self.folder / "collected.parquet")
        answered = table.filter(table["label"].to_numpy() != SKIPPED)
        if not len(answered):
            raise InputError(
                f"all {len(table):,} pairs up to {sheet_of(self.number)} are answered `skip`, so there is nothing to train on; answer some "
                "of them yes or no."
            )
        model, read = self._train(answered)
        scored = self._score(model, read)
        if self.number == self.params.rounds:
            (self.folder / "model").mkdir()
            model.save(self.folder / "model")
        elif self.method in self._adaptive:
            self._save_next(table, read, model.calibration)
        positive = int((answered["label"].to_numpy() == 1).sum())
        numbers = {"labels": len(table), "told": len(answered), "positive": positive, **scored}
        content = {"method": self.method, "seed": self.seed, "round": self.number, "numbers": numbers}
        write_json(self.folder / "scores.json", content)
        tested = f", AP {scored['test.average_precision']:.3f}" if "test.average_precision" in scored else ""
        return f"{len(table):,} labels, {positive:,} positive{tested}"

    @property
    def _adaptive(self) -> tuple[str, ...]:
        from cartograph.pairs.methods import ADAPTIVE

        return ADAPTIVE

    @property
    def _before(self) -> Path:
        return self.inputs[folder_of(self.method, self.seed, self.number - 1)]

    def _labels_so_far(self) -> pa.Table:
        """Return all labels so far, this round's among them."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.parquet as pq

        from cartograph.pairs.tables import COLLECTED, collected_table, keys_of

        width = len(self.task.right)
        before = COLLECTED.empty_table() if self.number == 1 else pq.read_table(self._before / "collected.parquet")
        asked = np.sort(keys_of(before, width))
        if self.number > 1 and self.method in self._adaptive:
            batch = pq.read_table(self._before / "next.parquet")["key"].to_numpy()
        else:
            batch = self._batch(self.number, asked, None)
        table = pa.concat_tables([before, collected_table(batch, self._answers(batch), self.number, width)])
        if self.params.oracle == "people":
            from cartograph.pairs.answers import require_consistent

            sheets = [sheet_of(number) for number in table["round"].to_pylist()]
            require_consistent(self.task, keys_of(table, width), table["label"].to_numpy(), sheets)
            table = table.replace_schema_metadata({_PEOPLE: self._data})
        return table

    def _batch(self, number: int, asked: Keys, model: tuple[UtteranceVectors, Calibration] | None) -> Keys:
        from cartograph.pairs.rounds import Method, next_batch

        params = self.params
        method = Method(self.method, self.seed, params.seed_set, self.encode.neighbours, self.encode.index)
        similar = similar_of(self.inputs[ENCODED])
        return next_batch(method, self.task, number, params.sizes[number - 1], asked, similar, model, self._positives_to_match())

    def _positives_to_match(self) -> int:
        import pyarrow.parquet as pq

        if self.method != MATCHED:
            return 0
        found = pq.read_table(self.inputs[folder_of("uncertainty", self.seed, self.number)] / "collected.parquet")
        return int((found["label"].to_numpy() == 1).sum())

    def _answers(self, batch: Keys) -> Array:
        from cartograph.errors import WaitingError
        from cartograph.pairs.answers import answer_sheet, read_answers

        if self.params.oracle == "imputed":
            return self.task.labels(batch)
        name = sheet_of(self.number)
        if name in self.inputs:
            return read_answers(self.inputs[name].read_bytes(), name, self.task, batch)
        known = self._earlier_answers(name, batch)
        path = self.space.resolve(name)
        write_whole(path, answer_sheet(self.task, batch, known))
        before = f" {len(known):,} of them were answered before, and have that answer there." if known else ""
        raise WaitingError(
            f"round {self.number} asks about {len(batch):,} pairs: answer them in {path} (yes, no, or skip), and run this again.{before}"
        )

    def _earlier_answers(self, name: str, batch: Keys) -> dict[int, int]:
        """Return what people answered before of a round's pairs, where its sheet is gone or no longer fitted.

        That is in the outputs of this round and later ones as they were before, if the data is still the same, and in the sheet as it
        was renamed.
        """
        import pyarrow.parquet as pq

        from cartograph.pairs.answers import answers_in, before_of
        from cartograph.pairs.tables import keys_of

        known: dict[int, int] = {}
        for number in range(self.number, self.params.rounds + 1):
            path = self.space.resolve(folder_of(self.method, self.seed, number)) / "collected.parquet"
            try:
                table = pq.read_table(path)
            except (OSError, ValueError):
                continue
            if (table.schema.metadata or {}).get(_PEOPLE) == self._data:
                known |= zip(keys_of(table, len(self.task.right)).tolist(), table["label"].to_pylist(), strict=True)
        renamed = self.space.resolve(before_of(name))
        if renamed.exists():
            known |= answers_in(renamed.read_bytes(), before_of(name), self.task)[0]
        return {key: known[key] for key in batch.tolist() if key in known}

    @cached_property
    def _data(self) -> bytes:
        from tasks.engine.digest import digest_path

        return digest_path(self.inputs[PAIRS]).encode()

    def _train(self, answered: pa.Table) -> tuple[CosineModel, UtteranceVectors]:
        """Return the model that all labels so far make, and its vectors."""
        import numpy as np

        from cartograph.pairs.models.learner import TrainingOptions

        params = self.params
        start = learner(self.encode, self.task, self.inputs[ENCODED])
        how = TrainingOptions(params.epochs, params.batch_size, params.learning_rate, params.head_factor, params.threads)
        pairs, seed = (answered["left"].to_numpy(), answered["right"].to_numpy()), np.random.SeedSequence((self.seed, self.number))
        with progress(f"round {self.number}", "pairs") as update:
            model = start.train(pairs, answered["label"].to_numpy(), how, int(seed.generate_state(1)[0]), update)
        return model, start.vectors()

    def _score(self, model: CosineModel, read: UtteranceVectors) -> dict[str, float]:
        """Write what the model says of dev and test pairs; return the numbers by split."""
        import numpy as np

        from cartograph.pairs.estimate import bootstrap_scores
        from cartograph.pairs.rounds import score
        from cartograph.pairs.tables import load_sample

        numbers: dict[str, float] = {}
        for split in _SPLITS:
            path = self.inputs[ENCODED] / f"sample-{split}.parquet"
            if not path.exists():
                continue
            sample = load_sample(path)
            scored = score(self.task, split, sample, read, model.calibration)
            numbers |= {f"{split}.{name}": value for name, value in scored.numbers.items()}
            if split == "test":
                # The same draws for every arm, so that arms can be compared draw by draw.
                draws = next(
                    bootstrap_scores(sample, self.task.space(split), [scored.score], self.params.resamples, np.random.default_rng(0))
                )
                np.save(self.folder / "resampled.npy", draws, allow_pickle=False)
                self._write_balanced(read, model)
                self._write_findings(scored)
        return numbers

    def _write_balanced(self, read: UtteranceVectors, model: CosineModel) -> None:
        import numpy as np

        from cartograph.pairs.balanced import balanced_draws
        from cartograph.pairs.rounds import balanced_pairs

        keys = balanced_pairs(self.task, "test")
        if keys is None:
            return
        space = self.task.space("test")
        probability = model.calibration.probability(read.cosine(space, keys))
        draws = balanced_draws(space, keys, self.task.labels(keys), probability, self.params.resamples, np.random.default_rng(0))
        np.save(self.folder / "balanced.npy", draws, allow_pickle=False)

    def _write_findings(self, scored: RoundScore) -> None:
        left, right = self.task.space("test").pairs(scored.mistakes)
        mistakes = [
            {"left": self.task.left[one], "right": self.task.right[other], "probability": round(float(probability), 6)}
            for one, other, probability in zip(left.tolist(), right.tolist(), scored.mistake_probabilities.tolist(), strict=True)
        ]
        putative = {name: keys.tolist() for name, keys in scored.false_positives.items()}
        write_json(self.folder / "findings.json", {"reliability": scored.reliability, "mistakes": mistakes, "putative": putative})

    def _save_next(self, table: pa.Table, read: UtteranceVectors, calibration: Calibration) -> None:
        import numpy as np
        import pyarrow as pa

        from cartograph.data.parquet import write_parquet
        from cartograph.pairs.tables import keys_of

        asked = np.sort(keys_of(table, len(self.task.right)))
        write_parquet(pa.table({"key": self._batch(self.number + 1, asked, (read, calibration))}), self.folder / "next.parquet")


def run(params: Collect, inputs: Inputs, out: Out) -> str:
    """Do one round of one method and seed; return what it found.

    Raises:
        InputError: the budget is above the pool, candidates run out, or answers do not fit.
        WaitingError: people have not answered yet; the sheet is there.
    """
    from tasks.collection.one_round import Round

    return Round(params, inputs, out).run()
