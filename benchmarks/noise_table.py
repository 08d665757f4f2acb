"""The table that `benchmarks/noise.py` prints: a line a cell, means over seeds, and what they come to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from label_sets import KINDS

WAYS = (*KINDS, "forest")
"""In which labels are made wrong: ``label_sets.plant``, and as ``instance`` by another model (``judged_by_forest``)."""

OURS = ("words", "vectors")
THEIRS = ("cleanlab words", "cleanlab vectors", "datalab")
LATER = ("subj", "qnli", "wikiqa")
"""Sets on which the least was chosen (see ``noise.py``)."""

Cell = dict[str, Any]


def shown(value: float | None) -> str:
    """Return a number between 0 and 1 in four places, or a dash."""
    return "   -" if value is None else f"{value:.3f}"[1:] if value < 1 else "1.00"


def share_of(part: Cell) -> str:
    """Return a list's precision and length."""
    return f"{shown(part['listed wrong'] / part['listed']) if part['listed'] else '   -'} of {part['listed']:>4}"


def reliability(probability: np.ndarray, wrong: np.ndarray) -> list[list[float]]:
    """Return of each tenth of probability the rows, the sum of their probabilities, and how many are wrong."""
    place = np.minimum((probability * 10).astype(int), 9)
    return [
        [float(np.sum(place == bin_)), float(probability[place == bin_].sum()), float(wrong[place == bin_].sum())] for bin_ in range(10)
    ]


def line(cell: Cell, who: list[str]) -> str:
    """Return a cell as a row of the table."""
    parts = [
        f"{cell['set']:<10} {cell['kind']:<9} {cell['share']:4.0%} {cell['seed']:>2}",
        " ".join(shown(cell[name]["ap"]) for name in who),
    ]
    parts.append("  ".join(share_of(cell[name]) for name in who))
    for name in [name for name in OURS if name in cell]:
        ours = cell[name]
        between = "no number" if ours["between"] is None else "{:.0f} to {:.0f}, {:.0f}".format(*ours["between"])
        number = between if ours["number"] is None else "{:.0f} ({:.0f} to {:.0f}, {:.0f})".format(*ours["number"])
        parts.append(f"{ours['changed wrong']:>3}/{ours['changed']:<3} {number:<24} {ours['detector']}")
    return " | ".join([*parts, f"{cell['wrong']}"])


def _ends(of: Cell) -> list[float] | None:
    """Return the interval of the number, or that alone, with the most; None where there is neither."""
    return of["between"] if of["number"] is None else of["number"][1:]


def _held(cells: list[tuple[int, list[float]]]) -> tuple[int, int]:
    """Return how many intervals, and how many up to the most, hold the number beside them; each is (low, high, most)."""
    held, at_most = (sum(round(ends[0]) <= wrong <= round(ends[place]) for wrong, ends in cells) for place in (1, 2))
    return held, at_most


def summary(found: list[Cell], who: list[str]) -> Iterator[str]:
    """Yield the means over seeds, and what they come to."""
    grouped: dict[tuple[str, str, float], list[Cell]] = defaultdict(list)
    for cell in found:
        grouped[cell["set"], cell["kind"], cell["share"]].append(cell)
    noisy = {key: group for key, group in grouped.items() if key[2]}
    yield "mean over seeds: AP of " + ", ".join(who)
    means = {key: {name: float(np.mean([cell[name]["ap"] for cell in group])) for name in who} for key, group in noisy.items()}
    for (name, kind, share), mean in means.items():
        yield f"  {name:<10} {kind:<9} {share:4.0%}  " + "  ".join(shown(mean[one]) for one in who)
    if means:
        for title, names in (("all", {key[0] for key in means}), (", ".join(LATER), set(LATER))):
            own = [mean for key, mean in means.items() if key[0] in names]
            if own:
                yield f"  {title:<26}" + "  ".join(shown(float(np.mean([mean[one] for mean in own]))) for one in who)
    for ours in [name for name in OURS if name in who]:
        theirs = [name for name in who if name in THEIRS and (ours == "vectors" or name == "cleanlab words")]
        same = f"cleanlab {ours}"
        ahead = sum(mean[ours] > mean[same] for mean in means.values())
        gain = float(np.mean([mean[ours] - mean[same] for mean in means.values()])) if means else float("nan")
        best = float(np.mean([mean[ours] - max(mean[name] for name in theirs) for mean in means.values()])) if means else float("nan")
        yield f"{ours}: ahead of {same} in {ahead} of {len(means)} means, by {gain:+.3f}; of the best of {', '.join(theirs)} by {best:+.3f}"
        given = [cell for cell in found if cell[ours]["number"] is not None and cell["share"]]
        for kind in WAYS:
            own = [cell for cell in given if cell["kind"] == kind]
            alone = [cell for cell in found if cell["kind"] == kind and cell[ours]["between"] is not None]
            covered, at_most = _held([(cell["wrong"], cell[ours]["number"][1:]) for cell in own])
            within, up_to = _held([(cell["wrong"], cell[ours]["between"]) for cell in alone])
            rest = sum(cell["kind"] == kind for cell in found) - len(own) - len(alone)
            yield f"{ours}: {kind}: the interval holds the true number in {covered} of {len(own)} cells, up to the most in {at_most}"
            yield f"{ours}: {kind}: an interval alone holds it in {within} of {len(alone)}, up to the most in {up_to}; neither in {rest}"
            held, to_most, pairs, others = np.sum([cell[ours]["pairs"] for cell in own], axis=0) if own else np.zeros(4, int)
            yield (
                f"{ours}: {kind}: of {pairs} pairs of classes of which a wrong label is expected, the interval holds the number of {held}, "
                f"up to the most of {to_most}; {others} wrong labels are of other pairs"
            )
        ends = [(cell, _ends(cell[ours])) for cell in found]
        planted, right = ([(cell["wrong"], own) for cell, own in ends if own and bool(cell["share"]) == noisy] for noisy in (True, False))
        covered, at_most = _held(planted)
        yield f"{ours}: of {len(planted)} planted cells with either it holds in {covered}, up to the most in {at_most}"
        yield f"{ours}: of {len(right)} cells without planted errors with either it begins at 0 in {_held(right)[0]}"
        wrong, changed = (sum(cell[ours][what] for cell in found if cell["share"]) for what in ("changed wrong", "changed"))
        yield f"{ours}: of {changed} rows changed without a person where labels were planted, {wrong} were planted ones"
        for cell in (cell for cell in found if not cell["share"]):
            listed, number = cell[ours]["listed"] / cell["rows"], cell[ours]["changed"] / cell["rows"]
            theirs_listed = cell[same]["listed"] / cell["rows"]
            name = f"{cell['set']} clean, seed {cell['seed']}"
            yield f"{ours}: {name}: {listed:.1%} listed, {number:.2%} changed; cleanlab lists {theirs_listed:.1%}"
        bins = np.sum([cell[ours]["bins"] for cell in given if cell[ours]["bins"]], axis=0) if given else np.zeros((10, 3))
        yield f"{ours}: probability said, and share that is wrong: " + "  ".join(
            f"{bin_[1] / bin_[0]:.2f}: {bin_[2] / bin_[0]:.2f}" for bin_ in bins if bin_[0]
        )
        seconds, rest = (np.mean([cell[name]["seconds"] for cell in found]) for name in (ours, same))
        yield f"{ours}: {seconds:.1f} s a step, its training on flips included; cleanlab with its four penalties {rest:.1f} s"
