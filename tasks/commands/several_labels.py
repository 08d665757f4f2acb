"""A new workspace for rows that have several labels."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cartograph.errors import InputError
from cartograph.wording import cut
from tasks.commands.new_workspace import fetched_inputs, say_what_was_made, validated, write_workspace
from tasks.commands.params_yaml import render_sections
from tasks.commands.understood import say_fields, say_linked, say_what_is_set_aside
from tasks.labels.ingest import KEY, Ingest, inputs_of, read_labels
from tasks.pipelines import LABELS_SECTIONS
from tasks.presentation.console import say

if TYPE_CHECKING:
    from cartograph.ingest.label_rows import LabelFiles

_KEYS = ("train", "text", "features", "categories", "uid", "linked", "format", "encoding", "columns")
_SHOWN = 12

ELSEWHERE: dict[str, str] = {
    "--eval": "rows with several labels are audited alone",
    "--label": "--labels names the columns",
    "--label-names": "labels are used as they are named",
    "--label-separator": "labels are used as they are named",
    "--annotators": "each label has one answer",
    "--labelled-by": "doubt by who labelled a row is of one label a row",
    "--image": "only texts and tables of features can have several labels",
    "--option": "only texts and tables of features can have several labels",
    "--model": "the model is bow for texts and mlp for tables of features",
    "--recipe": "the model is bow for texts and mlp for tables of features",
    "--preset": "presets are of sets with one label a row",
    "--profile": "selections, filters and retrained models need one label a row",
}
"""Option of `init` -> why rows with several labels have no use for it."""


def refuse_other_options(given: Mapping[str, object]) -> None:
    """Check that no option is given that rows with several labels have no use for.

    Raises:
        InputError: one is.
    """
    for option, value in given.items():
        if value:
            raise InputError(f"{option} does not go with --labels: {ELSEWHERE[option]}; leave it out.")


def make_for_labels(folder: Path, labels: list[str], ingest: Mapping[str, Any], *, follow: bool, encoder: str = "") -> None:
    """Make a workspace in a folder once its files could be read, and print how they were understood.

    Args:
        folder: as ``new_folder`` returns it.
        labels: the label columns.
        ingest: the section ``ingest`` of rows with one label; what does not concern rows with several is left out.
        follow: whether every audit asks if what is not on disk has changed.
        encoder: folder or hub id of a frozen encoder of texts, for suspects; empty for none.

    Raises:
        InputError: a file or column is missing, no label can be audited, or the encoder is for a table of features.
    """
    if encoder and ingest["features"]:
        raise InputError("--pretrained names an encoder of texts, which a table of features has no use for; leave it out.")
    own = {name: ingest[name] for name in _KEYS} | {KEY: labels}
    more: dict[str, dict[str, object]] = {"fetch": {"follow": True}} if follow else {}
    more |= {"embed": {"pretrained": encoder}} if encoder else {}
    content = render_sections("audit", LABELS_SECTIONS, {"ingest": own} | more)
    params = validated(content, folder).of(Ingest)
    with tempfile.TemporaryDirectory() as fetched:
        read = read_labels(params, fetched_inputs(params, inputs_of, Path(fetched)))
        write_workspace(folder, content, Path(fetched))
    _say(params, read)
    say_what_was_made(folder)


def _say(params: Ingest, read: LabelFiles) -> None:
    found = read.ingested
    say(f"train: {len(found.examples):,} rows from {', '.join(found.files)}")
    counts = [f"{cut(name, 40)} {read.rows_with[name]:,}" for name in read.names]
    more = f", and {len(counts) - _SHOWN:,} more" if len(counts) > _SHOWN else ""
    say(f"  labels  {', '.join(counts[:_SHOWN])}{more}")
    for sentence in (read.one_each_sentence, read.left_out_sentence(_SHOWN), read.empty_sentence):
        if sentence:
            say(f"  {sentence}")
    say_fields(found)
    say_linked(found)
    say_what_is_set_aside(found.quarantine, found.rows_read, params.quarantine_limit, "audit")
