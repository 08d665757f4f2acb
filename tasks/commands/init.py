"""The command `init`: makes a workspace for one's own data, with params.yaml and dvc.yaml, once the files could be read."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cartograph.config import Settings, load_settings
from cartograph.errors import InputError
from cartograph.wording import cut
from tasks.audit.parameters.files import FileEntry
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.sources import FETCHED, files_of, sources_of
from tasks.commands.dvc_yaml import write
from tasks.commands.params_yaml import encoder, recipe, render
from tasks.commands.presets import converted, preset_keys
from tasks.engine.workspace import Workspace, project_root
from tasks.pipelines import STEPS, open_workspace
from tasks.presentation.console import say

if TYPE_CHECKING:
    from cartograph.ingest.canonical import IngestedSet


def init(
    workspace: Annotated[str, typer.Argument(help="Folder to make, such as workspaces/reviews.")],
    train: Annotated[
        list[str], typer.Option(help="File, folder[:SPLIT] or hub:NAME of the train set; or name=FILE,name=FILE. Repeatable.")
    ],
    text: Annotated[str, typer.Option(help="Text column, or several names that it may have: COL,ALT.")] = "text",
    evaluation: Annotated[list[str], typer.Option("--eval", help="NAME=FILE[:ood] of an evaluation set. Repeatable.")] = [],  # noqa: B006
    image: Annotated[str, typer.Option(help="Image column; `image` for a folder of images. There is no text column then.")] = "",
    text_pair: Annotated[str, typer.Option(help="Second text column, for pairs.")] = "",
    option: Annotated[list[str], typer.Option(help="Option column of multiple choice. Repeat for each option.")] = [],  # noqa: B006
    label: Annotated[str, typer.Option(help="Label column.")] = "label",
    uid: Annotated[str, typer.Option(help="Column that identifies a row.")] = "",
    annotators: Annotated[str, typer.Option(help="Column with the annotators' labels.")] = "",
    format: Annotated[
        str,
        typer.Option(
            help="csv, tsv, jsonl, parquet, label-first, lines, huggingface, hub, image-folder or arrays; guessed where left out."
        ),
    ] = "",
    encoding: Annotated[str, typer.Option(help="Encoding of text files; UTF-8 where left out.")] = "",
    label_separator: Annotated[str, typer.Option(help="Labels end before it: `:` for COARSE:fine.")] = "",
    model: Annotated[
        str, typer.Option(help="bow, lstm, esim, tiny, probe or transformer; for images cnn or vision. bow or cnn where left out.")
    ] = "",
    pretrained: Annotated[str, typer.Option(help="Folder or hub id of the model, for transformer, probe and vision.")] = "",
    preset: Annotated[
        str, typer.Option(help="snli, multinli, qnli or winogrande: the columns, classes and conversions of its files.")
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace the params.yaml of an existing workspace.")] = False,
) -> None:
    """Make a workspace for your own data, and say what was understood of it."""
    folder = new_folder(workspace, force=force)
    ingest = {
        "source": "files",
        "train": [_entry(path, preset) for path in train],
        "evaluation": _evaluation_sets(evaluation, preset),
        "text": [] if image else [_names(text), *([_names(text_pair)] if text_pair else [])],
        "image": _names(image) if image else None,
        "options": [_names(name) for name in option],
        "label": _names(label),
        "uid": _names(uid) if uid else None,
        "annotators": _names(annotators) if annotators else None,
        "format": format or None,
        "encoding": encoding or None,
        "label_separator": label_separator or None,
    }
    if preset:
        ingest |= _keys_of_preset(preset, text=text, label=label, uid=uid, annotators=annotators, options=option)
        ingest |= dict.fromkeys(("uid", "annotators")) | _columns_in_every_file(ingest)
    pretrained = stored(pretrained) if pretrained and _on_disk(pretrained).exists() else pretrained
    model = model or ("cnn" if image else "bow")
    content = render(ingest, recipe(model, pretrained), encoder(model, pretrained), {"source": "pixels"} if image else None)
    params = _validate(content, folder)
    with tempfile.TemporaryDirectory() as fetched:
        sets = _read_sets(params, Path(fetched))
        with made_whole(folder):
            (folder / "params.yaml").write_text(content, encoding="utf-8")
            write(open_workspace(folder))
            _keep_fetched(Path(fetched), folder)
    _report(folder, params, sets)


def new_folder(given: str, *, force: bool) -> Path:
    """Return the folder of a workspace that is to be made.

    Raises:
        InputError: it is outside the project, a file, not empty, or a workspace already.
    """
    path = Path(given).expanduser()
    folder = (path if path.is_absolute() else project_root() / path).resolve()
    if not folder.is_relative_to(project_root()) or folder == project_root():
        raise InputError(
            f"workspace {folder} is not inside the project {project_root()}, whose DVC repository it belongs to; make it under workspaces/."
        )
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder to make, such as workspaces/{folder.stem}.")
    if (folder / "params.yaml").exists():
        if not force:
            raise InputError(f"{folder} is a workspace already; edit its params.yaml, or replace that with --force.")
    elif folder.exists() and any(folder.iterdir()) and not folder.is_relative_to(project_root() / "workspaces"):
        raise InputError(f"{folder} is not empty and not a workspace; name a new folder, such as workspaces/{folder.name}.")
    return folder


def _names(given: str) -> str | list[str]:
    names = [name.strip() for name in given.split(",") if name.strip()]
    return names[0] if len(names) == 1 else names


def _keys_of_preset(preset: str, **given: str | list[str]) -> dict[str, Any]:
    """Return the keys that a preset sets, without the columns that the command line names itself."""
    usual: dict[str, Any] = {"text": "text", "label": "label", "uid": "", "annotators": "", "options": []}
    return {key: value for key, value in preset_keys(preset).items() if given.get(key, usual.get(key)) == usual.get(key)}


def _columns_in_every_file(ingest: dict[str, Any]) -> dict[str, Any]:
    """Return the names for uid and annotators that a preset offers and every file of the train set has: not every copy has all columns."""
    from cartograph.read.formats import first_columns

    entries = [FileEntry(**entry) if isinstance(entry, dict) else FileEntry(path=entry) for entry in ingest["train"]]
    usual = FileEntry(path="-", format=ingest["format"], encoding=ingest["encoding"])
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


def _entry(given: str, preset: str = "") -> str | dict[str, str]:
    """Return an entry of ``train`` or ``files`` with its paths from the project's root, or absolute where they are outside."""
    from cartograph.read.hub import PREFIX
    from cartograph.read.lines import fields_of
    from cartograph.read.remote import is_remote

    if given.startswith(PREFIX) or is_remote(given):
        return given
    fields = fields_of(given)
    if fields:
        return ",".join(f"{name}={path if is_remote(path) else stored(path)}" for name, path in fields.items())
    base, _, split = given.rpartition(":")
    if base and not _on_disk(given).exists() and _on_disk(base).is_dir():
        return {"path": stored(base), "split": split}
    entry: str | dict[str, str] = converted(preset, stored(given), _on_disk(given))
    return entry


def _on_disk(given: str) -> Path:
    path = Path(given).expanduser()
    return path.resolve() if path.exists() or path.is_absolute() else (project_root() / path).resolve()


def stored(given: str) -> str:
    """Return a path as params.yaml has it: from the project's root, or absolute where it is outside."""
    path = _on_disk(given)
    return path.relative_to(project_root()).as_posix() if path.is_relative_to(project_root()) else path.as_posix()


def _evaluation_sets(given: list[str], preset: str = "") -> dict[str, dict[str, Any]]:
    sets: dict[str, dict[str, Any]] = {}
    for item in given:
        name, equals, path = item.partition("=")
        if not equals or not path:
            raise InputError(f"--eval {item}: an evaluation set is written NAME=FILE, or NAME=FILE:ood where it is out of distribution.")
        domain = "ood" if path.endswith(":ood") else "id"
        entry = _entry(path.removesuffix(":ood").removesuffix(":id"), preset)
        known = sets.setdefault(name, {"files": [], "domain": domain})
        if known["domain"] != domain:
            raise InputError(f"--eval {item}: set `{name}` is given as {known['domain']} and as {domain}; a set is one of them.")
        known["files"].append(entry)
    return sets


def _validate(content: str, folder: Path) -> Ingest:
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "params.yaml"
        path.write_text(content, encoding="utf-8")
        try:
            return load_settings(path, {step.name: step.params for step in STEPS}).of(Ingest)
        except InputError as error:
            raise InputError(str(error).replace(str(path), str(folder / "params.yaml"))) from error


def _read_sets(params: Ingest, fetched: Path) -> list[IngestedSet]:
    """Return the sets; what stands at URLs is fetched into a folder first."""
    from cartograph.ingest.canonical import ingest
    from tasks.audit import fetch
    from tasks.audit.ingest import columns_of, inputs_of, labelling_of, read_sets

    space = Workspace(project_root(), Settings({"ingest": params}))
    entries = fetch.remote_entries(space.settings)
    if entries:
        fetch.fetch_all(entries, fetched, fetch.Fetch().max_megabytes, known=fetched)
    inputs = {name: fetched / name if name.startswith(FETCHED) else space.resolve(name) for name in inputs_of(space.settings)}
    raw_sets, _ = read_sets(params, inputs)
    return ingest(raw_sets, columns_of(params), labelling_of(params))


def _keep_fetched(fetched: Path, folder: Path) -> None:
    """Put the files that were fetched to be read here where the step `fetch` finds them."""
    if (fetched / FETCHED).is_dir():
        shutil.rmtree(folder / FETCHED, ignore_errors=True)
        shutil.copytree(fetched / FETCHED, folder / FETCHED)


@contextmanager
def made_whole(folder: Path) -> Iterator[None]:
    """Make a folder for the block to fill; where the block fails, everything is as it was before."""
    first_new = next((path for path in (*reversed(folder.parents), folder) if not path.exists()), None)
    kept = {name: (folder / name).read_bytes() for name in ("params.yaml", "dvc.yaml") if (folder / name).exists()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException as error:
        for name in ("params.yaml", "dvc.yaml"):
            (folder / name).unlink(missing_ok=True)
        for name, content in kept.items():
            (folder / name).write_bytes(content)
        if first_new is not None:
            shutil.rmtree(first_new, ignore_errors=True)
        if isinstance(error, PermissionError):
            raise InputError(
                f"workspace {folder} cannot be written: {error.strerror}; change the permissions of {folder.parent}."
            ) from error
        raise


def _report(folder: Path, params: Ingest, sets: list[IngestedSet]) -> None:
    from cartograph.ingest.canonical import reasons_phrase

    for item in sets:
        domain = {"train": "", "id": ", in distribution", "ood": ", out of distribution"}[item.info.domain]
        say(f"{item.info.name}: {len(item.examples):,} rows from {', '.join(item.files)}{domain}")
        say(f"  classes  {', '.join(f'{_short(name)} {count:,}' for name, count in item.class_counts.items())}")
        for name in item.info.fields:
            say(f"  {name}  {(_sizes if name in item.info.images else _lengths)(item, name)}")
        if len(item.quarantine):
            share = len(item.quarantine) / item.rows_read
            beyond = (
                f"; the audit stops above {params.quarantine_limit:.1%} (`quarantine_limit`)" if share > params.quarantine_limit else ""
            )
            say(f"  set aside  {len(item.quarantine):,} of {item.rows_read:,} rows ({share:.1%}): {reasons_phrase(item)}{beyond}")
    info = sets[0].info
    say("First rows of train:")
    for row in sets[0].examples.slice(0, 3).to_pylist():
        content = [row["uid"]] if info.images else [row[name] for name in info.fields]
        say(f"  {_short(info.labels[row['label']])}: {' | '.join(map(_short, content))}")
    relative = folder.relative_to(project_root()).as_posix()
    say(f"Made {relative}/params.yaml and {relative}/dvc.yaml. Next, either of:")
    say(f"  python -m flows.audit --workspace {shlex.quote(relative)}")
    say(f"  dvc repro {shlex.quote(f'{relative}/dvc.yaml')}")


def _lengths(item: IngestedSet, name: str) -> str:
    import numpy as np
    import pyarrow.compute as pc

    words = np.asarray(pc.count_substring_regex(item.examples[name], r"\S+"))
    low, middle, high = np.percentile(words, [0, 50, 100])
    return f"{low:,.0f} to {high:,.0f} words, median {middle:,.0f}"


def _sizes(item: IngestedSet, name: str) -> str:
    from cartograph.data.images import sizes_of

    sizes = sizes_of(item.examples[name])
    (low, tall, _), (high, taller, channels) = sizes.min(axis=0), sizes.max(axis=0)
    return f"{low:,} to {high:,} pixels wide, {tall:,} to {taller:,} high, {'colour' if channels > 1 else 'grey'}"


def _short(text: str) -> str:
    line = "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(text.split()))
    return cut(line, 100)
