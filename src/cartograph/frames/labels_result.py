"""What an audit in memory found about rows that have several labels: as a whole, label by label, and the rows with labels put right."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from cartograph.clean.whole_sets import turned_as_sets
from cartograph.data.arrays import Bools
from cartograph.dynamics.decisions import NAMES
from cartograph.errors import InputError
from cartograph.frames.label_rows import LabelRows
from cartograph.frames.own_types import typed
from cartograph.frames.result import FrameAudit, write_page
from cartograph.page.audit import Audit
from cartograph.page.headline import PRECISION
from cartograph.suspects.how_many import Between, WrongLabels
from cartograph.suspects.label_listing import known_labels
from cartograph.suspects.several_labels import SeveralDoubts
from cartograph.wording import counted, wrong_in_short

if TYPE_CHECKING:
    from collections.abc import Callable

    import plotly.graph_objects as go


@dataclass(frozen=True, repr=False)
class LabelsAudit:
    """What an audit of rows with several labels found; each label of a row is a yes or no, and any of them may be wrong.

    Attributes:
        measures: confidence, variability, correctness and region of every label of every row, and the other measures of the map; indexed
            by the frame's index (or the number of the record in a file) and the label.
        suspects: yes and no that are probably wrong, most suspect first, indexed as the frame: its text, ``label``, ``given`` and
            ``suggested`` (yes or no), ``probability`` that the given one is wrong, ``yes``, the probability of yes by models that did not
            see the row, both in [0, 1], and ``reason``.
        labels: label by label: ``rows`` that have it, ``suspects``, of these ``missing`` (no, should be yes) and ``surplus``, how many of
            its yes and no are ``wrong``, with an interval from ``low`` to ``high`` (missing where that cannot be estimated; the interval
            may be known alone), and ``note``, why a label could not be audited.
        wrong: how many yes and no of all labels together are wrong, with an interval; None where that cannot be estimated.
        set_aside: the rows that could not be used: ``row``, ``column``, ``value``, ``reason``.
    """

    measures: pd.DataFrame
    suspects: pd.DataFrame
    labels: pd.DataFrame
    wrong: WrongLabels | None
    set_aside: pd.DataFrame
    _page: Audit
    _rows: LabelRows
    _doubts: SeveralDoubts
    _of_label: Callable[[int], FrameAudit]

    @property
    def between(self) -> Between | None:
        """Between which numbers that of the wrong yes and no lies, where ``wrong`` is None; None where that cannot be said either."""
        return None if self.wrong is not None else self._doubts.together.between

    def label(self, name: str) -> FrameAudit:
        """Return the audit of one label: its map, with regions of its own, its measures and its suspects.

        Raises:
            InputError: no label that was audited has this name.
        """
        names = self._rows.names
        if name not in names:
            why = self._rows.left_out.get(name)
            raise InputError(
                f"label {name!r} was not audited: {why}." if why else f"no label is called {name!r}; there are {', '.join(names)}."
            )
        return self._of_label(names.index(name))

    def map(self, label: str | None = None) -> go.Figure:
        """Return the data map as an interactive figure: of all labels, or of one."""
        from cartograph.figures.interactive_map import interactive_map

        if label is not None:
            return self.label(label).map()
        fields = [self._page.examples[name].to_pylist() for name in self._page.info.fields]
        return interactive_map(self._page.measures, [" / ".join(row) for row in zip(*fields, strict=True)], labels=self._page.info.labels)

    @cached_property
    def ranking(self) -> pd.DataFrame:
        """Every label of every row, most suspect first, suspects or not: ``label``, ``given`` and ``probability``, indexed as the frame."""
        score = self._doubts.score
        row, label = np.divmod(np.argsort(-score, axis=None, kind="stable"), score.shape[1])
        columns = {
            "label": np.array(self._rows.names, dtype=object)[label],
            "given": np.array(NAMES, dtype=object)[self._rows.given[row, label]],
            "probability": score[row, label],
        }
        return pd.DataFrame(columns, index=self._rows.rows.given.index[self._rows.places[row]])

    def report(self, path: str | Path) -> Path:
        """Write the audit as one HTML file that needs no network; return its path.

        Args:
            path: of the file; its folder is made where it is missing.
        """
        return write_page(self._page, path)

    def cleaned(self, recipe: Literal["correct", "drop-flagged"] = "correct") -> pd.DataFrame:
        """Return the rows with all their columns, in their own order, without the labels that are most surely wrong; those of a file with
        the types that pandas gives them.

        A suspect is changed where it is wrong with a probability of 0.8 or more, and where the number of wrong labels can be estimated, of
        its label or of all together; a row's only together, to a set of labels that another row has (``clean.whole_sets``).

        Args:
            recipe: ``correct``: a yes becomes a no and a no a yes; ``drop-flagged``: rows with any such label are left out.

        Raises:
            InputError: another recipe.
        """
        if recipe not in ("correct", "drop-flagged"):
            raise InputError(f"recipe must be correct or drop-flagged, but is {recipe!r}.")
        rows = self._rows.rows
        left = rows.given.iloc[np.sort(self._rows.places[~self._sure.any(axis=1)])] if recipe == "drop-flagged" else self._corrected
        return left if rows.form is None else typed(left)

    @property
    def _corrected(self) -> pd.DataFrame:
        return self._rows.corrected(self._turned)

    @property
    def corrections(self) -> int:
        """How many labels ``cleaned`` changes."""
        return int(self._turned.sum())

    @cached_property
    def _turned(self) -> Bools:
        listed = (self._doubts.score >= self._threshold) & known_labels(self._doubts)
        return turned_as_sets(self._rows.given.astype(bool), self._sure, listed)

    @property
    def _threshold(self) -> float:
        return float(self._page.suspects.record["threshold"]) if self._page.suspects else 0.5

    @property
    def _sure(self) -> Bools:
        flagged = self._doubts.score >= max(PRECISION, self._threshold)
        sure: Bools = flagged & known_labels(self._doubts)
        return sure

    def _repr_html_(self) -> str:
        """Return the numbers and the map, for a notebook."""
        from html import escape

        drawn: str = self.map().to_html(full_html=False, include_plotlyjs=True, default_height=560)
        table: Any = self.labels.to_html(escape=True)
        return f"<p>{escape(repr(self).strip('<>'))}</p>{table}{drawn}"

    def __repr__(self) -> str:
        """Return the numbers in a line."""
        many = "unknown" if self.between is None else f"{self.between.low:,.0f} to {self.between.high:,.0f}"
        if self.wrong is not None:
            many = wrong_in_short(self.wrong.expected, self.wrong.low, self.wrong.high)
        aside = f", {len(self.set_aside):,} set aside" if len(self.set_aside) else ""
        names = self._rows.names
        of = f"{counted(len(self.measures) // len(names), 'row')} with {counted(len(names), 'label')}"
        return f"<audit of {of}{aside}: {counted(len(self.suspects), 'suspect')}, wrong labels: {many}>"
