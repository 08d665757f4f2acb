"""Class names that may be several labels of a row in one cell, such as ``war|love``: each name is a label, not each combination."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from cartograph.ingest.label_sets import SEPARATORS, names_of
from cartograph.wording import counted, cut

_FEWEST, _OFTEN, _LONGEST = 3, 2.0 / 3.0, 60


def joined_sentence(counts: Mapping[str, int]) -> str:
    """Return that classes may be several labels in one cell, with the way to audit each; empty where nothing speaks for that.

    Three classes at least join names, most of these names are in several classes, and there are fewer names than classes: of places such
    as ``Lyon, France`` there are more.

    Args:
        counts: class name -> rows.

    >>> joined_sentence({"war; love": 4, "war; sea": 3, "sea; love": 5, "war": 9}).partition(":")[0]
    'Some classes may be several labels in one cell, such as `sea; love`'
    >>> joined_sentence({"Lyon, France": 4, "Nice, France": 3, "Arles, France": 5, "Rome, Italy": 9})
    ''
    """
    for marks in SEPARATORS:
        parts = {name: names_of(name, marks[0]) for name, rows in counts.items() if rows}
        joined = {name: own for name, own in parts.items() if len(own) > 1}
        often = Counter(part for own in parts.values() for part in set(own))
        shared = sum(number > 1 for number in often.values())
        if len(joined) >= _FEWEST and shared >= _OFTEN * len(often) and len(often) < len(parts):
            first = max(joined, key=lambda name: (counts[name], name))
            return (
                f"Some classes may be several labels in one cell, such as `{cut(first, _LONGEST)}`: {len(parts):,} classes are made of "
                f"{counted(len(often), 'name')}. If so, each is audited as a label of its own by `cartograph audit FILE --text COLUMN "
                "--labels COLUMN`, in a workspace made with `init --labels COLUMN`."
            )
    return ""
