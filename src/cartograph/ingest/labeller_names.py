"""Columns whose names say that they hold who gave a row's label: what is read beside it, or doubted by it, hangs on that."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cartograph.wording import cut

_WHO = r"annotator|label+er|rater|coder|grader|assessor|moderator|tagger|(crowd_?|turk_?)?worker|turker"
_BY = r"(annotated|label+ed|rated|coded|graded|assessed|moderated|tagged|classified|judged|diagnosed)_by"
_EXPERT = r"doctor|physician|radiologist|pathologist|clinician|expert|judge|examiner|reviewer|(checked|assigned|entered|reviewed)_by"
_KEY = r"(_?(id|ids|name|no|nr|number|key|code|email|user|initials))?"
_SURE, _LIKELY = (re.compile(f"({names}){_KEY}") for names in (f"{_WHO}|{_BY}", f"{_WHO}|{_BY}|{_EXPERT}"))


def names_a_labeller(name: str) -> bool:
    """Return whether a column of this name says who labelled, and nothing of the row.

    >>> [names_a_labeller(name) for name in ("Annotator ID", "labeled_by", "coder", "worker-id", "doctor", "label", "color")]
    [True, True, True, True, False, False, False]
    """
    return _SURE.fullmatch(plain_name(name)) is not None


def labeller_sentence(names: Iterable[str], option: str) -> str:
    """Return that a column may say who labelled, and how to name it; empty where none is named so.

    Args:
        names: of the columns of a data set, but for those that have a use already.
        option: how such a column is named where the audit is asked for, the name to follow.

    >>> labeller_sentence(["text", "Rater"], "--labelled-by ")
    'If `Rater` says who labelled, name it (--labelled-by Rater): labels of somebody who is more often wrong are doubted more.'
    """
    found = sorted((name for name in names if _LIKELY.fullmatch(plain_name(name))), key=lambda name: not names_a_labeller(name))
    if not found:
        return ""
    name = cut(found[0], 60)
    return f"If `{name}` says who labelled, name it ({option}{name}): labels of somebody who is more often wrong are doubted more."


def plain_name(name: str) -> str:
    """Return a column's name in small letters, its words joined by underscores.

    >>> [plain_name(name) for name in ("AnnotatorId", "Unnamed: 0", " row-names ")]
    ['annotator_id', 'unnamed_0', 'row_names']
    """
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[\W_]+", "_", parts.casefold()).strip("_")
