"""The sections `collect` and `encode` of params.yaml, and where rounds stand."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from cartograph.config import Section
from tasks.audit.parameters.files import listed

SECTION = "collect"


MATCHED = "stratified-match"

TEST_SCORES = "test-scores.npy"
"""Where a round that people answer keeps its model's scores of the sample of test pairs."""


MATCHER = "matcher"
"""The model that reads features of both records, with trees on top."""


MethodName = Literal[
    "uncertainty", "adaptive-retrieval", "static-retrieval", "random", "stated", "stratified-match", "stratified-all-positives"
]


class Collect(Section):
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
    seed_set: Literal["similar", "spread", "stated", "random"] = Field(
        "similar",
        description="where uncertainty and adaptive-retrieval begin: similar (the nearest pairs before training), spread (half of "
        "them, half less near ones), stated, or random",
    )
    oracle: Literal["imputed", "people"] = Field(
        "imputed", description="who answers: imputed (the stated labels), or people, by review/round-01.csv"
    )
    given: Literal["stated", "none"] = Field(
        "stated", description="people only: labels to begin with: stated (all stated train pairs, never asked about again), or none"
    )
    epochs: int = Field(6, ge=1, description="passes over all labels so far, every round from the start")
    batch_size: int | None = Field(None, ge=2, description="pairs per step; null: the model's own (64, cosine-bert 16)")
    learning_rate: float | None = Field(None, gt=0, description="of the embedder; null: the model's own")
    head_factor: float | None = Field(None, gt=0, description="the head learns this many times faster; null: the model's own")
    resamples: int = Field(200, ge=20, description="draws of the utterances behind each interval")
    threads: int = Field(1, ge=1, description="CPU threads of a training; another number may round otherwise")

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if MATCHED in self.methods and "uncertainty" not in self.methods:
            raise ValueError(f"method `{MATCHED}` matches what `uncertainty` found; list that too")
        if len(set(self.methods)) < len(self.methods) or len(set(self.seeds)) < len(self.seeds):
            raise ValueError("a method or a seed is listed twice")
        if self.oracle == "people" and (len(self.methods) > 1 or len(self.seeds) > 1):
            raise ValueError("oracle `people`: list one method and one seed; people are asked about the pairs of only one")
        if self.oracle == "people" and self.methods[0].startswith("stratified"):
            raise ValueError(f"method `{self.methods[0]}` needs to know all labels, which people do not say")
        return self

    @property
    def independent(self) -> tuple[str, ...]:
        """The methods that need no other's collection."""
        return tuple(method for method in self.methods if method != MATCHED)

    @property
    def sizes(self) -> list[int]:
        """Labels asked for in each round."""
        from cartograph.pairs.methods import round_sizes

        return round_sizes(self.first_round, self.growth, self.rounds)


class Encode(Section):
    """The section ``encode`` of params.yaml: the model, and how it is evaluated over all pairs."""

    model: Literal["matcher", "cosine-bow", "cosine-frozen", "cosine-bert"] = Field(
        "cosine-bow",
        description="matcher: trees over features of both records, field by field; cosine-bow: trained n-gram vectors; "
        "cosine-frozen: a linear map of an encoder's vectors; cosine-bert: an encoder, fine-tuned",
    )
    pretrained: str | None = Field(
        None, description="cosine-frozen, cosine-bert, if you like matcher: the encoder: a model's folder, or a hub id"
    )
    seed: int = Field(13, ge=0, description="seed of cosine-bow's first vectors, and of the sampled negatives")
    neighbours: int = Field(
        50, ge=1, description="nearest neighbours per train utterance that a round chooses among; matcher: of each kind of similarity"
    )
    near: int = Field(
        100, ge=1, description="nearest neighbours per test utterance whose negatives are all counted; fewer where there are fewer"
    )
    random_negatives: int = Field(100_000, ge=100, description="negatives sampled from all others, each standing for many")
    test_questions: int = Field(
        60, ge=10, description="test pairs that people are asked about, where people answer, so that a test does not rest on stated labels"
    )
    legacy_counting: bool = Field(False, description="count near negatives in both orders, as the published numbers do")
    index: Literal["auto", "flat", "ivf", "hnsw"] = Field("auto", description="search: flat (exact), ivf, hnsw, or auto: by size")
    device: Literal["auto", "cpu", "cuda"] = Field("auto", description="of an encoder: cpu, cuda, or auto: cuda where there is one")

    @model_validator(mode="after")
    def _an_encoder_is_named(self) -> Self:
        if self.model != MATCHER and (self.model == "cosine-bow") != (self.pretrained is None):
            wanted = "takes no encoder; leave `pretrained` out" if self.pretrained else "needs `pretrained`: an encoder's folder or hub id"
            raise ValueError(f"model `{self.model}` {wanted}")
        return self


def folder_of(method: str, seed: int, number: int) -> str:
    """Return where a round of a method and seed stands."""
    return f"data/match-{number}/{seed}" if method == MATCHED else f"data/round-{number}/{method}-{seed}"


def sheet_of(number: int) -> str:
    """Return the declared name of a round's sheet for people."""
    return f"review/round-{number:02d}.csv"
