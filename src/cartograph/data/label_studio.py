"""Label Studio's side of any task: texts as its configuration can hold them, and what its exports say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cartograph.errors import InputError

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Exported:
    """One task of an export.

    Attributes:
        place: the file and where in it, for messages.
        data: what the task was made of.
        answers: who, and name of a control -> what they answered there, of every annotation that was not cancelled.
    """

    place: str
    data: Mapping[str, Any]
    answers: Sequence[tuple[str, Mapping[str, str]]]


def shown(text: str) -> str:
    """Return a text as it can stand in the configuration: no character that XML lacks, no reference to a task's data."""
    return _NOT_XML.sub("\ufffd", text).replace("$", "\uff04")


def exported_tasks(content: bytes, name: str, controls: Sequence[str]) -> list[Exported]:
    """Return the tasks of an export as JSON or JSON-MIN.

    Args:
        content: of the export.
        name: what messages call it.
        controls: names of the controls that the configuration has.

    Raises:
        InputError: not JSON, or no list of tasks.
    """
    try:
        exported = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON that can be read ({error}); export from Label Studio as JSON.") from error
    exported = [exported] if isinstance(exported, dict) else exported
    if not isinstance(exported, list) or not all(isinstance(task, dict) for task in exported):
        raise InputError(f"{name} is not a Label Studio export: it should hold a list of tasks; export as JSON or JSON-MIN.")
    return [
        Exported(f"{name} task {number}", task["data"] if isinstance(task.get("data"), dict) else task, [*_annotations(task, controls)])
        for number, task in enumerate(exported, start=1)
    ]


def _annotations(task: Mapping[str, Any], controls: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    if "data" not in task and "annotations" not in task:
        yield _person(task.get("annotator")), {key: _first(task.get(key)) for key in controls}
        return
    annotations = task.get("annotations") or task.get("completions") or []
    for annotation in annotations if isinstance(annotations, list) else []:
        if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
            continue
        results = annotation.get("result")
        answers = {}
        for result in results if isinstance(results, list) else []:
            if isinstance(result, dict) and isinstance(result.get("from_name"), str):
                answers[result["from_name"]] = _first(result.get("value"))
        yield _person(annotation.get("completed_by")), answers


def _first(value: Any) -> str:
    """Return the text of an answer: ``drop``, ``["drop"]``, ``{"choices": ["drop"]}`` or ``{"text": ["…"]}``."""
    if isinstance(value, dict):
        value = value.get("choices", value.get("text", ""))
    if isinstance(value, list):
        value = value[0] if value else ""
    return value.strip() if isinstance(value, str) else ""


def _person(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("email") or value.get("username") or value.get("id")
    if value is None or value == "":
        return "Label Studio"
    return value if isinstance(value, str) else f"Label Studio user {value}"
