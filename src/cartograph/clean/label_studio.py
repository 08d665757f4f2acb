"""The suspects as Label Studio tasks, and its export read back as decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from cartograph.clean.decisions import OUTCOMES, Entry
from cartograph.clean.review_sheet import Suspect
from cartograph.data.label_studio import exported_tasks, shown
from cartograph.errors import InputError
from cartograph.schema import DatasetInfo

_CONTROLS = ("decision", "new_label", "comment")


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
        lines.append(f"  <Header value={quoteattr(shown(field))}/>")
        kind = "Image" if field in info.images else "Text"
        more = ' zoom="true"' if field in info.images else ' valueType="text"'
        lines.append(f'  <{kind} name="text_{number}" value="$text_{number}"{more}/>')
    lines += ['  <Header value="$about"/>', '  <Choices name="decision" toName="text_1" choice="single" required="true" showInline="true">']
    lines += [f'    <Choice value="{word}"/>' for word in OUTCOMES]
    lines.append("  </Choices>")
    when = 'visibleWhen="choice-selected" whenTagName="decision" whenChoiceValue="relabel"'
    lines.append(f'  <Choices name="new_label" toName="text_1" choice="single" required="true" {when}>')
    lines += [f"    <Choice value={quoteattr(shown(label))}/>" for label in info.labels]
    lines += ["  </Choices>", '  <TextArea name="comment" toName="text_1" maxSubmissions="1" rows="2"/>', "</View>"]
    return "\n".join(lines) + "\n"


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
    meant = {shown(label): label for label in labels}
    entries = []
    for task in exported_tasks(content, name, _CONTROLS):
        uid = task.data.get("uid")
        if not isinstance(uid, str):
            raise InputError(
                f"{task.place} has no `uid` among its data; import reports/review.labelstudio.json into Label Studio as it is."
            )
        for who, answers in task.answers:
            label = answers.get("new_label", "")
            decision = answers.get("decision", "").lower()
            entries.append(Entry(task.place, uid, decision, meant.get(label, label), by or who, answers.get("comment", "")))
    return entries
