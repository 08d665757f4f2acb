"""The verdict of a page that was written before, without what it takes to make one."""

from __future__ import annotations

import json
import re

_CONTENT = re.compile(r'<script type="application/json" id="data-content">(.*?)</script>', re.DOTALL)


GATHER, OF_SET, BEYOND = "Suspects gather", "of the evaluation set", "Not in that number are errors"
"""How the line begins that says where suspects gather, what is in the one that says how many labels of an evaluation set are wrong, and how
that begins which says what a number leaves out: those that a terminal repeats beside the sentence."""

JUDGED = "If each row was judged for its label"
"""How the line begins that says how an outcome by its column's name is audited as a label: repeated, too."""

SAME, MADE_FROM = "of another row under another label", "cannot be found"
"""What is in the line of texts or values that stand under several labels, and in that of what was made from the label: repeated, too."""


def verdict_of(document: str) -> tuple[str, ...] | None:
    """Return the sentence and the lines at the head of a page that this module made; None of any other document."""
    found = _CONTENT.search(document)
    if found is None:
        return None
    head = json.loads(found[1])["verdict"]
    return (head["sentence"], *head["lines"])
