"""The command line of an audit: a file of one's own is looked at before Prefect is imported."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from cartograph.errors import CartographError, InputError
from flows.engine.runners import check_runner, workers_of
from tasks.commands.given_files import asked_features, listed_names, text_columns
from tasks.commands.own_file import take_profile, workspace_for
from tasks.pipelines import open_workspace
from tasks.presentation import console

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def main(
    workspace: Annotated[
        str,
        typer.Option("--workspace", "-w", help="Folder of the audit; the project's root by default, with --data one named after the file."),
    ] = "",
    data: Annotated[str, typer.Option(help="Your own file (CSV, JSONL, Parquet, …); a workspace is made for it, or reused.")] = "",
    text: Annotated[list[str], typer.Option(help="With --data: the text column. Give it twice for pairs.")] = ["text"],  # noqa: B006
    text_pair: Annotated[str, typer.Option(help="With --data: the second text column, for pairs, as a second --text.")] = "",
    option: Annotated[list[str], typer.Option(help="With --data: an option column of multiple choice. Repeat for each option.")] = [],  # noqa: B006
    image: Annotated[
        str, typer.Option(help="With --data: the image column, instead of a text column; `image` for a folder of images.")
    ] = "",
    features: Annotated[
        bool,
        typer.Option(
            "--features", help="With --data: the file is a table of features; all other columns are read (numbers, categories, dates)."
        ),
    ] = False,
    feature: Annotated[
        list[str], typer.Option(help="With --data: columns of a table of features: COL,COL. Repeatable; other columns are ignored.")
    ] = [],  # noqa: B006
    label: Annotated[str, typer.Option(help="With --data: the label column.")] = "label",
    labels: Annotated[
        list[str],
        typer.Option(
            help="With --data: for rows with several labels, the column that lists them, or columns of 0 and 1: COL,COL. Repeatable."
        ),
    ] = [],  # noqa: B006
    uid: Annotated[str, typer.Option(help="With --data: the column that identifies a row; decisions about it outlive its text.")] = "",
    linked: Annotated[
        str,
        typer.Option(
            help="With --data: a column whose equal values link rows (a patient, a speaker, a document): they are held out together."
        ),
    ] = "",
    labelled_by: Annotated[
        str, typer.Option(help="With --data: a column that says who gave the label; labels of somebody often wrong are doubted more.")
    ] = "",
    pretrained: Annotated[
        str, typer.Option(help="With --data: folder or hub id of a frozen encoder, which finds far more wrong labels than words alone.")
    ] = "",
    profile: Annotated[
        str,
        typer.Option(
            help="How much is done: quick (the map and the suspects), standard (also what cleaning is worth), or full (AFLite, selections)."
        ),
    ] = "",
    force: Annotated[list[str] | None, typer.Option("--force", help="Run this step even if it is up to date. Repeatable.")] = None,
    runner: Annotated[str, typer.Option("--runner", help="Where steps run: local, or dask.")] = "local",
    address: Annotated[
        str | None, typer.Option("--address", help="Scheduler of a running Dask cluster; a local one is started by default.")
    ] = None,
    workers: Annotated[
        str,
        typer.Option(
            "--workers",
            help="Trainings at once, in local processes or a local cluster's workers; auto: one per GPU or core where that pays.",
        ),
    ] = "auto",
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show Prefect's own log lines.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Audit a labelled dataset: all steps, run by Prefect."""
    try:
        # Before Prefect is imported and its server started, which takes a while.
        check_runner(runner, address)
        number = workers_of(workers)
        if data:
            columns = asked_features(features, feature)
            if image and (text_pair or text != ["text"]):
                raise InputError("--image is instead of a text column; leave --text and --text-pair out.")
            workspace = workspace_for(
                data,
                text=text_columns(text, text_pair),
                options=option,
                image=image,
                features=columns,
                label=label,
                labels=[name for given in labels for name in listed_names(given)],
                uid=uid,
                linked=linked,
                labelled_by=labelled_by,
                pretrained=pretrained,
                workspace=workspace,
                profile=profile,
            )
        else:
            of_file = {"--text-pair": text_pair, "--option": option, "--image": image, "--features": features, "--feature": feature}
            of_file |= {"--labels": labels, "--uid": uid, "--linked": linked, "--labelled-by": labelled_by}
            of_file |= {"--pretrained": pretrained, "--text": text != ["text"], "--label": label != "label"}
            if given := [name for name, value in of_file.items() if value]:
                raise InputError(f"{given[0]} describes a file; name it with --data, or edit params.yaml.")
            if profile:
                take_profile(open_workspace(workspace or "."), profile)
    except CartographError as error:
        console.complain(str(error))
        raise typer.Exit(error.exit_code) from error
    from flows.engine.command_line import conduct

    # By its name, since this is that module's command line.
    conduct(
        import_module("flows.audit").audit, open_workspace, workspace or ".", force, runner, number, address, verbose=verbose, debug=debug
    )
