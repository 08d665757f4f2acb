"""Which version of a train set to use: the cleaned one where models are better for it, or no worse and little or nothing is risked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pyarrow as pa

from cartograph.compare.markdown import METRIC_NAMES
from cartograph.compare.versions import GROUP_OF, HELD_OUT, TRUSTED
from cartograph.statistics.determined import well_determined
from cartograph.wording import about, count, counted, cut, listing

Row = Mapping[str, Any]

LEANS = 0.65
"""Of the interval's half: where so much of it above the difference is below 0 still, the cleaned version is worse with 90 % probability."""

FEWEST_SEEDS = 3
"""With fewer, what seeds differ by is hardly known."""

_LONGEST = 40


@dataclass(frozen=True)
class Recommendation:
    """The version to use.

    Attributes:
        version: ``original`` or ``cleaned``.
        outcome: ``worse`` (measurably, on a deciding set, by any metric), ``better`` (by one, and worse by none), ``no difference``, or
            ``unchanged`` (cleaning changed nothing that a model sees).
        sets: the sets that decide: those in distribution, where there are any.
        worse: set and metric of each measurably lower score.
        seeds: with which both versions were trained, the fewest of any set.
        wrong: how many labels are wrong, by estimate, and the lower end of its interval; None where that cannot be estimated.
        leans: whether any score is lower with nine chances in ten (``LEANS``), measurably or not.
        decided: how many labels and rows people changed, where the cleaned version differs from the original by these alone; else 0.
        weighted: whether the cleaned rows are weighted by how likely their labels are right, which drops none and changes no label.
        like_random: whether nothing that is measurably better is so against as many rows drawn at random.
    """

    version: Literal["original", "cleaned"]
    outcome: Literal["worse", "better", "no difference", "unchanged"]
    sets: tuple[str, ...]
    worse: tuple[tuple[str, str], ...]
    seeds: int
    wrong: tuple[float, float] | None = None
    leans: bool = False
    like_random: bool = False
    decided: int = 0
    weighted: bool = False

    @property
    def determined(self) -> bool:
        """Whether the number of wrong labels is well determined: they are there, though no model is measurably better without them."""
        return self.wrong is not None and well_determined(*self.wrong)

    @property
    def sentence(self) -> str:
        """The recommendation in words, with what would make it surer."""
        more = "" if self.seeds >= FEWEST_SEEDS else f" {self._few()}"
        return f"{self._words()}{more}"

    def _words(self) -> str:
        where = listing([cut(name, _LONGEST) for name in self.sets])
        if self.outcome == "worse":
            found = listing([f"{METRIC_NAMES[metric]} on {cut(name, _LONGEST)}" for name, metric in self.worse])
            return f"Recommended: the original rows, since models trained on the cleaned ones are measurably worse ({found})."
        if self.decided and self.outcome in ("unchanged", "no difference"):
            each = "the one change" if self.decided == 1 else f"each of the {count(self.decided)} changes"
            than = f"models trained on the original ones are neither better nor worse measurably on {where}"
            return f"Recommended: the cleaned rows, since people decided on {each}; {than}."
        if self.outcome == "unchanged":
            return "Recommended: the original rows; cleaning changed nothing that a model sees."
        if self.outcome == "better":
            found = f"Recommended: the {self._cleaned()} rows, on which models are measurably better ({where})"
            if not self.like_random:
                return f"{found}."
            chance = "the same weights in random order: uneven" if self.weighted else "as many rows drawn at random: fewer"
            return f"{found}; not so against {chance} {'weights' if self.weighted else 'rows'} may be why."
        if self.leans and (self.weighted or self.determined):
            certain = f"; it is certain that labels are wrong ({self._known()})" if self.determined else ""
            return (
                f"Recommended: the original rows; models trained on the {self._cleaned()} ones are probably worse on {where}, though not "
                f"measurably{certain}."
            )
        if self.weighted:
            than = f"models trained on the original ones are neither better nor worse measurably on {where}"
            return f"Recommended: the weighted rows; weights drop no row and change no label, and {than}."
        if self.wrong is None:
            return f"{self._no_difference('original')}, and how many labels are wrong is not known closely."
        if self.determined:
            return f"{self._no_difference('cleaned')}, and it is certain that labels are wrong ({self._known()})."
        if about(self.wrong[1]) == "0":
            return f"{self._no_difference('original')}, and perhaps no label is wrong."
        return f"{self._no_difference('original')}, and how many labels are wrong is only loosely known ({self._known()})."

    def _cleaned(self) -> str:
        return "weighted" if self.weighted else "cleaned"

    def _known(self) -> str:
        assert self.wrong is not None
        return f"at least {about(self.wrong[1])}, about {about(self.wrong[0])}"

    def _no_difference(self, version: str) -> str:
        where = listing([cut(name, _LONGEST) for name in self.sets])
        return f"Recommended: the {version} rows; models trained on the cleaned ones are neither better nor worse measurably on {where}"

    def _few(self) -> str:
        return (
            f"With {counted(self.seeds, 'seed')} the interval says little about other seeds: train with a third (`retrain.seeds`)."
            if self.seeds == FEWEST_SEEDS - 1
            else "With one seed, or one training that did not fail, the interval says nothing about other seeds: train with three "
            "(`retrain.seeds`)."
        )

    def content(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "recommended": self.version,
            "outcome": self.outcome,
            "sets": list(self.sets),
            "worse": [list(pair) for pair in self.worse],
            "seeds": self.seeds,
            "determined": self.determined,
            "sentence": self.sentence,
        }


def recommend(
    differences: pa.Table, noise: Mapping[str, Any] | None = None, decided: int = 0, *, weighted: bool = False
) -> Recommendation | None:
    """Return which version to use: the cleaned one if models trained on it are measurably better on a deciding set and worse on none; or
    neither measurably, and people decided on all that differs, or they are not probably worse (``LEANS``) and either it differs by
    weights, or the number of wrong labels is well determined (``well_determined``). Else the original.

    What decides are the sets in distribution; where there are none, all; of rows held out of the train set those that are no suspects,
    since on wrong labels a model that repeats them is right. The cleaned rows were chosen without looking at any of them: the
    one choice that is made on them is that between two versions.

    Args:
        differences: ``compare.versions.DIFFERENCES``.
        noise: the suspects' record, as in ``data/noise/noise.json``; None where none were looked for.
        decided: how many changes people made, if the cleaned version has no others (``clean.reviewed.all_by_people``); else 0.
        weighted: whether the cleaned version has weights, which cross-validation on the train set chose, or the user.

    Returns:
        None where the cleaned version and the original were not compared.
    """
    rows = [
        row for row in differences.to_pylist() if (row["subset"], row["against"]) == ("cleaned", "original") and GROUP_OF not in row["set"]
    ]
    rows = [row for row in rows if row["domain"] == "id"] or rows
    if any(row["set"] == TRUSTED for row in rows):
        rows = [row for row in rows if row["set"] != HELD_OUT]
    if not rows:
        return None
    sets = tuple(dict.fromkeys(row["set"] for row in rows))
    worse = tuple((row["set"], row["metric"]) for row in rows if row["high"] < 0)
    outcome = _outcome(rows, bool(worse))
    wrong = noise["wrong"] if noise is not None and noise.get("calibrated") else None
    number = None if wrong is None else (wrong["expected"], wrong["low"])
    leans = any(row["difference"] + LEANS * (row["high"] - row["difference"]) < 0 for row in rows)
    seeds, like_random = min(row["seeds"] for row in rows), _like_random(rows, differences)
    found = Recommendation("original", outcome, sets, worse, seeds, number, leans, like_random, decided, weighted)
    cleaned = outcome == "better" or (outcome == "no difference" and (weighted or found.determined) and not leans)
    cleaned = cleaned or (decided > 0 and outcome in ("unchanged", "no difference"))
    return replace(found, version="cleaned") if cleaned else found


def _like_random(rows: Sequence[Row], differences: pa.Table) -> bool:
    gained = {(row["set"], row["metric"]) for row in rows if row["low"] > 0}
    against = [row for row in differences.to_pylist() if (row["subset"], row["against"]) == ("cleaned", "random")]
    beaten = {(row["set"], row["metric"]): row["low"] > 0 for row in against}
    return bool(gained) and not any(beaten.get(one, True) for one in gained)


def _outcome(rows: Sequence[Row], worse: bool) -> Literal["worse", "better", "no difference", "unchanged"]:
    if worse:
        return "worse"
    if all(row["difference"] == row["low"] == row["high"] == 0 for row in rows):
        return "unchanged"
    return "better" if any(row["low"] > 0 for row in rows) else "no difference"
