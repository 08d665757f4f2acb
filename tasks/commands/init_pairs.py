"""The command `init-pairs`: makes a workspace that collects labels for one's own pairs, once the files could be read."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cartograph.config import load_settings
from cartograph.errors import InputError
from tasks.collection.parameters import MATCHER
from tasks.commands.dvc_yaml import write
from tasks.commands.given_files import Entry, by_position, entries_of, on_disk, stored, told_encoding
from tasks.commands.new_workspace import made_whole, new_folder
from tasks.commands.params_yaml import render_sections
from tasks.commands.understood import say_what_is_set_aside
from tasks.engine.workspace import project_root
from tasks.pipelines import COLLECTION_SECTIONS, open_workspace
from tasks.presentation.console import say

if TYPE_CHECKING:
    from cartograph.pairs.stated_pairs import BuiltTask
    from cartograph.pairs.task import Task
    from tasks.collection.pairs import Pairs

PRESETS: dict[str, dict[str, Any]] = {
    "": {},
    "positives": {"label": None},
    "qqp": {
        "left": "question1",
        "right": "question2",
        "label": "is_duplicate",
        "left_id": "qid1",
        "right_id": "qid2",
        "contradictions": "drop",
    },
    "wikiqa": {"symmetric": False, "left": "Question", "right": "Sentence", "label": "Label", "prefix": "DocumentTitle"},
    "entities": {"symmetric": False, "left_id": "ltable_id", "right_id": "rtable_id"},
    "records": {"symmetric": False, "left_id": "left_id", "right_id": "right_id"},
    "one-table": {"left_id": "left_id", "right_id": "right_id"},
}
"""Name -> keys of the section ``pairs``: a file with two columns of positives, Quora Question Pairs, WikiQA, entity matching, and the
sheet of ``first-pairs`` about two tables and about one."""

RECIPES: dict[str, dict[str, Any]] = {
    "matcher": {"model": MATCHER, "epochs": 6, "neighbours": (40, 40)},
    "paper": {"model": "cosine-bert", "epochs": 2, "neighbours": (1_000, 100)},
}
"""Name -> model, passes over the labels, and candidates per utterance: of one set of texts, and of two sides."""

_ROUNDS, _GROWTH, _LARGEST = 4, 1.5, 2048
_BATCH = 60
# What people are asked at a time: about twenty minutes.


def init_pairs(
    workspace: Annotated[str, typer.Argument(help="Folder to make, such as workspaces/duplicates.")],
    train: Annotated[list[str], typer.Option(help="File of stated pairs; splits are drawn if no other file is given. Repeatable.")],
    dev: Annotated[list[str], typer.Option(help="File of the dev split's pairs. Repeatable.")] = [],  # noqa: B006
    test: Annotated[list[str], typer.Option(help="File of the test split's pairs. Repeatable.")] = [],  # noqa: B006
    preset: Annotated[str, typer.Option(help="Columns and files as in: positives, qqp, wikiqa, entities, records or one-table.")] = "",
    left: Annotated[str, typer.Option(help="Column of the left utterance.")] = "",
    right: Annotated[str, typer.Option(help="Column of the right utterance.")] = "",
    label: Annotated[str, typer.Option(help="Column of the label, 1 or 0.")] = "",
    left_table: Annotated[str, typer.Option(help="Table of entities that the left ids name; all its other columns are its text.")] = "",
    right_table: Annotated[str, typer.Option(help="Table of entities that the right ids name.")] = "",
    id: Annotated[str, typer.Option("--id", help="Column of the tables of entities that names each.")] = "id",
    format: Annotated[str, typer.Option(help="csv, tsv, jsonl or parquet; guessed by default.")] = "",
    columns: Annotated[
        str, typer.Option(help="Columns of the files of pairs by position, where they have no header: qid1,qid2,,is_duplicate.")
    ] = "",
    encoding: Annotated[str, typer.Option(help="Encoding of text files; detected by default.")] = "",
    model: Annotated[str, typer.Option(help="matcher, cosine-bow, cosine-frozen or cosine-bert.")] = "",
    pretrained: Annotated[str, typer.Option(help="Folder or hub id of the encoder, for cosine-frozen, cosine-bert and matcher.")] = "",
    recipe: Annotated[str, typer.Option(help="matcher, or paper: CosineBERT as Mussmann, Jia & Liang 2020 train it.")] = "matcher",
    oracle: Annotated[str, typer.Option(help="Who answers: imputed (the stated labels), or people.")] = "imputed",
    force: Annotated[bool, typer.Option("--force", help="Replace the params.yaml of an existing workspace.")] = False,
) -> None:
    """Make a workspace that collects labels for your own pairs, and print how they were understood."""
    folder = new_folder(workspace, force=force)
    if preset not in PRESETS:
        raise InputError(f"--preset {preset}: there is no such preset; there are {', '.join(name for name in PRESETS if name)}.")
    # The sheet of `first-pairs` is a CSV file of its own, whatever the tables are.
    read_as = {} if preset in ("records", "one-table") else {"format": format, "encoding": encoding}
    pairs: dict[str, Any] = {"source": "files", **PRESETS[preset]}
    pairs |= {split: _files(given, read_as.get("encoding", "")) for split, given in (("train", train), ("dev", dev), ("test", test))}
    named = {"left": left, "right": right, "label": label, "columns": by_position(columns), **read_as}
    pairs |= {key: value for key, value in named.items() if value}
    pairs |= {
        f"{side}_table": _table_entry(path, id, format or None, encoding or None)
        for side, path in (("left", left_table), ("right", right_table))
        if path
    }
    encode: dict[str, Any] = {"pretrained": stored(pretrained) if Path(pretrained).exists() and pretrained else pretrained or None}
    if recipe not in RECIPES:
        raise InputError(f"--recipe {recipe}: there is no such recipe; there are {', '.join(RECIPES)}.")
    encode["model"] = model or RECIPES[recipe]["model"]
    collect: dict[str, Any] = {"rounds": _ROUNDS, "growth": _GROWTH, "oracle": oracle, "epochs": RECIPES[recipe]["epochs"]}
    if encode["model"] == MATCHER:
        collect["seed_set"] = "spread"
    if oracle == "people":
        collect |= {"methods": ["uncertainty"], "growth": 1.0}
    given = {"pairs": pairs, "encode": encode, "collect": collect}
    params, built, read = _read_task(folder, given)
    task = built.task
    first = _first_round(task)
    collect["first_round"] = max(2, min(_BATCH, task.space("train").size // (2 * _ROUNDS))) if oracle == "people" else first
    space = task.space("train")
    neighbours = RECIPES[recipe]["neighbours"][0 if task.symmetric else 1]
    encode["neighbours"] = max(1, min(neighbours, len(space.right) - space.symmetric))
    with made_whole(folder):
        (folder / "params.yaml").write_text(_params_text(given), encoding="utf-8")
        write(open_workspace(folder))
    say_what_is_set_aside(built.quarantine, read, params.quarantine_limit, "collection")
    _report(folder, task, collect["first_round"], collect["growth"], people=oracle == "people")


def _params_text(given: Mapping[str, Mapping[str, Any]]) -> str:
    return render_sections("collection", COLLECTION_SECTIONS, given)


def _files(given: list[str], encoding: str) -> list[Entry]:
    """Return the entries of files of pairs.

    Raises:
        InputError: one is a URL, or none fits a pattern.
    """
    for path in given:
        _require_on_disk(path)
    return entries_of(given, "", encoding)


def _require_on_disk(path: str) -> None:
    from cartograph.read.remote import is_remote, shown

    if is_remote(path):
        raise InputError(f"{shown(path)} is a URL; a collection reads files on disk: fetch it first, and name the file.")


def _table_entry(path: str, id: str, format: str | None, encoding: str | None) -> dict[str, Any]:
    from cartograph.read.formats import read
    from cartograph.read.source import Source

    _require_on_disk(path)
    encoding = encoding or told_encoding(path, format)
    columns = read(Source(str(on_disk(path)), Path(path).name, format, encoding)).table.column_names
    if id not in columns or len(columns) < 2:
        raise InputError(
            f"{path} needs a column `{id}` that names each record (--id names another), and a column of text; its columns are "
            f"{', '.join(columns)}."
        )
    read_as = {"format": format, "encoding": encoding}
    known = {key: value for key, value in read_as.items() if value}
    return {"path": stored(path), "id": id, "text": [column for column in columns if column != id], **known}


def _read_task(folder: Path, given: Mapping[str, Mapping[str, Any]]) -> tuple[Pairs, BuiltTask, int]:
    """Return the section `pairs`, the task that its files make, and how many rows they have.

    Raises:
        InputError: they make none, or a parameter is wrong.
    """
    from tasks.collection.pairs import Pairs, inputs_of, read_pairs, require_positives

    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "params.yaml"
        path.write_text(_params_text(given), encoding="utf-8")
        try:
            settings = load_settings(path, COLLECTION_SECTIONS)
        except InputError as error:
            raise InputError(str(error).replace(str(path), str(folder / "params.yaml"))) from error
    params = settings.of(Pairs)
    files = {name: (project_root() / name.removeprefix("file:")).absolute() for name in inputs_of(settings)}
    built, read = read_pairs(params, files)
    require_positives(built.task, given=bool(params.test))
    return params, built, read


def _first_round(task: Task) -> int:
    """Return a first round with which a whole collection asks for about as many labels as were stated, 2,048 at most."""
    stated = len(task.stated("train")[0])
    weight = sum(_GROWTH**place for place in range(_ROUNDS))
    most = task.space("train").size // (2 * weight)
    return int(max(2, min(stated / weight, most, _LARGEST)))


def _report(folder: Path, task: Task, first: int, growth: float, *, people: bool) -> None:
    from cartograph.pairs.answers import time_to_answer
    from cartograph.pairs.splits import SPLITS

    sides = f"{len(task.left):,} utterances" if task.symmetric else f"{len(task.left):,} left and {len(task.right):,} right utterances"
    say(f"{sides}, {len(task.stated_label):,} stated pairs, {int(task.stated_label.sum()):,} of them positive")
    for split in SPLITS:
        pairs, positives = task.space(split).size, len(task.positives(split))
        say(f"{split:<6} {pairs:>16,} pairs, {positives:,} positive{f': 1 in {pairs // positives:,}' if positives else ''}")
    total = sum(int(first * growth**place) for place in range(_ROUNDS))
    cost = f", {first:,} at a time: about {time_to_answer(first)} of a person's time each" if people else ""
    say(f"{_ROUNDS} rounds ask for {total:,} labels{cost}; change that in {(folder / 'params.yaml').relative_to(project_root())}")
    say("")
    say(f"Next: python -m flows.collect --workspace {shlex.quote(folder.relative_to(project_root()).as_posix())}")
