"""What people decided about single rows of an audit: read for the steps that count it, and the sheet on which they decide."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cartograph.data.json_files import write_json
from tasks.engine.workspace import Workspace
from tasks.presentation.console import say

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.clean.decisions import Decision

DECISIONS, DECIDED = "review/decisions.csv", "data/clean/decided.parquet"
SHEET, TASKS, CONFIGURATION = "reports/review.csv", "reports/review.labelstudio.json", "reports/review.labelstudio.xml"


def write_decided(
    folder: Path, examples: pa.Table, noise: pa.Table, decisions: Mapping[str, Decision], wrong: Mapping[str, Any] | None
) -> dict[str, float]:
    """Write which rows people decided about; return what is counted of them, and of what is left."""
    from cartograph.clean.reviewed import decided_table, reviewed
    from cartograph.data.parquet import write_parquet

    given, _ = given_labels(examples)
    decided = decided_table(decisions, given)
    write_parquet(decided, folder / Path(DECIDED).name)
    found = reviewed(noise, decided, wrong)
    if found is None:
        return {}
    left = {} if found.expected is None else {"wrong.left.expected": round(found.expected, 6)}
    listed = noise["flagged"].to_numpy(zero_copy_only=False)
    return {"decisions.changed": found.changed, "suspects.open": int((listed & ~found.decided).sum()), **left}


def decisions_in(path: Path | None, examples: pa.Table) -> dict[str, Decision]:
    """Return what people decided, one decision per uid; nothing where there is no file.

    Raises:
        InputError: the file does not fit the train set, or contradicts itself.
    """
    from cartograph.clean.decisions import settle
    from cartograph.clean.stale_decisions import is_current

    given, _ = given_labels(examples)
    checks, kept = kept_decisions(path, examples)
    return settle([decision for decision in kept if is_current(decision, checks)], given)


def tell_passed_over(path: Path | None, examples: pa.Table) -> list[str]:
    """Print, and return, which decisions do not count, since their rows are gone or have changed: a sentence each reason."""
    from cartograph.clean.stale_decisions import passed_over

    given, _ = given_labels(examples)
    checks, kept = kept_decisions(path, examples)
    said = passed_over(kept, given, checks)
    for sentence in said:
        say(f"{DECISIONS}: {sentence}")
    return said


def kept_decisions(path: Path | None, examples: pa.Table) -> tuple[dict[str, str], list[Decision]]:
    """Return the digest of each row by uid (``row_checks``), and all decisions that are kept, whether they still count or not."""
    from cartograph.clean.decisions import read_decisions
    from cartograph.clean.stale_decisions import row_checks

    given, labels = given_labels(examples)
    kept = [] if path is None or not path.exists() else read_decisions(path.read_bytes(), DECISIONS, given, labels, kept=True)
    # Digests of half a million rows take seconds; nobody asks for them where no decision has one.
    return (row_checks(examples) if any(decision.check for decision in kept) else dict.fromkeys(given, "")), kept


def given_labels(examples: pa.Table) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return uid -> label name of the train set, and its classes."""
    from cartograph.schema import dataset_info

    labels = dataset_info(examples.schema).labels
    return {uid: labels[label] for uid, label in zip(examples["uid"].to_pylist(), examples["label"].to_pylist(), strict=True)}, labels


def require_sheet_saved(space: Workspace, examples: pa.Table) -> None:
    """Check that nobody's decisions are lost where the workspace's review sheet is written again.

    Raises:
        InputError: there are some on it that were not taken in.
    """
    from cartograph.clean.review_sheet import require_saved

    sheet = space.resolve(SHEET)
    if sheet.is_file():
        name = (Path(space.relative) / SHEET).as_posix()
        option = "" if space.relative == "." else f" --workspace {space.typed}"
        way = f"python -m tasks review{option} --import {shlex.quote(name)} --by NAME"
        _, kept = kept_decisions(space.resolve(DECISIONS), examples)
        require_saved(sheet.read_bytes(), name, kept, *given_labels(examples), way)


def write_review(
    most: int,
    examples: pa.Table,
    noise: pa.Table,
    decisions: Mapping[str, Decision],
    sheet: Path,
    tasks: Path,
    configuration: Path,
    *,
    further: int = 0,
) -> int:
    """Write the suspects that are still to decide on as a sheet and as Label Studio tasks; return how many there are.

    At most so many, and so many further rows that rank below the list.
    """
    from cartograph.clean import label_studio
    from cartograph.clean.review_sheet import review_sheet, suspects
    from cartograph.schema import dataset_info

    info = dataset_info(examples.schema)
    found = suspects(examples, noise, most, decisions, further)
    sheet.write_bytes(review_sheet(info, found))
    write_json(tasks, label_studio.tasks(found), sort_keys=False)
    configuration.write_text(label_studio.configuration(info), encoding="utf-8")
    return len(found)
