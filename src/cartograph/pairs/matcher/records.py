"""The records of both sides of a task: whole texts, and the values of their fields where tables have some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Records:
    """What a matcher reads of both sides.

    Attributes:
        left: whole text of each left record.
        right: whole text of each right record; ``left`` itself where both sides are one set.
        fields: name of a field that both sides have -> its left and its right values, as text; empty where a record is one text.
    """

    left: Sequence[str]
    right: Sequence[str]
    fields: Mapping[str, tuple[Sequence[str], Sequence[str]]] = field(default_factory=dict)

    @property
    def symmetric(self) -> bool:
        """Whether both sides are one set."""
        return self.right is self.left
