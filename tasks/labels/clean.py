"""The step `clean` of rows with several labels: the most surely wrong yes and no reversed, reasons for every change, a sheet to review."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from cartograph.config import Settings
from cartograph.data.json_files import read_json, write_json
from cartograph.errors import InputError
from tasks.audit.clean import DATA, FOUND, METRICS, SUSPECTS, CleanSection, cleaning_metrics
from tasks.audit.decisions import (
    CONFIGURATION,
    DECISIONS,
    SHEET,
    TASKS,
    decisions_in,
    given_labels,
    require_sheet_saved,
    tell_passed_over,
    write_decided,
    write_review,
)
from tasks.audit.plan import selection_file
from tasks.audit.sources import sources_of
from tasks.engine.step import Inputs, Out, Step
from tasks.labels.ingest import DECISIONS as ANSWERS
from tasks.labels.ingest import ROWS, Ingest, inputs_of, read_labels

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.clean.cleaning import Cleaning
    from cartograph.clean.decisions import Decision
    from cartograph.data.arrays import Bools, Integers

_LABELS = "data/noise/labels.json"


class Clean(CleanSection):
    """The section ``clean`` of params.yaml where rows have several labels."""

    recipe: Literal["relabel", "decisions-only"] = Field(
        "relabel",
        description="what becomes of suspects: relabel (a yes becomes a no and a no a yes where it is sure enough), or decisions-only "
        "(nothing). review/decisions.csv takes precedence",
    )


def run(params: Clean, inputs: Inputs, out: Out) -> str:
    """Write the cleaned version, its changes and checks, and the review sheet; return what was changed.

    Raises:
        InputError: decisions do not fit the data, or the sheet to be replaced holds some that were not taken in.
        GateError: a label would be left without a yes or without a no.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from cartograph.clean.cleaning import clean, cleaned_examples, version
    from cartograph.clean.reviewed import as_people_found, decided_table
    from cartograph.data.parquet import write_parquet
    from cartograph.dynamics.decision_rows import decision_names
    from cartograph.ingest.label_rows import with_label_sets
    from cartograph.models.base import label_matrix
    from cartograph.schema import SUBSET, UID, dataset_info
    from tasks.checks.cleaned_set import validate_cleaning

    rows, answers, noise = (pq.read_table(inputs[name]) for name in (ROWS, ANSWERS, SUSPECTS))
    decisions = decisions_in(inputs.get(DECISIONS), answers)
    require_own_answers(decisions.values(), answers)
    require_sheet_saved(out.workspace, answers)
    passed_over = tell_passed_over(inputs.get(DECISIONS), answers)
    names = dataset_info(rows.schema).labels
    order = np.argsort(decision_names(rows[UID].to_numpy(zero_copy_only=False).astype(object), names).ravel(), kind="stable")
    row = order // len(names)
    known = [bool(label["known"]) for label in read_json(inputs[_LABELS])]
    found_by_people = decided_table(decisions, given_labels(answers)[0])
    surely = as_people_found(noise, found_by_people) >= params.precision
    sure = _in_whole_sets(noise, answers, known, order, label_matrix(rows).astype(bool), surely)
    cleaning = clean(answers, sure, decisions, recipe=params.recipe, relabel_above=0.0, precision=0.0)
    cleaning, kept = _whole_rows(cleaning, answers, row, len(rows), decisions)
    flat = np.empty(len(answers), dtype=np.int64)
    flat[order] = cleaning.labels % 2
    after = flat.reshape(len(rows), len(names))
    cleaned = with_label_sets(rows.filter(pa.array(kept)), names, after[kept])
    folder = out[DATA]
    files = _write_originals(out.workspace.settings, inputs, rows, kept, after != label_matrix(rows), folder)
    write_parquet(cleaned, folder / Path(ROWS).name)
    write_parquet(cleaning.changes, folder / "changes.parquet")
    left = cleaned_examples(answers, cleaning)
    write_parquet(left.select(SUBSET.names).cast(SUBSET).sort_by(UID), out[selection_file("cleaned")])
    described = version(rows, cleaned, cleaning.changes) | {"dropped": int((~kept).sum()), "recipe": params.recipe}
    described["passed_over"] = passed_over
    write_json(folder / "version.json", described)
    write_json(folder / "arms.json", {"asked": params.recipe, "used": params.recipe, "recommended": None, "arms": {}, "reason": ""})
    validation = validate_cleaning(answers, left, cleaning.changes, files=files, bound=params.max_class_change)
    write_json(folder / "validation.json", validation)
    write_review(params.review_limit, answers, noise, decisions, out[SHEET], out[TASKS], out[CONFIGURATION])
    found = read_json(inputs[FOUND])
    metrics = write_decided(folder, answers, noise, decisions, found["wrong"] if found["calibrated"] else None)
    write_json(out[METRICS], metrics | cleaning_metrics(described, len(decisions), cleaning, validation))
    return _summary(described)


def own_answers(given: str, classes: Sequence[str]) -> tuple[str, str]:
    """Return the no and the yes of the label that a class is an answer to.

    >>> own_answers("war: yes", ["love: no", "love: yes", "war: no", "war: yes"])
    ('war: no', 'war: yes')
    """
    first = classes.index(given) // 2 * 2
    return classes[first], classes[first + 1]


def require_own_answers(decisions: Iterable[Decision], answers: pa.Table) -> None:
    """Check that each decision is about the label that its uid names.

    Raises:
        InputError: one gives a label the answer to another.
    """
    given, classes = given_labels(answers)
    for decision in decisions:
        own = own_answers(given[decision.uid], classes)
        if decision.label is not None and decision.label not in own:
            raise InputError(
                f"{decision.place} (uid {decision.uid!r}): `new_label` is {decision.label!r}, which is about another label; this "
                f"uid can be relabelled to {' or '.join(map(repr, own))} alone."
            )


def _in_whole_sets(noise: pa.Table, answers: pa.Table, known: list[bool], order: Integers, given: Bools, enough: Bools) -> pa.Table:
    """Return the suspects with those alone flagged that are changed without a person: sure ``enough``, of labels of which it is known
    how many answers are wrong, and in rows that then have a set of labels that another row has (``clean.whole_sets``).
    """
    import numpy as np
    import pyarrow as pa

    from cartograph.clean.whole_sets import turned_as_sets
    from cartograph.schema import LABEL

    listed = noise["flagged"].to_numpy(zero_copy_only=False) & np.array(known)[answers[LABEL].to_numpy() // 2]
    likely, surely = np.zeros(given.size, dtype=bool), np.zeros(given.size, dtype=bool)
    likely[order], surely[order] = listed, listed & enough
    sure = turned_as_sets(given, surely.reshape(given.shape), likely.reshape(given.shape)).ravel()[order]
    return noise.set_column(noise.schema.get_field_index("flagged"), noise.schema.field("flagged"), pa.array(sure))


def _whole_rows(
    cleaning: Cleaning, answers: pa.Table, row: Integers, rows: int, decisions: Mapping[str, Decision]
) -> tuple[Cleaning, Bools]:
    """Return the outcome with all labels of a row dropped of which people dropped one, and which rows stay."""
    from dataclasses import replace

    import numpy as np
    import pyarrow as pa

    from cartograph.schema import CHANGES, UID, dataset_info

    kept = np.ones(rows, dtype=bool)
    kept[row[~cleaning.kept]] = False
    also = np.flatnonzero(cleaning.kept & ~kept[row])
    if not len(also):
        return cleaning, kept
    uids, labels = answers[UID].to_pylist(), dataset_info(answers.schema).labels
    by = {int(row[place]): decisions[uids[place]].by for place in np.flatnonzero(~cleaning.kept).tolist()}
    before = answers["label"].to_numpy()
    changes = [change for change in cleaning.changes.to_pylist() if change[UID] not in {uids[place] for place in also.tolist()}]
    changes += [
        {"uid": uids[place], "what": "drop", "from": labels[before[place]], "to": None}
        | {"why": "its row was dropped because of another label", "by": by[int(row[place])]}
        for place in also.tolist()
    ]
    return replace(cleaning, kept=kept[row], changes=pa.Table.from_pylist(changes, CHANGES).sort_by(UID)), kept


def _write_originals(settings: Settings, inputs: Inputs, rows: pa.Table, kept: Bools, turned: Bools, folder: Path) -> list[str]:
    """Write cleaned.parquet in the original's own columns, and a copy in its own format where it is one CSV file; return its files."""
    import numpy as np
    import pyarrow as pa

    from cartograph.clean.label_cells import corrected_cells
    from cartograph.data.parquet import write_parquet
    from cartograph.read.rewrite import own_suffix, parquet_columns, rewrite_columns

    params = settings.of(Ingest)
    read = read_labels(params, inputs)
    if not read.examples.equals(rows):
        raise InputError(f"{', '.join(read.ingested.files)}: not what it was when it was ingested; run the audit with `--force ingest`.")
    stay = read.places[kept]
    order = np.argsort(stay, kind="stable")
    whole = np.zeros((len(stay), len(read.sets.names)), dtype=bool)
    whole[:, read.audited] = turned[kept][order]
    table = pa.concat_tables([file.batch.table for file in read.files], promote_options="default").take(pa.array(stay[order]))
    cells = {name: table[name].to_pylist() for name in read.columns}
    changed = corrected_cells(read.sets, cells, stay[order].tolist(), whole)
    for name, column in changed.items():
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(column, table.schema.field(name).type))
    if len(read.files) == 1:
        (source,) = sources_of(params.train, params.usual, inputs)
        numbers = read.files[0].batch.rows.take(pa.array(stay[order])).to_pylist()
        rewrite_columns(source, numbers, changed, folder / f"cleaned{own_suffix(source) or '.csv'}")
        table = parquet_columns(source, numbers, changed) or table
    write_parquet(table, folder / "cleaned.parquet")
    return [file.name for file in read.files]


def _summary(version: Mapping[str, Any]) -> str:
    parts = [f"{version['dropped']:,} dropped"] * bool(version["dropped"])
    parts += [f"{version['relabelled']:,} yes or no reversed"] * bool(version["relabelled"])
    return f"{version['rows']:,} rows, {', '.join(parts) or 'nothing changed'}, version {version['version']}"


def _inputs(settings: Settings) -> tuple[str, ...]:
    return (ROWS, ANSWERS, SUSPECTS, FOUND, _LABELS, *inputs_of(settings))


STEP = Step(
    name="clean",
    run=run,
    params=Clean,
    inputs=_inputs,
    optional=(DECISIONS,),
    outputs=(DATA, selection_file("cleaned"), SHEET, TASKS, CONFIGURATION, METRICS),
    libraries=("great-expectations", "numpy", "pyarrow"),
    reads=("ingest",),
)
