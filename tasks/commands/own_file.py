"""A file of one's own to audit: its workspace is made the first time, and found again after that."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cartograph.data.whole_files import write_whole
from cartograph.errors import InputError
from tasks.audit.parameters.embed import Embed
from tasks.audit.parameters.files import FileEntry
from tasks.audit.parameters.ingest import Sources
from tasks.commands.dvc_yaml import write
from tasks.commands.given_files import files_and_columns, names_in, on_disk, stored
from tasks.commands.new_workspace import make, new_folder
from tasks.commands.params_yaml import encoder, recipe, usual_reading
from tasks.commands.profiles import has_profile, keys_of_profile, with_keys
from tasks.commands.several_labels import make_for_labels, refuse_other_options
from tasks.engine.lock import hold
from tasks.engine.snapshot import PARAMS
from tasks.engine.workspace import STATE, Workspace, project_root
from tasks.pipelines import has_several_labels, open_workspace
from tasks.presentation.console import say

_LONGEST = 60


def workspace_for(
    data: str,
    *,
    text: list[str],
    label: str,
    labels: Sequence[str] = (),
    options: Sequence[str] = (),
    image: str = "",
    features: str | list[str] = "",
    uid: str = "",
    linked: str = "",
    labelled_by: str = "",
    pretrained: str = "",
    workspace: str = "",
    profile: str = "",
) -> str:
    """Return the folder of the workspace that audits a file, from the project's root; it is made where it is not there yet.

    Args:
        data: a file or folder, as ``init --train`` takes it.
        text: its text column, or both of pairs (``text_columns``).
        label: its label column.
        labels: for rows with several labels, instead of ``label``: the column that lists them, or columns of 0 and 1.
        options: of multiple choice its option columns, two or more.
        image: the image column, ``image`` of a folder of images; empty for texts.
        features: of a table of features ``all`` or its columns; empty for texts.
        uid: the column that identifies a row; empty: rows are known by what they hold.
        linked: the column whose equal values link rows; empty without one.
        labelled_by: the column that says who gave the label; empty without one.
        pretrained: folder or hub id of a frozen encoder, for suspects; empty leaves that as it is, at first without.
        workspace: the folder; where empty, ``workspaces/`` and the file's name.
        profile: how much the audit does; empty leaves it as it is.

    Raises:
        InputError: the file or a column is missing, or the workspace audits something else.
    """
    keys_of_profile(profile)
    if labels:
        refuse_other_options(
            {"--label": label != "label", "--profile": profile, "--labelled-by": labelled_by, "--image": image, "--option": options}
        )
    folder = workspace or f"workspaces/{_name(data)}"
    ingest = files_and_columns([data], [] if features or image else text, label) | {
        "features": features or [],
        "options": [names_in(name) for name in options],
        "image": names_in(image) if image else None,
        "uid": names_in(uid) if uid else None,
        "linked": names_in(linked) if linked else None,
        "labelled_by": names_in(labelled_by) if labelled_by else None,
    }
    pretrained = stored(pretrained) if pretrained and on_disk(pretrained).exists() else pretrained
    if not (project_root() / folder / PARAMS).is_file():
        if labels:
            make_for_labels(new_folder(folder, force=False), list(labels), ingest, follow=False, encoder=pretrained)
            return folder
        model, features_keys = usual_reading(image=bool(image), table=bool(features))
        more = {"embed": encoder(model, pretrained), "features": features_keys}
        make(new_folder(folder, force=False), ingest, recipe(model, ""), profile, more)
        return folder
    space = open_workspace(folder)
    _require_same(space, ingest, data, labels)
    _require_encoder(space, pretrained)
    say(f"Continuing in {space.relative}, which was made from this file before; its settings are in {space.relative}/{PARAMS}.")
    take_profile(space, profile)
    return folder


def take_profile(space: Workspace, profile: str) -> None:
    """Give a workspace the settings of a profile, and print that; an empty one leaves it as it is.

    Raises:
        InputError: there is no such profile, or the workspace is in use.
    """
    keys = keys_of_profile(profile)
    if profile and has_several_labels(space.settings):
        refuse_other_options({"--profile": profile})
    if not profile or has_profile(space.settings, profile):
        return
    file = space.path / PARAMS
    with hold(space.path / STATE, "python -m flows.audit --profile"):
        write_whole(file, with_keys(file.read_text(encoding="utf-8"), keys))
        write(open_workspace(space.path))
    say(f"Its settings are now those of the profile {profile}.")


def _name(data: str) -> str:
    """Return a folder's name for a file: letters, digits and hyphens."""
    stem = Path(data.rstrip("/").rpartition("/")[2].partition(":")[0]).stem
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST] or "own"


def _require_same(space: Workspace, ingest: dict[str, Any], data: str, labels: Sequence[str]) -> None:
    found = space.settings.find(Sources)
    given = {
        "train": tuple(FileEntry(path=entry) if isinstance(entry, str) else FileEntry(**entry) for entry in ingest["train"]),
        "text": tuple(map(_as_names, ingest["text"])),
        "features": ingest["features"] if ingest["features"] == "all" else tuple(ingest["features"]),
        **({"uid": _as_names(ingest["uid"])} if ingest["uid"] else {}),
        "linked": _as_names(ingest["linked"] or []),
    }
    if labels:
        given["label_columns"] = tuple(labels)
    else:
        given |= {key: _as_names(ingest[key] or []) for key in ("label", "labelled_by", "image")}
        given["options"] = tuple(map(_as_names, ingest["options"]))
    known = None if found is None else {key: getattr(found, key, None) for key in given}
    words = {
        "train": f"the file {data}",
        "text": f"the text column {' and '.join(map(str, ingest['text']))}",
        "features": "these features" if ingest["features"] else "texts",
        "options": f"the options {', '.join(map(str, ingest['options']))}" if ingest["options"] else "rows without options",
        "image": f"the image column {ingest['image']}" if ingest["image"] else "rows without images",
        "uid": f"rows identified by {ingest['uid']}",
        "linked": f"the linking column {ingest['linked']}" if ingest["linked"] else "rows that no column links",
        "labelled_by": f"labels given by {ingest['labelled_by']}" if ingest["labelled_by"] else "labels given by nobody named",
        "label": f"the label column {ingest['label']}",
        "label_columns": f"the label column{'s' * (len(labels) > 1)} {', '.join(labels)}",
    }
    differing = [what for key, what in words.items() if key in given and (known is None or known[key] != given[key])]
    if differing == [words["train"]]:
        raise InputError(
            f"{space.relative} is a workspace already, of another file than {data}. If this is its next version, name it under "
            f"ingest.train in {space.relative}/{PARAMS}: decisions and what changed since are kept. Else name another folder with "
            "--workspace (with make: WORKSPACE=workspaces/…)."
        )
    if differing:
        raise InputError(
            f"{space.relative} is a workspace already, but it does not audit {', '.join(differing)}; name another folder with --workspace "
            f"(with make: WORKSPACE=workspaces/…), or change {space.relative}/{PARAMS}."
        )


def _require_encoder(space: Workspace, pretrained: str) -> None:
    found = space.settings.of(Embed).pretrained or ""
    if pretrained and pretrained != found:
        has = f"the encoder {found}" if found else "no encoder"
        raise InputError(
            f"{space.relative} is a workspace already, with {has}, not {pretrained}; name it as embed.pretrained in "
            f"{space.relative}/{PARAMS}, or another folder with --workspace."
        )


def _as_names(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
