"""Decisions about rows that are gone, or say or are labelled something else than when they were decided about: kept, and passed over.

Where a source names its rows, a name may come to stand for another row; a decision about the one says nothing of the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

import pyarrow as pa

from cartograph.clean.decisions import Decision
from cartograph.schema import LABEL, UID, dataset_info
from cartograph.wording import counted


def row_checks(examples: pa.Table) -> dict[str, str]:
    """Return uid -> a digest of what the row says and how it is labelled, of every row (``schema.examples_schema``)."""
    info = dataset_info(examples.schema)
    columns = [examples[name].to_pylist() for name in info.fields]
    found = {}
    for uid, label, *row in zip(examples[UID].to_pylist(), examples[LABEL].to_pylist(), *columns, strict=True):
        digest = sha256(info.labels[label].encode("utf-8", "surrogatepass"))
        for part in row:
            content = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
            digest.update(len(content).to_bytes(8, "little") + content)
        found[uid] = digest.hexdigest()[:16]
    return found


def is_current(decision: Decision, checks: Mapping[str, str]) -> bool:
    """Return whether a decision's row is there, and as it was when it was decided about, as far as that is known."""
    return decision.uid in checks and decision.check in ("", checks[decision.uid])


def passed_over(decisions: Sequence[Decision], given: Mapping[str, str], checks: Mapping[str, str]) -> list[str]:
    """Return which decisions do not count, and why, in sentences: of rows that are gone, and of those that are others now.

    Args:
        decisions: as they are kept.
        given: uid -> label name, of every row of the train set.
        checks: ``row_checks`` of these rows.
    """
    gone = [one for one in decisions if one.uid not in given]
    there = [one for one in decisions if one.uid in given and not is_current(one, checks)]
    # Those whose label was put right at the source ask for nothing more.
    other = [one for one in there if one.what == "keep" or one.outcome(given[one.uid]) != given[one.uid]]
    why = (
        (gone, "the rows are no longer in the train set: taken out, or corrected at their source"),
        (other, "the rows say or are labelled something else than when they were decided about, and ask to be decided again"),
    )
    return [
        f"{len(found):,} of {counted(len(decisions), 'decision')} {'is' if len(found) == 1 else 'are'} passed over, since {because} (the "
        f"first: {found[0].uid})."
        for found, because in why
        if found
    ]
