"""Where suspects gather, and who labelled them: people who label differ, files and weeks do, and rows alone do not say so."""

from __future__ import annotations

import numpy as np

from cartograph.ingest.labeller_names import labeller_sentence
from cartograph.ingest.strata import AGREEING, COLUMN, FILE, LABELLED_BY, ORDER, labellers_of
from cartograph.page.audit import Audit
from cartograph.page.blocks import Cell, Column, Table
from cartograph.page.read_verdict import GATHER, SAME
from cartograph.page.stretches import filled_down, shifted_sentence
from cartograph.suspects.gathering import Gathering
from cartograph.wording import about, count, counted, cut, share

_NAMED, _LISTED, _LONGEST = 2, 20, 60

_CONTRADICTING = 0.01
"""Share of the rows from which on it is said that they have the text, or the values, of another row under another label."""

_OF_SUSPECTS, _TIMES, _EVENLY, _CLASSES, _FIRST = 0.25, 3.0, 2.0, 4, 0.5
"""For a class that may take what fits nowhere else: least share of the suspects that it has; how many times as many of its rows are
suspects as of all others; how many times as many suspects it has as another class on average (even errors bring each class as many, and a
rare class is then full of them); how many classes at least are suggested for them; and for which share one of them at most."""


def gathered_sentence(audit: Audit) -> str:
    """Return where suspects gather the most; empty where they gather nowhere, or in rows that are named as shifted or filled down."""
    found = _gatherings(audit)
    if any(one.stratum == ORDER for one in found) and (filled_down(audit) or shifted_sentence(audit)):
        found = [one for one in found if one.stratum != ORDER]
    if not found:
        return ""
    first, *others = found[:_NAMED]
    of = f"{count(first.suspects)} of the {count(len(audit.flagged))}, among {share(first.rows, audit.rows)} of the rows"
    more = "".join(f"; and {_where(one)} ({count(one.suspects)})" for one in others)
    ask = "ask first how these rows were labelled"
    if first.stratum.startswith(COLUMN) and _labellers(audit) is None:
        ask += f". If `{_column(first.stratum)}` says who labelled, name it ({_option(audit).strip(':= ')}): more may be found then"
    return f"{GATHER} {_where(first)} ({of}){more}: {ask}."


def contradicting_sentence(audit: Audit) -> str:
    """Return how many rows have the text, or values, of another one under another label; empty where they are few (``_CONTRADICTING``)."""
    sets = audit.validation.get("sets") or [{}]
    number = int(sets[0].get("contradicted") or 0)
    if audit.several or audit.info.task not in ("single", "pair", "choice", "table") or number < _CONTRADICTING * audit.rows or not number:
        return ""
    rows = f"{count(number)} of the {counted(audit.rows, 'row')}"
    what, decide = ("values", "the columns do") if audit.info.features else ("text", "their text does")
    return f"{rows} have the {what} {SAME}: of two such labels one is wrong, or {decide} not decide it."


def catch_all_sentence(audit: Audit) -> str:
    """Return which class has many of the suspects, for which many others are suggested, as where it takes what fits nowhere else."""
    if audit.several or audit.suspects is None or not len(audit.flagged):
        return ""
    given, suggested = audit.gold[audit.flagged], audit.suspects.rows["suggested"].to_numpy()[audit.flagged]
    rows, suspects = (np.bincount(labels, minlength=len(audit.info.labels)) for labels in (audit.gold, given))
    first = int(suspects.argmax())
    others = np.bincount(suggested[(given == first) & (suggested >= 0)])
    elsewhere = (len(given) - suspects[first]) / max(audit.rows - rows[first], 1)
    if (
        suspects[first] < _OF_SUSPECTS * len(given)
        or suspects[first] / rows[first] < _TIMES * elsewhere
        or suspects[first] < _EVENLY * (len(given) - suspects[first]) / max(np.count_nonzero(rows) - 1, 1)
        or np.count_nonzero(others) < _CLASSES
        or others.max() > _FIRST * suspects[first]
    ):
        return ""
    if any(run.label == first and run.suspects > _FIRST * suspects[first] for run, _ in filled_down(audit)):
        return ""
    name, of = cut(audit.info.labels[first], _LONGEST), f"{count(int(suspects[first]))} of the {count(len(given))}"
    elsewhere_too = f"models would give these rows to {count(int(np.count_nonzero(others)))} other classes"
    return (
        f"{GATHER} in the class `{name}` ({of}), and {elsewhere_too}: if it takes what fits nowhere else, their labels may well be right."
    )


def gathered_table(audit: Audit) -> Table | None:
    """Return the parts of the rows in which suspects gather; None where they gather nowhere."""
    if not (found := _gatherings(audit)):
        return None
    columns = [
        Column("Where"),
        Column("Suspects", "count"),
        Column("Rows", "count"),
        Column("Of its rows", "share"),
        Column("By its classes alone", "count", "so many suspects would be there if they were spread evenly over the rows of each class"),
    ]
    cells: list[list[Cell]] = [
        [_cell(one), one.suspects, one.rows, one.suspects / one.rows, round(one.expected)] for one in found[:_LISTED]
    ]
    return Table("Where suspects gather", columns, cells)


def labellers_table(audit: Audit) -> Table | None:
    """Return the suspects of each who labelled, or by how many agree, the largest share first; None where that is not known."""
    name = _labellers(audit)
    if name is None or audit.strata is None or audit.suspects is None:
        return None
    who = labellers_of(audit.strata)
    assert who is not None
    people = ["(no label)" if name.startswith(AGREEING) else "(nobody named)", *audit.strata[name].combine_chunks().dictionary.to_pylist()]
    rows, suspects, wrong = (
        np.bincount(who + 1, weights=values, minlength=len(people))
        for values in (
            np.ones(audit.rows),
            np.isin(np.arange(audit.rows), audit.flagged).astype(float),
            audit.suspects.rows["probability"].to_numpy(),
        )
    )
    calibrated = bool(audit.suspects.record.get("calibrated"))
    agreeing = name.startswith(AGREEING)
    columns = [
        Column("Labels that agree" if agreeing else "Labelled by"),
        Column("Rows", "count"),
        Column("Suspects", "count"),
        Column("Of the rows", "share"),
    ]
    columns += [Column("Wrong", "count", "about how many of these labels, by estimate")] if calibrated else []
    some = np.flatnonzero(rows)
    cells: list[list[Cell]] = []
    for one in some[np.argsort(-(suspects[some] / rows[some]), kind="stable")][:_LISTED].tolist():
        line: list[Cell] = [cut(people[one], _LONGEST), int(rows[one]), int(suspects[one]), float(suspects[one] / rows[one])]
        cells.append([*line, int(about(float(wrong[one])).replace(",", ""))] if calibrated else line)
    left = f", the {count(_LISTED)} with the largest share of suspects of {count(len(some))}" if len(some) > _LISTED else ""
    return Table(f"How many agree{left}" if agreeing else f"Who labelled{left}", columns, cells)


def labellers_sentence(audit: Audit) -> str:
    """Return whether doubt follows who labelled a row, or how many agree; where nobody looked, which column might say who, if one does."""
    differ = None if audit.suspects is None else audit.suspects.record.get("labellers_differ")
    if differ is None:
        columns = [] if audit.strata is None or _labellers(audit) is not None else audit.strata.column_names
        said = labeller_sentence([name.removeprefix(COLUMN) for name in columns if name.startswith(COLUMN)], _option(audit))
        return f"{said[:1].upper()}{said[1:]}"
    if (name := _labellers(audit)) is not None and name.startswith(AGREEING):
        if differ:
            return (
                "How many of a row's labels agree counts: where people differ, models are contradicted more often, and labels are doubted."
            )
        return "How many of a row's labels agree does not measurably count: models contradict them about as often."
    if differ:
        return "Who labelled a row counts: labels of somebody who contradicts the models more often than others do are doubted more."
    return "Who labelled a row does not measurably count: all contradict the models about as often."


def _option(audit: Audit) -> str:
    """Return how a column that says who labelled is named where the audit is asked for."""
    options = {"cartograph audit ": "--labelled-by ", "cartograph.audit(": "labelled_by="}
    return next((one for made, one in options.items() if audit.how_made.command.startswith(made)), "labelled_by: ")


def _gatherings(audit: Audit) -> list[Gathering]:
    # Where people differ labels are doubted more: that suspects gather there is what was made of it, and a table of its own.
    return [one for one in audit.gatherings if not one.stratum.startswith(AGREEING)]


def _labellers(audit: Audit) -> str | None:
    """Return the stratum of who labelled the rows, or of how many agree; None where nothing says so."""
    names = [] if audit.strata is None else audit.strata.column_names
    return next((name for name in names if name.startswith((LABELLED_BY, AGREEING))), None)


def _column(stratum: str) -> str:
    for prefix in (COLUMN, LABELLED_BY, AGREEING):
        stratum = stratum.removeprefix(prefix)
    return cut(stratum, _LONGEST)


def _cell(one: Gathering) -> str:
    part = cut(one.part, _LONGEST)
    if one.stratum.startswith((COLUMN, LABELLED_BY)):
        return f"{_column(one.stratum)}: {part}"
    return f"file {part}" if one.stratum == FILE else f"rows {part}"


def _where(one: Gathering) -> str:
    part = cut(one.part, _LONGEST)
    if one.stratum.startswith((COLUMN, LABELLED_BY)):
        return f"where `{_column(one.stratum)}` is {part}"
    return f"in the file {part}" if one.stratum == FILE else f"in the rows {part} of the file"
