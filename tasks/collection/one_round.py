"""One round of one method and seed: it asks about its batch, trains on all labels so far, scores the model, and chooses the next batch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.data.json_files import write_json
from tasks.collection.encode import DATA as ENCODED
from tasks.collection.encode import PAIRS, learner, similar_of, starting_vectors
from tasks.collection.pairs import partly_stated
from tasks.collection.parameters import MATCHED, MATCHER, TEST_SCORES, Collect, Encode, folder_of, sheet_of
from tasks.collection.people import People
from tasks.engine.step import Inputs, Out
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.data.arrays import Integers8
    from cartograph.pairs.pair_space import Keys
    from cartograph.pairs.rounds import RoundScore
    from cartograph.pairs.scorer import Scorer

_SPLITS = ("dev", "test")


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
        model, asking, choice = self._train(answered)
        scored = self._score(model)
        if self.number < self.params.rounds and self.method in self._adaptive:
            self._save_next(table, asking)
        asked = answered.filter(answered["round"].to_numpy() > 0)
        positive = int((asked["label"].to_numpy() == 1).sum())
        given = len(table.filter(table["round"].to_numpy() == 0))
        numbers = {"labels": len(table) - given, "answered": len(asked), "positive": positive, "given": given, **scored}
        content = {"method": self.method, "seed": self.seed, "round": self.number, "numbers": numbers, "chosen": choice}
        write_json(self.folder / "scores.json", content)
        low = " (too low: unstated test pairs count as negative)" if partly_stated(self.space.settings) else ""
        tested = f", AP {scored['test.average_precision']:.3f}{low}" if "test.average_precision" in scored else ""
        return f"{len(table) - given:,} labels, {positive:,} positive{tested}"

    @property
    def _adaptive(self) -> tuple[str, ...]:
        from cartograph.pairs.methods import ADAPTIVE

        return ADAPTIVE

    @property
    def _before(self) -> Path:
        return self.inputs[folder_of(self.method, self.seed, self.number - 1)]

    @property
    def _people(self) -> People:
        before = self._before if self.number > 1 else None
        resolve, rounds = self.space.resolve, self.params.rounds
        return People(self.task, self.inputs, resolve, self.folder, before, self.method, self.seed, self.number, rounds)

    def _answers(self, batch: Keys) -> Integers8:
        return self.task.labels(batch) if self.params.oracle == "imputed" else self._people.answers(batch)

    def _labels_so_far(self) -> pa.Table:
        """Return all labels so far, this round's among them."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        from cartograph.pairs.tables import collected_table

        width = len(self.task.right)
        before = self._given() if self.number == 1 else pq.read_table(self._before / "collected.parquet")
        if self.number > 1 and self.method in self._adaptive:
            batch = pq.read_table(self._before / "next.parquet")["key"].to_numpy()
        else:
            batch = self._batch(self.number, self._known(before), None)
        table = pa.concat_tables([before, collected_table(batch, self._answers(batch), self.number, width)])
        if self.params.oracle == "people":
            table = self._people.consistent(table)
        return table

    def _given(self) -> pa.Table:
        """Return the labels that a collection begins with, as round 0: where people answer, all stated train pairs."""
        from cartograph.pairs.tables import COLLECTED, collected_table

        if self.params.oracle != "people" or self.params.given == "none":
            return COLLECTED.empty_table()
        keys, _ = self.task.stated("train")
        return collected_table(keys, self.task.labels(keys), 0, len(self.task.right))

    def _known(self, table: pa.Table) -> Keys:
        """Return the pairs not to ask about, ascending: those with a label, and those whose label follows from others."""
        import numpy as np

        from cartograph.pairs.implied import implied_pairs
        from cartograph.pairs.tables import keys_of

        keys = np.unique(keys_of(table, len(self.task.right)))
        if self.params.oracle != "people":
            return keys
        return np.union1d(keys, implied_pairs(self.task, keys_of(table, len(self.task.right)), table["label"].to_numpy()))

    def _batch(self, number: int, asked: Keys, model: Scorer | None) -> Keys:
        from cartograph.pairs.rounds import Method, next_batch

        params = self.params
        method = Method(self.method, self.seed, params.seed_set)
        similar = similar_of(self.inputs[ENCODED])
        return next_batch(method, self.task, number, params.sizes[number - 1], asked, similar, model, self._positives_to_match())

    def _positives_to_match(self) -> int:
        import pyarrow.parquet as pq

        if self.method != MATCHED:
            return 0
        found = pq.read_table(self.inputs[folder_of("uncertainty", self.seed, self.number)] / "collected.parquet")
        return int((found["label"].to_numpy() == 1).sum())

    def _train(self, answered: pa.Table) -> tuple[Scorer, Scorer, dict[str, object]]:
        """Return the round's model, the one that chooses the next batch, and how it was chosen; write what is kept of the model."""
        import numpy as np

        from tasks.collection.matcher_start import matcher_task, trained

        seed = int(np.random.SeedSequence((self.seed, self.number)).generate_state(1)[0])
        if self.encode.model != MATCHER:
            scorer = self._train_cosine(answered, seed)
            return scorer, scorer, {"model": "new"}
        folder = self.inputs[ENCODED]
        vectors = starting_vectors(self.encode, self.task, folder) if self.encode.pretrained else None
        earlier = self._before if self.number > 1 else None
        own, by_answers = matcher_task(self.task, folder, vectors), partly_stated(self.space.settings)
        return trained(own, self.task, folder, answered, seed, earlier, self.folder, by_answers=by_answers)

    def _train_cosine(self, answered: pa.Table, seed: int) -> Scorer:
        """Return the cosine model that all labels so far make; that of the last round is kept."""
        from cartograph.pairs.models.learner import TrainingOptions
        from cartograph.pairs.scorer import CosineScorer

        params = self.params
        start = learner(self.encode, self.task, self.inputs[ENCODED])
        how = TrainingOptions(params.epochs, params.batch_size, params.learning_rate, params.head_factor, params.threads)
        pairs = answered["left"].to_numpy(), answered["right"].to_numpy()
        with progress(f"round {self.number}", "pairs") as update:
            model = start.train(pairs, answered["label"].to_numpy(), how, seed, update)
        if self.number == params.rounds:
            (self.folder / "model").mkdir()
            model.save(self.folder / "model")
        return CosineScorer(start.vectors(), model.calibration, self.encode.neighbours, self.encode.index)

    def _score(self, model: Scorer) -> dict[str, float]:
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
            scored = score(self.task, split, sample, model)
            numbers |= {f"{split}.{name}": value for name, value in scored.numbers.items()}
            if split == "test":
                # The same draws for every arm, so that arms can be compared draw by draw.
                draws = next(
                    bootstrap_scores(sample, self.task.space(split), [scored.score], self.params.resamples, np.random.default_rng(0))
                )
                np.save(self.folder / "resampled.npy", draws, allow_pickle=False)
                if self.params.oracle == "people":
                    np.save(self.folder / TEST_SCORES, scored.score, allow_pickle=False)
                self._write_balanced(model)
                self._write_findings(scored)
        return numbers

    def _write_balanced(self, model: Scorer) -> None:
        import numpy as np

        from cartograph.pairs.balanced import balanced_draws
        from cartograph.pairs.rounds import balanced_pairs

        keys = balanced_pairs(self.task, "test")
        if keys is None:
            return
        space = self.task.space("test")
        probability = model.probability(model.score(space, keys))
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

    def _save_next(self, table: pa.Table, model: Scorer) -> None:
        import numpy as np
        import pyarrow as pa

        from cartograph.data.parquet import write_parquet

        again = self._people.again(table) if self.params.oracle == "people" else np.empty(0, np.int64)
        chosen = self._batch(self.number + 1, self._known(table), model)
        batch = np.concatenate([again, chosen])[: len(chosen)]
        write_parquet(pa.table({"key": batch}), self.folder / "next.parquet")


def run(params: Collect, inputs: Inputs, out: Out) -> str:
    """Do one round of one method and seed; return what it found.

    Raises:
        InputError: the budget is above the pool, candidates run out, or answers do not fit.
        WaitingError: people have not answered yet; the sheet is there.
    """
    from tasks.collection.one_round import Round

    return Round(params, inputs, out).run()
