"""What an audit in memory found: tables of measures and suspects, the map, the page, and the rows that stay."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from cartograph.data.arrays import Array
from cartograph.data.progress import Progress
from cartograph.errors import InputError
from cartograph.frames.cleaned_rows import CleanedRows, Recipe
from cartograph.frames.own_types import typed
from cartograph.frames.rows import Rows
from cartograph.page.audit import Audit
from cartograph.page.headline import on_condition
from cartograph.schema import WEIGHT
from cartograph.suspects.among import Among
from cartograph.suspects.how_many import Between, WrongLabels
from cartograph.wording import counted, wrong_in_short

if TYPE_CHECKING:
    import plotly.graph_objects as go


@dataclass(frozen=True, repr=False)
class FrameAudit:
    """What an audit of a data frame, a file or recorded dynamics found.

    Attributes:
        measures: confidence, variability, correctness and region of every row that could be used, and the other measures of the map;
            indexed as the frame; of a file by the number of the record (in JSONL of the line), from 1 on, so that in a frame that was
            read from it these are ``frame.iloc[measures.index - 1]``; or by uid for dynamics.
        suspects: the rows whose label is probably wrong, most suspect first: text, label, ``suggested`` label, ``probability`` of a
            wrong label, in [0, 1], and ``reason``; indexed likewise.
        wrong: how many labels are wrong, with an interval; None where that cannot be estimated.
        set_aside: the rows that could not be used: ``row``, ``column``, ``value``, ``reason``.
    """

    measures: pd.DataFrame
    suspects: pd.DataFrame
    wrong: WrongLabels | None
    set_aside: pd.DataFrame
    _page: Audit
    _rows: Rows | None
    _among: Callable[[], Among] | None = None
    _compared: Progress | None = None

    @property
    def between(self) -> Between | None:
        """Between which numbers that of the wrong labels lies, where ``wrong`` is None; None where that cannot be said either."""
        ends = None if self._page.suspects is None else self._page.suspects.record.get("between")
        return None if ends is None else Between(**ends)

    def map(self) -> go.Figure:
        """Return the data map as an interactive figure."""
        from cartograph.figures.interactive_map import interactive_map

        fields = [self._page.examples[name].to_pylist() for name in self._page.info.fields]
        texts = [" / ".join(row) for row in zip(*fields, strict=True)]
        return interactive_map(self._page.measures, texts, labels=self._page.info.labels)

    @cached_property
    def ranking(self) -> pd.DataFrame:
        """Every row that could be used, most suspect first, suspects or not: ``probability`` and ``suggested``, indexed as ``measures``.

        Raises:
            InputError: suspects were not looked for, or the audit is of dynamics, or of one label of several.
        """
        if self._rows is None or self._page.suspects is None or "impossible" in self._page.suspects.record:
            raise InputError(
                "this audit ranks no rows: suspects were not looked for, or it is of recorded dynamics (`.suspects` has theirs) or of one "
                "label of several (`.ranking` of the whole audit has it)."
            )
        table = self._page.suspects.rows
        examples, places = self._page.examples, self._rows.places
        position = dict(zip(self._rows.ingested.examples["uid"].to_pylist(), places.tolist(), strict=True))
        index = self._rows.given.index[[position[uid] for uid in examples["uid"].to_pylist()]]
        names = class_values(self._rows)
        suggested, probability = (table[name].to_numpy() for name in ("suggested", "probability"))
        order = np.argsort(table["rank"].to_numpy(), kind="stable")
        return pd.DataFrame({"probability": probability, "suggested": names[suggested]}, index=index).iloc[order]

    def report(self, path: str | Path) -> Path:
        """Write the audit as one HTML file that needs no network; return its path.

        Args:
            path: of the file; its folder is made where it is missing.
        """
        return write_page(self._page, path)

    def cleaned(self, recipe: Recipe = "auto") -> pd.DataFrame:
        """Return the rows that stay, with all their columns, in their own order; those of a file with the types that pandas gives them.

        A suspect is dropped or relabelled where its label is wrong with a probability of 0.8 or more; none is where the number of wrong
        labels cannot be estimated.
        People's decisions are read by the step `clean` alone.

        Args:
            recipe: ``drop-flagged``; ``relabel``, which gives a suspect its suggested label where that has a probability above 0.9, and
                drops it otherwise; ``down-weight``: all rows, with a column ``weight`` of how much each counts, 1 on average, by how likely
                its label is right (``sample_weight`` of scikit-learn); ``auto``: the better of the first two
                where models on these rows are better for it than for changing nothing, by cross-validation, or no worse and it is clear
                that labels are wrong (``clean.arms``); weights where models clearly gain more by them, or are better for these alone,
                and there is no such column yet, with a warning that says so; else all rows as they are.

        Raises:
            InputError: another recipe, weights where there is a column ``weight``, or an audit of dynamics, which have no columns.
        """
        cleaned = self._cleaned_rows.frame(recipe)
        if recipe == "auto" and WEIGHT in cleaned and WEIGHT not in self._cleaned_rows.rows.given:
            warnings.warn(
                f"no row is dropped and no label changed: the column `{WEIGHT}` says how much each row should count in training "
                "(sample_weight of scikit-learn); .cleaned('drop-flagged') drops the surest suspects instead.",
                stacklevel=2,
            )
        return cleaned if self._rows is None or self._rows.form is None else typed(cleaned)

    def changes(self, recipe: Recipe = "auto") -> str:
        """Return what ``cleaned`` changes, and if nothing is, why, as a clause; arguments and errors as those of ``cleaned``."""
        return self._cleaned_rows.changes(recipe)

    @cached_property
    def _cleaned_rows(self) -> CleanedRows:
        if self._rows is None or self._page.suspects is None:
            raise InputError("this audit has no frame whose rows could be kept; use `.suspects.index`, the uids of the suspects.")
        return CleanedRows(self._rows, self._page.suspects, self._among, self._compared)

    @property
    def verdict(self) -> tuple[str, ...]:
        """What was found in sentences, most important first, as at the head of the page: which errors the number leaves out, too."""
        from cartograph.page.verdict import verdict

        found = verdict(self._page)
        return (found.sentence, *found.lines)

    def _repr_html_(self) -> str:
        """Return the numbers, what was found, and the map, for a notebook."""
        from html import escape

        drawn: str = self.map().to_html(full_html=False, include_plotlyjs=True, default_height=560)
        lines = "".join(f"<li>{escape(line)}</li>" for line in self.verdict)
        return f"<p>{escape(repr(self).strip('<>'))}</p><ul>{lines}</ul>{drawn}"

    def __repr__(self) -> str:
        """Return the numbers in a line."""
        if self._page.suspects is None:
            return f"<audit of {counted(len(self.measures), 'row')}: a map alone; give probabilities= for suspects>"
        many = "unknown" if self.between is None else f"{self.between.low:,.0f} to {self.between.high:,.0f}"
        if self.wrong is not None:
            many = wrong_in_short(self.wrong.expected, self.wrong.low, self.wrong.high)
        condition = on_condition(self._page).removesuffix(", ")
        many += f" ({condition})" if condition and self.wrong is not None else ""
        aside = f", {len(self.set_aside):,} set aside" if len(self.set_aside) else ""
        return f"<audit of {counted(len(self.measures), 'row')}{aside}: {counted(len(self.suspects), 'suspect')}, wrong labels: {many}>"


def write_page(page: Audit, path: str | Path) -> Path:
    """Write a page as one HTML file, its map drawn as a picture too; return its path.

    Args:
        page: the audit.
        path: of the file; its folder is made where it is missing.
    """
    from cartograph.figures.saving import save_figure
    from cartograph.figures.still_map import data_map
    from cartograph.page.document import page as document
    from cartograph.page.encode import data_uri

    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "map.png"
        save_figure(data_map(page.measures), picture)
        still = data_uri(picture.read_bytes(), "image/png")
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(document(replace(page, still=still)), encoding="utf-8")
    return file


def class_values(rows: Rows) -> Array:
    """Return the classes as the label column of a frame has them, ``(n_classes,)``: numbers, dates or True; else their names."""
    values = np.empty(len(rows.ingested.info.labels), dtype=object)
    values[:] = [name if isinstance(own, str) else own for name, own in zip(rows.ingested.info.labels, rows.spelled, strict=True)]
    return values


def flagged_frame(page: Audit, index: pd.Index, given: pd.DataFrame, names: Array | None = None) -> pd.DataFrame:
    """Return the suspects of a page's audit, the most doubtful first.

    Args:
        page: the audit; its suspects are in the order of its measures.
        index: (n_examples,) names of these rows.
        given: (n_examples, …) columns of theirs to begin with; one with the name of an added column has `` (given)`` behind its own.
        names: (n_classes,) what the classes are called (``class_values``); None: their names.
    """
    assert page.suspects is not None
    table, rows = page.suspects.rows, page.flagged
    names = np.asarray(page.info.labels, dtype=object) if names is None else names
    columns = {name: table[name].to_numpy(zero_copy_only=False)[rows] for name in ("suggested", "probability", "reason")}
    own = given.rename(columns={name: f"{name} (given)" for name in columns})
    return own.iloc[rows].set_axis(index[rows]).assign(**(columns | {"suggested": names[columns["suggested"]]}))
