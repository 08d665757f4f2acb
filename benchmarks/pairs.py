"""What labels of pairs are worth: average precision over all pairs by method and number of labels, three seeds.

`python benchmarks/pairs.py [--data amazon_google,questions,wikiqa] [--seeds 1,2,3] [--encoder FOLDER]
 [--arms uncertainty,forest,cosine-bow,likeness,random] [--rows 12000] [--labels 100,300,600,1000,1500]`

Every average precision is exact: all pairs of the test split are ranked. Without a label: TF-IDF of words and of characters 3 to 4
(scikit-learn), an encoder's cosine where one is given, and the matcher (`init-pairs`' default) as it begins. With labels: the matcher,
whose model of each round is chosen on dev pairs, on labels by its own uncertainty, by likeness alone, and at random; and a random forest on
13 features of a pair (scikit-learn), on the matcher's labels, and on labels by its own uncertainty; for texts without fields also
`cosine-bow`, on the matcher's labels, and on labels by its own uncertainty.

What was tuned on what, and what it shows: `benchmarks/results/pairs.txt`. The *test* split of amazon_google was seen while the matcher was
made, so that its numbers are not held out.

Data: amazon_google (entity tables and given splits) and WikiQA, read from CARTOGRAPH_DATA or ../shared/data, and generated questions. A
folder in --data is a task of one's own: a.csv, b.csv unless it is one table (a column `id`, the others text), and pairs.csv (left_id,
right_id, label) with all matches; splits are drawn.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tasks.engine.surroundings import prepare

prepare()

from pair_peers import Exact, collect_by_forest, forest, peer_similarities  # noqa: E402
from real_data import DATA  # noqa: E402

from cartograph.pairs.candidates import nearest  # noqa: E402
from cartograph.pairs.estimate import Sample, curve, draw_sample  # noqa: E402
from cartograph.pairs.matcher.blocked import COMBINED, Blocked, block  # noqa: E402
from cartograph.pairs.matcher.features import Features  # noqa: E402
from cartograph.pairs.matcher.model import Matcher  # noqa: E402
from cartograph.pairs.matcher.records import Records  # noqa: E402
from cartograph.pairs.matcher.scorer import MatcherScorer, MatcherTask, choose  # noqa: E402
from cartograph.pairs.methods import least_certain, most_similar, spread_out  # noqa: E402
from cartograph.pairs.models.learner import Learner, TrainingOptions  # noqa: E402
from cartograph.pairs.models.untrained import save_untrained_bow  # noqa: E402
from cartograph.pairs.pair_space import is_among  # noqa: E402
from cartograph.pairs.scorer import CosineScorer  # noqa: E402
from cartograph.pairs.task import Task  # noqa: E402
from tasks.collection.pairs import Pairs, inputs_of, read_pairs  # noqa: E402
from tasks.commands.init_pairs import PRESETS  # noqa: E402

CODE = Path(__file__).resolve().parent.parent
ROUNDS = [100, 300, 600, 1_000, 1_500]
NEIGHBOURS = 50


def task_of(name: str, rows: int) -> Task:
    """Return one of the three tasks, or that of a folder, read as `init-pairs` reads it."""
    if name == "questions":
        params = Pairs(rows=rows)
        from tasks.collection.pairs import _built_in_task

        return _built_in_task(params)[0].task
    content: dict[str, Any] = {"source": "files"}
    if Path(name).is_dir():
        sides = [Path(name) / file for file in ("a.csv", "b.csv") if (Path(name) / file).exists()]
        content |= {"train": [str(Path(name) / "pairs.csv")]} | PRESETS["records" if len(sides) > 1 else "one-table"]
        for side, path in zip(("left_table", "right_table"), sides, strict=False):
            with path.open(encoding="utf-8", newline="") as file:
                text = [column for column in next(csv.reader(file)) if column != "id"]
            content[side] = {"path": str(path), "text": text}
    elif name == "wikiqa":
        content |= {split: [str(DATA / f"wikiqa/WikiQA-{split}.tsv")] for split in ("train", "dev", "test")} | PRESETS["wikiqa"]
    else:
        files = {"train": "train", "dev": "valid", "test": "test"}
        content |= {split: [str(DATA / f"amazon_google/{file}.csv")] for split, file in files.items()} | PRESETS["entities"]
        for side, table in (("left_table", "tableA"), ("right_table", "tableB")):
            content[side] = {"path": str(DATA / f"amazon_google/{table}.csv"), "text": ["title", "manufacturer", "price"]}
    params = Pairs.model_validate(content)
    from cartograph.config import Settings

    settings = Settings({"pairs": params})
    files = {name: Path(name.removeprefix("file:")) for name in inputs_of(settings)}
    return read_pairs(params, files)[0].task


def collect(
    own: MatcherTask, task: Task, test: Exact, chosen_by: str, seed: int, dev: Sample, bow: Learner | None, rounds: list[int]
) -> None:
    """Print the line of each number of labels of one seed."""
    rng, space = np.random.default_rng(seed), task.space("train")
    starts = {name: MatcherScorer(Matcher(name), own) for name in own.blocked["dev"].scores}
    of_dev = {name: scorer.score(task.space("dev"), dev.keys) for name, scorer in starts.items()}
    free = {name: curve(dev, score).average_precision for name, score in of_dev.items()}
    prior = max(free, key=lambda name: free[name])
    model = asking = starts[prior]
    learner = learner_of(task, 256)
    start = model.candidates(space)
    asked, kept = np.empty(0, np.int64), of_dev[prior]
    for number in rounds:
        size = number - len(asked)
        known = np.sort(asked)
        if chosen_by == "random":
            batch = space.draw(size, known, rng)
        elif chosen_by == "likeness":
            batch = most_similar(start, size, known)
        elif len(asked):
            near = asking.candidates(space)
            batch = least_certain(near, asking.probability(near.similarity), size, known)
        else:
            batch = spread_out(start, size, known, rng)
        asked = np.concatenate([asked, batch])
        label = task.labels(asked)
        asking = own.fit(asked, label, prior, seed, learner)
        new = own.better(asking, asked, label, prior, seed, dev)
        scores = {"untrained": of_dev[prior], "new": new.score(task.space("dev"), dev.keys)}
        if model.matcher.trained:
            scores["earlier"] = kept
        name = choose(scores, task.space("dev"), dev, new.matcher.gain)[0]
        model = {"untrained": starts[prior], "new": new, "earlier": model}[name]
        kept = scores[name]
        tested = model.task.blocked["test"]
        found = test.of_candidates(tested, model.matcher.score(tested), "TF-IDF characters")
        line = f"{chosen_by:11} | {seed} | {number:5,} | {int(label.sum()):4} | {found:.4f}"
        if chosen_by == "uncertainty":
            line += f" | {forest(own, task, asked, label, seed, test):.4f} | {cosine_bow(bow, task, asked, label, seed, test)}"
        print(f"{line} | {'trained' if model.matcher.trained else 'untrained'}", flush=True)


def collect_by_cosine(learner: Learner, task: Task, test: Exact, seed: int, rounds: list[int]) -> None:
    """Print the lines of `cosine-bow`, which chooses its labels by its own uncertainty, from the pairs most alike before any training."""
    space, vectors = task.space("train"), learner.vectors()
    found = test.average_precision(dense_cosine(learner, test))
    print(f"{'cosine-bow':11} | {seed} |     0 |    0 | - | - | {found:.4f} | untrained", flush=True)
    near, probability = nearest(space, *vectors.sides(space), NEIGHBOURS), np.empty(0)
    asked = most_similar(near, rounds[0], np.empty(0, np.int64))
    for number in rounds:
        if number > len(asked):
            asked = np.concatenate([asked, least_certain(near, probability, number - len(asked), np.sort(asked))])
        label = task.labels(asked)
        model = learner.train(space.pairs(asked), label, TrainingOptions(epochs=6), seed)
        near = CosineScorer(learner.vectors(), model.calibration, NEIGHBOURS).candidates(space)
        probability = model.calibration.probability(near.similarity)
        found = test.average_precision(dense_cosine(learner, test))
        print(f"{'cosine-bow':11} | {seed} | {number:5,} | {int(label.sum()):4} | - | - | {found:.4f} | trained", flush=True)


def cosine_bow(learner: Learner | None, task: Task, asked: np.ndarray, label: np.ndarray, seed: int, test: Exact) -> str:
    """Return the average precision of `cosine-bow` on the same labels; - for tables."""
    if learner is None:
        return "-"
    learner.train(task.space("train").pairs(asked), label, TrainingOptions(epochs=6), seed)
    return f"{test.average_precision(dense_cosine(learner, test)):.4f}"


def dense_cosine(learner: Learner, test: Exact) -> np.ndarray:
    """Return the cosine of all cells under the learner's present state."""
    left, right = learner.vectors().sides(test.space)
    return left @ right.T


def learner_of(task: Task, width: int | None) -> Learner | None:
    """Return what learns vectors of single texts, as `encode` writes it, with so many numbers (None: its own); None for tables."""
    if len(task.fields) > 1:
        return None
    with tempfile.TemporaryDirectory() as folder:
        save_untrained_bow(task, 0, Path(folder), width)
        return Learner("cosine-bow", task, folder)


def compare(name: str, seeds: list[int], arms: list[str], encoder: str | None, neighbours: int, rows: int, rounds: list[int]) -> None:
    """Print everything about one task."""
    started, task = time.perf_counter(), task_of(name, rows)
    name = Path(name).name
    vectors = None
    if encoder:
        from cartograph.pairs.models.untrained import untrained_encoder_vectors

        found = untrained_encoder_vectors(encoder, task.left, task.right, "cpu")
        vectors = {"encoder": (found.left, found.right)}
    features = Features(Records(task.left, task.right, task.fields), vectors)
    blocked: dict[str, Blocked] = {}
    for split in ("train", "dev", "test"):
        space, positives = task.space(split), task.positives(split)
        blocked[split] = block(space, len(task.left), features, neighbours)
        recall = is_among(positives, blocked[split].keys).mean()
        print(
            f"{name} {split}: {space.size:,} pairs, {len(positives):,} positive, {recall:.1%} of them among "
            f"{len(blocked[split].keys):,} candidates"
        )
        if split == "dev":
            near = MatcherScorer(Matcher(COMBINED), MatcherTask(blocked, lambda: features)).candidates(space)
            sample = draw_sample(task, split, near, 100_000, np.random.default_rng(0))
            blocked[split] = blocked[split].with_pairs(sample.keys, features)
        if split == "test":
            exact = Exact(space, positives, peer_similarities(task, space, encoder))
    own = MatcherTask(blocked, lambda: features)
    for peer, score in exact.dense.items():
        print(f"no label: {peer:18} {exact.average_precision(score):.4f}")
    for prior, score in blocked["test"].scores.items():
        print(f"no label: matcher, {prior:10} {exact.of_candidates(blocked['test'], score, 'TF-IDF characters'):.4f}")
    bow = learner_of(task, None)
    print(
        "labels by   | seed | labels | positive | matcher | random forest on the same labels | cosine-bow on the same labels | the model is"
    )
    for chosen_by in arms:
        for seed in seeds:
            if chosen_by == "forest":
                collect_by_forest(own, task, exact, seed, rounds)
            elif chosen_by != "cosine-bow":
                collect(own, task, exact, chosen_by, seed, sample, bow, rounds)
            elif fresh := learner_of(task, None):
                collect_by_cosine(fresh, task, exact, seed, rounds)
    print(f"{name}: {time.perf_counter() - started:.0f} s\n", flush=True)


def main() -> None:
    """Print machine, load and versions, then every task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=lambda text: text.split(","), default=["amazon_google", "questions", "wikiqa"])
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=[1, 2, 3])
    parser.add_argument("--arms", type=lambda text: text.split(","), default=["uncertainty", "forest", "cosine-bow", "likeness", "random"])
    parser.add_argument("--encoder")
    parser.add_argument("--neighbours", type=int, default=40)
    parser.add_argument("--rows", type=int, default=12_000)
    parser.add_argument("--labels", type=lambda text: [int(number) for number in text.split(",")], default=ROUNDS)
    arguments = parser.parse_args()
    names = ", ".join(f"{name} {version(name)}" for name in ("numpy", "rapidfuzz", "scikit-learn"))
    print(f"Python {platform.python_version()}, {names}; {platform.machine()}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for name in arguments.data:
        compare(name, arguments.seeds, arguments.arms, arguments.encoder, arguments.neighbours, arguments.rows, arguments.labels)


if __name__ == "__main__":
    main()
