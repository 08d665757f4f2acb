"""Class names that may be no classes: placeholders such as ``?`` or ``NA``, which people and programs write where a row has no label."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from cartograph.ingest.label_forms import plain_name, rows_of
from cartograph.ingest.missing import MISSING

NO_PLACEHOLDER = "no class stands for a missing label"
"""The name of the check that finds such classes."""
MISSING_LABEL = "Some classes may stand for a missing label"
"""How a sentence about them begins."""

_MOST = 5
_NO_ID, _FEWEST_IDS = "-1", 3
_MARKS = frozenset("?-_\u2010\u2011\u2012\u2013\u2014\u2212")
_AROUND = "<>()[]{}#*'\"., "
_WORDS = MISSING | {
    *(
        "n.a",
        "nil",
        "missing",
        "undefined",
        "unknown",
        "unk",
        "todo",
        "tbd",
        "no label",
        "no gold label",
        "not available",
        "not applicable",
    ),
    *("unlabelled", "unlabeled", "unannotated", "not labelled", "not labeled", "not annotated", "unsup"),
}
_ERRORS = frozenset({"#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!"})


def placeholders(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the class names that people and programs also write where a row has no label; the most frequent first.

    They are reported, never set aside: ``none`` and ``unknown`` are classes of many sets. Beside 0, 1, 2 and on, -1 is one, which Hugging
    Face's data sets write for no label; beside 0 and 1 alone it is a grade.

    Args:
        counts: class name -> rows.

    >>> placeholders({"pos": 50, "NA": 7, "<unk>": 2, "???": 1, "n.a.": 3, "nap": 4, "unknown word": 5})
    ('NA', 'n.a.', '<unk>', '???')
    """
    no_id = _NO_ID if _are_ids(counts) else ""
    found = [name for name, count in counts.items() if count and (name == no_id or _stands_for_none(name))]
    return tuple(sorted(found, key=lambda name: (-counts[name], name)))


def placeholders_phrase(counts: Mapping[str, int], unlabelled: Sequence[str]) -> str:
    """Return the placeholders with their rows, and what of params.yaml would set these rows aside.

    Args:
        counts: class name -> rows.
        unlabelled: the labels that mean so already, as in ``ingest.unlabelled``.

    >>> placeholders_phrase({"pos": 50, "NA": 7, "?": 1}, ["-"])
    '`NA` 7 rows, `?` 1; if these rows have no label, set ingest.unlabelled: ["-", "NA", "?"] and they are set aside'
    """
    names = placeholders(counts)
    proposed = ", ".join(json.dumps(name) for name in (*unlabelled, *names[:_MOST]))
    more = ", …" if len(names) > _MOST else ""
    return f"{_listed(names, counts)}; if these rows have no label, set ingest.unlabelled: [{proposed}{more}] and they are set aside"


def placeholders_sentence(counts: Mapping[str, int]) -> str:
    """Return which classes may stand for a missing label, where there is no params.yaml that could say so; empty where none do.

    >>> placeholders_sentence({"pos": 50, "NA": 7, "neg": 40})[:79]
    'Some classes may stand for a missing label: `NA` 7 rows; if these rows have no '
    """
    names = placeholders(counts)
    if not names:
        return ""
    return f"{MISSING_LABEL}: {_listed(names, counts)}; if these rows have no label, leave it empty in the data, and they are set aside."


def _are_ids(counts: Mapping[str, int]) -> bool:
    number = len(counts) - 1
    return number >= _FEWEST_IDS and set(counts) == {_NO_ID, *map(str, range(number))}


def _stands_for_none(name: str) -> bool:
    plain = plain_name(name)
    words = " ".join(plain.replace("_", " ").replace("-", " ").strip(_AROUND).split())
    return plain in _ERRORS or set(plain) <= _MARKS or (words in _WORDS and bool(words))


def _listed(names: Sequence[str], counts: Mapping[str, int]) -> str:
    more = f", and {len(names) - _MOST:,} more such classes" if len(names) > _MOST else ""
    return f"{rows_of(names[:_MOST], counts)}{more}"
