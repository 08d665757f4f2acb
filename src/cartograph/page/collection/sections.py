"""The sections of a collection's page, in their order."""

from __future__ import annotations

from typing import Any

from cartograph.page.blocks import Block, Column, Command, Facts, Section, Table
from cartograph.page.collection.content import Collection
from cartograph.page.collection.labels import curves_section, methods_section
from cartograph.page.collection.models import balanced_section, calibration_section, mistakes_section
from cartograph.page.sections.how_made import how_made
from cartograph.wording import count


def sections(collection: Collection) -> list[Section]:
    """Return the sections in their order."""
    builders = (methods_section, curves_section, balanced_section, calibration_section, mistakes_section, _data)
    found = [_matches(collection), *(build(collection) for build in builders), how_made(collection.how_made)]
    return [section for section in found if section is not None]


def _matches(collection: Collection) -> Section | None:
    """Return how the matches are listed; None where the model ranks pairs and matches none."""
    if not collection.matches:
        return None
    lead = (
        "The matcher of the last round is kept. The first command lists the matches among these records, the likeliest first, in "
        "reports/matches.csv: both ids, both texts, the probability, and how alike each field is. The second matches other tables with "
        "the same columns."
    )
    tables = "--left A.csv --right B.csv" if collection.task["utterances.right"] else "--left A.csv"
    other = f"{collection.matches} {tables} --out matches.parquet"
    return Section("matches", "Where the matches are", lead, [Command(collection.matches), Command(other)], short="Matches")


def _data(collection: Collection) -> Section:
    task = collection.task
    facts = [("Utterances", count(int(task["utterances.left"])))]
    if task["utterances.right"]:
        facts = [("Left utterances", count(int(task["utterances.left"]))), ("Right utterances", count(int(task["utterances.right"])))]
    splits = [
        (split, *(int(task[f"{split}.{name}"]) for name in ("pairs", "positives")), _ratio(task, split), int(task[f"{split}.stated"]))
        for split in ("train", "dev", "test")
    ]
    columns = (
        Column("Split"),
        Column("Pairs", "count", "all possible pairs"),
        Column("Positives", "count"),
        Column("One in", "count", "pairs per positive"),
        Column("Stated", "count", "pairs that somebody labelled"),
    )
    cells = [
        (name, made["version"], made["rows"], made["positive"], f"data/compare/collected/{name}.parquet")
        for name, made in collection.versions.items()
    ]
    made = (
        Column("Method and seed"),
        Column("Version", "code"),
        Column("Labels", "count"),
        Column("Positives", "count"),
        Column("File", "code"),
    )
    blocks: list[Block] = [Facts(facts), Table("All pairs", columns, splits), Table("What was collected", made, cells)]
    return Section("data", "The task, and the datasets collected", "The same labels always give the same version.", blocks, short="Data")


def _ratio(task: Any, split: str) -> int | None:
    positives = task[f"{split}.positives"]
    return round(task[f"{split}.pairs"] / positives) if positives else None
