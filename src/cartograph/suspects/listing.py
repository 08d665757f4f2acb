"""The list of suspects: how doubtful each label is by a detector, what it should be instead, and why, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import softmax

from cartograph.data.arrays import Bools, Floats, Ids
from cartograph.data.kept_logits import WHOLE, KeptLogits, KeptShares, Logits, Shares, first_of, share_of
from cartograph.data.unknown_classes import unknown_classes
from cartograph.maps.measures import Measures, Uids
from cartograph.schema import NOISE
from cartograph.suspects.class_forms import class_forms
from cartograph.suspects.columns import detector_columns
from cartograph.suspects.committee import Committee
from cartograph.suspects.copies import Copies
from cartograph.suspects.detector import Detector, sigmoid
from cartograph.suspects.flips import Flips
from cartograph.suspects.probabilities import suggested_labels
from cartograph.wording import counted, cut, percent

_LONGEST_NAME, _BLOCK = 60, 50_000


@dataclass(frozen=True)
class Evidence:
    """What is known of all rows under one set of labels, given or flipped; each array ``(n_examples, …)``.

    Attributes:
        labels: label ids.
        names: class names by id.
        measures: of the map.
        in_sample: mean predicted probabilities over the used epochs, ``(n_examples, n_classes)``; None where only coordinates are known.
        n_epochs: number of used epochs; None where not known.
        committee: of the same labels; None without one.
        held_out: as ``in_sample``, by K-fold training, whose models never saw the row; None without it.
    """

    labels: Ids
    names: Sequence[str]
    measures: Measures
    in_sample: Shares | None
    n_epochs: int | None
    committee: Committee | None
    held_out: Shares | None = None

    @property
    def columns(self) -> dict[str, Floats]:
        """What detectors may read (``columns.detector_columns``)."""
        return detector_columns(self.measures, self.committee)

    @property
    def from_coordinates(self) -> Shares:
        """Class probabilities from coordinates alone: confidence for the label, the rest shared evenly."""
        others = len(self.names) - 1
        if others >= WHOLE:
            own, other = self.measures.confidence, (1.0 - self.measures.confidence) / others
            lowest = np.where(np.asarray(self.labels) == 0, 1, 0)
            both = np.stack([np.asarray(self.labels), lowest], axis=1), np.stack([own, other], axis=1)
            order = np.argsort(-both[1], axis=1, kind="stable")
            classes, values = (np.take_along_axis(part, order, axis=1) for part in both)
            return KeptShares(classes.astype(np.int32), values, len(self.names))
        shares = np.repeat(((1.0 - self.measures.confidence) / others)[:, None], others + 1, axis=1)
        shares[np.arange(len(self.labels)), self.labels] = self.measures.confidence
        return shares


@dataclass(frozen=True)
class Suggestions:
    """Where suggested labels are taken from.

    Attributes:
        probabilities: class probabilities of the original rows, ``(n_examples, n_classes)``.
        source: ``in-sample``, ``k-fold`` (K-fold training), ``out-of-fold`` (the committee) or ``coordinates``.
        right: for each source that could be tried, the share of the planted flips whose right label it suggests, in [0, 1].
    """

    probabilities: Shares
    source: str
    right: Mapping[str, float]


def choose_suggestions(original: Evidence, noised: Evidence, flips: Flips) -> Suggestions:
    """Return the mean predicted probabilities to take suggestions from: of those known, which find most of the flips' labels.

    The committee's are taken unless others find measurably more (by two standard errors): they are what a suspect's reason quotes, and
    flips are of easy rows, whose labels the model knows by heart.

    Args:
        original: of the given labels.
        noised: of the flipped ones.
        flips: what was flipped.
    """
    sources = {"in-sample": (original.in_sample, noised.in_sample), "k-fold": (original.held_out, noised.held_out)}
    if original.committee is not None and noised.committee is not None:
        sources["out-of-fold"] = (original.committee.probabilities, noised.committee.probabilities)
    right, best, used = {}, "coordinates", original.from_coordinates
    for name, (known, after) in sources.items():
        if known is None or after is None:
            continue
        there = after.take(flips.rows) if isinstance(after, KeptShares) else after[flips.rows]
        suggested = suggested_labels(there, flips.labels[flips.rows])
        right[name] = float(np.mean(suggested == original.labels[flips.rows]))
        mine = right.get(best, -1.0)
        error = np.sqrt((right[name] * (1.0 - right[name]) + mine * (1.0 - mine)) / len(flips.rows)) if mine >= 0 else 0.0
        if right[name] > mine or (name == "out-of-fold" and right[name] >= mine - 2.0 * error):
            best, used = name, known
    return Suggestions(used, best, right)


def map_measures(table: pa.Table) -> Measures:
    """Return a table of ``schema.MEASURES`` as measures: what has nulls is None, and so is ``forgetting``."""
    names = (field.name for field in fields(Measures) if field.name != "forgetting" and field.name in table.column_names)
    known: dict[str, Any] = {name: table[name].to_numpy() for name in names if not table[name].null_count}
    return Measures(**known)


def mean_probabilities(logits: Logits) -> Shares:
    """Return the mean over epochs of the class probabilities, ``(n_examples, n_classes)``, from ``(n_examples, n_epochs, n_classes)``.

    Of logits that were kept in part, the most probable classes of each row.

    >>> mean_probabilities(np.zeros((1, 3, 2), dtype=np.float32)).tolist()
    [[0.5, 0.5]]
    """
    if isinstance(logits, KeptLogits):
        return logits.mean_shares()
    total: Floats = np.zeros((logits.shape[0], logits.shape[2]))
    for epoch in range(logits.shape[1]):
        total += softmax(logits[:, epoch].astype(np.float64), axis=1)
    total /= logits.shape[1]
    return total


def assumed_measures(measures: Measures, planted: Bools, n_classes: int) -> Measures:
    """Return a map as it would be if flipped labels were doubted as firmly as the right ones were believed (coordinates alone).

    A flipped row's new label had (1 − confidence) / (n_classes − 1) of the probability, a share of the variability, and was the first
    choice in a share of the epochs in which the old one was not. This is what retraining finds where the model does not memorise
    a small share of flips (Swayamdipta et al. 2020, §5, Fig. 4).
    """

    def turned(values: Floats, rest: Floats) -> Floats:
        changed: Floats = np.where(planted, rest / (n_classes - 1), values)
        return changed

    return Measures(
        confidence=turned(measures.confidence, 1.0 - measures.confidence),
        variability=turned(measures.variability, measures.variability),
        correctness=turned(measures.correctness, 1.0 - measures.correctness),
    )


def suspects_table(
    uids: Uids, detector: Detector, evidence: Evidence, suggest_from: Shares, *, threshold: float = 0.5, assumption: str = ""
) -> pa.Table:
    """Return ``schema.NOISE`` of the original rows, in their order.

    Args:
        uids: names of the rows, ``(n_examples,)``.
        detector: the one that is used.
        evidence: of the original rows.
        suggest_from: class probabilities that suggestions are taken from, ``(n_examples, n_classes)``.
        threshold: probability at or above which a row is flagged, in (0, 1); none is whose label should be a form of the same class.
        assumption: what is assumed of wrong labels instead of learnt, as a phrase; part of every reason.

    Raises:
        InputError: as ``Detector.log_odds``, or class probabilities that do not fit the labels.
    """
    odds = detector.log_odds(evidence.columns)
    why = _column(reasons(evidence, committee="doubt" in detector.features, assumption=assumption))
    return listed(uids, odds, evidence.labels, evidence.names, suggest_from, threshold=threshold, why=why)


def listed(
    uids: Uids | pa.ChunkedArray,
    odds: Floats,
    labels: Ids,
    names: Sequence[str],
    suggest_from: Shares,
    *,
    threshold: float,
    why: pa.Array | None = None,
) -> pa.Table:
    """Return ``schema.NOISE`` of rows by the log odds that their labels are wrong, ``(n_examples,)``; arguments as ``suspects_table`` has.

    Args:
        labels: label ids, ``(n_examples,)``.
        names: class names by id.
        why: a reason a row; None: empty ones.
    """
    # Ranked by odds rather than probabilities: these may round to 1 for many rows.
    rank = np.empty(len(odds), dtype=np.int64)
    rank[np.argsort(-odds, kind="stable")] = np.arange(1, len(odds) + 1)
    forms = class_forms(names, labels)
    suggest_from = forms.named(forms.together(suggest_from), labels)
    probability, suggested = sigmoid(odds), suggested_labels(suggest_from, labels)
    flagged = (probability >= threshold) & ~forms.same(labels, suggested)
    values = {
        "uid": uids,
        "probability": probability,
        "flagged": flagged,
        "suggested": suggested,
        "suggested_probability": share_of(suggest_from, suggested),
        "rank": rank,
        "reason": pa.array([""] * len(odds), pa.string()) if why is None else _of_unknown(why, labels, flagged, names, probability),
    }
    return pa.table([_of_type(values[field.name], field.type) for field in NOISE], schema=NOISE)


def _of_unknown(why: pa.Array, labels: Ids, flagged: Bools, names: Sequence[str], probability: Floats) -> pa.Array:
    """Return reasons that say of the suspects of a class that the models do not know (``data.unknown_classes``) that they say little."""
    unknown = unknown_classes(labels, flagged, len(names), probability)
    if not len(unknown):
        return why
    ends = {
        int(one): f"; the models do not know `{cut(names[one], _LONGEST_NAME)}` from other classes, so this says little" for one in unknown
    }
    ended = [ends.get(label, "") if suspect else "" for label, suspect in zip(labels.tolist(), flagged.tolist(), strict=True)]
    return pc.binary_join_element_wise(why, pa.array(ended, pa.string()), "")


def _of_type(values: Any, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
    return values.cast(kind) if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, kind)


def _column(texts: Iterator[str]) -> pa.Array:
    """Return texts as one array, of which a block at a time is made of Python's strings."""
    return pa.concat_arrays(
        [pa.array(block, pa.string()) for block in iter(lambda: list(islice(texts, _BLOCK)), [])] or [pa.array([], pa.string())]
    )


def reasons(evidence: Evidence, *, committee: bool, assumption: str = "") -> Iterator[str]:
    """Yield for each row the evidence for or against its label, in plain words.

    Args:
        evidence: what is known of the rows.
        committee: whether to say what the out-of-fold models found, where there are any.
        assumption: a phrase added to each.
    """
    parts = [_model_says(evidence)]
    if committee and evidence.committee is not None:
        parts.append(committee_reasons(evidence.committee.probabilities, evidence.labels, evidence.names))
        if evidence.committee.copies is not None:
            parts.append(_copies_say(evidence.committee.copies))
    for part in zip(*parts, strict=True):
        row = "; ".join(filter(None, part))
        yield f"{row}; {assumption}" if assumption else row


def committee_reasons(probabilities: Shares, labels: Ids, names: Sequence[str]) -> Iterator[str]:
    """Yield for each row what models that never saw it say of its label.

    Args:
        probabilities: theirs, ``(n_examples, n_classes)``.
        labels: given label ids, ``(n_examples,)``.
        names: class names by id.
    """
    given = share_of(probabilities, labels).tolist()
    others = _preferred(probabilities, labels, names, "prefer", "more than any other")
    return (f"models that never saw the row give it {percent(p)}{rest}" for p, rest in zip(given, others, strict=True))


def _copies_say(copies: Copies) -> Iterator[str]:
    """Yield for each row how many of its copies are labelled otherwise; nothing where none is."""
    for agree, contradict in zip(copies.agreeing.tolist(), copies.contradicting.tolist(), strict=True):
        others = counted(agree + contradict, "other copy", "other copies")
        yield f"of {others} of the row, {contradict} {'has' if contradict == 1 else 'have'} another label" if contradict else ""


def _model_says(evidence: Evidence) -> Iterator[str]:
    confidence, correctness = evidence.measures.confidence.tolist(), evidence.measures.correctness.tolist()
    if evidence.in_sample is None:
        return (
            f"the model gave this label {percent(mu)} on average; it was the first choice in {percent(share)} of the epochs"
            for mu, share in zip(confidence, correctness, strict=True)
        )
    preferred = _preferred(evidence.in_sample, evidence.labels, evidence.names, "preferred", "more than any other")
    n_epochs = evidence.n_epochs or 1
    return (
        f"the model gave this label {percent(mu)} on average{rest}; {_disagreeing(n_epochs - round(share * n_epochs), n_epochs)}"
        for mu, rest, share in zip(confidence, preferred, correctness, strict=True)
    )


def _preferred(probabilities: Shares, labels: Ids, classes: Sequence[str], verb: str, agreed: str) -> Iterator[str]:
    names = [cut(name, _LONGEST_NAME) for name in classes]
    first, highest = (values.tolist() for values in first_of(probabilities))
    own = np.asarray(labels).tolist()
    return (
        f", {agreed}" if other == given else f" and {verb} {names[other]} ({percent(p)})"
        for other, given, p in zip(first, own, highest, strict=True)
    )


def _disagreeing(number: int, n_epochs: int) -> str:
    if n_epochs == 1:
        return "its one epoch disagreed" if number else "its one epoch agreed"
    if number in (0, n_epochs):
        return f"all {n_epochs} epochs {'disagreed' if number else 'agreed'}"
    return f"{number} of {n_epochs} epochs disagreed"
