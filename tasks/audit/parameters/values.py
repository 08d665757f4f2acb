"""What several sections of params.yaml ask of a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tasks.audit.parameters.files import listed


def distinct(wrong: str) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return the check that a list has nothing twice; ``wrong`` is its message, with ``{}`` where the value is named."""

    def check(values: tuple[Any, ...]) -> tuple[Any, ...]:
        twice = next((value for index, value in enumerate(values) if value in values[:index]), None)
        if twice is not None:
            raise ValueError(wrong.format(twice))
        return values

    return check


def auto_or_at_least(least: int) -> Callable[[Any], Any]:
    """Return the check that a value is ``auto`` or a whole number from ``least`` on."""

    def check(value: Any) -> Any:
        if value == "auto" or (type(value) is int and value >= least):
            return value
        raise ValueError(f"should be `auto` or a whole number of {least} or more, but is {value!r}")

    return check


def none_is_empty(value: Any) -> Any:
    """Let ``null`` be an empty list."""
    return () if value is None else value


def all_or_names(value: Any) -> Any:
    """Let a list of names be ``all``, one name, or ``null`` for none."""
    return value if value == "all" else none_is_empty(listed(value))
