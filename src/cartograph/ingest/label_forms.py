"""Class names that differ in case, blanks, Unicode form or invisible characters only, and the map that would make them one class."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping

from cartograph.wording import cut

ONE_FORM = "every class has one name"
"""The name of the check that finds such classes."""

_MOST = 3
_CHARACTERS = 40


def other_forms(counts: Mapping[str, int]) -> dict[str, str]:
    """Return the class names that are another form of a more frequent one, with that one; in the order of ``ingest.label_names``.

    They are reported, never merged: to a program ``IT`` and ``it`` may be two classes.

    Args:
        counts: class name -> rows.

    >>> other_forms({"True": 5, "true": 9, "TR\u200bUE": 1, "false": 4})
    {'True': 'true', 'TR\u200bUE': 'true'}
    """
    groups: dict[str, list[str]] = {}
    for name in sorted((name for name, count in counts.items() if count), key=lambda name: (-counts[name], len(name), name)):
        groups.setdefault(_plain(name), []).append(name)
    return {name: first for first, *others in groups.values() for name in others}


def forms_phrase(forms: Mapping[str, str], counts: Mapping[str, int]) -> str:
    """Return the forms with their rows, and the key of params.yaml that would make them one class each.

    >>> forms_phrase({"True": "true"}, {"True": 5, "true": 9})
    '`True` 5 rows, `true` 9; if they are one class, set ingest.label_names: {"True": "true"}'
    """
    first: dict[str, list[str]] = {}
    for name, most in forms.items():
        first.setdefault(most, []).append(name)
    groups = [
        f"{', '.join(f'{_shown(name)} {counts[name]:,} rows' for name in names)}, {_shown(most)} {counts[most]:,}"
        for most, names in first.items()
    ]
    more = f"; and {len(groups) - _MOST:,} more classes" if len(groups) > _MOST else ""
    listed = [(name, most) for most in list(first)[:_MOST] for name in first[most]]
    proposed = ", ".join(f"{json.dumps(name)}: {json.dumps(most)}" for name, most in listed)
    return f"{'; '.join(groups[:_MOST])}{more}; if they are one class, set ingest.label_names: {{{proposed}{', …' if more else ''}}}"


def _plain(name: str) -> str:
    visible = "".join(letter for letter in unicodedata.normalize("NFKC", name) if unicodedata.category(letter) != "Cf")
    return " ".join(unicodedata.normalize("NFKC", visible.casefold()).split())


def _shown(name: str) -> str:
    """Return a name whose characters can be distinguished: as it is where it is plain, with escapes where it is not."""
    return f"`{cut(name if name.isascii() else json.dumps(name)[1:-1], _CHARACTERS)}`"
