"""The rows of a frame or file without the labels that are surely wrong, or weighted, where that is measurably better than to leave them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from cartograph.clean import cleaning
from cartograph.clean.arms import Again, Arm, ArmChoice
from cartograph.clean.cleaning import too_many_phrase
from cartograph.clean.decisions import Decision
from cartograph.clean.recommended import doubted_again, recommended_arm
from cartograph.data.progress import Progress
from cartograph.errors import InputError
from cartograph.frames.rows import Rows
from cartograph.page.headline import MOST_TAKEN, PRECISION
from cartograph.page.step_results import Suspects
from cartograph.schema import LABEL, WEIGHT
from cartograph.suspects.among import Among
from cartograph.suspects.label_doubt import NOTHING
from cartograph.wording import counted, cut, listing

Recipe = Literal["auto", "drop-flagged", "relabel", "down-weight"]

RECIPES: tuple[Recipe, ...] = ("auto", "drop-flagged", "relabel", "down-weight")
RELABEL_ABOVE = 0.9
"""What a suggestion needs to be taken, as the section ``clean`` has it."""

_SEED = 13
_BETTER = "since models are better for that, by cross-validation"
_RECIPES: Mapping[Arm, cleaning.Recipe] = {
    "original": "decisions-only",
    "drop": "drop-flagged",
    "relabel": "relabel",
    "down-weight": "down-weight",
}
_PREFERRED: tuple[Arm, ...] = ("drop", "relabel")
"""They need no column that is heard only by who reads it."""


@dataclass(frozen=True)
class CleanedRows:
    """The ways of cleaning a frame or file.

    Attributes:
        rows: as they were read.
        suspects: what was found of them.
        among: returns what finds suspects among some of them; None where none could be found.
        compared: called with (folds done, folds) while ways of cleaning are compared.
    """

    rows: Rows
    suspects: Suspects
    among: Callable[[], Among] | None = None
    compared: Progress | None = None

    def frame(self, recipe: Recipe) -> pd.DataFrame:
        """Return the rows that stay, with all their columns, in their own order; ``down-weight`` adds the column ``weight``.

        Raises:
            InputError: another recipe, or weights where there is such a column.
        """
        done = self._done(recipe)
        return self.rows.kept(done.kept, done.labels, done.weights)

    def changes(self, recipe: Recipe) -> str:
        """Return what is changed, and if nothing is, why, as a clause.

        Raises:
            InputError: another recipe.
        """
        done, sure = self._done(recipe), len(self._arms["drop"].changes)
        if done.weights is not None and "impossible" not in self.suspects.record:
            why = f", {_BETTER}" if recipe == "auto" else ""
            how = "1 on average, little where its label is likelier wrong than right"
            return f"{self._all}, with a column `{WEIGHT}` of how much each counts ({how}){why}"
        if not sure:
            if "impossible" in self.suspects.record:
                return f"{self._all}: wrong labels could not be looked for"
            if not self._calibrated:
                none = "how many labels are wrong is not known closely enough for one to be changed without a person"
                no_better = "" if not self._choice.scores else ", nor weighted, since by cross-validation models are not measurably better"
                return f"{self._all}: {none}{no_better}{self._not_weighted}"
            return f"{self._all}: no label is surely wrong{self._not_weighted}"
        if not len(done.changes):
            sure = len(self._cleaned("drop-flagged").changes)
            labels, them = ("1 label is", "it") if sure == 1 else (f"{sure:,} labels are", "them")
            why = self._choice.reason.rstrip(".")
            return f"{self._all}: {labels} sure enough to drop, but {why[0].lower()}{why[1:]} (recipe drop-flagged drops {them} anyway)"
        dropped, left = int(np.count_nonzero(~done.kept)), too_many_phrase(done.too_many)
        corrected = len(done.changes) - dropped
        parts = [f"without the {dropped:,} whose label is most surely wrong"] if dropped else []
        done_to = ", ".join([*parts, f"with {counted(corrected, 'label')} corrected"] if corrected else parts)
        return "; ".join(filter(None, (f"{done_to}{self._mostly_gone(done)}", left)))

    def _mostly_gone(self, done: cleaning.Cleaning) -> str:
        """Return of which classes a recipe takes more than is else left to people, as the end of a clause; empty where of none."""
        before = self.rows.ingested.examples[LABEL].to_numpy()
        taken, labels = ~done.kept | (done.labels != before), self.rows.ingested.info.labels
        rows, gone = (np.bincount(of, minlength=len(labels)) for of in (before, before[taken]))
        named = [f"{gone[one]:,} of the {rows[one]:,} rows of `{cut(labels[one], 40)}`" for one in np.flatnonzero(gone > MOST_TAKEN * rows)]
        return f", among them {listing(named)}" if named else ""

    def _done(self, recipe: Recipe) -> cleaning.Cleaning:
        if recipe not in RECIPES:
            raise InputError(f"recipe must be {', '.join(RECIPES[:-1])} or {RECIPES[-1]}, but is {recipe!r}.")
        return self._arms[self._choice.recommended] if recipe == "auto" else self._cleaned(recipe)

    @property
    def _not_weighted(self) -> str:
        """Why weights were not compared, where it is the rows' own column, as the end of a clause; empty elsewhere."""
        taken = f"; weights were not compared, since there is a column `{WEIGHT}`: rename it"
        return taken if WEIGHT in self.rows.given.columns else ""

    @property
    def _all(self) -> str:
        return "all that could be used" if len(self.rows.ingested.quarantine) else "all of them"

    @property
    def _calibrated(self) -> bool:
        return bool(self.suspects.record["calibrated"])

    @cached_property
    def _arms(self) -> dict[Arm, cleaning.Cleaning]:
        return self._by_arm(self.rows.ingested.examples, self.suspects.rows)

    def _by_arm(self, examples: pa.Table, listed: pa.Table) -> dict[Arm, cleaning.Cleaning]:
        """Return the outcome of each arm for rows with their list: a class of which most would be taken is left to people."""
        return {arm: self._cleaned(recipe, examples, listed, MOST_TAKEN) for arm, recipe in _RECIPES.items()}

    def _cleaned(
        self, recipe: cleaning.Recipe, examples: pa.Table | None = None, listed: pa.Table | None = None, most_taken: float = 1.0
    ) -> cleaning.Cleaning:
        """Return the outcome of a recipe for all rows, or for others with their own list."""
        rows = self.rows.ingested.examples if examples is None else examples
        listed, how = self.suspects.rows if listed is None else listed, {"relabel_above": RELABEL_ABOVE, "precision": PRECISION}
        return cleaning.clean(rows, listed, {}, recipe=recipe, calibrated=self._calibrated, most_taken=most_taken, **how)

    @cached_property
    def _choice(self) -> ArmChoice:
        """The way of cleaning that is recommended: weights where there is room for them, and of texts something was learnt to weight by.

        Where hardly anything is learnt of a table, a rare class may be full of another's rows, which its share alone tells: weights then
        gain as much as elsewhere (``benchmarks/table_cleaning.py``), and where they gain nothing, none are recommended.

        Rows are dropped or corrected rather than weighted, unless weights clearly gain more, or a class is left to people: then much of
        what is wrong would stay.
        """
        record = self.suspects.record
        learnt = (record.get("explained") or 0.0) >= NOTHING or record.get("unknown") != "little explained"
        weighable = (learnt or self.rows.ingested.info.features) and WEIGHT not in self.rows.given.columns
        arms = {arm: done for arm, done in self._arms.items() if arm != "down-weight" or weighable}
        examples, rng = self.rows.ingested.examples, np.random.default_rng([_SEED, 1])
        again = None if self.among is None else partial(self._again, self.among)
        return recommended_arm(
            examples,
            self.suspects.rows,
            {},
            arms,
            rng,
            wrong=record["wrong"] if self._calibrated else None,
            unknown=record.get("unknown"),
            between=record.get("between"),
            again=again,
            preferred=() if self._arms["drop"].spared else _PREFERRED,
            progress=self.compared,
        )

    def _again(self, among: Callable[[], Among], examples: pa.Table, arms: Mapping[Arm, cleaning.Cleaning]) -> Again:
        def by_arm(part: pa.Table, listed: pa.Table, decided: Mapping[str, Decision]) -> Mapping[Arm, cleaning.Cleaning]:
            return {arm: done for arm, done in self._by_arm(part, listed).items() if arm in arms}

        return doubted_again(among().of(examples), examples, {}, arms, by_arm)
