"""People's decisions about single rows, to keep, drop or relabel them: read from a sheet, checked, and merged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cartograph.data.spreadsheet import Record, read_sheet, write_sheet
from cartograph.errors import InputError

COLUMNS = ("uid", "decision", "new_label", "by", "comment")
"""The columns of a file of decisions; a review sheet has them too."""

CHECK = "row_check"
"""Column of kept decisions: a digest of the row that was decided about (``stale_decisions``)."""

OUTCOMES = ("keep", "drop", "relabel")
_AND = "; "


@dataclass(frozen=True)
class Entry:
    """One row of a sheet as it was filled in, before it is checked.

    Attributes:
        place: the file and where in it, for messages.
    """

    place: str
    uid: str
    decision: str
    new_label: str
    by: str
    comment: str
    check: str = ""

    @property
    def filled(self) -> bool:
        """Whether it says anything; a name or a comment alone does not."""
        return bool(self.decision or self.new_label)


@dataclass(frozen=True)
class Decision:
    """A decision about a row.

    Attributes:
        uid: of the row.
        what: ``keep``, ``drop`` or ``relabel``.
        label: the class it gets, with ``relabel`` alone.
        by: who decided.
        comment: what they had to say; may be empty.
        place: where it was written, for messages.
        check: a digest of the row as it was when it was decided about (``stale_decisions``); empty where that is not known.
    """

    uid: str
    what: str
    label: str | None
    by: str
    comment: str = ""
    place: str = field(default="", compare=False)
    check: str = field(default="", compare=False)

    def outcome(self, given: str) -> str | None:
        """Return the label that a row of label ``given`` ends with, or None where it is dropped."""
        return None if self.what == "drop" else self.label or given


def entries_of(records: Iterable[Record], name: str, by: str = "") -> list[Entry]:
    """Return the rows of a sheet as entries; ``by`` is who decided where the row does not say so."""
    entries = []
    for record in records:
        decision, new_label, who, comment = (record.cells.get(column, "").strip() for column in COLUMNS[1:])
        row = record.cells.get(CHECK, "").strip()
        entries.append(Entry(f"{name} {record.place}", record.cells["uid"], decision.lower(), new_label, who or by, comment, row))
    return entries


def read_decisions(
    content: bytes, name: str, given: Mapping[str, str], labels: Sequence[str], by: str = "", *, kept: bool = False
) -> list[Decision]:
    """Return what a file of decisions or a filled review sheet says.

    Args:
        content: of the CSV file, with the columns ``uid`` and ``decision``; rows without a decision are passed over.
        name: what messages call it.
        given: uid -> label name, of every row of the train set.
        labels: the class names.
        by: who decided, for rows that do not say so.
        kept: whether they were checked before, so that those about rows that are gone since are returned as they are
            (``stale_decisions``); else they are refused.

    Raises:
        InputError: as ``check`` and ``spreadsheet.read_sheet`` say.
    """
    return check(entries_of(read_sheet(content, name, ("uid", "decision")), name, by), name, given, labels, kept=kept)


def check(entries: Sequence[Entry], name: str, given: Mapping[str, str], labels: Sequence[str], *, kept: bool = False) -> list[Decision]:
    """Return the decisions of the entries that hold one; ``kept`` as in ``read_decisions``.

    Raises:
        InputError: an entry names an unknown row, is incomplete, or names an unknown class; the message says where.
    """
    filled = [entry for entry in entries if entry.filled]
    gone = {id(entry) for entry in filled if kept and entry.uid.strip() and _uid(entry, given) is None}
    _require_known([entry for entry in filled if id(entry) not in gone], name, given)
    return [
        Decision(entry.uid, entry.decision, entry.new_label or None, entry.by, entry.comment, entry.place, entry.check)
        if id(entry) in gone
        else _decision(entry, given, labels)
        for entry in filled
    ]


def _uid(entry: Entry, given: Mapping[str, str]) -> str | None:
    return next((uid for uid in (entry.uid, entry.uid.strip()) if uid in given), None)


def _require_known(filled: Sequence[Entry], name: str, given: Mapping[str, str]) -> None:
    nameless = next((entry for entry in filled if not entry.uid.strip()), None)
    if nameless is not None:
        raise InputError(f"{nameless.place}: there is a decision and no uid; write the row's uid, or clear the decision.")
    unknown = [entry for entry in filled if _uid(entry, given) is None]
    if not unknown:
        return
    first = unknown[0]
    if len(unknown) == len(filled):
        raise InputError(
            f"{name} is about another dataset: none of its {len(filled):,} decisions names a uid of the {len(given):,} train rows (the "
            f"first, {first.place.removeprefix(name).strip()}: {first.uid!r}); take the file that was made from this one."
        )
    more = f" (and {len(unknown) - 1:,} more)" if len(unknown) > 1 else ""
    raise InputError(
        f"{first.place}: uid {first.uid!r} is not in the train set{more}; correct it (a spreadsheet may have rewritten it), or take "
        "the row out."
    )


def _decision(entry: Entry, given: Mapping[str, str], labels: Sequence[str]) -> Decision:
    uid = _uid(entry, given) or entry.uid
    where = f"{entry.place} (uid {uid!r})"
    if not entry.decision:
        raise InputError(f"{where}: `new_label` is {entry.new_label!r}, but `decision` is empty; write `relabel` there, or clear both.")
    if entry.decision not in OUTCOMES:
        raise InputError(f"{where}: `decision` is {entry.decision!r}, expected keep, drop or relabel.")
    if entry.decision == "relabel" and not entry.new_label:
        raise InputError(f"{where}: `decision` is relabel, but `new_label` is empty; name the class: {class_list(labels)}.")
    if entry.decision != "relabel" and entry.new_label:
        raise InputError(
            f"{where}: `decision` is {entry.decision}, but `new_label` is {entry.new_label!r}; clear it, or write `relabel` as decision."
        )
    if not entry.by:
        raise InputError(
            f"{where}: `by` is empty; write who decided, or import the file with `python -m tasks review --import FILE --by NAME`."
        )
    label = find_class(entry.new_label, labels) if entry.new_label else None
    if entry.new_label and label is None:
        raise InputError(f"{where}: there is no class {entry.new_label!r} to relabel to; the classes are {class_list(labels)}.")
    return Decision(uid, entry.decision, label, entry.by, entry.comment, entry.place, entry.check)


def find_class(text: str, labels: Sequence[str]) -> str | None:
    """Return the class of this name, or None; case matters only where two classes differ by nothing else."""
    if text in labels:
        return text
    near = [label for label in labels if label.casefold() == text.casefold()]
    return near[0] if len(near) == 1 else None


def class_list(labels: Sequence[str]) -> str:
    """Return class names for a message: the first twenty."""
    return ", ".join(labels[:20]) + (", …" if len(labels) > 20 else "")


def merge_decisions(old: Sequence[Decision], new: Sequence[Decision]) -> list[Decision]:
    """Return old and new decisions by uid and name; a person's new decision about a row replaces their earlier one."""
    again = {(decision.uid, person) for decision in new for person in decision.by.split(_AND)}
    kept = {decision for decision in old if not again & {(decision.uid, person) for person in decision.by.split(_AND)}}
    return sorted(kept | set(new), key=lambda one: (one.uid, one.by, one.what, one.label or "", one.comment))


def settle(decisions: Iterable[Decision], given: Mapping[str, str]) -> dict[str, Decision]:
    """Return one decision per uid: where several people decided alike, in the name of all of them.

    The order in which they come does not matter.

    Raises:
        InputError: two decisions about a row do not end alike; the message names both places.
    """
    by_uid: dict[str, list[Decision]] = {}
    for decision in decisions:
        by_uid.setdefault(decision.uid, []).append(decision)
    one_each = {}
    for uid in sorted(by_uid):
        alike = by_uid[uid]
        first = alike[0]
        other = next((decision for decision in alike if decision.outcome(given[uid]) != first.outcome(given[uid])), None)
        if other is not None:
            raise InputError(
                f"{other.place}: uid {uid!r} is decided twice, as {_words(other)} by {other.by}, and as {_words(first)} by {first.by} in "
                f"{first.place}; settle it and leave one."
            )
        people = _AND.join(sorted({person for decision in alike for person in decision.by.split(_AND)}))
        comments = "; ".join(sorted({decision.comment for decision in alike} - {""}))
        strongest = min(alike, key=lambda decision: (decision.what, decision.label or ""))
        one_each[uid] = Decision(uid, strongest.what, strongest.label, people, comments, first.place)
    return one_each


def _words(decision: Decision) -> str:
    return f"relabel to {decision.label!r}" if decision.what == "relabel" else decision.what


def write_decisions(decisions: Iterable[Decision], checks: Mapping[str, str] | None = None) -> bytes:
    """Return decisions as the CSV file that ``read_decisions`` reads.

    Args:
        decisions: in their order.
        checks: ``stale_decisions.row_checks`` of the rows as they are, which those decisions get that have none; None: no decision has one.
    """
    if checks is None:
        return write_sheet(COLUMNS, ((one.uid, one.what, one.label or "", one.by, one.comment) for one in decisions))
    rows = ((one.uid, one.what, one.label or "", one.by, one.comment, one.check or checks.get(one.uid, "")) for one in decisions)
    return write_sheet((*COLUMNS, CHECK), rows)
