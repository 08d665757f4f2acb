"""The data map: every drawn row by its variability and confidence."""

from __future__ import annotations

import numpy as np

from cartograph.page.audit import Audit
from cartograph.page.blocks import Definitions, Map, Section
from cartograph.schema import REGIONS
from cartograph.wording import count, counted, probability

CONFIDENCE = (
    "the probability that the model gave to a row's own label, averaged over the epochs (passes over the data) of its training; "
    "low means that it kept doubting the label."
)
VARIABILITY = (
    "how much that probability moved from epoch to epoch (its standard deviation); high means that the model kept changing its mind."
)
CORRECTNESS = "the share of epochs in which the row's own label was the model's first choice."


def map_section(audit: Audit) -> Section:
    """Return the map with the meaning of its axes."""
    drawn = min(audit.rows, audit.limits.max_points)
    sampled = "" if drawn == audit.rows else f", of which {count(drawn)} are drawn, picked at random{_besides(audit)}"
    each = f"one of the {counted(audit.rows, 'train row')}"
    if audit.several:
        rows, labels = counted(audit.rows // audit.labels_a_row, "row"), counted(audit.labels_a_row, "label")
        each = f"one label of a row, yes or no: {rows} with {labels} make {count(audit.rows)} points"
    lead = (
        f"Each point is {each}{sampled}. At the bottom left are labels that the model gave little probability in every epoch, on the right "
        "those about which it changed its mind, and at the top left those it was sure of from the start."
    )
    items = [("Confidence", CONFIDENCE), ("Variability", VARIABILITY), ("Correctness", CORRECTNESS)]
    return Section("map", "Data map", lead, (Map(_alternative(audit)), Definitions(items)), short="Map")


def _besides(audit: Audit) -> str:
    """Return which rows are drawn besides the sample, and what that does to the picture."""
    shown, flagged = len(audit.suspects_drawn), len(audit.flagged)
    if not flagged:
        return "; rows that this page lists are always among them, and the bars at the sides count every row"
    which = "all suspects" if shown == flagged else f"the {count(shown)} most suspect of {counted(flagged, 'suspect')}"
    return (
        f" but for {which} and the rows that this page lists, which are always among them: so the points are denser there than the data, "
        "while the bars at the sides count every row"
    )


def _alternative(audit: Audit) -> str:
    shares = [f"{count(len(audit.members(name)))} {name}" for name in REGIONS]
    quantiles = ", ".join(probability(value) for value in np.quantile(audit.confidence, (0.1, 0.5, 0.9)))
    return (
        f"Scatter plot of {counted(audit.rows, 'row')}: variability across, confidence upwards, colour and shape by correctness. "
        f"Rows by region: {', '.join(shares)}. Confidence at the 10th, 50th and 90th percentile: {quantiles}."
    )
