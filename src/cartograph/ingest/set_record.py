"""What is recorded of a set once it was read or cleaned, whoever did it: its files, how many rows it has, its classes, its checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cartograph.ingest.canonical import IngestedSet
from cartograph.ingest.near_copies import NearCopies
from cartograph.schema import Domain


def set_record(
    name: str,
    domain: Domain,
    *,
    files: Sequence[str],
    read: int,
    used: int,
    aside: int,
    classes: Mapping[str, int],
    checks: Sequence[Mapping[str, Any]] = (),
    in_train: Mapping[str, int] | None = None,
    contradicted: int | None = None,
    left_out: Sequence[str] = (),
    linked: str = "",
    near_copies: NearCopies | None = None,
) -> dict[str, Any]:
    """Return the record of a set, as an entry of ``sets`` in validation.json.

    Args:
        name: of the set.
        domain: of the set.
        files: names of its sources.
        read: rows of the sources.
        used: rows of the set.
        aside: rows that are not in it: set aside by ingest, or dropped by cleaning.
        classes: class, or label where rows have several -> rows that have it.
        checks: what was checked, and what was found.
        in_train: of an evaluation set, rows that are in the train set too, by kind.
        contradicted: rows whose texts stand with another label too; None where that was not looked for.
        left_out: columns of a table that are not read as features.
        linked: which rows are held out together, in a sentence; empty where none were asked for.
        near_copies: of the texts of the train set, where they are many.
    """
    return {
        "set": name,
        "domain": domain,
        "files": list(files),
        "rows_read": read,
        "rows_used": used,
        "quarantined": aside,
        "classes": dict(classes),
        "in_train": None if in_train is None else dict(in_train),
        "contradicted": contradicted,
        "left_out": list(left_out),
        "checks": list(checks),
        **({"linked": linked} if linked else {}),
        **({"near_copies": {"texts": near_copies.number, "of": near_copies.texts}} if near_copies is not None else {}),
    }


def ingested_record(
    item: IngestedSet,
    checks: Sequence[Mapping[str, Any]] = (),
    *,
    classes: Mapping[str, int] | None = None,
    in_train: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Return the record of a set that was ingested.

    Args:
        item: the set.
        checks: as in ``set_record``.
        classes: label -> rows that have it, where rows have several labels; None: the set's own classes.
        in_train: as in ``set_record``.
    """
    return set_record(
        item.info.name,
        item.info.domain,
        files=item.files,
        read=item.rows_read,
        used=len(item.examples),
        aside=len(item.quarantine),
        classes=item.class_counts if classes is None else classes,
        checks=checks,
        in_train=in_train,
        contradicted=0 if item.contradicted is None else int(item.contradicted.sum()),
        left_out=item.left_out,
        linked=item.linkage.sentence if item.linkage is not None else "",
        near_copies=item.near_copies if item.info.domain == "train" else None,
    )
