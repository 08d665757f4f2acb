"""The step `ingest` of rows with several labels: which labels each row has, validated; rows that cannot be used are set aside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from cartograph.config import Settings
from cartograph.data.json_files import write_json
from tasks.audit.ingest import check_quarantine, ingest_metrics
from tasks.audit.parameters.files import FileEntry, Files, listed
from tasks.audit.parameters.ingest import Domain, Names, Sources, require_other_columns
from tasks.audit.parameters.values import all_or_names, none_is_empty
from tasks.audit.sources import files_of, read_files
from tasks.engine.step import Out, Step
from tasks.presentation.console import progress

if TYPE_CHECKING:
    from cartograph.ingest.columns import Columns
    from cartograph.ingest.label_rows import LabelFiles

KEY = "label_columns"
"""The key of the section ``ingest`` that says that rows have several labels."""

ROWS, DECISIONS, LABELS = "data/ingest/rows.parquet", "data/ingest/train.parquet", "data/ingest/labels.json"
"""The rows with their labels; each label of each row as a row of its own, which is the set that all other steps read; the labels."""


class Ingest(Sources):
    """The section ``ingest`` of params.yaml where rows have several labels."""

    train: Files = Field((), description="files of the train set, read one after the other; paths from the project's root")
    label_columns: Names = Field(
        (), description="the column that lists a row's labels, or separates their names by | ; or commas; or a column of 0 and 1 for each"
    )
    text: Annotated[tuple[Names, ...], BeforeValidator(listed)] = Field(
        (), description="text columns: one, or two for pairs; a nested list gives alternative names"
    )
    features: Annotated[Literal["all"] | Names, BeforeValidator(all_or_names)] = Field(
        (), description="for a table of features, which has no `text`: all (every other column whose values vary), or their names"
    )
    categories: Names = Field((), description="features whose numbers are codes, not quantities")
    uid: Names = Field((), description="column that identifies a row; null: made from the content")
    linked: Names = Field(
        (),
        description="column whose equal values link rows, such as a patient, a speaker or a document: linked rows are held out together; "
        "null: none",
    )
    format: str | None = Field(None, description="csv, tsv, jsonl, parquet, excel or shards; null: guessed from name and content")
    encoding: str | None = Field(None, description="of text files; null: utf-8")
    columns: tuple[str, ...] = Field((), description="column names in order, for files without a header line; an empty name skips a column")
    quarantine_limit: float = Field(0.05, ge=0, le=1, description="largest share of rows that may be unusable before the audit fails")
    max_megabytes: float = Field(2000, gt=0, description="largest file, decompressed")
    max_characters: int = Field(10_000, ge=1, description="characters; longer texts raise a warning")

    _none_is_empty = field_validator("uid", "linked", "categories", mode="before")(none_is_empty)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not self.train:
            raise ValueError("name the files: `train: [PATH, …]`")
        if not self.label_columns or len(set(self.label_columns)) < len(self.label_columns):
            raise ValueError("`label_columns` names one column of lists, or several of 0 and 1, each once")
        if bool(self.text) == bool(self.features) or len(self.text) > 2:
            raise ValueError("name one `text` column, two for pairs, or `features`; one of the three")
        if self.categories and not self.features:
            raise ValueError("`categories` are some of the `features`; name those, or set `features: all`")
        read = {name for names in self.text for name in names} | set(() if self.features == "all" else self.features) | set(self.uid)
        if twice := sorted(read & set(self.label_columns)):
            raise ValueError(f"column `{twice[0]}` is named as a label and as what is read of a row; name it once")
        require_other_columns("linked", self.linked, *self.text, self.label_columns, self.features)
        return self

    @property
    def usual(self) -> FileEntry:
        """How files are read that do not say it themselves."""
        return FileEntry(path="-", format=self.format, encoding=self.encoding, columns=self.columns)

    def sets(self) -> dict[str, tuple[Domain, tuple[FileEntry, ...]]]:
        """Return the train set, the only one."""
        return {"train": ("train", self.train)}


def inputs_of(settings: Settings) -> tuple[str, ...]:
    """Return the declared names of the user's files."""
    return files_of(settings.of(Ingest).train)


def columns_of(params: Ingest) -> Columns:
    """Return which columns the parameters name, beside the labels'."""
    from cartograph.ingest.columns import ALL, Columns

    features = ALL if params.features == "all" else params.features
    return Columns(params.text, (), (), params.uid, features=features, categories=params.categories, linked=params.linked)


def read_labels(params: Ingest, inputs: Mapping[str, Path]) -> LabelFiles:
    """Read the rows and their labels.

    Args:
        inputs: declared name (``user_file``) -> path on disk.

    Raises:
        InputError: a source, a column or a label cannot be used as it is.
    """
    from cartograph.ingest.label_rows import read_label_files

    with progress("ingest", "bytes") as update:
        files = read_files(params.train, params.usual, inputs, update, max_megabytes=params.max_megabytes)
    return read_label_files(files, params.label_columns, columns_of(params))


def run(params: Ingest, inputs: Mapping[str, Path], out: Out) -> str:
    """Read, canonicalise, validate and write the rows, and each of their labels as a row; return the summary.

    Raises:
        InputError: a source, a column or a label cannot be used as it is.
        GateError: more than ``quarantine_limit`` of the rows cannot be used.
    """
    import numpy as np
    import pyarrow as pa

    from cartograph.data.parquet import write_parquet
    from cartograph.dynamics.decision_rows import decision_classes, decision_names, decision_rows
    from tasks.checks.ingested_sets import validate

    read = read_labels(params, inputs)
    check_quarantine(params.quarantine_limit, [read.ingested], read.ingested.quarantine, out)
    validation = validate(
        [read.ingested],
        limit=params.quarantine_limit,
        min_class_count=1,
        max_characters=params.max_characters,
        docs=out.docs / "data_docs",
        several={name: number for name, number in read.rows_with.items() if name in read.names},
    )
    named = decision_names(read.examples["uid"].to_numpy(zero_copy_only=False).astype(object), read.names)
    order = np.argsort(named.ravel(), kind="stable")
    row, label = np.divmod(order, len(read.names))
    rows = read.examples.take(pa.array(row))
    decisions = decision_rows(rows, named.ravel()[order], decision_classes(read.names), 2 * label + read.given[row, label])
    folder = out["data/ingest"]
    write_parquet(read.examples, folder / Path(ROWS).name)
    write_parquet(decisions, folder / Path(DECISIONS).name)
    write_parquet(read.ingested.quarantine, folder / "quarantine.parquet")
    write_json(folder / "validation.json", validation, sort_keys=False)
    labels = [{"name": name, "rows": read.rows_with[name], "note": read.left_out.get(name, "")} for name in (*read.names, *read.left_out)]
    write_json(folder / Path(LABELS).name, labels)
    metrics = ingest_metrics([read.ingested], validation) | {"classes": len(read.names), "answers": len(decisions)}
    write_json(out["reports/ingest.metrics.json"], metrics)
    left_out = f", {len(read.left_out):,} that cannot be audited" if read.left_out else ""
    return f"{len(read.examples):,} rows, {len(read.names):,} labels{left_out}, {len(read.ingested.quarantine):,} quarantined"


STEP = Step(
    name="ingest",
    run=run,
    params=Ingest,
    inputs=inputs_of,
    outputs=("data/ingest", "reports/ingest.metrics.json"),
    libraries=("datasets", "great_expectations", "numpy", "pandas", "pyarrow", "scikit-learn"),
)
