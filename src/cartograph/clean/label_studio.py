"""The suspects as Label Studio tasks, and its export read back as decisions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from cartograph.clean.decisions import OUTCOMES, Entry
from cartograph.clean.review_sheet import Suspect
from cartograph.errors import InputError
from cartograph.schema import DatasetInfo

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def tasks(found: Sequence[Suspect]) -> list[dict[str, Any]]:
    """Return one task per suspect, as Label Studio imports them."""
    return [
        {
            "data": {
                "uid": suspect.uid,
                **{f"text_{number}": text for number, text in enumerate(suspect.texts, start=1)},
                "about": _about(suspect),
            }
        }
        for suspect in found
    ]


def _about(suspect: Suspect) -> str:
    suggestion = f"; suggested: {suspect.suggested} ({suspect.suggested_probability:.2f})" if suspect.suggested else ""
    return f"given label: {suspect.given}{suggestion}. Suspect {suspect.rank:,} ({suspect.probability:.2f}): {suspect.reason}"


def configuration(info: DatasetInfo) -> str:
    """Return the labelling configuration that goes with the tasks: the texts or the image, what is known, and what is to be decided."""
    lines = ["<View>"]
    for number, field in enumerate(info.fields, start=1):
        lines.append(f"  <Header value={quoteattr(_shown(field))}/>")
        kind = "Image" if field in info.images else "Text"
        more = ' zoom="true"' if field in info.images else ' valueType="text"'
        lines.append(f'  <{kind} name="text_{number}" value="$text_{number}"{more}/>')
    lines += ['  <Header value="$about"/>', '  <Choices name="decision" toName="text_1" choice="single" required="true" showInline="true">']
    lines += [f'    <Choice value="{word}"/>' for word in OUTCOMES]
    lines.append("  </Choices>")
    when = 'visibleWhen="choice-selected" whenTagName="decision" whenChoiceValue="relabel"'
    lines.append(f'  <Choices name="new_label" toName="text_1" choice="single" required="true" {when}>')
    lines += [f"    <Choice value={quoteattr(_shown(label))}/>" for label in info.labels]
    lines += ["  </Choices>", '  <TextArea name="comment" toName="text_1" maxSubmissions="1" rows="2"/>', "</View>"]
    return "\n".join(lines) + "\n"


def _shown(text: str) -> str:
    """Return a text as it can stand in the configuration: no character that XML lacks, no reference to a task's data."""
    return _NOT_XML.sub("\ufffd", text).replace("$", "\uff04")


def entries_of_export(content: bytes, name: str, labels: Sequence[str], by: str = "") -> list[Entry]:
    """Return what was decided in Label Studio, from its export as JSON or JSON-MIN.

    Args:
        content: of the export.
        name: what messages call it.
        labels: the class names.
        by: who decided; where it is empty, the name or number that Label Studio has for the annotator.

    Raises:
        InputError: not JSON, or no export of the tasks that this project makes.
    """
    try:
        exported = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON that can be read ({error}); export from Label Studio as JSON.") from error
    exported = [exported] if isinstance(exported, dict) else exported
    if not isinstance(exported, list) or not all(isinstance(task, dict) for task in exported):
        raise InputError(f"{name} is not a Label Studio export: it should hold a list of tasks; export as JSON or JSON-MIN.")
    meant = {_shown(label): label for label in labels}
    entries = []
    for number, task in enumerate(exported, start=1):
        place = f"{name} task {number}"
        uid = (task.get("data") if isinstance(task.get("data"), dict) else task).get("uid")
        if not isinstance(uid, str):
            raise InputError(f"{place} has no `uid` among its data; import reports/review.labelstudio.json into Label Studio as it is.")
        for who, answers in _annotations(task):
            label = answers.get("new_label", "")
            decision = answers.get("decision", "").lower()
            entries.append(Entry(place, uid, decision, meant.get(label, label), by or who, answers.get("comment", "")))
    return entries


def _annotations(task: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield who and what they answered, of every annotation that was not cancelled."""
    if "data" not in task and "annotations" not in task:
        yield _person(task.get("annotator")), {key: _first(task.get(key)) for key in ("decision", "new_label", "comment")}
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
