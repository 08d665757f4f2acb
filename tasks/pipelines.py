"""The steps of an audit and of a collection of pairs, in order, and the workspaces that have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cartograph.config import Section, Settings
from tasks.audit import (
    ablate,
    aflite,
    bias,
    clean,
    embed,
    evaluate,
    evaluation_labels,
    features,
    fetch,
    first_page,
    gates,
    hold_out,
    ingest,
    measure,
    noise,
    publish,
    report,
    retrain,
    score,
    select,
    train,
    tune,
)
from tasks.audit import compare as compare_audits
from tasks.collection import compare, encode, pairs, parameters, rounds
from tasks.collection import publish as publish_collection
from tasks.collection import report as collection_report
from tasks.collection.parameters import SECTION as COLLECTION
from tasks.engine.edits import take_snapshot
from tasks.engine.snapshot import PARAMS
from tasks.engine.step import Step
from tasks.engine.workspace import Workspace, project_root, read_workspace
from tasks.labels import clean as labels_clean
from tasks.labels import embed as labels_embed
from tasks.labels import gates as labels_gates
from tasks.labels import ingest as labels_ingest
from tasks.labels import measure as labels_measure
from tasks.labels import noise as labels_noise
from tasks.labels import publish as labels_publish
from tasks.labels import train as labels_train

_AUDITED: tuple[Step, ...] = (
    fetch.STEP,
    ingest.STEP,
    embed.STEP,
    tune.STEP,
    train.STEP,
    measure.STEP,
    noise.STEP,
    first_page.STEP,
    features.STEP,
    aflite.STEP,
    bias.STEP,
    clean.STEP,
    select.STEP,
    hold_out.STEP,
    retrain.STEP,
    evaluation_labels.STEP,
    evaluate.STEP,
    ablate.STEP,
    score.STEP,
    compare_audits.STEP,
    gates.STEP,
    report.STEP,
)

# The first look is no result to publish: all that it shows is in the report.
STEPS = (*_AUDITED, publish.step([step for step in _AUDITED if step is not first_page.STEP]))
"""The steps of an audit, in order."""


_OF_LABELS: tuple[Step, ...] = (
    fetch.STEP,
    labels_ingest.STEP,
    labels_embed.STEP,
    labels_train.STEP,
    labels_measure.STEP,
    labels_noise.STEP,
    labels_clean.STEP,
    compare_audits.STEP,
    labels_gates.STEP,
    report.STEP,
)

LABELS_STEPS = (*_OF_LABELS, labels_publish.step(_OF_LABELS))
"""The steps of an audit whose rows have several labels, in order."""

LABELS_SECTIONS = {step.name: step.params for step in LABELS_STEPS}


def has_several_labels(content: Mapping[str, Any]) -> bool:
    """Return whether a params.yaml with this content is of an audit whose rows have several labels."""
    ingest = content.get(labels_ingest.STEP.name)
    return isinstance(ingest, labels_ingest.Ingest) or (isinstance(ingest, Mapping) and labels_ingest.KEY in ingest)


def collection(settings: Settings) -> tuple[Step, ...]:
    """Return the steps of a collection of pairs: as many rounds as its settings say."""
    return (pairs.STEP, encode.STEP, *rounds.rounds(settings), compare.STEP, collection_report.STEP, publish_collection.STEP)


COLLECTION_SECTIONS: dict[str, type[Section]] = {
    "pairs": pairs.Pairs,
    "encode": parameters.Encode,
    "collect": parameters.Collect,
    "compare": compare.Compare,
    "report": collection_report.Report,
    "publish": publish_collection.Publish,
}


def sections(content: Mapping[str, Any]) -> dict[str, type[Section]]:
    """Return the models of a params.yaml's sections.

    Those of a collection where it has the section ``collect``, of an audit with several labels a row where ``ingest`` says so, else those
    of an audit.
    """
    if COLLECTION in content:
        return COLLECTION_SECTIONS
    return LABELS_SECTIONS if has_several_labels(content) else {step.name: step.params for step in STEPS}


def pipeline(settings: Settings) -> tuple[Step, ...]:
    """Return the steps that are declared for such settings: those of an audit, with one label a row or several, or of a collection."""
    if COLLECTION in settings:
        return collection(settings)
    return LABELS_STEPS if has_several_labels(settings) else STEPS


def steps_of(settings: Settings) -> tuple[Step, ...]:
    """Return the steps that an audit with these settings has, in order, a matrix step as its cells."""
    return tuple(cell for step in pipeline(settings) if step.when(settings) for cell in step.expand(settings))


def open_workspace(path: str | Path = ".") -> Workspace:
    """Return the workspace in a folder, its parameters validated: from the current folder, or from the project's root.

    Raises:
        InputError: not a folder inside the project, or its params.yaml is missing or wrong.
    """
    return read_workspace(path, sections)


@contextmanager
def held_workspace(path: str | Path, command: str) -> Iterator[Workspace]:
    """Hold the workspace in a folder; yield it as it is once it is held, with the snapshot that its audit lives by.

    Args:
        path: as ``open_workspace`` takes it.
        command: what holds it, for the messages of others; ``{}`` is the workspace as one types it.

    Raises:
        InputError: as ``open_workspace``; or somebody else holds it.
    """
    space = open_workspace(path)
    with space.lock(command.format(space.typed)) as token:
        file = space.path / PARAMS
        while True:
            # Parameters and their copy are of one moment.
            content = file.read_bytes()
            space = open_workspace(space.path)
            if file.read_bytes() == content:
                break
        held = take_snapshot(space, content, steps_of(space.settings), token)
        publish.mark_left(held)
        yield held


def all_workspaces() -> list[Workspace]:
    """Return the root workspace and every folder below ``workspaces/`` that has a params.yaml."""
    folders = sorted(path.parent for path in (project_root() / "workspaces").glob("**/params.yaml"))
    return [open_workspace(folder) for folder in (project_root(), *folders)]
