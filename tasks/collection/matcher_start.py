"""What the step `encode` writes for a matcher, and the matchers of the rounds that begin from it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.data.json_files import read_json, write_json
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.pairs.candidates import Candidates
    from cartograph.pairs.estimate import Sample
    from cartograph.pairs.matcher.blocked import Blocked
    from cartograph.pairs.matcher.features import Features
    from cartograph.pairs.matcher.model import Matcher
    from cartograph.pairs.matcher.scorer import MatcherScorer, MatcherTask
    from cartograph.pairs.models.learner import Learner, UtteranceVectors
    from cartograph.pairs.task import Task

START, DEV_SCORES, EMBEDDER = "start.json", "dev-scores.npy", "embedder"
_WIDTH = 256
_SPLITS = ("train", "dev", "test")


class MatcherStart:
    """Candidates and features of a task's splits, as they are made.

    Args:
        task: the task.
        neighbours: candidates per record and kind of similarity.
        vectors: an encoder's, where there is one.
    """

    def __init__(self, task: Task, neighbours: int, vectors: UtteranceVectors | None) -> None:
        self.task, self.neighbours = task, neighbours
        self.features = features_of(task, vectors)
        self.blocked: dict[str, Blocked] = {}

    def candidates(self, split: str) -> Candidates:
        """Return the pairs of a split that blocking proposes, with the label-free score that unites all similarities."""
        import numpy as np

        from cartograph.pairs.candidates import Candidates
        from cartograph.pairs.matcher.blocked import COMBINED, block
        from cartograph.pairs.pair_space import is_among

        space = self.task.space(split)
        same = next((known for known in self.blocked.values() if np.array_equal(known.space.left, space.left)), None)
        # Splits by pairs have the same utterances, hence the same candidates.
        if same is None:
            with progress(f"candidates of {split}", "records") as update:
                found = block(space, len(self.task.left), self.features, self.neighbours, update)
        else:
            found = replace(same, space=space)
        self.blocked[split] = found
        kept = ~is_among(found.keys, space.excluded)
        score = found.scores[COMBINED][kept].astype(np.float32)
        return Candidates(found.keys[kept], score, np.ones(len(score), np.int8))

    def recall(self, split: str) -> tuple[int, int]:
        """Return how many positives of a split blocking proposes, and how many there are."""
        import numpy as np

        positives, found = self.task.positives(split), self.blocked[split]
        return int(np.isin(positives, found.keys[found.blocked]).sum()), len(positives)

    def save(self, samples: dict[str, Sample], folder: Path) -> dict[str, float]:
        """Write candidates, features and the label-free score that is best on dev; return that of each on dev."""
        import numpy as np

        from cartograph.pairs.estimate import curve
        from cartograph.pairs.matcher.blocked import COMBINED
        from cartograph.pairs.matcher.model import Matcher
        from cartograph.pairs.matcher.scorer import MatcherTask

        for split, found in self.blocked.items():
            stated = self.task.stated(split)[0]
            wanted = np.concatenate([samples[split].keys, stated, self.task.positives(split)]) if split in samples else stated
            self.blocked[split] = found.with_pairs(wanted, self.features)
            with (folder / f"blocked-{split}.npz").open("wb") as file:
                np.savez(file, allow_pickle=False, **self.blocked[split].arrays())
        own, name = MatcherTask(self.blocked, lambda: self.features), COMBINED
        dev: dict[str, float] = {}
        if "dev" in samples:
            space = self.task.space("dev")
            scores = self.blocked["dev"].scores
            for prior in scores:
                score = scorer_of(Matcher(prior), own).score(space, samples["dev"].keys)
                dev[prior] = curve(samples["dev"], score).average_precision
            name = max(dev, key=lambda prior: dev[prior])
        if len(self.task.fields) < 2:
            from cartograph.pairs.models.untrained import save_untrained_bow

            (folder / EMBEDDER).mkdir()
            save_untrained_bow(self.task, 0, folder / EMBEDDER, _WIDTH)
        write_json(folder / START, {"prior": name, "dev": dev})
        if "test" in samples:
            scorer = scorer_of(Matcher(name), own)
            np.save(folder / "untrained-test.npy", scorer.score(self.task.space("test"), samples["test"].keys), allow_pickle=False)
        return dev


def features_of(task: Task, vectors: UtteranceVectors | None) -> Features:
    """Return the features of a task's pairs."""
    from cartograph.pairs.matcher.features import Features
    from cartograph.pairs.matcher.records import Records

    records = Records(task.left, task.left if task.symmetric else task.right, task.fields)
    return Features(records, None if vectors is None else {"encoder": (vectors.left, vectors.right)})


def scorer_of(matcher: Matcher, task: MatcherTask) -> MatcherScorer:
    """Return a matcher as a round uses it."""
    from cartograph.pairs.matcher.scorer import MatcherScorer

    return MatcherScorer(matcher, task)


def matcher_task(task: Task, folder: Path, vectors: UtteranceVectors | None) -> MatcherTask:
    """Return the candidates and features that ``MatcherStart.save`` wrote."""
    import numpy as np

    from cartograph.pairs.matcher.blocked import Blocked
    from cartograph.pairs.matcher.scorer import MatcherTask

    blocked = {}
    for split in _SPLITS:
        path = folder / f"blocked-{split}.npz"
        if path.exists():
            with np.load(path, allow_pickle=False) as arrays:
                blocked[split] = Blocked.from_arrays(arrays, task.space(split), len(task.left))
    return MatcherTask(blocked, lambda: features_of(task, vectors))


def trained(
    own: MatcherTask, task: Task, folder: Path, answered: pa.Table, seed: int, earlier: Path | None, out: Path, *, by_answers: bool = False
) -> tuple[MatcherScorer, MatcherScorer, dict[str, object]]:
    """Return the matcher of a round, the one that all its labels make, and why it was chosen.

    The round's matcher is the one that ``matcher.scorer.choose`` takes on dev: untrained, the round before's, or the new one, which for
    single texts is trained with learnt vectors and without, and is what ranks better on dev. Where there is no dev split with a positive
    pair it is the new one with vectors. The next batch is chosen by that one in any case: its candidates include pairs in other words.

    Args:
        own: candidates and features.
        task: the task.
        folder: what ``encode`` wrote.
        answered: labels so far, as ``tables.COLLECTED``.
        seed: of the training.
        earlier: the folder of the round before.
        out: the folder of this round; the round's matcher is written into its ``model``.
        by_answers: whether the new matcher is judged by the answers that it has not seen first, as most of dev's positives are stated by
            nobody.
    """
    import numpy as np

    from cartograph.pairs.matcher.scorer import choose
    from cartograph.pairs.tables import keys_of, load_sample

    start = read_json(folder / START)
    prior = str(start["prior"])
    learner = text_learner(task, folder)
    keys, labels = keys_of(answered, len(task.right)), answered["label"].to_numpy().astype(np.int8)
    asking = own.fit(keys, labels, prior, seed, learner)
    path = folder / "sample-dev.parquet"
    if not path.exists():
        _keep(asking, "new", earlier, learner, out)
        return asking, asking, {"model": "new"}
    space, sample = task.space("dev"), load_sample(path)
    new = asking if by_answers else own.better(asking, keys, labels, prior, seed, sample)
    untrained = own.calibrated(keys, labels, prior)
    scores = {one: scorer.score(space, sample.keys) for one, scorer in (("untrained", untrained), ("new", new))}
    if earlier is not None and read_json(earlier / "scores.json")["chosen"]["model"] != "untrained":
        scores["earlier"] = np.load(earlier / DEV_SCORES, allow_pickle=False)
    name, dev = choose(scores, space, sample, new.matcher.gain, partly_stated=by_answers)
    found = new if name == "new" else untrained
    if name == "earlier" and earlier is not None:
        found = _loaded(earlier / "model", own, learner)
    np.save(out / DEV_SCORES, scores[name], allow_pickle=False)
    _keep(found, name, earlier, learner, out)
    gain = new.matcher.gain if by_answers else None
    measured = {} if gain is None else {"gain": {"value": round(gain.value, 6), "error": round(gain.error, 6)}}
    return found, asking, {"model": name, "dev": dev, **measured}


def best_round(folders: Sequence[Path]) -> Path:
    """Return the folder of the round whose matcher is best on dev, the first of equals; there must be one."""
    return max(folders, key=lambda folder: float(read_json(folder / "scores.json")["numbers"].get("dev.average_precision", 0.0)))


def text_learner(task: Task, folder: Path) -> Learner | None:
    """Return what learns vectors of a task's texts from labels; None where records have fields."""
    if not (folder / EMBEDDER).exists():
        return None
    from cartograph.pairs.models.learner import Learner

    return Learner("cosine-bow", task, str(folder / EMBEDDER))


def _keep(found: MatcherScorer, name: str, earlier: Path | None, learner: Learner | None, out: Path) -> None:
    """Write a round's matcher, with the embedder behind its learnt vectors."""
    if name == "earlier" and earlier is not None:
        shutil.copytree(earlier / "model", out / "model")
        return
    (out / "model").mkdir()
    found.matcher.save(out / "model")
    if found.matcher.learnt and learner is not None:
        learner.embedder.save(out / "model")


def _loaded(folder: Path, own: MatcherTask, learner: Learner | None) -> MatcherScorer:
    """Return a matcher that was saved, with the vectors that it learnt."""
    from cartograph.pairs.matcher.model import Matcher

    matcher = Matcher.load(folder)
    if not matcher.learnt or learner is None:
        return scorer_of(matcher, own)
    from cartograph.pairs.models.bow import CosineBow

    learner.embedder.load_state_dict(CosineBow.load(folder).state_dict())
    return scorer_of(matcher, own.with_vectors(learner.vectors()))
