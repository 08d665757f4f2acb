"""A cleaned version of a train set: a recipe about the suspects, people's decisions above it, and a reason for every change.

Source of the suspects: Swayamdipta et al., *Dataset Cartography* (EMNLP 2020), §5. Cost: O(n_examples).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cartograph.clean.decisions import Decision
from cartograph.clean.row_weights import likelier, row_weights
from cartograph.data.arrays import Bools, Floats32, Ids, Integers, Integers32
from cartograph.data.content import content_digest
from cartograph.data.unknown_classes import unknown_classes
from cartograph.errors import GateError, InputError
from cartograph.schema import CHANGES, LABEL, SUBSET, UID, WEIGHT, WEIGHTED_SUBSET, dataset_info
from cartograph.statistics.prior import without_prior
from cartograph.statistics.recalibration import no_surer
from cartograph.wording import cut, listing

Recipe = Literal["drop-flagged", "relabel", "down-weight", "decisions-only"]

RECIPE = "recipe "
"""How ``by`` of a change begins that a recipe makes; else it is a person's name."""

VERSION_DIGITS = 12
"""Hexadecimal digits of a version's name."""


@dataclass(frozen=True)
class Cleaning:
    """The outcome for each row of a train set.

    Attributes:
        kept: (n_examples,) whether the row stays.
        labels: (n_examples,) its label id afterwards; for a dropped row the one it had.
        changes: ``schema.CHANGES``, by uid.
        overruled: how many suspects stay as they are because somebody decided so.
        spared: classes whose rows the recipe left alone, because it would have taken all or too many, or the models do not know the class.
        weights: (n_examples,) how much each row counts in training, 1 on average over those that stay; None: all alike.
        too_many: of ``spared`` the classes that the models know.
    """

    kept: Bools
    labels: Integers32
    changes: pa.Table
    overruled: int
    spared: tuple[str, ...]
    weights: Floats32 | None = None
    too_many: tuple[str, ...] = ()

    def take(self, rows: Integers) -> Cleaning:
        """Return the outcome of some rows, ``(n_some,)`` places in their order; what is counted or listed is still of all."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, kept=self.kept[rows], labels=self.labels[rows], weights=weights)


def clean(
    examples: pa.Table,
    noise: pa.Table,
    decisions: Mapping[str, Decision],
    *,
    recipe: Recipe,
    relabel_above: float,
    precision: float = 0.0,
    calibrated: bool = True,
    most_taken: float = 1.0,
) -> Cleaning:
    """Decide about every row: by people where they decided, by the recipe where it is a suspect that is sure enough, else it stays.

    ``drop-flagged`` drops the suspects whose probability of a wrong label is at least ``precision``, by the models and by what people found
    of the labels that they looked at (``recalibration.no_surer``). ``relabel`` gives such a suspect its
    suggested label where that has a probability above ``relabel_above`` and drops it otherwise. ``down-weight`` leaves rows and labels as
    they are, and weights every row that nobody decided about by how likely its label is right (``row_weights``).
    ``decisions-only`` does nothing of this. The recipe leaves a class alone of which it would take every row, or nearly all of whose rows
    are suspects, or less likely than another label (``data.unknown_classes``): models that do not know a class doubt all that is in it.

    Args:
        examples: the train set (``schema.examples_schema``).
        noise: its suspects (``schema.NOISE``), in any order.
        decisions: uid -> what people decided.
        recipe: what is done with suspects that nobody decided about.
        relabel_above: in [0, 1].
        precision: in [0, 1].
        calibrated: whether the suspects' probabilities are estimated from this data; where they are not, no recipe drops or relabels a row.
        most_taken: share of a class's rows, those left out that people decided about, of which the recipe may take no more: it leaves such
            a class alone.

    Raises:
        InputError: the suspects are of another train set.
        GateError: decisions would leave a class without rows.
    """
    noise = aligned(noise, examples)
    before = examples[LABEL].to_numpy().astype(np.int32)
    labels = dataset_info(examples.schema).labels
    ids = {name: number for number, name in enumerate(labels)}
    uids = examples[UID].combine_chunks()
    rows = pc.index_in(pa.array(list(decisions), pa.string()), uids).to_numpy(zero_copy_only=False)
    decided = dict(zip(rows.tolist(), decisions.values(), strict=True))
    outcomes = {row: decision.outcome(labels[before[row]]) for row, decision in decided.items()}
    flagged = noise["flagged"].to_numpy().astype(np.bool_)
    changed = np.array([outcomes[row] != labels[before[row]] for row in decided], dtype=bool)
    wrong = no_surer(noise["probability"].to_numpy(), rows, changed)
    sure = flagged & (wrong >= precision) & calibrated & ~np.isin(np.arange(len(before)), rows)
    leaving = sure | np.isin(np.arange(len(before)), [row for row, outcome in outcomes.items() if outcome is None])
    unknown = unknown_classes(before, flagged & ~np.isin(np.arange(len(before)), rows), len(labels), wrong).tolist()
    halved = _taken(before, sure, rows, len(labels), most_taken)
    spared = sorted({label for label in (*_emptied(before, leaving, len(labels)), *unknown, *halved) if (before[sure] == label).any()})
    sure &= ~np.isin(before, spared)
    after, dropped = _by_recipe(before, noise, sure, recipe, relabel_above)
    for row, outcome in outcomes.items():
        dropped[row], after[row] = outcome is None, before[row] if outcome is None else ids[outcome]
    overruled = sum(bool(flagged[row] and not dropped[row] and after[row] == before[row]) for row in decided)
    _require_classes(before, after, dropped, labels)
    changes = _changes(uids, before, after, dropped, noise, decided, labels, recipe)
    names = tuple(labels[label] for label in spared) if recipe in ("drop-flagged", "relabel") else ()
    too_many = tuple(name for name in names if ids[name] not in unknown)
    weights = None
    if recipe == "down-weight":
        suggested = noise["suggested_probability"].to_numpy()
        heard = ~dropped
        # Models that gain by weights gain more by what the rows themselves show, and where they do not gain none are taken.
        wrong = wrong if calibrated else without_prior(wrong)
        unheard = unknown_classes(before[heard], (likelier(wrong, suggested) <= 0.0)[heard], len(labels), wrong[heard])
        left = np.union1d(rows, np.flatnonzero(np.isin(before, [*unknown, *unheard.tolist()])))
        weights = row_weights(wrong, suggested, before, ~dropped, left)
    return Cleaning(~dropped, after, changes, overruled, names, weights, too_many)


def too_many_phrase(names: Sequence[str]) -> str:
    """Return that classes are left to people since too many of their rows would go, as a clause; empty without any.

    >>> too_many_phrase(["snow"])
    'too many rows of `snow` look surely wrong to change them without a person'
    """
    named = listing([f"`{cut(name, 40)}`" for name in names])
    return f"too many rows of {named} look surely wrong to change them without a person" if names else ""


def aligned(noise: pa.Table, examples: pa.Table) -> pa.Table:
    """Return the suspects' table in the train set's order.

    Raises:
        InputError: it does not have exactly the train set's rows.
    """
    order = pc.index_in(examples[UID].combine_chunks(), value_set=noise[UID].combine_chunks())
    if order.null_count or len(noise) != len(examples):
        raise InputError(
            f"the suspects do not belong to this train set: {order.null_count:,} of its {len(examples):,} rows are not among the "
            f"{len(noise):,} in noise.parquet; run the step `noise` again."
        )
    return noise.take(order)


def _emptied(labels: Integers32, taken: Bools, n_classes: int) -> list[int]:
    """Return the classes all of whose rows would be taken."""
    rows, left = np.bincount(labels, minlength=n_classes), np.bincount(labels[~taken], minlength=n_classes)
    found: list[int] = np.flatnonzero((rows > 0) & (left == 0)).tolist()
    return found


def _taken(labels: Integers32, sure: Bools, decided: Ids, n_classes: int, most: float) -> list[int]:
    """Return the classes of whose rows, those left out that people decided about, a larger share would be taken."""
    rows = np.bincount(np.delete(labels, decided), minlength=n_classes)
    found: list[int] = np.flatnonzero(np.bincount(labels[sure], minlength=n_classes) > most * rows).tolist()
    return found


def _by_recipe(before: Integers32, noise: pa.Table, sure: Bools, recipe: Recipe, relabel_above: float) -> tuple[Integers32, Bools]:
    """Return the labels afterwards and which rows are dropped."""
    suggested = noise["suggested"].to_numpy().astype(np.int32)
    known = (noise["suggested_probability"].to_numpy() > relabel_above) & (suggested >= 0) & (suggested != before)
    relabelled = sure & known if recipe == "relabel" else np.zeros_like(sure)
    dropped = sure & ~relabelled if recipe in ("drop-flagged", "relabel") else np.zeros_like(sure)
    return np.where(relabelled, suggested, before).astype(np.int32), dropped


def _require_classes(before: Integers32, after: Integers32, dropped: Bools, labels: tuple[str, ...]) -> None:
    was = np.bincount(before, minlength=len(labels))
    left = np.bincount(after[~dropped], minlength=len(labels))
    empty = np.flatnonzero((was > 0) & (left == 0))
    if len(empty):
        rows = before == empty[0]
        lost, moved = int(np.count_nonzero(rows & dropped)), int(np.count_nonzero(rows & ~dropped))
        raise GateError(
            f"cleaning would leave class `{labels[empty[0]]}` without rows: of its {was[empty[0]]:,}, {lost:,} would be dropped and "
            f"{moved:,} relabelled. Look at them with `python -m tasks review` and decide which to keep, or set another `clean.recipe`."
        )


def _changes(
    uids: pa.Array,
    before: Integers32,
    after: Integers32,
    dropped: Bools,
    noise: pa.Table,
    decided: Mapping[int, Decision],
    labels: tuple[str, ...],
    recipe: Recipe,
) -> pa.Table:
    rows = np.flatnonzero(dropped | (after != before))
    entries: list[dict[str, Any]] = []
    for row, suspect in zip(rows.tolist(), noise.take(pa.array(rows)).to_pylist(), strict=True):
        decision = decided.get(row)
        if decision is not None:
            why, by = decision.comment or "decided in review", decision.by
        else:
            sure = f", suggested with {suspect['suggested_probability']:.2f}" if after[row] != before[row] else ""
            why, by = f"suspect {suspect['rank']:,} ({suspect['probability']:.2f}{sure}): {suspect['reason']}", f"recipe {recipe}"
        entries.append(
            {
                "uid": uids[row].as_py(),
                "what": "drop" if dropped[row] else "relabel",
                "from": labels[before[row]],
                "to": None if dropped[row] else labels[after[row]],
                "why": why,
                "by": by,
            }
        )
    return pa.Table.from_pylist(entries, CHANGES).sort_by(UID)


def cleaned_examples(examples: pa.Table, cleaning: Cleaning) -> pa.Table:
    """Return the cleaned train set: the rows that stay, in their order, under their labels afterwards, with weights where there are any."""
    place = examples.schema.get_field_index(LABEL)
    relabelled = examples.set_column(place, examples.schema.field(LABEL), pa.array(cleaning.labels, pa.int32()))
    if cleaning.weights is not None:
        relabelled = relabelled.append_column(WEIGHT, pa.array(cleaning.weights))
    return relabelled.filter(pa.array(cleaning.kept)).combine_chunks()


def subsets(examples: pa.Table, cleaned: pa.Table, rng: np.random.Generator) -> dict[str, pa.Table]:
    """Return ``original``, ``cleaned``, and ``random``: rows of the original, in number those of cleaned, under their original labels.

    Each is a ``schema.SUBSET`` by uid; the rows in the train set's order do not matter to what is drawn. Where the cleaned rows are
    weighted, the random ones have the same weights, shuffled.
    """
    original, kept = _subset(examples), _subset(cleaned)
    chosen = original.take(pa.array(np.sort(rng.choice(len(original), len(kept), replace=False))))
    if WEIGHT in kept.column_names:
        chosen = chosen.append_column(WEIGHTED_SUBSET.field(WEIGHT), pa.array(rng.permutation(kept[WEIGHT].to_numpy())))
    return {"original": original, "cleaned": kept, "random": chosen}


def _subset(examples: pa.Table) -> pa.Table:
    schema = WEIGHTED_SUBSET if WEIGHT in examples.column_names else SUBSET
    return examples.select(schema.names).cast(schema).sort_by(UID)


def version(examples: pa.Table, cleaned: pa.Table, changes: pa.Table) -> dict[str, Any]:
    """Return what a cleaned version is: its name, that of the train set it comes from, and how they differ.

    The name is the first digits of the content's digest (``content.content_digest``): the same rows under the same labels are
    the same version, whoever decided it and in which order.
    """
    digest, parent = content_digest(cleaned), content_digest(examples)
    what = Counter(changes["what"].to_pylist())
    return {
        "version": digest[:VERSION_DIGITS],
        "parent": parent[:VERSION_DIGITS],
        "digest": digest,
        "parent_digest": parent,
        "rows": len(cleaned),
        "parent_rows": len(examples),
        "changes": len(changes),
        "dropped": what["drop"],
        "relabelled": what["relabel"],
        "weighted": WEIGHT in cleaned.column_names,
    }


def class_changes(examples: pa.Table, cleaned: pa.Table) -> dict[str, float]:
    """Return class name -> (rows afterwards − rows before) / rows before: −0.1 where a tenth is lost; classes without rows are left out."""
    labels = dataset_info(examples.schema).labels
    before, after = (np.bincount(table[LABEL].to_numpy(), minlength=len(labels)) for table in (examples, cleaned))
    return {name: float((after[number] - before[number]) / before[number]) for number, name in enumerate(labels) if before[number]}
