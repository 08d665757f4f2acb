"""Before and after AFLite: accuracies, also on parts of the input, words that give a label away, and distances to neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from cartograph.bias.partial import WHOLE
from cartograph.page.audit import Audit
from cartograph.page.blocks import Block, Cell, Column, Section, Table
from cartograph.page.step_results import Bias
from cartograph.wording import count, counted, cut

_LONGEST = 40
_MEANING = "If one word or half of the input predicts the label, a model can be right for the wrong reason."
_PAPERS = (("full", "full"), ("random", "full"), ("filtered", "filtered"))
_NAMES = {"linear": "linear model on words", "max-pmi": "most revealing word alone"}
_NAMES_OF_IMAGES = {"linear": "linear model on pixels", "cnn": "convolutional network", "vision": "pretrained network"}
_NAMES_OF_TABLES = {"linear": "linear model on columns", "mlp": "perceptron", "boosting": "boosted trees"}
_NO_WORDS = "{} have no words: so what single words and parts of the input give away is not measured."


def bias_section(audit: Audit) -> Section | None:
    """Return what simple models guess before and after the filter; None where that was not measured."""
    if audit.bias is None:
        return None
    rows = audit.bias.accuracies.to_pylist()
    blocks: list[Block] = []
    if rows:
        blocks.append(_models(audit, rows))
    with_scores = [row for row in rows if row["top5"] is not None and row["input"] == WHOLE]
    if with_scores:
        blocks.append(_top_five(audit, with_scores))
    if audit.bias.words.num_rows:
        blocks.append(_words(audit, audit.bias))
    blocks.append(_neighbours(audit, audit.bias))
    return Section("bias", "Before and after the filter", _lead(audit, rows), blocks, short="Bias")


def _name(audit: Audit, model: str) -> str:
    names = _NAMES_OF_IMAGES if audit.info.images else _NAMES_OF_TABLES if audit.info.features else _NAMES
    return names.get(model, model)


def _mean(rows: Sequence[dict[str, Any]], trained_on: str, tested_on: str, what: str = "accuracy") -> float | None:
    values = [row[what] for row in rows if (row["trained_on"], row["tested_on"]) == (trained_on, tested_on)]
    return None if not values or None in values else 100 * fmean(values)


def _lead(audit: Audit, rows: Sequence[dict[str, Any]]) -> str:
    kind = "Images" if audit.info.images else "Tables of features" if audit.info.features else ""
    meaning = _NO_WORDS.format(kind) if kind else _MEANING
    first = [row for row in rows if all(row[key] == rows[0][key] for key in ("model", "input", "set"))]
    full, chance, left = (_mean(first, version, tested) for version, tested in (("full",) * 2, ("random", "full"), ("filtered",) * 2))
    if full is None or chance is None or left is None:
        return meaning
    name = _name(audit, first[0]["model"])
    return (
        f"{meaning}{_sampled(audit)} On {cut(first[0]['set'], _LONGEST)} a {name} is right on {full:.1f}\u00a0% of the rows when it learns "
        f"from all, on {chance:.1f}\u00a0% when it learns from as many random rows as the filter kept, and on {left:.1f}\u00a0% when it "
        "learns from what the filter kept and is tested on what it kept. Report a model's accuracy on those rows beside that on all."
    )


def _sampled(audit: Audit) -> str:
    """Return from which rows the models learnt, where it was not from all."""
    sample = audit.bias.sample if audit.bias else {}
    rows, whole = sample.get("rows"), sample.get("of")
    if rows is None or whole is None or rows >= whole:
        return ""
    return f" Models learn from a random {count(rows)} of the {counted(whole, 'train row')} here, in every column."


def _models(audit: Audit, rows: Sequence[dict[str, Any]]) -> Table:
    cells: list[list[Cell]] = []
    for model, given, name in dict.fromkeys((row["model"], row["input"], row["set"]) for row in rows):
        own = [row for row in rows if (row["model"], row["input"], row["set"]) == (model, given, name)]
        last = next(row for row in own if row["tested_on"] == "filtered")
        cells.append(
            [
                _name(audit, model),
                given,
                cut(name, _LONGEST),
                _mean(own, "full", "full"),
                _mean(own, "random", "full"),
                _mean(own, "filtered", "filtered"),
                None if last["majority"] is None else 100 * last["majority"],
                _mean(own, "filtered", "full"),
                _mean(own, "full", "filtered"),
                last["test_rows"],
            ]
        )
    columns = (
        Column("Model"),
        Column("Input", meaning="the part of each row that the model sees"),
        Column("Set"),
        Column("All rows", "points", "learnt from all rows of the pool; per cent right on the whole set"),
        Column("Random", "points", "learnt from as many random rows as the filter kept; on the whole set; mean over seeds"),
        Column("Filtered", "points", "learnt from the rows that the filter kept; on the rows of the set that it kept"),
        Column("Largest class", "points", "accuracy of always naming the largest class of the filtered set"),
        Column("Filtered on whole", "points", "learnt from the rows that the filter kept; on the whole set"),
        Column("All on filtered", "points", "learnt from all rows; on the rows of the set that the filter kept"),
        Column("Rows", "count", "rows of the set that the filter kept"),
    )
    return Table("Per cent right, before and after", columns, cells)


def _top_five(audit: Audit, rows: Sequence[dict[str, Any]]) -> Table:
    """Return the paper's three columns for labels that are among a model's first five."""
    cells: list[list[Cell]] = []
    for model, name in dict.fromkeys((row["model"], row["set"]) for row in rows):
        own = [row for row in rows if (row["model"], row["set"]) == (model, name)]
        cells.append([_name(audit, model), cut(name, _LONGEST), *(_mean(own, *version, "top5") for version in _PAPERS)])
    columns = (Column("Model"), Column("Set"), Column("All rows", "points"), Column("Random", "points"), Column("Filtered", "points"))
    return Table("Per cent with the label among the first five, learnt and tested as above", columns, cells)


def _words(audit: Audit, bias: Bias) -> Table:
    names = ("another option", "the right option") if audit.info.task == "choice" else audit.info.labels
    cells: list[list[Cell]] = []
    for row in bias.words.to_pylist():
        cells.append(
            [
                row["listed"],
                cut(names[row["label"]], _LONGEST),
                cut(row["word"], _LONGEST),
                row["rows_before"],
                row["share_before"],
                row["rows_after"],
                row["share_after"],
            ]
        )
    columns = (
        Column("Listed", meaning="among the most revealing words before the filter, or after it"),
        Column("Speaks for"),
        Column("Word"),
        Column("Rows before", "count", "rows that have the word"),
        Column("Share before", "share", "of these rows, those with the label"),
        Column("Rows after", "count"),
        Column("Share after", "share"),
    )
    return Table("Words that give the label away", columns, cells, folded=True)


def _neighbours(audit: Audit, bias: Bias) -> Table:
    rows = bias.neighbours.to_pylist()
    tops = sorted({row["top"] for row in rows})
    keys = list(dict.fromkeys((row["set"], row["label"], row["against"]) for row in rows))
    distances = {(row["set"], row["label"], row["against"], row["version"], row["top"]): row["distance"] for row in rows}
    cells: list[list[Cell]] = []
    for name, label, against in keys:
        line: list[Cell] = [cut(name, _LONGEST), cut(audit.info.labels[label], _LONGEST), against]
        cells.append([*line, *(distances.get((name, label, against, version, top)) for version in ("before", "after") for top in tops)])
    columns = [Column("Set"), Column("Label"), Column("To rows of", meaning="the same label, or any other")]
    for version in ("before", "after"):
        for top in tops:
            columns.append(
                Column(f"{version.capitalize()} {count(top)}", "probability", f"summed over the {count(top)} nearest train rows, mean")
            )
    most = bias.sample.get("neighbours_of")
    counted_once = [row for row in rows if (row["version"], row["against"], row["top"]) == ("before", "same", tops[0])]
    looked_up = [sum(row["rows"] for row in counted_once if row["set"] == name) for name in {row["set"] for row in counted_once}]
    of = f", of {count(most)} random rows of a set" if most is not None and most in looked_up else ""
    return Table(f"Cosine distances to the nearest train rows{of}", columns, cells, folded=True)
