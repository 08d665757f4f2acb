"""A rare class that was often missed: how many labels are said to be wrong, and how they rank, beside cleanlab.

`python benchmarks/rare_class.py [--sets trec,subj] [--seeds 1,2,3] [--rows 2000] [--output FILE]`

Texts of two classes (`benchmarks/label_sets.py`): one class of TREC, Subj, customer reviews, SST-2, Banking77 or WikiQA against all others,
drawn so that it is a fiftieth to an eighth of the rows. Then 0, 30 or 50 % of its rows are labelled as the other. Ours is the committee on
words and characters; cleanlab gets the out-of-fold probabilities of scikit-learn's LogisticRegression on the same words, or on words and
characters, the best of both and of four penalties by loss, the better of two rankings, and what `find_label_issues` lists. That the
interval reaches as far as one rare class may have been missed was chosen on draws of these sets but WikiQA, and on tables of KEEL; the
order of the rows on draws of these sets but WikiQA.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402
from cleanlab_peer import as_read, on_features, precision_of, surroundings  # noqa: E402
from label_sets import read  # noqa: E402

SETS = {
    "trec HUM": ("trec", "HUM", 0.04),
    "trec NUM": ("trec", "NUM", 0.08),
    "trec ABBR": ("trec", "ABBR", 0.02),
    "customer": ("customer", "0", 0.05),
    "customer often": ("customer", "0", 0.12),
    "subj": ("subj", "0", 0.04),
    "subj often": ("subj", "0", 0.1),
    "sst2": ("sst2", "0", 0.08),
    "banking77": ("banking77", "card_arrival", 0.03),
    "wikiqa": ("wikiqa", "1", 0.05),
}
"""Name -> set, class and its share of the rows."""

MISSED = (0.0, 0.3, 0.5)
EVERY = 1_000_000


class Cell(NamedTuple):
    """What was found of one draw: how many labels are wrong, the number said (None: an interval alone) with its ends, and the rankings."""

    wrong: int
    number: float | None
    low: float
    high: float
    known: bool
    listed: tuple[int, int]
    ap: float | None
    theirs: float | None
    their_list: tuple[int, int]


def drawn(name: str, rows: int, seed: int) -> tuple[list[tuple[str, ...]], np.ndarray]:
    """Return texts and whether each is of the rare class, in its share."""
    of, rare, share = SETS[name]
    texts, given = read(of, EVERY, seed)
    is_rare, rng = np.array(given) == rare, np.random.default_rng([seed, 21])
    few = min(round(share * rows), int(is_rare.sum()))
    chosen = [rng.choice(np.flatnonzero(is_rare == one), number, replace=False) for one, number in ((True, few), (False, rows - few))]
    order = rng.permutation(np.concatenate(chosen))
    return [texts[row] for row in order], is_rare[order].astype(np.int64)


def as_many_as_fit(name: str, most: int) -> tuple[list[tuple[str, ...]], np.ndarray]:
    """Return the same of as many rows as the other classes have for that share, at most so many."""
    of, rare, share = SETS[name]
    often = sum(label != rare for label in read(of, EVERY, 1)[1])
    return drawn(name, min(most, int(often / (1 - share)) - 1), 1)


def cells(name: str, rows: int, seed: int) -> Iterator[tuple[float, Cell]]:
    """Yield each share of missed rows with what was found."""
    from noise import by_committee

    from cartograph.features.comparison import beside_words, comparison_features
    from cartograph.features.text import text_features

    texts, labels = drawn(name, rows, seed)
    features, compared = text_features([row if len(row) > 1 else row[0] for row in texts]), comparison_features(texts)
    if compared is not None:
        features = beside_words(features, compared)
    for share in MISSED:
        rng, given = np.random.default_rng([seed, round(100 * share)]), labels.copy()
        given[rng.choice(np.flatnonzero(labels == 1), round(share * labels.sum()), replace=False)] = 0
        wrong = given != labels
        table, record, _ = by_committee(features, given, 2, None, texts)
        ends = record["wrong"] or record["between"] or {}
        listed = table["flagged"].to_numpy(zero_copy_only=False)
        theirs = on_features(as_read(features, texts), given, wrong, seed)
        yield (
            share,
            Cell(
                int(wrong.sum()),
                ends.get("expected"),
                ends.get("low", 0.0),
                ends.get("high", 0.0),
                bool(ends),
                (int(listed.sum()), int((listed & wrong).sum())),
                precision_of(wrong, -table["rank"].to_numpy()),
                theirs["ap"],
                (theirs["listed"], theirs["listed wrong"]),
            ),
        )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    unknown = set(args.sets.split(",")) - set(SETS)
    if unknown:
        parser.error(f"no set is called {sorted(unknown)[0]!r}; there are {', '.join(SETS)}.")
    lines = [f"{surroundings()}; {args.rows:,} rows, seeds {args.seeds}"]
    lines.append("set, missed, seed      | wrong | said (interval)    | average precision, cleanlab's | listed (wrong of them), cleanlab's")
    found: list[tuple[float, Cell]] = []
    for name in args.sets.split(","):
        for seed in map(int, args.seeds.split(",")):
            for share, cell in cells(name, args.rows, seed):
                found.append((share, cell))
                said = "nothing" if not cell.known else f"{cell.low:.0f} to {cell.high:.0f}"
                if cell.number is not None:
                    said = f"{cell.number:.0f} ({said})"
                ap = "   -      -" if cell.ap is None else f"{cell.ap:.3f}  {cell.theirs:.3f}"
                lists = f"{cell.listed[0]:4} ({cell.listed[1]:3})  {cell.their_list[0]:4} ({cell.their_list[1]:3})"
                lines.append(f"{name:15} {share:4.0%} {seed} | {cell.wrong:5} | {said:18} | {ap} | {lists}")
                print(lines[-1], flush=True)
    for share in MISSED:
        own = [cell for one, cell in found if one == share and cell.known]
        held = sum(round(cell.low) <= cell.wrong <= round(cell.high) for cell in own)
        high, wrong, theirs = np.mean([(cell.high, cell.wrong, cell.their_list[0]) for cell in own], axis=0)
        lines.append(
            f"{share:.0%} missed: the interval holds the number in {held} of {len(own)} and ends at {high:.0f} in the mean; "
            f"{wrong:.0f} are wrong, cleanlab lists {theirs:.0f}"
        )
    noisy = [cell for share, cell in found if share]
    precision = [float(np.mean([getattr(cell, of) for cell in noisy])) for of in ("ap", "theirs")]
    lines.append(f"average precision {precision[0]:.3f}, cleanlab's {precision[1]:.3f}: ratio {precision[0] / precision[1]:.2f}")
    text = "\n".join(lines) + "\n"
    if args.output:
        args.output.write_text(f"python {' '.join(sys.argv)}\n{text}", encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
