"""What an audit found as tables of rows: suspects, people's decisions, and the cleaned version's row ids; each row names its audit."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from cartograph.clean.decisions import Decision
from cartograph.data.subsets import rows_of
from cartograph.schema import LABEL, SOURCE, UID, WEIGHT, dataset_info
from cartograph.write.tables import AuditKey, table_of


def findings(
    key: AuditKey, examples: pa.Table, noise: pa.Table, decisions: Mapping[str, Decision], cleaned: pa.Table, version: str
) -> dict[str, pa.Table]:
    """Return the tables of one audit, by the names in ``tables.TABLES``.

    Args:
        key: of the audit.
        examples: the train set (``schema.examples_schema``).
        noise: its suspects (``schema.NOISE``), of the same rows.
        decisions: uid -> what people decided.
        cleaned: the cleaned version's rows (``schema.SUBSET`` or ``schema.WEIGHTED_SUBSET``).
        version: its name.
    """
    names = pa.array(dataset_info(examples.schema).labels, pa.string())
    suspects = noise.filter(noise["flagged"]).sort_by("rank")
    rows = examples.select([UID, LABEL, SOURCE, "row"])
    suspects_places, cleaned_places = rows_of(rows, suspects[UID], "the suspects' table"), rows_of(rows, cleaned[UID], version)
    known = pc.if_else(pc.greater_equal(suspects["suggested"], 0), suspects["suggested"], None)
    people = sorted(decisions.items())
    columns = {
        "suspects": {
            "uid": suspects[UID],
            "source": suspects_places[SOURCE],
            "row": suspects_places["row"],
            "label": pc.take(names, suspects_places[LABEL]),
            "suggested": pc.take(names, known),
            **{name: suspects[name] for name in ("probability", "suggested_probability", "rank", "reason")},
        },
        "decisions": {
            "uid": [uid for uid, _ in people],
            "decision": [decision.what for _, decision in people],
            "new_label": [decision.label for _, decision in people],
            "decided_by": [decision.by for _, decision in people],
            "comment": [decision.comment for _, decision in people],
        },
        "cleaned": {
            "uid": cleaned[UID],
            "source": cleaned_places[SOURCE],
            "row": cleaned_places["row"],
            "version": [version] * len(cleaned),
            "label": pc.take(names, cleaned[LABEL]),
            "weight": cleaned[WEIGHT] if WEIGHT in cleaned.column_names else [None] * len(cleaned),
        },
    }
    return {name: table_of(name, key, own) for name, own in columns.items()}
