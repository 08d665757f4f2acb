"""An audit in memory of rows that all have one label: a page that says that nothing could be learnt from them."""

from __future__ import annotations

import pyarrow as pa

from cartograph.ingest.canonical import IngestedSet
from cartograph.ingest.set_record import ingested_record
from cartograph.maps.table import coordinates, map_table
from cartograph.page.audit import Audit
from cartograph.page.step_results import HowMade, Suspects
from cartograph.schema import HISTORY, LABEL, UID
from cartograph.suspects.figures import EXPERIMENT
from cartograph.suspects.not_looked_for import all_alike, not_looked_for
from cartograph.train.one_class import certain_map, nothing_learnt


def one_class_page(ingested: IngestedSet, by_uid: pa.Table, command: str, column: str, threshold: float) -> Audit:
    """Return the page of rows of one class, as the steps leave it.

    Args:
        ingested: the rows as they were read.
        by_uid: the same, sorted by uid.
        command: what makes the audit again.
        column: of the labels.
        threshold: from which probability on a row would be a suspect.
    """
    number, reason = by_uid.num_rows, all_alike(by_uid.num_rows)
    training, metrics = nothing_learnt(ingested.info.labels[0], number, f"the label column (`{column}`)")
    uids = by_uid[UID].to_numpy(zero_copy_only=False)
    table, record = not_looked_for(by_uid, reason, {"threshold": threshold})
    return Audit(
        examples=by_uid,
        measures=map_table(uids, by_uid[LABEL].to_numpy(), coordinates(certain_map(by_uid[UID]))),
        probabilities=None,
        history=HISTORY.empty_table(),
        validation={"passed": True, "sets": [ingested_record(ingested)], "quarantine": ingested.reasons},
        quarantine=ingested.quarantine,
        training=training,
        metrics={"train": metrics},
        score=None,
        window=(0, 0),
        still=None,
        how_made=HowMade(name=ingested.files[0], command=command, suspects="suspects.csv"),
        suspects=Suspects(table, record, EXPERIMENT.empty_table()),
        impossible=[reason],
    )
