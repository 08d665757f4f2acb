"""The rows of a frame or file without the labels that are surely wrong, where that is measurably better than to leave them."""

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
from cartograph.clean.decisions import Decision
from cartograph.clean.recommended import WEIGHABLE, doubted_again, recommended_arm
from cartograph.errors import InputError
from cartograph.frames.rows import Rows
from cartograph.page.headline import PRECISION
from cartograph.page.step_results import Suspects
from cartograph.schema import WEIGHT
from cartograph.suspects.among import Among
from cartograph.suspects.label_doubt import NOTHING
from cartograph.wording import counted

Recipe = Literal["auto", "drop-flagged", "relabel", "down-weight"]

RECIPES: tuple[Recipe, ...] = ("auto", "drop-flagged", "relabel", "down-weight")
RELABEL_ABOVE = 0.9
"""What a suggestion needs to be taken, as the section ``clean`` of params.yaml has it."""

_SEED = 13
_WEIGHTS = " (recipe down-weight lets each row count by how likely its label is right)"
_ARMS: Mapping[Recipe, Arm] = {"drop-flagged": "drop", "relabel": "relabel"}
_DONE: Mapping[Arm, cleaning.Recipe] = {"original": "decisions-only", "drop": "drop-flagged", "relabel": "relabel"}
_RECIPES: Mapping[Arm, cleaning.Recipe] = {**_DONE, "down-weight": "down-weight"}


@dataclass(frozen=True)
class CleanedRows:
    """The ways of cleaning a frame or file.

    Attributes:
        rows: as they were read.
        suspects: what was found of them.
        among: returns what finds suspects among some of them; None where none could be found.
    """

    rows: Rows
    suspects: Suspects
    among: Callable[[], Among] | None = None

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
            return f"{self._all}, in the column `{WEIGHT}` how much each counts: 1 on average, less where its label is likely wrong"
        if not sure:
            if "impossible" in self.suspects.record:
                return f"{self._all}: wrong labels could not be looked for"
            if not self._calibrated:
                explains = (self.suspects.record.get("explained") or 0.0) >= NOTHING
                way = _WEIGHTS if explains and self.suspects.record.get("unknown") in WEIGHABLE else ""
                return f"{self._all}: how many labels are wrong cannot be estimated, so that none is changed without a person{way}"
            return f"{self._all}: no label is surely wrong"
        if not len(done.changes):
            labels, them = ("1 label is", "it") if sure == 1 else (f"{sure:,} labels are", "them")
            gains = f"dropping or correcting {them} makes no measurably better model, by cross-validation"
            weighting = "; weighting rows does" if self._better_weighted else ""
            ways = f"recipe drop-flagged drops {them} anyway{', down-weight weights rows' if self._better_weighted else ''}"
            return f"{self._all}: {labels} sure enough to drop, but {gains}{weighting} ({ways})"
        dropped = int(np.count_nonzero(~done.kept))
        corrected = len(done.changes) - dropped
        parts = [f"without the {dropped:,} whose label is most surely wrong"] if dropped else []
        return ", ".join([*parts, f"with {counted(corrected, 'label')} corrected"] if corrected else parts)

    def _done(self, recipe: Recipe) -> cleaning.Cleaning:
        if recipe not in RECIPES:
            raise InputError(f"recipe must be {', '.join(RECIPES[:-1])} or {RECIPES[-1]}, but is {recipe!r}.")
        if recipe == "down-weight":
            return self._cleaned(recipe)
        return self._arms[_ARMS.get(recipe) or self._choice.recommended]

    @property
    def _all(self) -> str:
        return "all that could be used" if len(self.rows.ingested.quarantine) else "all of them"

    @property
    def _calibrated(self) -> bool:
        return bool(self.suspects.record["calibrated"])

    @cached_property
    def _arms(self) -> dict[Arm, cleaning.Cleaning]:
        return {arm: self._cleaned(recipe) for arm, recipe in _DONE.items()}

    def _cleaned(self, recipe: cleaning.Recipe, examples: pa.Table | None = None, listed: pa.Table | None = None) -> cleaning.Cleaning:
        """Return the outcome of a recipe for all rows, or for others with their own list."""
        rows = self.rows.ingested.examples if examples is None else examples
        listed, how = self.suspects.rows if listed is None else listed, {"relabel_above": RELABEL_ABOVE, "precision": PRECISION}
        return cleaning.clean(rows, listed, {}, recipe=recipe, calibrated=self._calibrated, **how)

    @cached_property
    def _choice(self) -> ArmChoice:
        return self._compared(self._arms)

    @property
    def _better_weighted(self) -> bool:
        weighted: dict[Arm, cleaning.Cleaning] = {"original": self._arms["original"], "down-weight": self._cleaned("down-weight")}
        return self._compared(weighted).recommended == "down-weight"

    def _compared(self, arms: Mapping[Arm, cleaning.Cleaning]) -> ArmChoice:
        examples, rng = self.rows.ingested.examples, np.random.default_rng([_SEED, 1])
        wrong = self.suspects.record["wrong"] if self._calibrated else None
        again = None if self.among is None else partial(self._again, self.among)
        return recommended_arm(examples, self.suspects.rows, {}, arms, rng, wrong=wrong, again=again)

    def _again(self, among: Callable[[], Among], examples: pa.Table, arms: Mapping[Arm, cleaning.Cleaning]) -> Again:
        def by_arm(part: pa.Table, listed: pa.Table, decided: Mapping[str, Decision]) -> Mapping[Arm, cleaning.Cleaning]:
            return {arm: self._cleaned(_RECIPES[arm], part, listed) for arm in arms}

        return doubted_again(among().of(examples), examples, {}, arms, by_arm)
