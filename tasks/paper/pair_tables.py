"""The tables and figures of Mussmann, Jia & Liang 2020 from a collection: `python -m flows.ablate pairs-methods --workspace W`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.errors import InputError
from cartograph.wording import markdown_table
from tasks.collection.compare import DATA
from tasks.collection.parameters import SECTION, Collect
from tasks.engine.receipt import fresh
from tasks.engine.workspace import Workspace
from tasks.paper.pair_cells import Cells, draw_curves, positives_with_ends, rounds_table, with_ends
from tasks.pipelines import steps_of

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = {
    "pairs-balanced": ("a classifier of pairs trained on stated data, on the balanced test and over all pairs", "Table 2"),
    "pairs-methods": ("precision at recall 20 % and average precision by method", "Table 3"),
    "pairs-positives": ("positives found by method", "Table 4"),
    "pairs-stratified": ("stratified samples, which need to know all labels, beside active collection", "Table 5"),
    "pairs-models": ("a cosine model and a classifier of pairs on each collected set", "Table 6"),
    "pairs-seed-set": ("uncertainty sampling from different seed sets, after every round", "Fig. 3"),
    "pairs-curves": ("average precision and the share of positives after every round, by method", "Fig. 4"),
}
"""Experiment -> what it is, and where the paper has it."""

WANTED: dict[str, tuple[str, ...]] = {
    "pairs-balanced": ("stated",),
    "pairs-methods": ("random", "stated", "static-retrieval", "adaptive-retrieval", "uncertainty"),
    "pairs-positives": ("random", "static-retrieval", "adaptive-retrieval", "uncertainty"),
    "pairs-stratified": ("stratified-match", "stratified-all-positives", "adaptive-retrieval", "uncertainty"),
    "pairs-models": ("stated", "static-retrieval", "stratified-match", "uncertainty"),
    "pairs-seed-set": (),
    "pairs-curves": ("static-retrieval", "uncertainty"),
}
"""Experiment -> methods that it compares."""


def run(name: str, space: Workspace, folder: Path) -> str:
    """Write a table of the paper as Markdown, and a figure where the paper has one; return where.

    Raises:
        InputError: the workspace is no collection, is not done, or lacks a method that the table compares.
    """
    from tasks.paper.pair_classifiers import balanced_table, models_table
    from tasks.paper.seed_sets import seed_set_tables

    if SECTION not in space.settings:
        raise InputError(
            f"{name} is about a collection of pairs, and {space.path} is an audit; name one with --workspace workspaces/paraphrases."
        )
    _require_done(name, space)
    if name == "pairs-seed-set":
        tables = seed_set_tables(space, folder)
    elif name == "pairs-curves":
        tables = [_curves(space, folder)]
    elif name == "pairs-balanced":
        tables = [balanced_table(space, WANTED[name])]
    elif name == "pairs-models":
        tables = [models_table(space, WANTED[name])]
    else:
        tables = [_methods(name, _summary(space), space)]
    texts = [markdown_table(header, cells) for header, cells in tables]
    collect = space.settings.of(Collect)
    note = f"Means over {len(collect.seeds)} seed(s), with 95 % intervals for other utterances of the same kind"
    note += " and other seeds." if len(collect.seeds) > 1 else "; one seed shows nothing of what other seeds would give."
    (folder / "table.md").write_text("\n\n".join([*texts, note]) + "\n", encoding="utf-8")
    return f"{sum(len(cells) for _, cells in tables)} lines in table.md"


def _require_done(name: str, space: Workspace) -> None:
    collect = space.settings.of(Collect)
    missing = [method for method in WANTED[name] if method not in collect.methods]
    if missing:
        raise InputError(
            f"{name} compares `{missing[0]}`, which `collect.methods` of {space.path / 'params.yaml'} does not list; add it and collect."
        )
    for step in steps_of(space.settings):
        if fresh(step, space) is None:
            raise InputError(
                f"the collection {space.path} is not done with the parameters that it has now (step `{step.name}`); run "
                f"`python -m flows.collect --workspace {space.typed}` first."
            )
        if step.name == "compare":
            break


def _summary(space: Workspace) -> pa.Table:
    import pyarrow.parquet as pq

    return pq.read_table(space.resolve(DATA) / "summary.parquet")


def _methods(name: str, summary: pa.Table, space: Workspace) -> tuple[list[str], Cells]:
    collect = space.settings.of(Collect)
    rows = {(row["method"], row["measure"]): row for row in summary.to_pylist() if row["round"] == collect.rounds}
    if name == "pairs-positives":
        found = [rows[method, "average_precision"] for method in WANTED[name]]
        return ["Method", "Positives found (fewest to most of any seed)", "Labels"], [
            (row["method"], positives_with_ends(row), f"{row['labels']:,.0f}") for row in found
        ]
    measures = ("precision_at_recall_20", "average_precision")
    cells = [(method, *(with_ends(rows[method, measure], "mean") for measure in measures)) for method in WANTED[name]]
    return ["Method", "P@R20 %", "AP %"], cells


def _curves(space: Workspace, folder: Path) -> tuple[list[str], Cells]:
    collect = space.settings.of(Collect)
    summary = _summary(space)
    draw_curves(summary, collect.methods, folder)
    return rounds_table(summary, "Method")
