"""Ingest: raw files to canonical tables, validated; rows that cannot be used are set aside with a reason."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from cartograph import config
from cartograph.config import Settings
from cartograph.errors import GateError
from tasks.audit.sources import Evaluation, EvaluationSet, FileEntry, Files, files_of, listed, read_files
from tasks.engine.step import Out, Step
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.ingest.canonical import IngestedSet, RawSet
    from cartograph.ingest.columns import Columns
    from cartograph.ingest.labels import Labelling

BUILT_IN = {"planted-nli": ("validation", "challenge"), "digits": ("validation", "altered")}
"""Name of a built-in data set -> its evaluation sets."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_TAKEN = ("train", "quarantine")
_DIGITS: dict[str, Any] = {
    "rows": 1200,
    "text": (),
    "image": "image",
    "evaluation": {"validation": "id", "altered": "ood"},
    "groups": ("shifted", "rotated", "noisy", "inverted"),
}


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) else value


Text = Annotated[str, BeforeValidator(_text)]
Names = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(listed)]


class Params(config.Params):
    """The section ``ingest`` of params.yaml."""

    source: Literal["planted-nli", "digits", "files"] = Field(
        "planted-nli",
        description="files: those named under `train` and `evaluation`; planted-nli: the built-in generated corpus; digits: 1,797 images "
        "of written digits that scikit-learn brings along",
    )
    rows: int = Field(6000, ge=60, description="built-in corpus: number of train rows")
    seed: int = Field(13, ge=0, description="built-in corpus: seed of the generator")
    train: Files = Field((), description="files of the train set, read one after the other; paths from the project's root")
    evaluation: dict[str, Evaluation] = Field(
        {"validation": EvaluationSet(domain="id"), "challenge": EvaluationSet(domain="ood")},
        description="evaluation sets by name: files, and id = in distribution or ood = out of distribution",
    )
    text: Annotated[tuple[Names, ...], BeforeValidator(listed)] = Field(
        (("premise",), ("hypothesis",)),
        description="text columns: one for single texts and multiple choice, two for pairs; a list in the list = alternative names",
    )
    image: Names = Field((), description="image column, for a data set of images, which has no `text`; null: none")
    image_side: int = Field(256, ge=8, le=1024, description="pixels; images are scaled down where their longer side has more")
    options: Annotated[tuple[Names, ...], BeforeValidator(listed)] = Field((), description="option columns of multiple choice; else empty")
    label: Names = Field(
        ("label",), description="label column, or alternative names; for multiple choice the option's number, index, letter, name or text"
    )
    uid: Names = Field((), description="column that identifies a row; null, or an evaluation set without it: made from the content")
    annotators: Names = Field((), description="column with the annotators' labels; null: none")
    groups: Names = Field(
        (), description="columns that part an evaluation set: a row whose cell is not blank is in the group of that name, scored apart too"
    )
    format: str | None = Field(
        None,
        description="csv, tsv, jsonl, parquet, label-first, lines, huggingface, hub, image-folder or arrays; null: told from name and "
        "content",
    )
    encoding: str | None = Field(None, description="of text files; null: utf-8")
    label_separator: str | None = Field(
        None, min_length=1, description="a label ends before it (`:` makes DESC of DESC:manner); null: labels are taken whole"
    )
    label_names: dict[Text, Text] = Field(
        default_factory=dict, description="given label -> class name, where sets name the same classes otherwise"
    )
    labels: tuple[Text, ...] = Field(
        (), description="class names in the order of their ids; empty: numeric, else alphabetical order of those in train"
    )
    unlabelled: tuple[Text, ...] = Field(("-",), description="label values that mean that there is no gold label")
    quarantine_limit: float = Field(
        0.05, ge=0, le=1, description="largest share of a set's rows that may be unusable before the audit fails"
    )
    min_class_count: int = Field(10, ge=1, description="rows; a class of the train set with fewer raises a warning")
    max_characters: int = Field(10_000, ge=1, description="characters; longer texts raise a warning")

    @model_validator(mode="before")
    @classmethod
    def _no_built_in_sets_for_files(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("source") == "files":
            return {"evaluation": {}, **({"text": ()} if data.get("image") else {}), **data}
        return {**_DIGITS, **data} if isinstance(data, dict) and data.get("source") == "digits" else data

    @field_validator("uid", "annotators", "image", mode="before")
    @classmethod
    def _none_is_empty(cls, value: Any) -> Any:
        return () if value is None else value

    @model_validator(mode="after")
    def _fits_together(self) -> Params:
        for name in self.evaluation:
            if not _NAME.fullmatch(name) or name in _TAKEN:
                raise ValueError(
                    f"`evaluation` has a set named {name!r}; a name has letters, digits, - and _, and is not train or quarantine"
                )
        if self.source == "files":
            if not self.train:
                raise ValueError("`source: files` needs `train: [PATH, …]`")
            empty = [name for name, entry in self.evaluation.items() if not entry.files]
            if empty:
                raise ValueError(f"evaluation set `{empty[0]}` needs `{{files: [PATH, …], domain: id}}`")
        else:
            self._fits_built_in(BUILT_IN[self.source])
        if self.image and (self.text or self.options):
            raise ValueError("name an `image` column, or `text` and `options`, not both; set `text: []` for images")
        if not self.image and (not self.text or len(self.text) > 2 or len(self.options) == 1 or (self.options and len(self.text) > 1)):
            raise ValueError(
                "name one `text` column for single texts, two for pairs, or one and at least two `options` for multiple choice, "
                f"not {len(self.text)} and {len(self.options)}"
            )
        fields = [names[0] for names in (self.image, *self.text, *self.options) if names]
        if len(set(fields)) < len(fields) or set(fields) & set(self.label):
            raise ValueError("`image`, `text`, `options` and `label` must name different columns")
        if len(set(self.labels)) < len(self.labels) or len(self.labels) == 1:
            raise ValueError("`labels` must name two or more classes, each once; leave it out to take those of the train set")
        return self

    def _fits_built_in(self, sets: tuple[str, ...]) -> None:
        if self.train or any(entry.files for entry in self.evaluation.values()) or not set(self.evaluation) <= set(sets):
            raise ValueError(f"`source: {self.source}` has the sets train, {', '.join(sets)} and takes no files; set `source: files`")
        if self.source == "digits" and self.rows > _DIGITS["rows"]:
            raise ValueError(f"`source: digits` has {_DIGITS['rows']:,} train rows, not {self.rows:,}; lower `rows`")
        if self.source == "digits" and self.image != ("image",):
            raise ValueError("`source: digits` has the image column `image`; leave `image` and `text` out")

    def sets(self) -> dict[str, tuple[str, tuple[FileEntry, ...]]]:
        """Return set name -> (domain, files): ``train`` first, then the evaluation sets by name."""
        named: dict[str, tuple[str, tuple[FileEntry, ...]]] = {"train": ("train", self.train)}
        for name, entry in sorted(self.evaluation.items()):
            named[name] = (entry.domain, entry.files)
        return named


def inputs_of(settings: Settings) -> tuple[str, ...]:
    """Return the declared names of the user's files; none for the built-in corpus and for hub ids."""
    params = settings["ingest"]
    assert isinstance(params, Params)
    if params.source != "files":
        return ()
    return files_of([entry for _, files in params.sets().values() for entry in files])


def outputs_of(settings: Settings) -> tuple[str, ...]:
    """Return what the step writes; the built-in corpus also leaves its truth."""
    params = settings["ingest"]
    assert isinstance(params, Params)
    outputs = ("data/ingest", "reports/ingest.metrics.json")
    return outputs if params.source == "files" else (*outputs, "data/truth")


def run(params: Params, inputs: Mapping[str, Path], out: Out) -> str:
    """Read, canonicalise, validate and write all sets; return the summary.

    Raises:
        InputError: a source, a column or a label cannot be used as it is.
        GateError: more than ``quarantine_limit`` of a set's rows cannot be used.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from cartograph.ingest.canonical import ingest
    from tasks.checks.ingested_sets import validate

    raw_sets, truth = read_sets(params, inputs)
    sets = ingest(raw_sets, columns_of(params), labelling_of(params))
    quarantine = pa.concat_tables([item.quarantine for item in sets])
    _check_quarantine(params, sets, quarantine, out)
    validation = validate(
        sets,
        limit=params.quarantine_limit,
        min_class_count=params.min_class_count,
        max_characters=params.max_characters,
        docs=out.docs / "data_docs",
    )
    folder = out["data/ingest"]
    for item in sets:
        pq.write_table(item.examples, folder / f"{item.info.name}.parquet")
    pq.write_table(quarantine, folder / "quarantine.parquet")
    _write_json(folder / "validation.json", validation)
    _write_json(out["reports/ingest.metrics.json"], _metrics(sets, validation))
    if truth is not None:
        pq.write_table(truth, out["data/truth"] / "truth.parquet")
    return f"{len(sets[0].examples):,} rows, {len(sets[0].info.labels)} classes, {len(quarantine):,} quarantined"


def columns_of(params: Params) -> Columns:
    """Return which columns the parameters name."""
    from cartograph.ingest.columns import Columns

    uid = ("uid",) if params.source != "files" else params.uid
    return Columns(params.text, params.options, params.label, uid, params.annotators, params.groups, params.image)


def labelling_of(params: Params) -> Labelling:
    """Return how the parameters say that labels are read."""
    from cartograph.ingest.labels import Labelling

    return Labelling(params.label_separator, params.label_names, params.labels, params.unlabelled)


def read_sets(params: Params, inputs: Mapping[str, Path]) -> tuple[list[RawSet], pa.Table | None]:
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
    usual = FileEntry(path="-", format=params.format, encoding=params.encoding)
    total, done = sum(len(files) for _, files in sets.values()), 0
    with progress("ingest", "files") as update:

        def count() -> None:
            nonlocal done
            done += 1
            update(done, total)

        side = params.image_side if params.image else None
        return [
            RawSet(name, domain, read_files(files, usual, inputs, count, side, params.image)) for name, (domain, files) in sets.items()
        ], None


def _built_in(params: Params) -> tuple[list[RawSet], pa.Table]:
    import pyarrow as pa

    from cartograph.ingest.canonical import RawSet
    from cartograph.ingest.columns import File
    from cartograph.planted import digits
    from cartograph.planted.nli import generate
    from cartograph.read.source import Batch

    corpus = (digits.generate if params.source == "digits" else generate)(rows=params.rows, seed=params.seed)
    raw_sets = []
    for name, (domain, _) in params.sets().items():
        table = corpus.sets[name]
        batch = Batch(table, pa.array(range(1, len(table) + 1), pa.int64()))
        raw_sets.append(RawSet(name, domain, (File(params.source, batch),)))
    return raw_sets, corpus.truth


def _check_quarantine(params: Params, sets: Sequence[IngestedSet], quarantine: pa.Table, out: Out) -> None:
    import pyarrow.parquet as pq

    from cartograph.ingest.canonical import described

    for item in sets:
        share = len(item.quarantine) / item.rows_read
        if share > params.quarantine_limit:
            out.failed.mkdir(parents=True, exist_ok=True)
            path = out.failed / "quarantine.parquet"
            pq.write_table(quarantine, path)
            raise GateError(
                f"{item.info.name}: {len(item.quarantine):,} of {item.rows_read:,} rows ({share:.1%}) cannot be used, more than the "
                f"{params.quarantine_limit:.1%} of `ingest.quarantine_limit`: {described(item)}. They are listed in {path}."
            )


def _metrics(sets: Sequence[IngestedSet], validation: dict[str, Any]) -> dict[str, float]:
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


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


STEP = Step(
    name="ingest",
    run=run,
    params=Params,
    inputs=inputs_of,
    outputs=outputs_of,
    libraries=("datasets", "great_expectations", "numpy", "pandas", "pillow", "pyarrow", "scikit-learn"),
)
