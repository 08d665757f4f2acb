"""The rounds of a collection: each asks about its batch, trains on all labels so far, scores the model, and chooses the next batch.

Every round of every method and seed is a step of its own, so a collection that was killed goes on after its last whole round: no label is
asked twice and none is lost. Where people answer, a round whose answers are not there writes its sheet and stops the collection.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from cartograph.config import Params as Section
from cartograph.config import Settings
from tasks.encode import DATA as ENCODED
from tasks.encode import PAIRS
from tasks.sources import listed
from tasks.step import Inputs, Matrix, Out, Step

SECTION = "collect"
MATCHED = "stratified-match"

MethodName = Literal[
    "uncertainty", "adaptive-retrieval", "static-retrieval", "random", "stated", "stratified-match", "stratified-all-positives"
]


class Params(Section):
    """The section ``collect`` of params.yaml, whose presence makes a workspace a collection."""

    methods: Annotated[tuple[MethodName, ...], BeforeValidator(listed)] = Field(
        ("uncertainty", "adaptive-retrieval", "static-retrieval", "stated", "random"),
        min_length=1,
        description="who chooses: uncertainty, adaptive-retrieval, static-retrieval, stated, random, "
        "stratified-match, stratified-all-positives",
    )
    seeds: Annotated[tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(listed)] = Field(
        (1,), min_length=1, description="one collection per method and seed"
    )
    first_round: int = Field(500, ge=2, description="labels asked for in round 1")
    growth: float = Field(1.5, ge=1, le=100, description="each round asks for this many times the labels of the one before")
    rounds: int = Field(5, ge=1, le=50, description="rounds; the budget is their labels together")
    seed_set: Literal["similar", "stated", "random"] = Field(
        "similar",
        description="where uncertainty and adaptive-retrieval begin: similar (the nearest pairs before training), stated, or random",
    )
    oracle: Literal["imputed", "people"] = Field(
        "imputed", description="who answers: imputed (the stated labels), or people, by review/round-01.csv"
    )
    epochs: int = Field(6, ge=1, description="passes over all labels so far, every round from the start")
    batch_size: int | None = Field(None, ge=2, description="pairs per step; null: the model's own (64, cosine-bert 16)")
    learning_rate: float | None = Field(None, gt=0, description="of the embedder; null: the model's own")
    head_factor: float | None = Field(None, gt=0, description="the head learns this many times faster; null: the model's own")
    resamples: int = Field(200, ge=20, description="draws of the utterances behind each interval")
    threads: int = Field(1, ge=1, description="CPU threads of a training; another number may round otherwise")

    @model_validator(mode="after")
    def _goes_together(self) -> Params:
        if MATCHED in self.methods and "uncertainty" not in self.methods:
            raise ValueError(f"method `{MATCHED}` matches what `uncertainty` found; list that too")
        if len(set(self.methods)) < len(self.methods) or len(set(self.seeds)) < len(self.seeds):
            raise ValueError("a method or a seed is listed twice")
        if self.oracle == "people" and (len(self.methods) > 1 or len(self.seeds) > 1):
            raise ValueError("oracle `people`: list one method and one seed; nobody answers the same pairs for several")
        if self.oracle == "people" and self.methods[0].startswith("stratified"):
            raise ValueError(f"method `{self.methods[0]}` needs to know all labels, which people do not tell")
        return self

    @property
    def independent(self) -> tuple[str, ...]:
        """The methods that need no other's collection."""
        return tuple(method for method in self.methods if method != MATCHED)

    @property
    def sizes(self) -> list[int]:
        """Labels asked for in each round."""
        from cartograph.pairs.choose import round_sizes

        return round_sizes(self.first_round, self.growth, self.rounds)


def rounds(settings: Settings) -> tuple[Step, ...]:
    """Return the steps of all rounds, each a matrix of methods and seeds."""
    params: Any = settings[SECTION]
    found: list[Step] = []
    for number in range(1, params.rounds + 1):
        found.append(_round(params, number))
        if MATCHED in params.methods:
            found.append(_matched(params, number))
    return tuple(found)


def folder_of(method: str, seed: int, number: int) -> str:
    """Return where a round of a method and seed stands."""
    return f"data/match-{number}/{seed}" if method == MATCHED else f"data/round-{number}/{method}-{seed}"


def run(params: Params, inputs: Inputs, out: Out) -> str:
    """Do one round of one method and seed; return what it found.

    Raises:
        InputError: the budget is above the pool, candidates run out, or answers do not fit.
        WaitingError: people have not answered yet; the sheet is there.
    """
    from tasks.collect_round import Round

    return Round(params, inputs, out).run()


def sheet_of(number: int) -> str:
    """Return the declared name of a round's sheet for people."""
    return f"review/round-{number:02d}.csv"


def _round(params: Params, number: int) -> Step:
    before = (f"data/round-{number - 1}/{{method}}-{{seed}}",) if number > 1 else ()
    return Step(
        name=f"round-{number}",
        of=SECTION,
        run=run,
        params=Params,
        inputs=(PAIRS, ENCODED, *before),
        optional=(sheet_of(number),) if params.oracle == "people" else (),
        matrix=Matrix({"method": "independent", "seed": "seeds"}, {"round": number}, keys=("methods",)),
        **_SHARED,
    )


def _matched(params: Params, number: int) -> Step:
    before = (f"data/match-{number - 1}/{{seed}}",) if number > 1 else ()
    return Step(
        name=f"match-{number}",
        of=SECTION,
        run=run,
        params=Params,
        inputs=(PAIRS, ENCODED, f"data/round-{number}/uncertainty-{{seed}}", *before),
        matrix=Matrix({"seed": "seeds"}, {"method": MATCHED, "round": number}, keys=("methods",)),
        **_SHARED,
    )


_SHARED: dict[str, Any] = {
    # One at a time: each holds a model and all utterances.
    "resources": "gpu",
    "libraries": ("faiss-cpu", "numpy", "pyarrow", "scipy", "torch", "transformers", "tokenizers", "safetensors"),
    "reads": ("encode",),
}
