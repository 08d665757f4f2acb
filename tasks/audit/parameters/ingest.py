"""The section `ingest` of params.yaml."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from cartograph.config import Section
from cartograph.wording import cut
from tasks.audit.parameters.files import FileEntry, Files, listed
from tasks.audit.parameters.values import all_or_names, none_is_empty

TABLES = {"breast-cancer": 500, "wine": 138, "digits-table": 1500}
"""Name of a built-in table of features -> its train rows."""

BUILT_IN = {"planted-nli": ("validation", "challenge"), "digits": ("validation", "altered"), **dict.fromkeys(TABLES, ("validation",))}
"""Name of a built-in data set -> its evaluation sets."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_TAKEN = ("train", "quarantine")
_DIGITS: dict[str, Any] = {
    "rows": 1200,
    "text": (),
    "image": "image",
    "evaluation": {"validation": "id", "altered": "ood"},
    "groups": ("shifted", "rotated", "noisy", "inverted"),
}
_TABLE: dict[str, Any] = {"text": (), "features": "all", "evaluation": {"validation": "id"}}


def _domain(value: Any) -> Any:
    if isinstance(value, list):
        return {"files": value}
    return {"domain": value} if isinstance(value, str) else value


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) else value


Domain = Literal["train", "id", "ood"]
"""Of a set: the train set, or in or out of its distribution."""


Text = Annotated[str, BeforeValidator(_text)]
Names = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(listed)]


def require_other_columns(key: str, own: Sequence[str], *read: Sequence[str]) -> None:
    """Check that the column that links rows, or says who labelled them, is not also read as something else.

    Raises:
        ValueError: it is.
    """
    named = {part for names in read if names != "all" for name in names for part in (name, *name.split("+"))}
    if twice := sorted(named & set(own)):
        raise ValueError(
            f"`{key}` names column `{twice[0]}`, which is also a text, an option, an image, a feature or the label; name a column "
            "that is not learnt from"
        )


class EvaluationSet(Section):
    """An evaluation set: where it is, and whether it is in or out of the train set's distribution."""

    files: Files = ()
    domain: Literal["id", "ood"] = "id"


Evaluation = Annotated[EvaluationSet, BeforeValidator(_domain)]
"""An evaluation set; for the built-in corpus its domain alone."""


class Sources(Section):
    """What every section ``ingest`` says: where the rows of which sets come from."""

    @property
    def is_built_in(self) -> bool:
        """Whether the audited data comes with the project, so that the errors planted in it are known."""
        return False

    def sets(self) -> dict[str, tuple[Domain, tuple[FileEntry, ...]]]:
        """Return set name -> (domain, files): ``train`` first, then the evaluation sets by name; a section without files has no set."""
        return {}


class Ingest(Sources):
    """The section ``ingest`` of params.yaml."""

    source: Literal["planted-nli", "digits", "breast-cancer", "wine", "digits-table", "files"] = Field(
        "planted-nli",
        description="files: those named under `train` and `evaluation`; planted-nli: the built-in generated corpus; digits: 1,797 images "
        "of written digits bundled with scikit-learn; breast-cancer, wine and digits-table: bundled tables of features",
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
        description="text columns: one for single texts and multiple choice, two for pairs; a nested list gives alternative names",
    )
    image: Names = Field((), description="image column, for a data set of images, which has no `text`; null: none")
    features: Annotated[Literal["all"] | Names, BeforeValidator(all_or_names)] = Field(
        (), description="for a table of features, which has no `text`: all (every other column whose values vary), or their names"
    )
    categories: Names = Field((), description="features whose numbers are codes, not quantities")
    image_side: int = Field(256, ge=8, le=1024, description="pixels; images are scaled down where their longer side has more")
    options: Annotated[tuple[Names, ...], BeforeValidator(listed)] = Field((), description="option columns of multiple choice; else empty")
    label: Names = Field(
        ("label",),
        description="label column, or alternative names; a+b+c: the majority of several columns; for multiple choice the option's number, "
        "index, letter, name or text",
    )
    uid: Names = Field((), description="column that identifies a row; null, or an evaluation set without it: made from the content")
    annotators: Names = Field((), description="column with the annotators' labels; null: none")
    linked: Names = Field(
        (),
        description="column whose equal values link rows, such as a patient, a speaker or a document: linked rows are held out together; "
        "null: none",
    )
    labelled_by: Names = Field(
        (),
        description="column that says who gave a row's label: labels of somebody who is more often wrong are doubted more; null: none",
    )
    groups: Names = Field(
        (), description="columns that group an evaluation set: rows whose cell is not blank form a group that is also scored separately"
    )
    format: str | None = Field(
        None,
        description="csv, tsv, jsonl, parquet, excel, shards, label-first, lines, huggingface, hub, text-folder, image-folder or arrays; "
        "null: guessed from name and content",
    )
    encoding: str | None = Field(None, description="of text files; null: utf-8")
    columns: tuple[str, ...] = Field((), description="column names in order, for files without a header line; an empty name skips a column")
    label_separator: str | None = Field(
        None, min_length=1, description="a label ends before it (`:` makes DESC of DESC:manner); null: labels are used as they are"
    )
    label_names: dict[Text, Text] = Field(
        default_factory=dict, description="given label -> class name, where sets name the same classes differently"
    )
    labels: tuple[Text, ...] = Field(
        (), description="class names in the order of their ids; empty: those in train, in numeric or else alphabetical order"
    )
    unlabelled: tuple[Text, ...] = Field(("-",), description="class names that mean that a row has no label: it is set aside")
    quarantine_limit: float = Field(
        0.05, ge=0, le=1, description="largest share of a set's rows that may be unusable before the audit fails"
    )
    min_class_count: int = Field(10, ge=1, description="a class of the train set with fewer rows raises a warning")
    max_megabytes: float = Field(2000, gt=0, description="largest file, decompressed; not applied to pictures")
    max_characters: int = Field(10_000, ge=1, description="characters; longer texts raise a warning")

    @model_validator(mode="before")
    @classmethod
    def _no_built_in_sets_for_files(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("source") == "files":
            return {"evaluation": {}, **({"text": ()} if data.get("image") or data.get("features") else {}), **data}
        source = data.get("source") if isinstance(data, dict) else None
        if source in TABLES:
            return {**_TABLE, "rows": TABLES[source], **data}
        return {**_DIGITS, **data} if source == "digits" else data

    _none_is_empty = field_validator("uid", "annotators", "linked", "labelled_by", "image", "categories", mode="before")(none_is_empty)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for name in self.evaluation:
            if not _NAME.fullmatch(name) or name in _TAKEN:
                raise ValueError(
                    f"`evaluation` has a set named {cut(name, 60)!r}; a name has at most 100 letters, digits, - and _, and is not train or "
                    "quarantine"
                )
        if self.source == "files":
            if not self.train:
                raise ValueError("`source: files` needs `train: [PATH, …]`")
            empty = [name for name, entry in self.evaluation.items() if not entry.files]
            if empty:
                raise ValueError(f"evaluation set `{empty[0]}` needs `{{files: [PATH, …], domain: id}}`")
        else:
            self._fits_built_in(BUILT_IN[self.source])
        if sum(map(bool, (self.image, self.features, self.text or self.options))) > 1:
            raise ValueError("name an `image` column, `features`, or `text` and `options`, not two of them; set `text: []` for the others")
        if self.categories and not self.features:
            raise ValueError("`categories` are some of the `features`; name those, or set `features: all`")
        if not (self.image or self.features) and (
            not self.text or len(self.text) > 2 or len(self.options) == 1 or (self.options and len(self.text) > 1)
        ):
            raise ValueError(
                "name one `text` column for single texts, two for pairs, or one and at least two `options` for multiple choice, "
                f"not {len(self.text)} and {len(self.options)}"
            )
        fields = [names[0] for names in (self.image, *self.text, *self.options) if names]
        if len(set(fields)) < len(fields) or set(fields) & set(self.label):
            raise ValueError("`image`, `text`, `options` and `label` must name different columns")
        for key, own in (("linked", self.linked), ("labelled_by", self.labelled_by)):
            require_other_columns(key, own, self.image, *self.text, *self.options, self.label, self.features)
        if len(set(self.labels)) < len(self.labels) or len(self.labels) == 1:
            raise ValueError("`labels` must name two or more classes, each once; leave it out to take those of the train set")
        return self

    def _fits_built_in(self, sets: tuple[str, ...]) -> None:
        if self.train or any(entry.files for entry in self.evaluation.values()) or not set(self.evaluation) <= set(sets):
            raise ValueError(f"`source: {self.source}` has the sets train, {', '.join(sets)} and takes no files; set `source: files`")
        most = {"digits": _DIGITS["rows"], **TABLES}.get(self.source, self.rows)
        if self.rows > most:
            raise ValueError(f"`source: {self.source}` has {most:,} train rows, not {self.rows:,}; lower `rows`")
        if self.source in TABLES and not self.features:
            raise ValueError(f"`source: {self.source}` is a table of features; leave `features` and `text` out")
        if self.source == "digits" and self.image != ("image",):
            raise ValueError("`source: digits` has the image column `image`; leave `image` and `text` out")

    @property
    def is_built_in(self) -> bool:
        """Whether the audited data comes with the project, so that the errors planted in it are known."""
        return self.source != "files"

    @property
    def usual(self) -> FileEntry:
        """How files are read that do not say it themselves."""
        return FileEntry(path="-", format=self.format, encoding=self.encoding, columns=self.columns)

    def sets(self) -> dict[str, tuple[Domain, tuple[FileEntry, ...]]]:
        """Return set name -> (domain, files): ``train`` first, then the evaluation sets by name."""
        named: dict[str, tuple[Domain, tuple[FileEntry, ...]]] = {"train": ("train", self.train)}
        for name, entry in sorted(self.evaluation.items()):
            named[name] = (entry.domain, entry.files)
        return named
