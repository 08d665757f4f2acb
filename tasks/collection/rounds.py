"""The rounds of a collection: each asks about its batch, trains on all labels so far, scores the model, and chooses the next batch.

Every round of every method and seed is a step of its own, so a collection that was killed goes on after its last whole round: no label is
asked twice and none is lost. Where people answer, a round whose answers are not there writes its sheet and stops the collection.
"""

from __future__ import annotations

from typing import Any

from cartograph.config import Settings
from tasks.collection.encode import DATA as ENCODED
from tasks.collection.encode import PAIRS
from tasks.collection.one_round import run
from tasks.collection.parameters import MATCHED, SECTION, Collect, sheet_of
from tasks.engine.step import Hints, Matrix, Step


def rounds(settings: Settings) -> tuple[Step, ...]:
    """Return the steps of all rounds, each a matrix of methods and seeds."""
    params = settings.of(Collect)
    found: list[Step] = []
    for number in range(1, params.rounds + 1):
        found.append(_round_step(params, number))
        if MATCHED in params.methods:
            found.append(_match_step(params, number))
    return tuple(found)


def _round_step(params: Collect, number: int) -> Step:
    before = (f"data/round-{number - 1}/{{method}}-{{seed}}",) if number > 1 else ()
    return Step(
        name=f"round-{number}",
        of=SECTION,
        run=run,
        params=Collect,
        inputs=(PAIRS, ENCODED, *before),
        optional=(sheet_of(number),) if params.oracle == "people" else (),
        matrix=Matrix({"method": "independent", "seed": "seeds"}, {"round": number}, keys=("methods",)),
        **_SHARED,
    )


def _match_step(params: Collect, number: int) -> Step:
    before = (f"data/match-{number - 1}/{{seed}}",) if number > 1 else ()
    return Step(
        name=f"match-{number}",
        of=SECTION,
        run=run,
        params=Collect,
        inputs=(PAIRS, ENCODED, f"data/round-{number}/uncertainty-{{seed}}", *before),
        matrix=Matrix({"seed": "seeds"}, {"method": MATCHED, "round": number}, keys=("methods",)),
        **_SHARED,
    )


_SHARED: dict[str, Any] = {
    # One at a time: each holds a model and all utterances.
    "hints": Hints(resources="gpu"),
    "libraries": (
        "faiss-cpu",
        "numpy",
        "pyarrow",
        "rapidfuzz",
        "scikit-learn",
        "scipy",
        "torch",
        "transformers",
        "tokenizers",
        "safetensors",
    ),
    "reads": ("encode", "pairs"),
}
