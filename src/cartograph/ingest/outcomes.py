"""Labels that are outcomes: what became of a row, such as a customer who left or a loan that was denied, whatever its columns say.

What only became likelier by what the columns say has exceptions, and these look just like wrong labels: if seven in ten customers of a kind
leave, and one in twenty of the others, the three that stayed are as surprising as three that were entered wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_CLASSES = 3
"""Classes of an outcome at most, such as yes, no and late."""

_NAMES = frozenset(
    (
        *("churn", "churned", "churner", "attrition", "attrited", "exited", "retained", "retention", "renewed", "dropout"),
        *("survived", "survival", "survivor", "died", "dead", "death", "deceased", "mortality"),
        *("readmitted", "readmission", "relapse", "relapsed", "recurrence", "recid", "recidivism", "reoffended"),
        *("default", "defaulted", "delinquent", "delinquency", "bankrupt", "bankruptcy"),
        *("converted", "conversion", "purchased", "bought", "clicked", "subscribed", "unsubscribed", "responded"),
        *("canceled", "cancelled", "cancellation", "noshow", "won", "winner", "outcome"),
        *("approved", "approval", "denied", "denial", "rejected", "granted", "admitted", "hired"),
    )
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def outcome_named(names: Sequence[str], classes: int) -> str:
    """Return the first of a label's columns whose name says that it is an outcome; empty where none does, or classes are more.

    Args:
        names: of the columns that hold the labels.
        classes: how many there are.

    >>> [outcome_named([name], 2) for name in ("Churn", "is_canceled", "loanDefault", "Survived", "label", "class", "churn_reason_code2")]
    ['Churn', 'is_canceled', 'loanDefault', 'Survived', '', '', 'churn_reason_code2']
    >>> outcome_named(["churn_reason"], 12)
    ''
    """
    if classes > MOST_CLASSES:
        return ""
    return next((name for name in names if _NAMES & {word.lower() for word in _WORD.findall(name)}), "")
