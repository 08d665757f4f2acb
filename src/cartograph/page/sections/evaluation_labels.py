"""Which labels of the evaluation sets look wrong: what models are scored against."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from cartograph.features.unusual import shown_values
from cartograph.page.audit import Audit
from cartograph.page.blocks import Block, Cell, Column, Section, Table
from cartograph.page.headline import on_condition
from cartograph.page.read_verdict import OF_SET
from cartograph.page.step_results import EvaluationLabels
from cartograph.page.unknown_number import between_left, why_unknown, within
from cartograph.schema import LABEL, ROW, SOURCE, DatasetInfo, dataset_info
from cartograph.wording import count, counted, cut, labels_said_wrong, share

MOST_LISTED = 200
"""Most suspects of a set in its table; all are in the files."""

_LEAD = (
    "Models are scored against these labels, so that a wrong one counts against a model that is right. Suspects are found by models of the "
    "train set and of the set's other rows, and how labels go wrong is read off each set alone. Nothing is changed here."
)
_LONGEST, _NAME = 300, 80
_MOST_VALUES = 8


def evaluation_labels_section(audit: Audit) -> Section | None:
    """Return a table of suspects for each evaluation set; None where none was looked at."""
    if not audit.evaluation_labels:
        return None
    blocks: list[Block] = [_sets(audit.evaluation_labels)]
    blocks += [_table(one) for one in audit.evaluation_labels if one.rows.num_rows]
    lead = " ".join([_LEAD, *(_sentence(audit, one) for one in audit.evaluation_labels)])
    return Section("evaluation_labels", "Evaluation labels", lead, blocks)


def evaluation_lines(audit: Audit) -> list[str]:
    """Return, of each evaluation set with wrong labels by estimate, how many, for the top of the page."""
    lines = []
    for one in audit.evaluation_labels:
        wrong = one.record.get("wrong")
        if wrong is not None and round(wrong["low"]) >= 1:
            of = f"of the {counted(one.record['rows'], 'label')} {OF_SET} {cut(one.name, _NAME)}"
            said = labels_said_wrong(wrong, of)
            lines.append(f"{said[0].upper()}{said[1:]}.".replace(" wrong (95", " wrong, too (95"))
    return lines


def _sentence(audit: Audit, one: EvaluationLabels) -> str:
    record, name = one.record, cut(one.name, _NAME)
    if "why" in record:
        return f"{name}: no label could be judged: {cut(str(record['why']), _LONGEST)}"
    listed = f"{count(record['suspects'])} of {counted(record['rows'], 'label')} ({share(record['suspects'], record['rows'])})"
    if record["wrong"] is not None:
        return f"{name}: {on_condition(audit)}{labels_said_wrong(record['wrong'])}; suspects: {listed}."
    why = why_unknown(record, record["rows"])
    unknown = f"{''.join(within('how many of all are wrong', between_left(record), record['rows']))}{f': {why}' if why else ''}"
    return f"{name}: worth a second look: {listed}; {unknown}."


def _sets(sets: Sequence[EvaluationLabels]) -> Table:
    columns = [Column("Set"), Column("Labels", "count"), Column("Suspects", "count")]
    meant = ("From", "of the 95 % interval"), ("To", "if errors gather on hard rows, too")
    columns += [Column(title, "count", meaning) for title, meaning in (("Wrong", "about how many, by estimate"), *meant)]
    cells: list[Sequence[Cell]] = []
    for one in sets:
        wrong = one.record.get("wrong") or one.record.get("between") or {}
        ends = tuple(round(wrong[end]) if end in wrong else None for end in ("expected", "low", "high"))
        cells.append((cut(one.name, _NAME), one.record["rows"], one.record["suspects"], *ends))
    return Table("The sets looked at", columns, cells)


def _table(one: EvaluationLabels) -> Table:
    info = dataset_info(one.rows.schema)
    rows, found = one.rows.slice(0, MOST_LISTED), one.found.slice(0, MOST_LISTED)
    texts = _texts(rows, info)
    columns = [Column("File"), Column("Row", "count"), *(Column(cut(name, _NAME)) for name in texts)]
    columns += [Column("Label"), Column("Suggested"), Column("Probability", "probability", "that the label is wrong"), Column("Why")]
    cells: list[Sequence[Cell]] = list(
        zip(
            [cut(name, _NAME) for name in rows[SOURCE].to_pylist()],
            rows[ROW].to_pylist(),
            *texts.values(),
            *([cut(info.labels[label], _NAME) for label in of.to_pylist()] for of in (rows[LABEL], found["suggested"])),
            found["probability"].to_pylist(),
            [cut(why, _LONGEST) for why in found["reason"].to_pylist()],
            strict=True,
        )
    )
    more = f", the first {count(MOST_LISTED)}" if one.rows.num_rows > MOST_LISTED else ""
    return Table(f"Suspects of {cut(one.name, _NAME)}{more}", columns, cells)


def _texts(rows: pa.Table, info: DatasetInfo) -> dict[str, list[str]]:
    """Return what the table shows of rows: texts, or the first features; of images nothing."""
    if info.features:
        values = shown_values(rows)
        return {feature.name: list(map(str, column)) for feature, column in zip(info.features[:_MOST_VALUES], values, strict=False)}
    return {name: [cut(text, _LONGEST) for text in rows[name].to_pylist()] for name in info.text + info.options}
