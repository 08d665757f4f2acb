"""An audit of a data frame: a model's training dynamics, the data map, the suspects, and how many labels are wrong.

It trains the default model of the step `train` (a bag of words), and finds suspects as the step `noise` does by its committee: the same
functions, on a table in memory. Experiments, filters, retraining and reports are the steps'.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa

from cartograph.dynamics.epoch_files import read_dynamics
from cartograph.errors import InputError
from cartograph.maps.measures import compute_measures
from cartograph.maps.table import map_table
from cartograph.schema import DatasetInfo, examples_schema
from cartograph.suspects.committee import committee_scores
from cartograph.suspects.label_doubt import WrongLabels

if TYPE_CHECKING:
    import plotly.graph_objects as go


@dataclass(frozen=True, repr=False)
class FrameAudit:
    """What an audit of a data frame found.

    Attributes:
        measures: confidence, variability, correctness and region of every row, and the other measures of the map; indexed as the frame.
        suspects: the rows whose label is probably wrong, the most doubtful first: text, label, suggested label and the probability that
            the given label is wrong, in [0, 1]; indexed as the frame.
        wrong: how many labels are wrong, with an interval; None where the models explain too little of the labels to tell.
    """

    measures: pd.DataFrame
    suspects: pd.DataFrame
    wrong: WrongLabels | None
    _table: pa.Table
    _texts: tuple[str, ...]
    _labels: tuple[str, ...]

    def map(self) -> go.Figure:
        """Return the data map as an interactive figure."""
        from cartograph.figures.interactive_map import interactive_map

        return interactive_map(self._table, list(self._texts), labels=self._labels)

    def __repr__(self) -> str:
        """Return the numbers in a line."""
        many = "unknown" if self.wrong is None else f"about {self.wrong.expected:,.0f} ({self.wrong.low:,.0f} to {self.wrong.high:,.0f})"
        return f"<audit of {len(self.measures):,} rows: {len(self.suspects):,} suspects, wrong labels: {many}>"


def audit(
    frame: pd.DataFrame, *, text: str | Sequence[str], label: str, epochs: int = 8, threshold: float = 0.5, seed: int = 13
) -> FrameAudit:
    """Audit the labels of a data frame of texts.

    Args:
        frame: (n_examples, …) one row per example; its index comes back with the results.
        text: the column of the texts, or two columns of pairs.
        label: the column of the given labels.
        epochs: of the training whose dynamics make the map, 2 or more; a few hundred rows need thirty for a map that tells rows apart.
        threshold: probability of a wrong label from which on a row is a suspect, in [0, 1].
        seed: of the training and the folds; the same seed gives the same result.

    Raises:
        InputError: a column that is missing or holds empty values, fewer than two classes, or a number out of range.

    >>> frame = pd.DataFrame({"review": ["good fun", "fine film", "good plot"] * 20 + ["bad film", "dull plot", "bad"] * 20,
    ...                       "label": ["pos"] * 60 + ["neg"] * 59 + ["pos"]})
    >>> found = audit(frame, text="review", label="label")
    >>> found.suspects.index.tolist(), found.suspects["suggested"].tolist()
    ([119], ['neg'])
    """
    from cartograph.train.fit import fit
    from cartograph.train.recipe import Recipe

    columns = [text] if isinstance(text, str) else list(text)
    _require_columns(frame, columns, label)
    if epochs < 2 or not 0 <= threshold <= 1:
        raise InputError(f"epochs must be 2 or more and threshold in [0, 1], but they are {epochs} and {threshold}.")
    names, ids = np.unique(frame[label].astype(str).to_numpy(dtype=object), return_inverse=True)
    texts = [tuple(row) for row in frame[columns].astype(str).itertuples(index=False)]
    committee = committee_scores(texts, ids, list(names), np.random.default_rng(seed), folds=min(5, len(ids)))
    train, uids = _examples(texts, ids, [str(name) for name in names]), [_uid(row) for row in range(len(ids))]
    with tempfile.TemporaryDirectory() as folder:
        fit(Recipe(seed=seed, epochs=epochs), train, {}, Path(folder))
        dynamics = read_dynamics(Path(folder) / "dynamics")
    measures = compute_measures(dynamics.uids, dynamics.logits, dynamics.gold)
    table = map_table(uids, ids, measures)
    doubt = committee.doubt
    order = np.argsort(-doubt.score, kind="stable")
    rows = order[doubt.score[order] >= threshold]
    suspects = frame.iloc[rows][[*columns, label]].assign(suggested=names[doubt.suggested[rows]], probability=doubt.score[rows])
    by_row = table.drop_columns(["uid", "gold"]).to_pandas().set_index(frame.index)
    return FrameAudit(by_row, suspects, doubt.wrong, table, tuple(" / ".join(row) for row in texts), tuple(map(str, names)))


def _uid(row: int) -> str:
    return f"{row:012}"


def _examples(texts: list[tuple[str, ...]], ids: Any, labels: list[str]) -> pa.Table:
    fields = tuple(f"text{number}" for number in range(len(texts[0])))
    info = DatasetInfo("train", "train", "single" if len(fields) == 1 else "pair", fields, (), tuple(labels))
    rows = range(len(texts))
    columns = [
        [_uid(row) for row in rows],
        *zip(*texts, strict=True),
        ids.astype(np.int32),
        ["frame"] * len(texts),
        [row + 1 for row in rows],
    ]
    schema = examples_schema(info)
    return pa.Table.from_arrays([pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema=schema)


def _require_columns(frame: pd.DataFrame, text: list[str], label: str) -> None:
    if len(text) not in (1, 2):
        raise InputError(f"text names {len(text)} columns; name one, or two of pairs.")
    for name in (*text, label):
        if name not in frame.columns:
            raise InputError(f"the frame has no column {name!r}; its columns are {', '.join(map(str, frame.columns))}.")
        empty = frame[name].isna().to_numpy()
        if empty.any():
            row = frame.index[int(empty.argmax())]
            raise InputError(f"column {name!r} is empty in row {row!r} ({int(empty.sum()):,} such rows); leave these rows out.")
    if frame[label].nunique() < 2:
        raise InputError(
            f"column {label!r} holds {frame[label].nunique()} class in {len(frame):,} rows; a model needs two classes at least."
        )
