"""The step `noise` of rows with several labels: which yes and no are probably wrong, by models that did not see the row."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import Field

from cartograph.config import Section, Settings
from cartograph.data.json_files import read_json, write_json
from tasks.audit.committees import EMBEDDED, embedded_vectors, vectors_file
from tasks.audit.parameters.embed import Embed
from tasks.audit.parameters.measure import Measure
from tasks.engine.step import Inputs, Out, Step
from tasks.labels.ingest import DECISIONS, LABELS, ROWS
from tasks.labels.measure import DYNAMICS, dynamics_of
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.data.arrays import Floats, Integers
    from cartograph.suspects.several_labels import SeveralDoubts

DATA, METRICS, SUSPECTS = "data/noise", "reports/noise.metrics.json", "reports/suspects.csv"
_MAP = "data/measure"


class Noise(Section):
    """The section ``noise`` of params.yaml where rows have several labels."""

    threshold: float = Field(0.5, gt=0, lt=1, description="a yes or no that is wrong with at least this probability is a suspect")
    seed: int = Field(13, ge=0, description="seed of the folds")


def run(params: Noise, inputs: Inputs, out: Out) -> str:
    """Write the suspects, label by label what was found, and its numbers; return how many suspects there are."""
    import numpy as np
    import pyarrow.parquet as pq

    from cartograph.data.parquet import write_parquet
    from cartograph.dynamics.decision_rows import decision_names
    from cartograph.maps.measures import epoch_window
    from cartograph.models.base import label_matrix
    from cartograph.schema import LABEL_SET, UID, dataset_info
    from cartograph.suspects.committee import reading_of
    from cartograph.suspects.figures import EXPERIMENT
    from cartograph.suspects.label_listing import decision_suspects
    from cartograph.suspects.listing import map_measures
    from cartograph.suspects.record import committee_record
    from cartograph.suspects.several_labels import several_doubts
    from cartograph.wording import share

    rows, decisions = pq.read_table(inputs[ROWS]), pq.read_table(inputs[DECISIONS])
    names = dataset_info(rows.schema).labels
    vectors = embedded_vectors(rows, inputs, out.workspace.settings.of(Embed).file)
    reading = reading_of(rows.drop_columns([LABEL_SET]), characters=vectors is None)
    if vectors is not None:
        reading = reading._replace(vectors=vectors)
    with progress("noise", "folds of models") as update:
        doubts = several_doubts(reading, label_matrix(rows), names, params.seed, update)
    order = np.argsort(decision_names(rows[UID].to_numpy(zero_copy_only=False).astype(object), names).ravel(), kind="stable")
    yes, score = doubts.probabilities.ravel()[order], doubts.score.ravel()[order]
    dynamics = dynamics_of(decisions, inputs)
    used = epoch_window(dynamics.logits.shape[1], **out.workspace.settings.of(Measure).window)
    noise = decision_suspects(
        dynamics.uids,
        dynamics.gold,
        decisions["label"].to_numpy() - dynamics.gold,
        map_measures(pq.read_table(inputs[_MAP] / "measures.parquet")),
        dynamics.logits[:, used],
        yes,
        score,
        doubts.together,
        params.threshold,
    )
    write_parquet(noise, out[DATA] / "noise.parquet")
    write_parquet(EXPERIMENT.empty_table(), out[DATA] / "experiment.parquet")
    record = committee_record(noise, doubts.together, params.threshold)
    write_json(out[DATA] / "noise.json", record)
    found = _labels(read_json(inputs[LABELS]), doubts, decisions["label"].to_numpy(), noise)
    write_json(out[DATA] / "labels.json", found)
    out[SUSPECTS].write_bytes(_sheet(decisions, noise, yes))
    write_json(out[METRICS], _metrics(record, found))
    return f"{record['suspects']:,} suspects, {share(record['suspects'], record['rows'])} of all yes and no"


def _labels(ingested: list[dict[str, Any]], doubts: SeveralDoubts, label: Integers, noise: pa.Table) -> list[dict[str, Any]]:
    """Return what was found label by label: the attributes of ``LabelFound``, and whether it is known how many answers are wrong."""
    import numpy as np

    from cartograph.suspects.label_listing import known_labels, wrong_of

    flagged = label[noise["flagged"].to_numpy(zero_copy_only=False)]
    suspects = np.bincount(flagged, minlength=2 * len(doubts.labels))
    estimates = zip(wrong_of(doubts.labels), known_labels(doubts).tolist(), strict=True)
    audited = [
        entry | {"missing": int(suspects[2 * place]), "surplus": int(suspects[2 * place + 1]), "wrong": wrong, "known": known}
        for place, (entry, (wrong, known)) in enumerate(zip(ingested, estimates, strict=False))
    ]
    return audited + [entry | {"missing": 0, "surplus": 0, "wrong": None, "known": False} for entry in ingested[len(audited) :]]


def _sheet(decisions: pa.Table, noise: pa.Table, yes: Floats) -> bytes:
    """Return the suspects as a CSV file, the most doubtful first."""
    from cartograph.clean.review_sheet import flagged_rows, text_columns
    from cartograph.data.images import shown_fields
    from cartograph.data.spreadsheet import write_sheet
    from cartograph.schema import ROW, SOURCE, dataset_info

    info, places = dataset_info(decisions.schema), flagged_rows(noise)
    rows, doubts = decisions.take(places), noise.take(places)
    before, after = ("rank", "file", "row"), ("label", "given", "suggested", "probability", "yes", "reason")
    cells = []
    texts = zip(*shown_fields(rows, info), strict=True)
    for place, row, doubt, shown in zip(places.to_pylist(), rows.to_pylist(), doubts.to_pylist(), texts, strict=True):
        (name, given), (_, suggested) = (info.labels[number].rsplit(": ", 1) for number in (row["label"], doubt["suggested"]))
        numbers = (round(doubt["probability"], 4), round(float(yes[place]), 4))
        cells.append((doubt["rank"], row[SOURCE], row[ROW], *shown, name, given, suggested, *numbers, doubt["reason"]))
    return write_sheet((*before, *text_columns(info, (*before, *after)), *after), cells)


def _metrics(record: dict[str, Any], labels: list[dict[str, Any]]) -> dict[str, float]:
    from cartograph.suspects.record import wrong_metrics

    metrics: dict[str, float] = {"suspects": record["suspects"], "suspects.share": round(record["suspects"] / record["rows"], 6)}
    metrics |= wrong_metrics(record)
    for label in labels:
        name = f"suspects.{re.sub(r'[^A-Za-z0-9_.-]+', '_', label['name'])[:80]}"
        # Of labels whose names differ in other characters alone, the first has the number.
        metrics.setdefault(name, label["missing"] + label["surplus"])
    return metrics


def _inputs(settings: Settings) -> tuple[str, ...]:
    params = settings.of(Embed)
    embedded = (EMBEDDED,) if params.pretrained is not None else ()
    return (ROWS, DECISIONS, LABELS, DYNAMICS, _MAP, *embedded, *vectors_file(params))


STEP = Step(
    name="noise",
    run=run,
    params=Noise,
    inputs=_inputs,
    outputs=(DATA, SUSPECTS, METRICS),
    reads=("measure",),
    libraries=("numpy", "pyarrow", "scikit-learn", "scipy"),
)
