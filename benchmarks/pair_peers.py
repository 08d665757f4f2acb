"""What `benchmarks/pairs.py` compares with: exact average precision, similarities without a label, and a random forest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from cartograph.pairs.matcher.blocked import COMBINED, Blocked
from cartograph.pairs.matcher.model import Matcher
from cartograph.pairs.matcher.scorer import MatcherScorer, MatcherTask
from cartograph.pairs.methods import least_certain, spread_out
from cartograph.pairs.pair_space import PairSpace
from cartograph.pairs.task import Task

FOREST = (
    ("text: words", "text: characters", "text: characters in order", "text: words in any order", "text: beginning (Jaro–Winkler)"),
    ("text: rare words shared, of all", "text: rare words shared, of the fewer", "text: codes shared, of all"),
    ("text: numbers shared, of all", "title: words", "title: characters", "title: beginning (Jaro–Winkler)", "price: amount"),
)


@dataclass
class Exact:
    """All pairs of a split, ranked exactly: similarities of all of them by row of the left record."""

    space: PairSpace
    positives: np.ndarray
    dense: dict[str, np.ndarray]

    @property
    def kept(self) -> np.ndarray:
        """Which cells are pairs of the split."""
        kept = np.ones((len(self.space.left), len(self.space.right)), bool)
        if self.space.symmetric:
            kept = np.triu(kept, 1)
        rows, columns = self.places(self.space.excluded)
        kept[rows, columns] = False
        return kept

    def places(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return row and column of each pair among the cells."""
        left, right = self.space.pairs(keys)
        return np.searchsorted(self.space.left, left), np.searchsorted(self.space.right, right)

    def average_precision(self, score: np.ndarray) -> float:
        """Return that of a score of every cell; pairs of one score are taken together."""
        rows, columns = self.places(self.positives)
        kept = self.kept
        at = score[rows, columns]
        thresholds = np.unique(at)[::-1]
        values = score[kept]
        values = np.sort(values[values >= thresholds[-1]])
        taken = len(values) - np.searchsorted(values, thresholds)
        hits = len(at) - np.searchsorted(np.sort(at), thresholds)
        recall = hits / len(at)
        return float(np.sum(np.diff(recall, prepend=0.0) * hits / taken))

    def of_candidates(self, pairs: Blocked, score: np.ndarray, fallback: str) -> float:
        """Return that of a score of the candidates; all others are ranked below them by a label-free similarity."""
        whole = self.dense[fallback].astype(np.float64) - 1e6
        rows, columns = self.places(pairs.keys[pairs.blocked])
        whole[rows, columns] = score[pairs.blocked]
        return self.average_precision(whole)


def peer_similarities(task: Task, space: PairSpace, encoder: str | None) -> dict[str, np.ndarray]:
    """Return the label-free scores of scikit-learn's TF-IDF, and of an encoder, of all cells."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [task.left[row] for row in space.left.tolist()], [task.right[row] for row in space.right.tolist()]
    whole = list(task.left) if task.symmetric else [*task.left, *task.right]
    found = {}
    for name, how in (("TF-IDF words", {}), ("TF-IDF characters", {"analyzer": "char", "ngram_range": (3, 4)})):
        fitted = TfidfVectorizer(dtype=np.float32, **how).fit(whole)
        found[name] = (fitted.transform(texts[0]) @ fitted.transform(texts[1]).T).toarray()
    if encoder:
        from cartograph.pairs.models.untrained import untrained_encoder_vectors

        vectors = untrained_encoder_vectors(encoder, task.left, task.right, "cpu")
        found["encoder"] = vectors.left[space.left] @ (vectors.left if task.symmetric else vectors.right)[space.right].T
    return found


def collect_by_forest(own: MatcherTask, task: Task, test: Exact, seed: int, rounds: list[int]) -> None:
    """Print the lines of a random forest that chooses its labels by its own uncertainty, from the same first batch."""
    rng, space, train, tested = np.random.default_rng(seed), task.space("train"), own.blocked["train"], own.blocked["test"]
    start = MatcherScorer(Matcher(COMBINED), own).candidates(space)
    asked, columns = spread_out(start, rounds[0], np.empty(0, np.int64), rng), forest_columns(train)
    near = train.table[train.places(start.keys)][:, columns]
    probability = np.empty(0)
    for number in rounds:
        if number > len(asked):
            asked = np.concatenate([asked, least_certain(start, probability, number - len(asked), np.sort(asked))])
        label = task.labels(asked)
        fitted = RandomForestClassifier(300, random_state=seed).fit(train.table[train.places(asked)][:, columns], label)
        probability = fitted.predict_proba(near)[:, 1]
        found = forest_score(fitted, tested, columns, test)
        print(f"{'forest':11} | {seed} | {number:5,} | {int(label.sum()):4} | - | {found:.4f} | -", flush=True)


def forest(own: MatcherTask, task: Task, asked: np.ndarray, label: np.ndarray, seed: int, test: Exact) -> float:
    """Return the average precision of a random forest on the same labels, the same candidates, and 13 features of a pair."""
    train, tested = own.pairs("train", asked), own.blocked["test"]
    columns = forest_columns(train)
    if len(np.unique(label)) < 2:
        return float("nan")
    fitted = RandomForestClassifier(300, random_state=seed).fit(train.table[train.places(asked)][:, columns], label)
    return forest_score(fitted, tested, columns, test)


def forest_columns(pairs: Blocked) -> list[int]:
    """Return the columns of the forest's features, as far as the task has them."""
    return [pairs.names.index(name) for part in FOREST for name in part if name in pairs.names]


def forest_score(fitted: RandomForestClassifier, tested: Blocked, columns: list[int], test: Exact) -> float:
    """Return a forest's average precision; its many equal shares are parted by characters in common, in its favour."""
    score = np.zeros(len(tested.keys))
    rows = np.flatnonzero(tested.blocked)
    score[rows] = fitted.predict_proba(tested.table[rows][:, columns])[:, 1]
    return test.of_candidates(tested, score + 1e-3 * tested.scores["characters"], "TF-IDF characters")
