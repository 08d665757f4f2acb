"""Class names that differ in form (case, blanks, Unicode form, invisible characters, 1 and 1.0) or by a slip, and what makes them one."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from cartograph.ingest.misspelt import misspelt
from cartograph.wording import counted, cut, listing

ONE_FORM = "every class has one name"
"""The name of the check that finds such classes."""
SAME = "Some classes may be the same under different names"
"""How a sentence about them begins."""

_MOST, _PROPOSED = 3, 12
_CHARACTERS = 40
_YES, _NO = frozenset(("true", "yes", "y", "1")), frozenset(("false", "no", "n", "0"))
_WHOLE = re.compile(r"([+-]?\d+)\.0+")


def other_forms(counts: Mapping[str, int]) -> dict[str, str]:
    """Return the class names that are another form of a more frequent one, with that one; in the order of ``ingest.label_names``.

    A form differs in case, blanks, Unicode form or invisible characters, is a whole number with or without ``.0``, or a rare name that
    may be misspelt (``misspelt``); where all classes are ways to write true and false, all that say one are forms of it. They are
    reported, never merged: to a program ``IT`` and ``it`` may be two classes.

    Args:
        counts: class name -> rows.

    >>> other_forms({"True": 5, "true": 9, "TR\u200bUE": 1, "false": 4})
    {'True': 'true', 'TR\u200bUE': 'true'}
    >>> other_forms({"positive": 500, "Positive": 40, "psoitive": 2})
    {'Positive': 'positive', 'psoitive': 'positive'}
    >>> other_forms({"True": 50, "0": 30, "1": 20, "False": 9})
    {'1': 'True', 'False': '0'}
    """
    groups: dict[str, list[str]] = {}
    there = [name for name, count in counts.items() if count]
    truth = {plain_name(name) for name in there} <= _YES | _NO
    for name in sorted(there, key=lambda name: (-counts[name], len(name), name)):
        plain = plain_name(name)
        groups.setdefault(("yes" if plain in _YES else "no") if truth else plain, []).append(name)
    slips: dict[str, list[str]] = {}
    for plain, meant in misspelt({plain: sum(counts[name] for name in names) for plain, names in groups.items()}).items():
        slips.setdefault(meant, []).extend(groups[plain])
    wrong = {name for names in slips.values() for name in names}
    same = [(names[0], [*names[1:], *slips.get(plain, [])]) for plain, names in groups.items() if names[0] not in wrong]
    return {name: first for first, others in same for name in others}


def forms_phrase(forms: Mapping[str, str], counts: Mapping[str, int]) -> str:
    """Return the forms with their rows, and the key of params.yaml that would make them one class each.

    >>> forms_phrase({"True": "true"}, {"True": 5, "true": 9})
    '`True` 5 rows, `true` 9; if they are one class, set ingest.label_names: {"True": "true"}'
    """
    first = _by_most(forms)
    listed = [(name, most) for most in first for name in first[most]]
    proposed = ", ".join(f"{json.dumps(name)}: {json.dumps(most)}" for name, most in listed[:_PROPOSED])
    more = ", …" if len(listed) > _PROPOSED else ""
    return f"{_groups(first, counts)}; if they are one class, set ingest.label_names: {{{proposed}{more}}}"


def forms_sentence(counts: Mapping[str, int]) -> str:
    """Return which classes differ in their form only, where there is no params.yaml that could make them one; empty where none do.

    >>> forms_sentence({"True": 5, "true": 9, "false": 4})
    'Some classes may be the same under different names: `True` 5 rows, `true` 9; if they are one class, write them alike in the data.'
    """
    forms = other_forms(counts)
    if not forms:
        return ""
    groups = _groups(_by_most(forms), counts)
    return f"{SAME}: {groups}; if they are one class, write them alike in the data."


def blanks_sentence(cells: Iterable[object]) -> str:
    """Return how many cells are labels with blanks around them, which are read as without; empty where none are.

    >>> blanks_sentence(["yes", "yes ", " no", 1, None])
    'Labels with blanks around them, which are read as without, and left as they are in `cleaned.csv`: 2 (as `yes `).'
    """
    spaced = [cell for cell in cells if isinstance(cell, str) and cell.strip() not in ("", cell)]
    if not spaced:
        return ""
    read = "Labels with blanks around them, which are read as without, and left as they are in `cleaned.csv`"
    return f"{read}: {len(spaced):,} (as {_shown(spaced[0])})."


def forms_condition(counts: Mapping[str, int]) -> str:
    """Return under which condition labels were doubted where classes differ in their form only, as a clause; empty where none do.

    >>> forms_condition({"True": 5, "true": 9, "false": 4})
    'if `true` and `True` are one class'
    """
    first = _by_most(other_forms(counts))
    if not first:
        return ""
    most, names = next(iter(first.items()))
    named = listing([_shown(name) for name in (most, *names)[:_MOST]]) + (", …" if len(names) >= _MOST else "")
    return f"if {named} are one class" if len(first) == 1 else f"if classes with nearly the same name are one ({named}; and others)"


def _by_most(forms: Mapping[str, str]) -> dict[str, list[str]]:
    first: dict[str, list[str]] = {}
    for name, most in forms.items():
        first.setdefault(most, []).append(name)
    return first


def _groups(first: Mapping[str, list[str]], counts: Mapping[str, int]) -> str:
    groups = [rows_of([*names, most], counts) for most, names in first.items()]
    more = f"; and {len(groups) - _MOST:,} more classes" if len(groups) > _MOST else ""
    return f"{'; '.join(groups[:_MOST])}{more}"


def plain_name(name: str) -> str:
    """Return a class name without what distinguishes its forms: case, repeated blanks, Unicode form, invisible characters, ``.0``.

    >>> plain_name(" True"), plain_name("1.0"), plain_name("1.10")
    ('true', '1', '1.10')
    """
    visible = "".join(letter for letter in unicodedata.normalize("NFKC", name) if unicodedata.category(letter) != "Cf")
    plain = " ".join(unicodedata.normalize("NFKC", visible.casefold()).split())
    whole = _WHOLE.fullmatch(plain)
    return whole[1] if whole else plain


def rows_of(names: Sequence[str], counts: Mapping[str, int]) -> str:
    """Return classes with their rows: ``a` 5 rows, `b` 9``."""
    first, *others = names
    return ", ".join([f"{_shown(first)} {counted(counts[first], 'row')}", *(f"{_shown(name)} {counts[name]:,}" for name in others)])


def _shown(name: str) -> str:
    """Return a name whose characters can be distinguished: as it is where it is plain, with escapes where it is not."""
    return f"`{cut(name if name.isascii() else json.dumps(name)[1:-1], _CHARACTERS)}`"
