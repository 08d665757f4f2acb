"""The step `encode`: the encoder before training: candidates of the train split, and the pairs that stand for all dev and test pairs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.config import Settings
from cartograph.data.json_files import write_json
from tasks.audit.pretrained_folder import local_folder
from tasks.collection.parameters import MATCHER, Encode
from tasks.engine.step import Hints, Inputs, Out, Step
from tasks.engine.workspace import user_file
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import numpy as np

    from cartograph.pairs.candidates import Candidates
    from cartograph.pairs.estimate import Sample
    from cartograph.pairs.models.learner import Learner, UtteranceVectors
    from cartograph.pairs.people_test import Questions
    from cartograph.pairs.task import Task

PAIRS, DATA, METRICS = "data/pairs", "data/encode", "reports/encode.metrics.json"
MODEL, SIMILAR, UNTRAINED = "model", "similar.parquet", "untrained-test.npy"
QUESTIONS = "test-questions.parquet"
_SAMPLED = 200


def run(params: Encode, inputs: Inputs, out: Out) -> str:
    """Write what all rounds share: the start of the model, the train pairs to choose among, the samples; return how many and the recall."""
    import numpy as np

    from cartograph.pairs.tables import load_task

    task, folder = load_task(inputs[PAIRS]), out[DATA]
    rng = np.random.default_rng(params.seed)
    numbers = _start_matcher(params, task, folder, rng) if params.model == MATCHER else _start_cosine(params, task, folder, rng)
    _save_questions(params, folder)
    write_json(out[METRICS], numbers)
    return f"{params.model}, {numbers['candidates']:,.0f} candidates, recall {numbers['recall']:.3f}"


def _save_questions(params: Encode, folder: Path) -> None:
    """Write which test pairs people are asked about."""
    import numpy as np
    import pyarrow as pa

    from cartograph.data.parquet import write_parquet
    from cartograph.pairs.people_test import draw_questions
    from cartograph.pairs.tables import load_sample

    if (folder / UNTRAINED).exists():
        sample, score = load_sample(folder / "sample-test.parquet"), np.load(folder / UNTRAINED, allow_pickle=False)
        found = draw_questions(sample, score, params.test_questions, np.random.default_rng((params.seed, 1)))
        write_parquet(pa.table({"row": found.rows, "weight": found.weight}), folder / QUESTIONS)


def questions_of(folder: Path) -> Questions:
    """Return the test pairs that people are asked about."""
    import pyarrow.parquet as pq

    from cartograph.pairs.people_test import Questions

    table = pq.read_table(folder / QUESTIONS)
    return Questions(table["row"].to_numpy(), table["weight"].to_numpy())


def _start_cosine(params: Encode, task: Task, folder: Path, rng: np.random.Generator) -> dict[str, float]:
    """Write the embedder and the pairs nearest each other under it; return the numbers, ``recall`` that of the search."""
    import numpy as np

    from cartograph.pairs.candidates import nearest, recall

    _begin(params, task, folder)
    with progress("encode", "texts") as update:
        read = starting_vectors(params, task, folder) if params.model == "cosine-frozen" else learner(params, task, folder).vectors(update)
    train = task.space("train")
    similar = nearest(train, *read.sides(train), params.neighbours, kind=params.index)
    found = recall(train, *read.sides(train), params.neighbours, kind=params.index, sample=_SAMPLED, rng=rng)
    _save_similar(similar, folder / SIMILAR)
    numbers: dict[str, float] = {"candidates": len(similar), "recall": found}

    def near_of(split: str) -> Candidates:
        space = task.space(split)
        return nearest(space, *read.sides(space), min(params.near, len(space.right) - space.symmetric), kind=params.index)

    samples = _samples(params, task, folder, near_of, rng, numbers)
    if "test" in samples:
        np.save(folder / UNTRAINED, read.cosine(task.space("test"), samples["test"].keys), allow_pickle=False)
    return numbers


def _start_matcher(params: Encode, task: Task, folder: Path, rng: np.random.Generator) -> dict[str, float]:
    """Write what a matcher begins from; return the numbers, ``recall`` the share of the train split's positives that blocking proposes."""
    from tasks.collection.matcher_start import MatcherStart

    vectors = None
    if params.pretrained:
        _begin(params, task, folder)
        vectors = starting_vectors(params, task, folder)
    start = MatcherStart(task, params.neighbours, vectors)
    similar = start.candidates("train")
    _save_similar(similar, folder / SIMILAR)
    numbers: dict[str, float] = {"candidates": len(similar)}
    samples = _samples(params, task, folder, start.candidates, rng, numbers)
    for split in start.blocked:
        found, positives = start.recall(split)
        numbers |= {f"{split}.positives_proposed": found, f"{split}.positives_lost": positives - found}
    numbers["recall"] = numbers["train.positives_proposed"] / max(len(task.positives("train")), 1)
    dev = start.save(samples, folder)
    return numbers | {f"dev.label_free.{name}": value for name, value in dev.items()}


def _samples(
    params: Encode,
    task: Task,
    folder: Path,
    near_of: Callable[[str], Candidates],
    rng: np.random.Generator,
    numbers: dict[str, float],
) -> dict[str, Sample]:
    """Write the pairs that stand for all dev and for all test pairs, and return them; add their numbers."""
    from cartograph.pairs.estimate import draw_sample
    from cartograph.pairs.tables import save_sample

    samples = {}
    for split in ("dev", "test"):
        if split == "dev" and not len(task.positives(split)):
            continue
        samples[split] = draw_sample(task, split, near_of(split), params.random_negatives, rng, legacy=params.legacy_counting)
        save_sample(samples[split], folder / f"sample-{split}.parquet")
        numbers[f"{split}.scored"] = len(samples[split].keys)
    return samples


def learner(params: Encode, task: Task, folder: Path) -> Learner:
    """Return the model before any training, from what this step wrote."""
    from cartograph.pairs.models.learner import Learner

    if params.model == "cosine-bow":
        return Learner(params.model, task, str(folder / MODEL))
    if params.model == "cosine-frozen":
        return Learner(params.model, task, "", vectors=starting_vectors(params, task, folder))
    local = local_folder(params.pretrained)
    return Learner(params.model, task, str(local or params.pretrained), device=params.device)


def starting_vectors(params: Encode, task: Task, folder: Path) -> UtteranceVectors:
    """Return the vectors that the encoder made."""
    import numpy as np

    from cartograph.pairs.models.learner import UtteranceVectors

    left = np.load(folder / "left.npy", allow_pickle=False)
    return UtteranceVectors(left, left if task.symmetric else np.load(folder / "right.npy", allow_pickle=False))


def similar_of(folder: Path) -> Candidates:
    """Return the candidates before any training."""
    import pyarrow.parquet as pq

    from cartograph.pairs.candidates import Candidates

    table = pq.read_table(folder / SIMILAR)
    return Candidates(*(table[name].to_numpy() for name in ("key", "similarity", "orders")))


def _begin(params: Encode, task: Task, folder: Path) -> None:
    """Write the embedder before any training, or the vectors of the encoder that stays as it is."""
    import numpy as np

    from cartograph.pairs.models.untrained import save_untrained_bow, untrained_encoder_vectors

    if params.model == "cosine-bow":
        (folder / MODEL).mkdir()
        save_untrained_bow(task, params.seed, folder / MODEL)
    elif params.model in ("cosine-frozen", MATCHER):
        local = local_folder(params.pretrained)
        with progress("encode", "texts") as update:
            read = untrained_encoder_vectors(str(local or params.pretrained), task.left, task.right, params.device, update)
        np.save(folder / "left.npy", read.left, allow_pickle=False)
        if not task.symmetric:
            np.save(folder / "right.npy", read.right, allow_pickle=False)


def _save_similar(similar: Candidates, path: Path) -> None:
    import pyarrow as pa

    from cartograph.data.parquet import write_parquet

    write_parquet(pa.table({"key": similar.keys, "similarity": similar.similarity, "orders": similar.orders}), path)


def _inputs(settings: Settings) -> tuple[str, ...]:
    params = settings.of(Encode)
    local = (user_file(params.pretrained),) if params.pretrained and local_folder(params.pretrained) else ()
    return (PAIRS, *local)


STEP = Step(
    name="encode",
    run=run,
    params=Encode,
    inputs=_inputs,
    outputs=(DATA, METRICS),
    libraries=("faiss-cpu", "numpy", "pyarrow", "rapidfuzz", "scikit-learn", "scipy", "torch", "transformers", "tokenizers", "safetensors"),
    hints=Hints(resources="gpu"),
)
