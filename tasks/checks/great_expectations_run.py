"""Checks of tables with Great Expectations: how they are run, and how their results are worded."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

MAX_EXAMPLES = 20


@dataclass(frozen=True)
class Check:
    """One expectation, and what it is called in plain words."""

    check: str
    expected: str
    expectation: Any


def runner(where: str) -> Callable[[str, pd.DataFrame, Sequence[Check]], dict[str, Any]]:
    """Return what runs checks on a frame under a name and gives Great Expectations' result; column ``where`` identifies rows."""
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    source = context.data_sources.add_pandas("sets")

    def run(name: str, frame: pd.DataFrame, checks: Sequence[Check]) -> dict[str, Any]:
        batch = source.add_dataframe_asset(name).add_batch_definition_whole_dataframe("all")
        for number, check in enumerate(checks):
            check.expectation.meta = {"number": number}
        suite = context.suites.add(gx.ExpectationSuite(name, expectations=[check.expectation for check in checks]))
        definition = context.validation_definitions.add(gx.ValidationDefinition(name=name, data=batch, suite=suite))
        outcome = definition.run(
            batch_parameters={"dataframe": frame},
            result_format={"result_format": "SUMMARY", "unexpected_index_column_names": [where], "partial_unexpected_count": MAX_EXAMPLES},
        )
        found: dict[str, Any] = json.loads(json.dumps(outcome.to_json_dict(), default=str))
        return found

    return run


def by_check(checks: Sequence[Check], result: dict[str, Any]) -> list[tuple[Check, dict[str, Any]]]:
    """Return each check with what Great Expectations found of it, in the order of the checks."""
    found = {one["expectation_config"]["meta"]["number"]: one for one in result["results"]}
    return [(check, found[number]) for number, check in enumerate(checks)]
