"""The comparison of two audits as a flow: `python -m flows.compare A B`, each a workspace, or `WORKSPACE@REV`.

REV is another commit, or a version of the Delta or Iceberg table that the audit read, or how the SHA-256 of its query's rows begins.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from prefect import flow
from prefect.artifacts import create_markdown_artifact

from cartograph.errors import CartographError, InputError
from flows.engine.command_line import run_flow
from flows.engine.states import flow_state
from tasks.audit.compare import DATA, read_record
from tasks.audit.comparison_markdown import comparison_markdown
from tasks.audit.publish import mark_left
from tasks.commands.input_versions import NOW, audits_by_version, is_revision, version_named
from tasks.engine.workspace import project_root
from tasks.pipelines import open_workspace
from tasks.presentation import console

if TYPE_CHECKING:
    from cartograph.audits.record import Record

_SEED = 13
_LAST = 300
_ERROR = "ERROR: "

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@flow(name="compare", flow_run_name="compare {before} {now}")
def compare(before: str, now: str) -> Any:
    """Compare two audits, and leave what changed as an artifact.

    Args:
        before: the earlier one: a workspace's folder, with ``@REV`` behind it for the audit of another git revision, or of that version
            of its table or query.
        now: the later one, likewise.
    """
    import numpy as np

    from cartograph.audits.changes import audit_changes

    try:
        earlier, later = record_of(before), record_of(now)
        changes = audit_changes(earlier, later, np.random.default_rng(_SEED))
        text = comparison_markdown(before, now, earlier, later, changes)
    except CartographError as error:
        return flow_state(error)
    create_markdown_artifact(text, key="comparison", description=f"{before} and {now}")
    return text


def record_of(name: str) -> Record:
    """Return the record of an audit.

    Raises:
        InputError: there is no such workspace, revision or version, or nothing was audited there.
    """
    folder, at, revision = (name, "", "") if (project_root() / name).is_dir() else name.partition("@")
    if at and not is_revision(revision) and (audits := audits_by_version(_from_root(folder))):
        version = version_named(audits, revision)
        if version is None:
            known = ", ".join(sorted(audits, key=lambda one: (len(one), int(one) if one.isdecimal() else 0)))
            raise InputError(
                f"no audit of {folder} read version {revision} of its table or query; those that are here or in a commit read {known}. "
                "Name one of these, or a commit."
            )
        revision = audits[version]
        at = "" if revision == NOW else at
    if not at:
        space = open_workspace(folder)
        found = read_record(space.path / DATA)
        if found is None:
            raise InputError(f"{space.path} has no audit yet; run `python -m flows.audit --workspace {space.typed}` first.")
        mark_left(space)
        return found
    with tempfile.TemporaryDirectory() as temporary:
        target = Path(temporary) / "record"
        relative = (_from_root(folder) / DATA).as_posix()
        command = [sys.executable, "-m", "dvc", "get", str(project_root()), relative, "--rev", revision, "--out", str(target)]
        done = subprocess.run(command, cwd=project_root(), capture_output=True, text=True, check=False)
        found = read_record(target)
    if found is None:
        raise InputError(
            f"there is no audit of {folder} at revision {revision} ({_reason(done.stderr)}); name a commit whose dvc.lock has the step "
            "`compare`, and `dvc pull` what it made."
        )
    return found


def _from_root(folder: str) -> Path:
    """Return a workspace's path from the project's root, given from there or from the current folder; it need no longer be there."""
    given = Path(folder).expanduser()
    path = given.resolve() if given.exists() else (project_root() / given).resolve()
    if not path.is_relative_to(project_root()):
        raise InputError(f"workspace {path} is outside the project {project_root()}, whose revisions are compared; name one in it.")
    return path.relative_to(project_root())


def _reason(said: str) -> str:
    """Return the reason that DVC gives; where it only repeats what it was asked for, that it has no record of it."""
    errors = [line.removeprefix(_ERROR).removeprefix("unexpected error - ") for line in said.splitlines() if line.startswith(_ERROR)]
    return errors[-1][:_LAST] if errors and not errors[-1].startswith("[") else "it has no record of it"


@app.command()
def main(
    before: Annotated[
        str, typer.Argument(help="The earlier audit: a workspace, or WORKSPACE@REV (a commit, or a version of its table or query).")
    ],
    now: Annotated[str, typer.Argument(help="The later audit, in the same form.")],
    out: Annotated[Path | None, typer.Option("--out", help="Also write it to this Markdown file.")] = None,
) -> None:
    """Show what changed between two audits."""
    text, error = run_flow(compare, before, now)
    if error is not None:
        console.complain(str(error))
        raise typer.Exit(error.exit_code)
    console.say(text)
    if out is not None:
        try:
            out.write_text(text, encoding="utf-8")
        except OSError as problem:
            console.complain(f"{out} cannot be written ({problem.strerror}); name a file in a folder that is there.")
            raise typer.Exit(InputError.exit_code) from problem


if __name__ == "__main__":
    sys.exit(app())
