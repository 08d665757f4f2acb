"""A round's pairs as Label Studio tasks, and its export read back as the answers of each annotator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cartograph.data.label_studio import exported_tasks
from cartograph.errors import InputError
from cartograph.pairs.answers import check_of
from cartograph.pairs.label_words import meaning
from cartograph.pairs.pair_space import Keys
from cartograph.pairs.task import Task

CONFIGURATION = """<View>
  <Header value="left"/>
  <Text name="left" value="$left" valueType="text"/>
  <Header value="right"/>
  <Text name="right" value="$right" valueType="text"/>
  <Header value="$about"/>
  <Choices name="label" toName="left" choice="single" required="true" showInline="true">
    <Choice value="yes" hotkey="y"/>
    <Choice value="no" hotkey="n"/>
    <Choice value="skip" hotkey="0"/>
  </Choices>
</View>
"""
"""The labelling configuration that goes with the tasks."""


def tasks(task: Task, keys: Keys, about: Mapping[int, str]) -> list[dict[str, Any]]:
    """Return one task per pair, as Label Studio imports them.

    Args:
        task: whose pairs.
        keys: (n,) of the pairs.
        about: key -> what is said of it, such as why it is asked again.
    """
    width = len(task.right)
    return [
        {
            "data": {
                "pair": f"p{key}",
                "check": check_of(task, key),
                "left": task.left[key // width],
                "right": task.right[key % width],
                "about": about.get(key) or "Do both mean the same?",
            }
        }
        for key in keys.tolist()
    ]


def answers_of_export(content: bytes, name: str, task: Task, keys: Keys, by: str = "") -> dict[str, dict[int, int]]:
    """Return who answered what: annotator -> key -> 1, 0 or −1 for skip; pairs without an answer are left out.

    Args:
        content: of an export as JSON or JSON-MIN.
        name: what messages call it.
        task: whose pairs.
        keys: (n,) the pairs that are asked about.
        by: who answered; where it is empty, the name or number that Label Studio has for the annotator.

    Raises:
        InputError: no export of such tasks, a task is about another pair or other data, words are no answers, which are all named, or one
            annotator answers a pair in two ways.
    """
    asked = {f"p{key}": key for key in keys.tolist()}
    found: dict[str, dict[int, int]] = {}
    unknown: list[str] = []
    for exported in exported_tasks(content, name, ("label",)):
        key = asked.get(str(exported.data.get("pair")))
        if key is None or exported.data.get("check") != check_of(task, key):
            raise InputError(
                f"{exported.place} is about pair {str(exported.data.get('pair'))[:30]!r}, which this round does not ask about, or "
                "about other texts; import the export of the tasks that `python -m tasks review` writes for the round."
            )
        for who, answers in exported.answers:
            word = answers.get("label", "")
            answer = meaning(word)
            if word and answer is None:
                unknown.append(f"{exported.place.removeprefix(name).strip()}: `{word[:40]}`")
            elif answer is not None and found.setdefault(by or who, {}).setdefault(key, answer) != answer:
                raise InputError(f"{exported.place}: {by or who} answers pair p{key} in two ways; delete one annotation.")
    if unknown:
        raise InputError(f"{name} {', '.join(unknown[:20])} cannot be read as answers; expected yes, no, or skip.")
    return found
