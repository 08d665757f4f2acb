"""The expectations about the column that links rows of the train set: that it links some, not too many, and no class as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tasks.checks.great_expectations_run import Check

if TYPE_CHECKING:
    import numpy as np

    from cartograph.ingest.canonical import IngestedSet


def linked_frame(item: IngestedSet) -> dict[str, np.ndarray]:
    """Return, per check, a column that says which rows break it; none where no column links rows."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    from cartograph.ingest.linkage import LINKS, NOT_TOO_MANY, NOT_WHOLE
    from cartograph.schema import LABEL, LINKED

    if item.linkage is None:
        return {}
    values = pc.utf8_trim_whitespace(pc.fill_null(item.raw[LINKED], ""))
    rows = {
        LINKS: np.ones(len(item.raw), bool),
        NOT_TOO_MANY: pc.equal(values, item.linkage.largest).to_numpy(),
        NOT_WHOLE: pc.is_in(item.raw[LABEL], pa.array(item.linkage.whole, pa.string())).to_numpy(),
    }
    return {_column(check): found & (check in item.linkage.warnings) for check, found in rows.items()}


def linked_checks(item: IngestedSet) -> list[Check]:
    """Return the checks of ``linked_frame``'s columns, which warn; none where no column links rows."""
    import great_expectations.expectations as gxe
    from great_expectations.expectations.metadata_types import FailureSeverity

    from cartograph.ingest.linkage import EXPECTED

    if item.linkage is None:
        return []
    return [
        Check(check, expected, gxe.ExpectColumnValuesToBeInSet(column=_column(check), value_set=[False], severity=FailureSeverity.WARNING))
        for check, expected in EXPECTED.items()
    ]


def _column(check: str) -> str:
    return f"[{check}]"
