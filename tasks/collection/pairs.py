"""The step `pairs`: a pairwise task from stated pairs, or the generated one: utterances of both sides, splits, stated pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from cartograph.config import Section, Settings
from cartograph.data.json_files import write_json
from cartograph.errors import GateError, InputError
from cartograph.wording import percent
from tasks.audit.parameters.files import FileEntry, Files, listed
from tasks.audit.sources import files_of, read_files
from tasks.engine.step import Inputs, Out, Step

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.ingest.columns import File
    from cartograph.pairs.stated_pairs import BuiltTask
    from cartograph.pairs.task import Task

DATA, METRICS, QUARANTINED = "data/pairs", "reports/pairs.metrics.json", "quarantine.parquet"
_GIVEN = ("train", "dev", "test")


class EntityTable(Section):
    """A table of entities that pairs name by id."""

    path: str = Field(min_length=1)
    id: str = "id"
    text: Annotated[tuple[str, ...], BeforeValidator(listed)] = ("name",)
    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None


class Pairs(Section):
    """The section ``pairs`` of params.yaml: where utterances and stated pairs come from."""

    source: Literal["planted-paraphrases", "files"] = Field(
        "planted-paraphrases", description="planted-paraphrases: the built-in generated questions; files: the files named below"
    )
    rows: int = Field(12_000, ge=200, description="built-in questions: how many")
    seed: int = Field(13, ge=0, description="seed of the generator, and of splits that are drawn")
    symmetric: bool = Field(True, description="whether both sides are one set: (a, b) is (b, a); false: questions and answers, two tables")
    transitive: bool = Field(True, description="symmetric only: what equals the same is equal, so positives are closed under it")
    train: Files = Field((), description="files of stated pairs; if alone, utterances are split into half, a quarter and a quarter")
    dev: Files = Field((), description="stated pairs of the dev split, where the files say what belongs to it")
    test: Files = Field((), description="stated pairs of the test split")
    left: str = Field("left", description="column of the left utterance's text")
    right: str = Field("right", description="column of the right utterance's text")
    label: str | None = Field("label", description="column of the label, 1 or 0; null: all pairs are positive")
    left_id: str | None = Field(None, description="column that distinguishes left utterances; null: their text does")
    right_id: str | None = Field(None, description="column that distinguishes right utterances; null: their text does")
    prefix: str | None = Field(None, description="column to prepend to the right text where a file has it, such as a document's title")
    left_table: EntityTable | None = Field(None, description="what left_id refers to: {path: tableA.csv, id: id, text: [name, price]}")
    right_table: EntityTable | None = Field(None, description="what right_id refers to; null with symmetric: left_table")
    contradictions: Literal["fail", "drop"] = Field("fail", description="a pair stated both positive and negative: fail, or drop it")
    quarantine_limit: float = Field(0.05, ge=0, le=1, description="largest share of rows that may be set aside as unusable")
    format: str | None = Field(None, description="format of the files, if their names do not show it")
    encoding: str | None = Field(None, description="encoding of the files; null: UTF-8")
    columns: tuple[str, ...] = Field((), description="column names in order, for files of pairs without a header line")

    @model_validator(mode="after")
    def _files_are_named(self) -> Self:
        if self.source == "files" and not self.train:
            raise ValueError("source `files` needs `train`: at least one file of stated pairs")
        if bool(self.dev) != bool(self.test):
            raise ValueError("`dev` and `test` go together: name files for both, or for neither to have splits drawn")
        tables = [table.path for table in (self.left_table, self.right_table) if table is not None]
        named = [*(entry.path for entry in (*self.train, *self.dev, *self.test)), *tables]
        if self.source != "files" and named:
            raise ValueError(f"files are given, but source `{self.source}` does not read them; set `source: files`")
        if self.source != "files" and not self.symmetric:
            raise ValueError(f"source `{self.source}` is one set of questions; leave `symmetric` true, or set `source: files`")
        remote = next((path for path in named if "://" in path), None)
        if remote is not None:
            from cartograph.read.remote import shown

            raise ValueError(f"{shown(remote)} is a URL; a collection reads files on disk: fetch it first, and name the file")
        if self.right_table is not None and self.left_table is None:
            raise ValueError("`right_table` needs a `left_table` beside it")
        if self.right_table is not None and self.symmetric:
            raise ValueError("`right_table` makes the two sides two sets; set `symmetric: false`")
        if self.symmetric and self.left_table is None and (self.left_id is None) != (self.right_id is None):
            raise ValueError("`left_id` and `right_id` go together where both sides are one set")
        return self


def run(params: Pairs, inputs: Inputs, out: Out) -> str:
    """Write the two sides, the stated pairs, and what was found; return the sizes.

    Raises:
        InputError: files cannot be read, or do not make a task.
        GateError: too many rows cannot be used.
    """
    from cartograph.data.parquet import write_parquet
    from cartograph.pairs.splits import SPLITS
    from cartograph.pairs.tables import save_task

    built, read = _built_in_task(params) if params.source == "planted-paraphrases" else read_pairs(params, inputs)
    _check_quarantine(params, built.quarantine, read, out)
    task = built.task
    sizes = {split: (task.space(split).size, len(task.positives(split)), len(task.stated(split)[0])) for split in SPLITS}
    require_positives(task, given=bool(params.test))
    save_task(task, built.left_ids, built.right_ids, out[DATA])
    write_parquet(built.quarantine, out[DATA] / QUARANTINED)
    numbers: dict[str, float] = {"utterances.left": len(task.left), "utterances.right": 0 if task.symmetric else len(task.right)}
    for split, (pairs, positives, stated) in sizes.items():
        numbers |= {f"{split}.pairs": pairs, f"{split}.positives": positives, f"{split}.stated": stated}
    numbers |= {
        "quarantined": len(built.quarantine),
        **{f"dropped.{reason.replace(' ', '_')}": number for reason, number in built.dropped.items()},
    }
    write_json(out[METRICS], numbers)
    pairs, positives, _ = sizes["train"]
    return f"{pairs:,} train pairs, {positives:,} positive: 1 in {pairs // positives:,}"


def _check_quarantine(params: Pairs, quarantine: pa.Table, read: int, out: Out) -> None:
    import pyarrow.parquet as pq

    from cartograph.ingest.canonical import reasons_phrase

    share = len(quarantine) / max(read, 1)
    if share > params.quarantine_limit:
        out.failed.mkdir(parents=True, exist_ok=True)
        path = out.failed / QUARANTINED
        pq.write_table(quarantine, path)
        raise GateError(
            f"{len(quarantine):,} of {read:,} rows ({percent(share)}) cannot be used, more than the {percent(params.quarantine_limit)} of "
            f"`pairs.quarantine_limit`: {reasons_phrase(quarantine)}. They are listed in {path}."
        )


def partly_stated(settings: Settings) -> bool:
    """Return whether most positives of the dev and test splits may be stated by nobody: people answer, and no file says what is tested.

    Their pairs that nobody stated then count as negatives though many are not, and those that are stated were the easiest to find.
    """
    from tasks.collection.parameters import Collect

    return settings.of(Collect).oracle == "people" and not settings.of(Pairs).test


def require_positives(task: Task, *, given: bool) -> None:
    """Check that there is something to collect, and something to test.

    Args:
        task: the task.
        given: whether files say which split a pair belongs to.

    Raises:
        InputError: the train or the test split has no positive pair.
    """
    way = "give it some, or leave splits to be drawn" if given else "too many stated pairs are connected for splits to be drawn; name files"
    for split in ("train", "test"):
        if not len(task.positives(split)):
            raise InputError(f"the {split} split has no positive pair among its {task.space(split).size:,}; {way}.")


def _built_in_task(params: Pairs) -> tuple[BuiltTask, int]:
    import numpy as np
    import pyarrow as pa

    from cartograph.pairs.stated_pairs import build_task
    from cartograph.pairs.stated_rows import PairColumns, StatedFile
    from cartograph.planted.paraphrases import generate
    from cartograph.read.source import Batch

    stated_pairs = generate(params.rows, params.seed).stated
    file = StatedFile("planted paraphrases", Batch(stated_pairs, pa.array(range(1, stated_pairs.num_rows + 1))), None)
    rng = np.random.default_rng(params.seed)
    built = build_task([file], PairColumns("left", "right"), symmetric=True, transitive=params.transitive, contradictions="fail", rng=rng)
    return built, stated_pairs.num_rows


def read_pairs(params: Pairs, inputs: Mapping[str, Path]) -> tuple[BuiltTask, int]:
    """Return the task that the named files make, and how many records they have.

    Args:
        params: of source ``files``.
        inputs: declared name (``user_file``) -> path on disk.

    Raises:
        InputError: a file cannot be read, or what it holds makes no task.
    """
    import numpy as np
    import pyarrow as pa

    from cartograph.pairs.stated_pairs import build_task
    from cartograph.pairs.stated_rows import PairColumns, StatedFile, entity_side, unread
    from cartograph.schema import QUARANTINE

    usual = FileEntry(path="-", format=params.format, encoding=params.encoding, columns=params.columns)
    given = bool(params.test)
    files = [
        StatedFile(file.name, file.batch, split if given else None)
        for split in _GIVEN
        for file in read_files(getattr(params, split), usual, inputs)
    ]
    tables = _tables(params, inputs)
    columns = PairColumns(params.left, params.right, params.label, params.left_id, params.right_id, params.prefix)
    built = build_task(
        files,
        columns,
        symmetric=params.symmetric,
        transitive=params.transitive,
        contradictions=params.contradictions,
        rng=np.random.default_rng(params.seed),
        tables={side: (file.name, *entity_side(file.name, file.batch, table.id, table.text)) for side, (table, file) in tables.items()},
        fields=_fields(params, tables),
    )
    aside = [entry for side, (_, file) in tables.items() for entry in unread(f"{side} table", file.name, file.batch)]
    batches = [*(file.batch for file in files), *(file.batch for _, file in tables.values())]
    read = sum(len(batch.rows) + len(batch.rejected) for batch in batches)
    return replace(built, quarantine=pa.concat_tables([built.quarantine, pa.Table.from_pylist(aside, QUARANTINE)])), read


def _tables(params: Pairs, inputs: Mapping[str, Path]) -> dict[str, tuple[EntityTable, File]]:
    found = {}
    for side, table in (("left", params.left_table), ("right", params.right_table)):
        if table is not None:
            entry = _entry(table)
            [file] = read_files([entry], entry, inputs)
            found[side] = (table, file)
    return found


def _fields(params: Pairs, tables: Mapping[str, tuple[EntityTable, File]]) -> dict[str, tuple[list[str], list[str]]]:
    """Return the values of the text columns that both tables have, by name."""
    from cartograph.pairs.stated_rows import column_of

    if "left" not in tables or ("right" not in tables and not params.symmetric):
        return {}
    sides = [tables["left"], tables["left" if params.symmetric else "right"]]
    shared = [name for name in sides[0][0].text if name in sides[1][0].text]
    left, right = ({name: column_of(file.batch, name, file.name) for name in shared} for _, file in sides)
    return {name: (left[name], left[name] if params.symmetric else right[name]) for name in shared}


def _entry(table: EntityTable) -> FileEntry:
    return FileEntry(path=table.path, format=table.format, encoding=table.encoding, delimiter=table.delimiter)


def inputs_of(settings: Settings) -> tuple[str, ...]:
    """Return the declared names of the files that the task is made from."""
    params = settings.of(Pairs)
    if params.source != "files":
        return ()
    tables = [_entry(table) for table in (params.left_table, params.right_table) if table is not None]
    return files_of([*params.train, *params.dev, *params.test, *tables])


STEP = Step(name="pairs", run=run, params=Pairs, inputs=inputs_of, outputs=(DATA, METRICS), libraries=("numpy", "pyarrow"))
