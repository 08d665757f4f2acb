"""Human agreement: do people agree on rows that a model is confident about, and does variability add anything (§6, Fig. 5)?"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Floats
from cartograph.errors import InputError
from cartograph.experiments.experiment import Experiment, Finding, Material
from cartograph.experiments.figures import heat_figure
from cartograph.maps.human_agreement import annotator_agreement, label_counts
from cartograph.schema import ANNOTATOR_LABELS, dataset_info
from cartograph.statistics.correlation import correlation, regression

_BINS, _LEAST_ROWS, _ENOUGH = 10, 5, 30


def run(material: Material) -> Finding:
    """Correlate agreement with confidence and with variability, and regress it on both.

    Raises:
        InputError: too few rows carry several annotators' labels, or there is nothing to correlate on them.
    """
    examples = material.examples
    if ANNOTATOR_LABELS not in examples.column_names:
        raise InputError("experiment `agreement` needs the annotators' labels; name their column in `ingest.annotators`.")
    counts = label_counts(examples[ANNOTATOR_LABELS].to_pylist(), dataset_info(examples.schema).labels)
    agreement = annotator_agreement(counts)
    rows = np.flatnonzero(np.isfinite(agreement))
    if len(rows) < _ENOUGH:
        raise InputError(
            f"experiment `agreement` needs {_ENOUGH} rows or more with two annotators' labels, and the train set has {len(rows):,}."
        )
    confidence, variability = (material.measures[name].to_numpy()[rows] for name in ("confidence", "variability"))
    known = agreement[rows]
    for name, values in (("agreement", known), ("confidence", confidence), ("variability", variability)):
        if values.min() == values.max():
            raise InputError(
                f"experiment `agreement` has nothing to correlate: {name} is {values[0]:.3g} on each of the {len(rows):,} rows with two "
                "annotators' labels or more."
            )
    rng = np.random.default_rng(material.options["seed"])
    correlations = {name: correlation(known, values, rng) for name, values in (("confidence", confidence), ("variability", variability))}
    try:
        linear = regression(known, {"confidence": confidence, "variability": variability})
        curved = regression(known, {"confidence": confidence, "confidence squared": confidence**2, "variability": variability})
    except ValueError as error:
        raise InputError(
            f"experiment `agreement` cannot separate confidence from variability on the {len(rows):,} rows with two annotators' labels or "
            f"more: {error}."
        ) from error
    numbers = {f"agreement.{name}.{part}": value for name, one in correlations.items() for part, value in asdict(one).items()}
    numbers |= {"agreement.rows": float(len(rows)), "agreement.mean": float(known.mean())}
    numbers |= {f"agreement.regression.{term.name}.{part}": getattr(term, part) for term in linear for part in ("coefficient", "p", "gain")}
    means, sizes, x_edges, y_edges = binned(variability, confidence, known)
    return Finding(
        _answer(len(rows), correlations, linear, curved),
        numbers,
        _tables(correlations, linear, curved),
        heat_figure("Human agreement over the data map", means, sizes, x_edges, y_edges, "mean agreement with the others' majority"),
    )


def binned(x: Floats, y: Floats, values: Floats, bins: int = _BINS, least: int = _LEAST_ROWS) -> tuple[Floats, Floats, Floats, Floats]:
    """Return mean and count of values over cells of x in [0, 0.5] and y in [0, 1], (bins, bins) each with y first, and the edges.

    The mean is NaN where a cell has fewer than ``least`` rows.
    """
    edges = [np.linspace(0, 1, bins + 1), np.linspace(0, 0.5, bins + 1)]
    counts, *_ = np.histogram2d(y, x, bins=edges)
    sums, *_ = np.histogram2d(y, x, bins=edges, weights=values)
    means = np.divide(sums, counts, out=np.full(counts.shape, np.nan), where=counts >= least)
    return means, counts, edges[1], edges[0]


def _answer(rows: int, correlations: dict, linear: list, curved: list) -> str:  # type: ignore[type-arg]
    parts = [f"{name} r = {one.r:+.2f} ({one.low:+.2f} to {one.high:+.2f})" for name, one in correlations.items()]
    term, bent = linear[-1], curved[-1]
    adds = "adds to" if term.p < 0.05 else "does not measurably add to"
    return (
        f"agreement of {rows:,} rows with {', with '.join(parts)}; variability {adds} confidence (p {term.p:.2g}, R² +{term.gain:.4f}; "
        f"beside a curve of confidence p {bent.p:.2g}, R² +{bent.gain:.4f})"
    )


def _tables(found: dict, linear: list, curved: list) -> dict[str, pa.Table]:  # type: ignore[type-arg]
    correlations = [{"measure": name, **asdict(one)} for name, one in found.items()]
    fits = [{"fit": fit, **asdict(term)} for fit, terms in (("linear", linear), ("with confidence squared", curved)) for term in terms]
    return {"correlations": pa.Table.from_pylist(correlations), "regression": pa.Table.from_pylist(fits)}


EXPERIMENT = Experiment("agreement", "do people agree where the model is confident?", run, "§6, Fig. 5")
