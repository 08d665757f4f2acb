"""What one types to make an audit in memory again, which its page says."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any, Literal

from cartograph.frames.opened import FileForm
from cartograph.frames.rows import Rows
from cartograph.ingest.columns import ALL

THRESHOLD, SEED = 0.5, 13
"""Where nothing else is asked for."""


def command_of(
    rows: Rows,
    texts: Sequence[str],
    labels: str | Sequence[str],
    *,
    threshold: float,
    seed: int,
    epochs: int | Literal["auto"] = "auto",
    vectors: bool = False,
) -> str:
    """Return the command that audits a file again; the call, of a frame and where the command has no such option.

    Args:
        rows: as they were read.
        texts: the text columns; none of a table of features.
        labels: the label column, or those of rows with several labels.
        threshold: from which probability on a row is a suspect.
        seed: of the training and the folds.
        epochs: of the training.
        vectors: whether vectors of one's own were given.
    """
    if rows.form is not None and not vectors:
        return shlex.join(["cartograph", "audit", rows.file.name, *_options(rows, rows.form, texts, labels, threshold, seed, epochs)])
    return f"cartograph.audit({', '.join(_arguments(rows, texts, labels, threshold, seed, epochs, vectors))})"


def _options(
    rows: Rows, form: FileForm, texts: Sequence[str], labels: str | Sequence[str], threshold: float, seed: int, epochs: int | str
) -> list[str]:
    given = [("--text", name) for name in texts]
    given += [("--feature", name) for name in rows.asked if rows.asked != ALL]
    given += [("--label", labels)] if isinstance(labels, str) else [("--labels", _listed(labels))]
    given += [("--linked", rows.linked)] if rows.linked else []
    given += [("--labelled-by", rows.labelled_by)] if rows.labelled_by else []
    given += [("--columns", _listed(form.columns))] if form.columns else []
    given += [("--encoding", form.encoding)] if form.encoding else []
    given += [("--epochs", str(epochs))] if epochs != "auto" else []
    given += [("--threshold", f"{threshold:g}")] if threshold != THRESHOLD else []
    given += [("--seed", str(seed))] if seed != SEED else []
    return ["--features"] * (rows.asked == ALL) + [part for pair in given for part in pair]


def _listed(names: Sequence[str]) -> str:
    return ",".join(name.replace(",", "\\,") for name in names)


def _arguments(
    rows: Rows, texts: Sequence[str], labels: str | Sequence[str], threshold: float, seed: int, epochs: int | str, vectors: bool
) -> list[str]:
    named: list[tuple[str, Any]] = []
    if rows.asked:
        named.append(("features", True if rows.asked == ALL else list(rows.asked)))
    else:
        named.append(("text", texts[0] if len(texts) == 1 else list(texts)))
    named.append(("label", labels) if isinstance(labels, str) else ("labels", labels[0] if len(labels) == 1 else list(labels)))
    named += [("linked", rows.linked)] if rows.linked else []
    named += [("labelled_by", rows.labelled_by)] if rows.labelled_by else []
    named += [("epochs", epochs)] if epochs != "auto" else []
    named += [("threshold", threshold)] if threshold != THRESHOLD else []
    named += [("seed", seed)] if seed != SEED else []
    data = "frame" if rows.form is None else repr(rows.file.name)
    return [data, *(f"{name}={value!r}" for name, value in named), *(["vectors=vectors"] if vectors else [])]
