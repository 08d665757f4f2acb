"""The command `init`: makes a workspace for one's own data, with params.yaml and dvc.yaml, once the files could be read."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from cartograph.config import Settings
from cartograph.errors import InputError
from tasks.audit.parameters.files import FileEntry
from tasks.audit.sources import files_of, sources_of
from tasks.commands import params_yaml
from tasks.commands.given_files import (
    asked_features,
    by_position,
    evaluation_sets,
    files_and_columns,
    listed_names,
    names_in,
    on_disk,
    query_entry,
    stored,
    table_entry,
    text_columns,
)
from tasks.commands.new_workspace import make, new_folder
from tasks.commands.params_yaml import encoder
from tasks.commands.presets import preset_keys, recipe_keys
from tasks.commands.several_labels import make_for_labels, refuse_other_options
from tasks.engine.workspace import Workspace, project_root
from tasks.presentation.console import say


def init(
    workspace: Annotated[str, typer.Argument(help="Folder to make, such as workspaces/reviews.")],
    train: Annotated[
        list[str],
        typer.Option(
            help="File, pattern, folder[:SPLIT], book.xlsx[:SHEET] or hub:NAME of the train set; or name=FILE,name=FILE. Repeatable."
        ),
    ] = [],  # noqa: B006
    text: Annotated[
        list[str],
        typer.Option(help="Text column, or alternative names for it: COL,ALT (\\, for a comma in a name). Give it twice for pairs."),
    ] = ["text"],  # noqa: B006
    evaluation: Annotated[
        list[str], typer.Option("--eval", help="NAME=FILE[:ood] of an evaluation set, NAME=QUERY, or NAME=table:TABLE. Repeatable.")
    ] = [],  # noqa: B006
    database: Annotated[
        str, typer.Option(help="env:NAME: the environment variable with the address of the database that --query asks.")
    ] = "",
    query: Annotated[str, typer.Option(help="SELECT …: the rows of the train set, from the database.")] = "",
    watermark: Annotated[
        str, typer.Option(help="SELECT max(updated_at), count(*) …: a cheap query that says whether the rows have changed.")
    ] = "",
    table: Annotated[
        str,
        typer.Option(
            help="Path or URL of a Delta table, or NAMESPACE.NAME of an Iceberg one, of the train set; TABLE@VERSION for an older one."
        ),
    ] = "",
    catalog: Annotated[
        str,
        typer.Option(help="env:NAME: the environment variable with the address or properties of the Iceberg catalogue that has --table."),
    ] = "",
    follow: Annotated[
        bool, typer.Option("--follow", help="Audits read newer versions of --table; otherwise they keep to the one read now.")
    ] = False,
    image: Annotated[str, typer.Option(help="Image column, instead of a text column; `image` for a folder of images.")] = "",
    features: Annotated[
        bool, typer.Option("--features", help="A table of features: all other columns are read, whether numbers, categories or dates.")
    ] = False,
    feature: Annotated[
        list[str], typer.Option(help="Columns of a table of features: COL,COL. Repeatable; other columns are ignored.")
    ] = [],  # noqa: B006
    category: Annotated[list[str], typer.Option(help="A feature whose numbers are codes, not quantities. Repeatable.")] = [],  # noqa: B006
    text_pair: Annotated[str, typer.Option(help="Second text column, for pairs, as a second --text.")] = "",
    option: Annotated[list[str], typer.Option(help="Option column of multiple choice. Repeat for each option.")] = [],  # noqa: B006
    label: Annotated[str, typer.Option(help="Label column; a+b+c: the majority of several.")] = "label",
    labels: Annotated[
        list[str],
        typer.Option(
            help="For rows with several labels: the column that lists them (or names between | ; or commas), or columns of 0 and 1: "
            "COL,COL. Repeatable."
        ),
    ] = [],  # noqa: B006
    uid: Annotated[str, typer.Option(help="Column that identifies a row.")] = "",
    annotators: Annotated[str, typer.Option(help="Column with the annotators' labels.")] = "",
    linked: Annotated[
        str, typer.Option(help="Column whose equal values link rows (a patient, a speaker, a document): they are held out together.")
    ] = "",
    labelled_by: Annotated[
        str, typer.Option(help="Column that says who gave the label: labels of somebody who is more often wrong are doubted more.")
    ] = "",
    format: Annotated[
        str,
        typer.Option(
            help="csv, tsv, jsonl, parquet, excel, shards, label-first, lines, huggingface, hub, text-folder, image-folder, arrays; "
            "guessed by default."
        ),
    ] = "",
    columns: Annotated[
        str,
        typer.Option(
            help="Columns by position, for files without a header: label,,text (an empty name skips one); for a --table: those to read."
        ),
    ] = "",
    encoding: Annotated[str, typer.Option(help="Encoding of text files; detected by default.")] = "",
    label_names: Annotated[
        str, typer.Option(help="File with names for numeric labels: one name per line, lines of label,name, or JSON.")
    ] = "",
    label_separator: Annotated[str, typer.Option(help="Labels end before it: `:` makes COARSE of COARSE:fine.")] = "",
    model: Annotated[
        str,
        typer.Option(
            help="bow, lstm, esim, tiny, probe or transformer; for images cnn or vision; for tables of features mlp or boosting. "
            "Default: bow, cnn or mlp."
        ),
    ] = "",
    pretrained: Annotated[
        str,
        typer.Option(help="Folder or hub id: the model that transformer and vision start from; otherwise a frozen encoder, for suspects."),
    ] = "",
    preset: Annotated[
        str, typer.Option(help="snli, multinli, qnli or winogrande: the columns, classes and conversions of its files.")
    ] = "",
    recipe: Annotated[
        str, typer.Option(help="paper: epochs, batch size and learning rate of the paper for the preset's task; for a transformer.")
    ] = "",
    profile: Annotated[
        str,
        typer.Option(
            help="quick (the map and the suspects), standard (the usual: also what cleaning is worth), or full (AFLite, selections)."
        ),
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace the params.yaml of an existing workspace.")] = False,
) -> None:
    """Make a workspace for your own data, and print how it was understood."""
    folder = new_folder(workspace, force=force)
    _require_one_source(train, database, query, watermark, table)
    if (catalog or follow) and not table:
        raise InputError("--catalog and --follow are of a --table.")
    table_of = asked_features(features, feature)
    texts = [] if image or table_of else text_columns(text, text_pair)
    ingest = files_and_columns(train, texts, label, preset, encoding) | {
        "evaluation": evaluation_sets(evaluation, preset, encoding, database, catalog, follow),
        "image": names_in(image) if image else None,
        "features": table_of,
        "categories": [name for given in category for name in listed_names(given)],
        "options": [names_in(name) for name in option],
        "uid": names_in(uid) if uid else None,
        "annotators": _annotators(annotators, label),
        "linked": names_in(linked) if linked else None,
        "labelled_by": names_in(labelled_by) if labelled_by else None,
        "format": format or None,
        "columns": [] if table else by_position(columns),
        "label_separator": label_separator or None,
    }
    if query:
        ingest["train"] = [query_entry(query, database, watermark)]
    if table:
        ingest["train"] = [table_entry(table, catalog, by_position(columns), follow=follow)]
    pretrained = stored(pretrained) if pretrained and on_disk(pretrained).exists() else pretrained
    if labels:
        refuse_other_options(
            {"--eval": evaluation, "--label": label != "label", "--label-names": label_names, "--label-separator": label_separator}
            | {"--annotators": annotators, "--labelled-by": labelled_by, "--image": image, "--option": option, "--model": model}
            | {"--recipe": recipe, "--preset": preset, "--profile": profile}
        )
        columns_of_labels = [name for given in labels for name in listed_names(given)]
        make_for_labels(folder, columns_of_labels, ingest, follow=bool(watermark or follow), encoder=pretrained)
        return _say_next(folder)
    if preset:
        ingest |= _keys_of_preset(preset, text=text, label=label, uid=uid, annotators=annotators, options=option)
        ingest |= dict.fromkeys(("uid", "annotators")) | _columns_in_every_file(ingest)
    usual, features_keys = params_yaml.usual_reading(image=bool(image), table=bool(table_of))
    model = model or usual
    train_keys = params_yaml.recipe(model, pretrained) | (recipe_keys(recipe, preset, model) if recipe else {})
    more: dict[str, Mapping[str, object]] = {
        "embed": encoder(model, pretrained),
        "features": features_keys,
    }
    if watermark or follow:
        more["fetch"] = {"follow": True}
    make(folder, ingest, train_keys, profile, more, label_names)
    _say_next(folder)


def _say_next(folder: Path) -> None:
    relative = folder.relative_to(project_root()).as_posix()
    say("Next, either of:")
    say(f"  python -m flows.audit --workspace {shlex.quote(relative)}")
    say(f"  dvc repro {shlex.quote(f'{relative}/dvc.yaml')}")


def _require_one_source(train: list[str], database: str, query: str, watermark: str, table: str) -> None:
    if sum(map(bool, (train, query, table))) != 1:
        raise InputError("name the train set: its files with --train, --database env:NAME and --query 'SELECT …', or a lake's --table.")
    if query and not database:
        raise InputError("--query is asked of a database: add --database env:NAME, where NAME is the variable that holds its address.")
    if watermark and not query:
        raise InputError("--watermark is of a --query.")


def _annotators(given: str, label: str) -> str | list[str] | None:
    """Return the annotators' column: that given, or the columns whose majority is the label."""
    joined = names_in(label)
    return names_in(given) if given else joined if isinstance(joined, str) and "+" in joined else None


def _keys_of_preset(preset: str, **given: str | list[str]) -> dict[str, Any]:
    """Return the keys that a preset sets, without the columns that the command line names itself."""
    usual: dict[str, Any] = {"text": ["text"], "label": "label", "uid": "", "annotators": "", "options": []}
    return {key: value for key, value in preset_keys(preset).items() if given.get(key, usual.get(key)) == usual.get(key)}


def _columns_in_every_file(ingest: dict[str, Any]) -> dict[str, Any]:
    """Return the names for uid and annotators that a preset offers and every file of the train set has: not every copy has all columns."""
    from cartograph.read.formats import first_columns

    entries = [FileEntry(**entry) if isinstance(entry, dict) else FileEntry(path=entry) for entry in ingest["train"]]
    usual = FileEntry(path="-", format=ingest["format"], encoding=ingest["encoding"], columns=ingest["columns"])
    space = Workspace(project_root(), Settings())
    inputs = {name: space.resolve(name) for name in files_of(entries)}
    columns = [first_columns(source) for source in sources_of(entries, usual, inputs)]
    found = {}
    for key in ("uid", "annotators"):
        names = ingest.get(key) or []
        names = [names] if isinstance(names, str) else names
        kept = [name for name in names if all(name in own or own.issuperset(name.split("+")) for own in columns)]
        if kept:
            found[key] = kept
    return found
