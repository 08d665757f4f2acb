"""The step `ingest`: raw files become canonical tables, validated; rows that cannot be used are set aside with a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cartograph.config import Settings
from cartograph.data.json_files import write_json
from cartograph.errors import GateError
from cartograph.wording import percent
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.sources import bytes_of, files_of, read_files
from tasks.engine.step import Out, Step
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.data.progress import Progress
    from cartograph.ingest.canonical import IngestedSet, RawSet
    from cartograph.ingest.columns import Columns
    from cartograph.ingest.labels import Labelling


def inputs_of(settings: Settings) -> tuple[str, ...]:
    """Return the declared names of the user's files; none for the built-in corpus and for hub ids."""
    params = settings.of(Ingest)
    if params.source != "files":
        return ()
    return files_of([entry for _, files in params.sets().values() for entry in files])


def outputs_of(settings: Settings) -> tuple[str, ...]:
    """Return what the step writes; the built-in corpus also leaves its truth."""
    params = settings.of(Ingest)
    outputs = ("data/ingest", "reports/ingest.metrics.json")
    return outputs if params.source == "files" else (*outputs, "data/truth")


def run(params: Ingest, inputs: Mapping[str, Path], out: Out) -> str:
    """Read, canonicalise, validate and write all sets; return the summary.

    Raises:
        InputError: a source, a column or a label cannot be used as it is.
        GateError: more than ``quarantine_limit`` of a set's rows cannot be used.
    """
    import pyarrow as pa

    from cartograph.data.memory import release_memory
    from cartograph.data.parquet import write_parquet
    from cartograph.ingest.canonical import ingest
    from cartograph.ingest.strata import strata_of
    from tasks.checks.ingested_sets import validate

    raw_sets, truth = read_sets(params, inputs)
    sets = ingest(raw_sets, columns_of(params), labelling_of(params))
    strata = strata_of(raw_sets[0].files, sets[0], params.labelled_by, params.label or ())
    del raw_sets
    quarantine = pa.concat_tables([item.quarantine for item in sets])
    check_quarantine(params.quarantine_limit, sets, quarantine, out)
    folder = out["data/ingest"]
    for item in sets:
        write_parquet(item.examples, folder / f"{item.info.name}.parquet")
    # The checks read the texts as they were read, before any row was taken out.
    sets = [replace(item, examples=item.examples.select(["uid", "label"])) for item in sets]
    release_memory(len(sets[0].raw))
    validation = validate(
        sets,
        limit=params.quarantine_limit,
        min_class_count=params.min_class_count,
        max_characters=params.max_characters,
        docs=out.docs / "data_docs",
        labelling=labelling_of(params),
    )
    write_parquet(quarantine, folder / "quarantine.parquet")
    write_parquet(strata, folder / "strata.parquet")
    write_json(folder / "validation.json", validation, sort_keys=False)
    write_json(out["reports/ingest.metrics.json"], ingest_metrics(sets, validation))
    if truth is not None:
        write_parquet(truth, out["data/truth"] / "truth.parquet")
    return f"{len(sets[0].examples):,} rows, {len(sets[0].info.labels)} classes, {len(quarantine):,} quarantined"


def columns_of(params: Ingest) -> Columns:
    """Return which columns the parameters name."""
    from cartograph.ingest.columns import ALL, Columns

    features = ALL if params.features == "all" else params.features
    uid = ("uid",) if params.source != "files" else params.uid
    return Columns(
        params.text,
        params.options,
        params.label,
        uid,
        params.annotators,
        params.groups,
        params.image,
        features,
        params.categories,
        linked=params.linked,
        labelled_by=params.labelled_by,
    )


def labelling_of(params: Ingest) -> Labelling:
    """Return how the parameters say that labels are read."""
    from cartograph.ingest.labels import Labelling

    return Labelling(params.label_separator, params.label_names, params.labels, params.unlabelled)


def read_sets(params: Ingest, inputs: Mapping[str, Path]) -> tuple[list[RawSet], pa.Table | None]:
    """Read every set, the train set first; also the truth of the built-in corpus.

    Args:
        inputs: declared name (``user_file``) -> path on disk.

    Raises:
        InputError: a source cannot be read.
    """
    from cartograph.ingest.canonical import RawSet

    if params.source != "files":
        return _built_in(params)
    sets = params.sets()
    usual = params.usual
    side = params.image_side if params.image else None
    found: list[RawSet] = []
    total = bytes_of([file for _, files in sets.values() for file in files], inputs)
    with progress("ingest", "bytes") as update:
        for name, (domain, files) in sets.items():
            before = sum(bytes_of(sets[other.name][1], inputs) for other in found)
            shown = partial(_shown, update, before, total)
            found.append(RawSet(name, domain, read_files(files, usual, inputs, shown, side, params.image, params.max_megabytes)))
    return found, None


def _shown(update: Progress, before: int, total: int, done: int, _: int) -> None:
    update(before + done, total)


def _built_in(params: Ingest) -> tuple[list[RawSet], pa.Table]:
    import pyarrow as pa

    from cartograph.ingest.canonical import RawSet
    from cartograph.ingest.columns import File
    from cartograph.planted import digits, tables
    from cartograph.planted.nli import generate
    from cartograph.read.source import Batch

    if params.source in tables.MOST:
        corpus = tables.generate(params.source, rows=params.rows, seed=params.seed)
    else:
        corpus = (digits.generate if params.source == "digits" else generate)(rows=params.rows, seed=params.seed)
    raw_sets = []
    for name, (domain, _) in params.sets().items():
        table = corpus.sets[name]
        batch = Batch(table, pa.array(range(1, len(table) + 1), pa.int64()))
        raw_sets.append(RawSet(name, domain, (File(params.source, batch),)))
    return raw_sets, corpus.truth


def check_quarantine(limit: float, sets: Sequence[IngestedSet], quarantine: pa.Table, out: Out) -> None:
    """Check that no more than this share of a set's rows is set aside; else these rows are left beside the outputs.

    Raises:
        GateError: there are more.
    """
    import pyarrow.parquet as pq

    from cartograph.ingest.canonical import reasons_phrase

    for item in sets:
        share = len(item.quarantine) / item.rows_read
        if share > limit:
            out.failed.mkdir(parents=True, exist_ok=True)
            path = out.failed / "quarantine.parquet"
            pq.write_table(quarantine, path)
            way = "correct the file, or raise `ingest.quarantine_limit` in params.yaml to go on without them"
            raise GateError(
                f"{item.info.name}: {len(item.quarantine):,} of {item.rows_read:,} rows ({percent(share)}) cannot be used, more than the "
                f"{percent(limit)} of `ingest.quarantine_limit`: {reasons_phrase(item.quarantine)}. They are listed in {path}; {way}."
            )


def ingest_metrics(sets: Sequence[IngestedSet], validation: dict[str, Any]) -> dict[str, float]:
    """Return what was ingested in numbers."""
    quarantined = sum(len(item.quarantine) for item in sets)
    failed = sum(not check["passed"] for entry in validation["sets"] for check in entry["checks"])
    return {
        **{f"rows.{item.info.name}": len(item.examples) for item in sets},
        "classes": len(sets[0].info.labels),
        "quarantined": quarantined,
        "quarantined.share": quarantined / sum(item.rows_read for item in sets),
        "validation.passed": int(validation["passed"]),
        "validation.failed": failed,
    }


STEP = Step(
    name="ingest",
    run=run,
    params=Ingest,
    inputs=inputs_of,
    outputs=outputs_of,
    libraries=("datasets", "great_expectations", "numpy", "pandas", "pillow", "pyarrow", "scikit-learn"),
)
