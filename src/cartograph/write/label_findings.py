"""What an audit of rows with several labels found as tables: suspects and decisions by row and label, and the cleaned version's rows."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

import pyarrow as pa

from cartograph.clean.decisions import Decision
from cartograph.data.subsets import rows_of
from cartograph.schema import LABEL, SOURCE, UID, dataset_info
from cartograph.write.tables import AuditKey, table_of


def label_findings(
    key: AuditKey, answers: pa.Table, noise: pa.Table, decisions: Mapping[str, Decision], cleaned: pa.Table, version: str
) -> dict[str, pa.Table]:
    """Return the tables of one audit, by the names in ``tables.LABEL_TABLES``.

    Args:
        key: of the audit.
        answers: each label of each row as a row of its own (``dynamics.decision_rows``).
        noise: its suspects (``schema.NOISE``), of the same.
        decisions: uid of a label of a row -> what people decided.
        cleaned: what the cleaned version has of them (``schema.SUBSET``).
        version: its name.
    """
    classes = dataset_info(answers.schema).labels
    flagged = noise.filter(noise["flagged"]).sort_by("rank")
    rows = answers.select([UID, LABEL, SOURCE, "row"])
    own = rows_of(rows, flagged[UID], "the suspects' table")
    suspects = [_asked(uid, classes[given]) for uid, given in zip(own[UID].to_pylist(), own[LABEL].to_pylist(), strict=True)]
    decided = rows_of(rows, pa.array(sorted(decisions), pa.string()), "a decision")
    people = [
        (*_asked(uid, classes[given]), decisions[uid])
        for uid, given in zip(decided[UID].to_pylist(), decided[LABEL].to_pylist(), strict=True)
    ]
    columns = {
        "label_suspects": {
            "uid": [uid for uid, _, _ in suspects],
            "label": [label for _, label, _ in suspects],
            "source": own[SOURCE],
            "row": own["row"],
            "given": [given for _, _, given in suspects],
            "suggested": [_answer(classes[place])[1] for place in flagged["suggested"].to_pylist()],
            **{name: flagged[name] for name in ("probability", "suggested_probability", "rank", "reason")},
        },
        "label_decisions": {
            "uid": [uid for uid, _, _, _ in people],
            "label": [label for _, label, _, _ in people],
            "decision": [decision.what for *_, decision in people],
            "answer": [None if decision.label is None else _answer(decision.label)[1] for *_, decision in people],
            "decided_by": [decision.by for *_, decision in people],
            "comment": [decision.comment for *_, decision in people],
        },
        "label_cleaned": _cleaned(rows, cleaned, version, classes),
    }
    return {name: table_of(name, key, own) for name, own in columns.items()}


def _answer(name: str) -> tuple[str, str]:
    """Return label and answer of a class, ``love: yes``."""
    label, answer = name.rsplit(": ", 1)
    return label, answer


def _asked(uid: str, name: str) -> tuple[str, str, str]:
    """Return the row's uid, the label and the answer of a label of a row, by its uid and its class."""
    label, answer = _answer(name)
    return uid.removesuffix(f"#{label}"), label, answer


def _cleaned(rows: pa.Table, cleaned: pa.Table, version: str, classes: Sequence[str]) -> dict[str, object]:
    before = rows_of(rows, cleaned[UID], version)
    given, kept = before[LABEL].to_numpy(), cleaned[LABEL].to_numpy()
    # Every row has all labels, the first among them.
    first = before.filter(pa.array(given // 2 == 0))
    changed = pa.array(given != kept)
    added, removed = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for name, after in zip(before[UID].filter(changed).to_pylist(), kept[given != kept].tolist(), strict=True):
        uid, label, answer = _asked(name, classes[after])
        (added if answer == "yes" else removed)[uid].append(label)
    uids = [_asked(name, classes[0])[0] for name in first[UID].to_pylist()]
    return {
        "uid": uids,
        "source": first[SOURCE],
        "row": first["row"],
        "version": [version] * len(uids),
        "added": [json.dumps(added[uid], ensure_ascii=False) for uid in uids],
        "removed": [json.dumps(removed[uid], ensure_ascii=False) for uid in uids],
    }
