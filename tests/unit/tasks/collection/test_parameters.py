from __future__ import annotations

import re
from typing import Any

import pytest

from tasks.collection.parameters import Collect


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"methods": ["stratified-match"]}, "method `stratified-match` matches what `uncertainty` found; list that too"),
        ({"oracle": "people"}, "oracle `people`: list one method and one seed; people are asked about the pairs of only one"),
        ({"oracle": "people", "methods": ["stratified-all-positives"]}, "needs to know all labels, which people do not say"),
        ({"seeds": [1, 1]}, "a method or a seed is listed twice"),
        ({"seeds": [-1]}, "Input should be greater than or equal to 0"),
        ({"growth": float("inf")}, "Input should be less than or equal to 100"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(given: dict[str, Any], wanted: str) -> None:
    with pytest.raises(ValueError, match=re.escape(wanted)):
        Collect.model_validate(given)
