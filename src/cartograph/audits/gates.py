"""Gates: numbers of an audit compared with bounds, each with a sentence that names the number, the bound and the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from cartograph.errors import InputError

Outcome = Literal["passed", "warned", "failed", "unknown"]


@dataclass(frozen=True)
class Bound:
    """From which value on a gate warns, and from which it fails the audit; None: never.

    Raises:
        InputError: it would fail before it warns.
    """

    warn: float | None = None
    fail: float | None = None

    def __post_init__(self) -> None:
        if self.warn is not None and self.fail is not None and self.warn > self.fail:
            raise InputError(f"a gate warns from {self.warn:g} on, but fails from {self.fail:g} on; set `warn` to no more than `fail`.")

    def outcome(self, value: float) -> Outcome:
        """Return the outcome of a value; one that is exactly at a bound is beyond it."""
        if self.fail is not None and value >= self.fail:
            return "failed"
        return "warned" if self.warn is not None and value >= self.warn else "passed"


@dataclass(frozen=True)
class GateValue:
    """A number that a gate is about.

    Attributes:
        gate: the gate's name.
        value: the number, higher = worse; None where it is not known: no earlier audit, no suspects looked for.
        statement: the number in words: ``317 of 5,652 labels look wrong (5.6 %)``.
        unit: ``share``, in [0, 1], ``points``, in [0, 1] but written in points, or ``count``.
        rows: which rows, classes, sets or checks, the worst first.
        where: the file that has them all.
    """

    gate: str
    value: float | None
    statement: str = ""
    unit: Literal["share", "points", "count"] = "share"
    rows: Sequence[str] = ()
    where: str = ""


@dataclass(frozen=True)
class Finding:
    """The outcome of a gate; ``sentence`` says it in words."""

    gate: str
    value: float | None
    warn: float | None
    fail: float | None
    outcome: Outcome
    sentence: str

    def content(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def evaluate_gates(measured: Sequence[GateValue], bounds: Mapping[str, Bound]) -> list[Finding]:
    """Compare each number with its bounds; a gate without bounds is left out.

    >>> [found] = evaluate_gates([GateValue("suspects", 0.25, "1 of 4 labels looks wrong (25 %)", rows=["a"])], {"suspects": Bound(0.1)})
    >>> found.outcome, found.sentence
    ('warned', '1 of 4 labels looks wrong (25 %), and `gates.suspects.warn` is 10 %: a.')
    """
    used = [(item, bounds[item.gate]) for item in measured if item.gate in bounds]
    return [_finding(item, bound) for item, bound in used if bound != Bound()]


def worst(findings: Sequence[Finding]) -> Outcome:
    """Return the worst outcome: ``failed``, ``warned`` or ``passed``."""
    outcomes = {finding.outcome for finding in findings}
    return "failed" if "failed" in outcomes else "warned" if "warned" in outcomes else "passed"


def _finding(item: GateValue, bound: Bound) -> Finding:
    outcome: Outcome = "unknown" if item.value is None else bound.outcome(item.value)
    return Finding(item.gate, item.value, bound.warn, bound.fail, outcome, _sentence(item, bound, outcome))


def _sentence(item: GateValue, bound: Bound, outcome: Outcome) -> str:
    if outcome in ("passed", "unknown"):
        return f"{item.statement}." if item.statement else "No earlier audit of other rows, labels or parameters to compare with."
    which = "fail" if outcome == "failed" else "warn"
    limit = bound.fail if outcome == "failed" else bound.warn
    assert limit is not None
    rows = f": {', '.join(item.rows)}" if item.rows else ""
    where = f" (all: {item.where})" if item.where else ""
    return f"{item.statement}, and `gates.{item.gate}.{which}` is {written(limit, item.unit)}{rows}{where}."


def written(value: float, unit: str) -> str:
    """Return a bound as a person reads it.

    >>> written(0.05, "share"), written(0.015, "points"), written(3, "count")
    ('5 %', '1.5 points', '3')
    """
    if unit == "count":
        return f"{value:g}"
    return f"{100 * value:.3g} {'%' if unit == 'share' else 'points'}"
