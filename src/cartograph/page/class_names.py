"""What is said of classes at the top of the page: names that may be one class or none, and classes that models do not know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cartograph.clean.cleaning import too_many_phrase
from cartograph.data.arrays import Integers
from cartograph.ingest.joined_labels import joined_sentence
from cartograph.ingest.label_forms import ONE_FORM, SAME, forms_sentence, other_forms
from cartograph.ingest.measurements import measurements_sentence
from cartograph.ingest.placeholders import MISSING_LABEL, NO_PLACEHOLDER, placeholders_sentence
from cartograph.page.audit import Audit
from cartograph.page.headline import failed_checks
from cartograph.suspects.one_class_to_models import in_smaller
from cartograph.wording import count, counted, cut, listing, share

_LONGEST, _NAMED = 60, 3
"""Most letters of a class's name, and most pairs of classes that are named."""

_FEWEST, _NEARLY_ALL, _MUCH = 10, 0.9, 1 / 3
"""Fewest suspects of one class of which it is said that nearly all suspects are of it, which share of them, and of the class's rows."""


def class_names(audit: Audit) -> list[str]:
    """Return which classes may be one under two names, none, several or measurements, and the way out; the page's checks show all."""
    joined = [] if audit.several else [joined_sentence(audit.class_counts), measurements_sentence(audit.class_counts)]
    if not failed_checks(audit)[2] and not audit.several:
        return [forms_sentence(audit.class_counts), placeholders_sentence(audit.class_counts), *joined]
    checks = [check for entry in audit.validation.get("sets", []) for check in entry["checks"] if not check["passed"]]
    begins = {ONE_FORM: SAME, NO_PLACEHOLDER: MISSING_LABEL}
    found = [f"{begin}: {cut(str(check['found']), 1_000)}." for name, begin in begins.items() for check in checks if check["check"] == name]
    return [*found, *joined]


def too_many_classes(audit: Audit) -> str:
    """Return which classes cleaning left to people since too many of their rows would go; empty where none."""
    said = "" if audit.cleaning is None else too_many_phrase(audit.cleaning.version.get("too_many", ()))
    return f"{said[0].upper()}{said[1:]}: people decide about them on the review sheet." if said else ""


def indistinct_sentence(audit: Audit) -> str:
    """Return which classes models hardly tell apart, so that labels of one are not doubted for the other; empty where none."""
    pairs = [] if audit.suspects is None or audit.several else audit.suspects.record.get("indistinct", [])
    if not pairs:
        return ""
    each = [" from ".join(f"`{cut(audit.info.labels[label], _LONGEST)}`" for label in pair) for pair in pairs[:_NAMED]]
    more = [counted(len(pairs) - _NAMED, "more pair", "more pairs")] if len(pairs) > _NAMED else []
    return (
        f"Models tell {listing([*each, *more])} hardly better than by chance: labels of one that should be the other are not found. "
        "If they mean the same, make them one class; if not, very many of their labels have been swapped, or what tells them apart is not "
        f"in what is read{_maybe_wrong(audit, pairs)}."
    )


def _maybe_wrong(audit: Audit, pairs: Sequence[Sequence[int]]) -> str:
    """Return that the labels of a class that is far smaller than the other may be wrong, as the end of a sentence; empty without one."""
    small = np.unique(audit.gold[in_smaller(audit.gold, tuple((one, other) for one, other in pairs))]).tolist()
    if not small:
        return ""
    named = listing([f"`{cut(audit.info.labels[label], _LONGEST)}`" for label in small[:_NAMED]])
    return f", or most labels of {named} are wrong: {'their' if len(small) > 1 else 'its'} rows come right after the suspects"


def whole_classes(audit: Audit) -> list[str]:
    """Return which classes are suspect nearly row for row: the models do not know them, and their rows' doubt follows from that alone.

    Else which class has nearly all of the suspects, where they are much of it.
    """
    if not len(audit.flagged) or audit.several:
        return []
    names = audit.info.labels
    rows, suspects = (np.bincount(labels, minlength=len(names)) for labels in (audit.gold, audit.gold[audit.flagged]))
    # Of another name of a class it is said that it is one.
    whole = np.array([one for one in audit.unknown.tolist() if names[one] not in other_forms(audit.class_counts)], np.intp)
    if not len(whole):
        return _one_sided(audit, rows, suspects)
    whole = whole[np.argsort(-rows[whole], kind="stable")]
    of = [f"{count(int(suspects[one]))} of the {count(int(rows[one]))} rows" if rows[one] > 1 else "the only row" for one in whole[:3]]
    named = [f"{part} of `{cut(names[one], 40)}`" for part, one in zip(of, whole, strict=False)]
    more = f", and nearly all of {counted(len(whole) - 3, 'more class', 'more classes')}" if len(whole) > 3 else ""
    what = "this class" if len(whole) == 1 else "these classes"
    return [
        f"The suspects include {listing(named)}{more}: the models do not know {what} from the others, whether the labels are right or not; "
        "cleaning leaves these rows to people."
    ]


def _one_sided(audit: Audit, rows: Integers, suspects: Integers) -> list[str]:
    most = int(suspects.argmax())
    if suspects[most] < max(_FEWEST, _NEARLY_ALL * suspects.sum()) or suspects[most] < _MUCH * rows[most]:
        return []
    of, total = int(suspects[most]), int(suspects.sum())
    found = f"{f'All {count(of)}' if of == total else f'{count(of)} of the {count(total)}'} suspects have the label"
    part = f"`{cut(audit.info.labels[most], 40)}`, {share(of, int(rows[most]))} of its rows"
    return [f"{found} {part}: either many labels of this class are wrong, or the models do not recognise a part of it; read a few first."]
