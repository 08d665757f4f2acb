"""The expectations that a cleaned train set is checked for against the original one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cartograph.wording import percent
from tasks.checks.great_expectations_run import MAX_EXAMPLES, Check, by_check, runner

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_INVENTED, _TWICE, _UNDONE = "[invented]", "[there twice]", "[change not made]"
_LOST, _RELABELLED = "[dropped without a reason]", "[relabelled without a reason]"


def validate_cleaning(original: pa.Table, cleaned: pa.Table, changes: pa.Table, *, files: Sequence[str], bound: float) -> dict[str, Any]:
    """Check a cleaned train set against the original one: nothing appears, goes or changes without a reason, no class shifts too far.

    Args:
        original: the train set (``schema.examples_schema``).
        cleaned: what is left of it, in the same schema.
        changes: the reasons (``schema.CHANGES``).
        files: names of the sources.
        bound: largest part of a class's rows by which it may shrink or grow, rows left out that people dropped or relabelled.

    Returns:
        findings in the form of ``validate``'s, for the one set ``cleaned``; dropped rows count as its quarantine.
    """
    from cartograph.clean.cleaning import class_changes
    from cartograph.ingest.set_record import set_record
    from cartograph.schema import dataset_info

    info = dataset_info(original.schema)
    run = runner("uid")
    checks = _cleaning_checks(info.labels, bound)
    frame = _cleaning_frame(original, cleaned, changes)
    found = [_cleaning_finding(check, one, len(original)) for check, one in by_check(checks, run("rows", frame, checks))]
    # Where people changed every row, no class is left that a recipe could have changed.
    shifts = class_changes(*(_undecided(table, changes) for table in (original, cleaned))) or class_changes(original, original)
    found.append(_class_finding(shifts, bound, run))
    counts = Counter(cleaned["label"].to_pylist())
    entry = set_record(
        "cleaned",
        "train",
        files=files,
        read=len(original),
        used=len(cleaned),
        aside=len(original) - len(cleaned),
        classes={name: counts[number] for number, name in enumerate(info.labels)},
        checks=found,
    )
    reasons = Counter(change["by"] for change in changes.to_pylist() if change["what"] == "drop")
    quarantine = {f"dropped by {by}": count for by, count in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))}
    return {"passed": all(one["passed"] for one in found), "sets": [entry], "quarantine": quarantine}


def _undecided(table: pa.Table, changes: pa.Table) -> pa.Table:
    """Return the rows that no person changed: what a recipe makes of a class is checked, not what people know of it."""
    import pyarrow.compute as pc

    from cartograph.clean.cleaning import RECIPE

    by_people = pc.invert(pc.starts_with(changes["by"], RECIPE))
    return table.filter(pc.invert(pc.is_in(table["uid"], value_set=changes["uid"].filter(by_people).combine_chunks())))


def _cleaning_frame(original: pa.Table, cleaned: pa.Table, changes: pa.Table) -> pd.DataFrame:
    """Return one row per uid of either set, with what the checks need to know of it."""
    before = original.select(["uid", "label"]).to_pandas().rename(columns={"label": "before"})
    after = cleaned.select(["uid", "label"]).to_pandas().rename(columns={"label": "label_id"})
    after[_TWICE] = after["uid"].duplicated(keep=False)
    frame: pd.DataFrame = before.merge(after, on="uid", how="outer", indicator=True)
    reasons = changes.select(["uid", "what"]).to_pandas()
    dropped, relabelled = (frame["uid"].isin(reasons["uid"][reasons["what"] == what]) for what in ("drop", "relabel"))
    here = frame["_merge"] == "both"
    frame[_TWICE] = frame[_TWICE].eq(True)
    frame[_INVENTED] = frame["_merge"] == "right_only"
    frame[_LOST] = (frame["_merge"] == "left_only") & ~dropped
    frame[_RELABELLED] = here & (frame["before"] != frame["label_id"]) & ~relabelled
    frame[_UNDONE] = (here & dropped) | (relabelled & ~(here & (frame["before"] != frame["label_id"])))
    return frame.drop(columns="_merge")


def _cleaning_checks(labels: Sequence[str], bound: float) -> list[Check]:
    import great_expectations.expectations as gxe

    flags = {
        _INVENTED: "no row was invented",
        _TWICE: "no row is there twice",
        _LOST: "every row that was dropped has a reason",
        _RELABELLED: "every label that was changed has a reason",
        _UNDONE: "every change that has a reason was made",
    }
    checks = [Check(words, "none", gxe.ExpectColumnValuesToBeInSet(column=name, value_set=[False])) for name, words in flags.items()]
    ids = list(range(len(labels)))
    known = gxe.ExpectColumnValuesToBeInSet(column="label_id", value_set=ids)
    return [*checks, Check("labels are known", ", ".join(labels[:10]) + (", …" if len(labels) > 10 else ""), known)]


def _cleaning_finding(check: Check, result: dict[str, Any], rows: int) -> dict[str, Any]:
    content = result["result"]
    unexpected = int(content.get("unexpected_count") or 0)
    return {
        "check": check.check,
        "severity": str(check.expectation.severity.value),
        "passed": bool(result["success"]),
        "expected": check.expected,
        "found": f"{unexpected:,} of {rows:,} ({percent(unexpected / max(rows, 1))})" if unexpected else "none",
        "unexpected": unexpected,
        "share": unexpected / rows if rows else 0.0,
        "examples": [entry["uid"] for entry in content.get("partial_unexpected_index_list") or []][:MAX_EXAMPLES],
    }


def _class_finding(shifts: dict[str, float], bound: float, run: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    import great_expectations.expectations as gxe
    import pandas as pd

    frame = pd.DataFrame({"uid": list(shifts), "shift": list(shifts.values())})
    expectation = gxe.ExpectColumnValuesToBeBetween(column="shift", min_value=-bound, max_value=bound)
    check = Check("no class shrinks or grows too far", f"at most {100 * bound:g} % of its rows", expectation)
    [(_, result)] = by_check([check], run("classes", frame, [check]))
    finding = _cleaning_finding(check, result, len(shifts))
    name, shift = max(shifts.items(), key=lambda pair: abs(pair[1]))
    return {**finding, "found": f"`{name}` {'lost' if shift < 0 else 'gained'} {percent(abs(shift))}" if shift else "no class changed"}
