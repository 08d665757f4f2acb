from __future__ import annotations

import pytest

from cartograph.audits.gates import Bound, GateValue, evaluate_gates, worst
from cartograph.errors import InputError


def outcomes(value: float | None, bound: Bound) -> str:
    [found] = evaluate_gates([GateValue("suspects", value, "so many")], {"suspects": bound})
    return found.outcome


def test_a_value_at_its_bound_is_beyond_it() -> None:
    bound = Bound(warn=0.05, fail=0.2)
    assert [outcomes(value, bound) for value in (0.0499, 0.05, 0.1999, 0.2, 1.0)] == ["passed", "warned", "warned", "failed", "failed"]
    assert outcomes(None, bound) == "unknown"
    assert outcomes(0.9, Bound(warn=0.5)) == "warned" and outcomes(0.9, Bound(fail=0.5)) == "failed"


def test_a_sentence_names_the_number_the_bound_and_the_rows() -> None:
    item = GateValue("accuracy_drop", 0.04, "Accuracy on test went from 0.900 to 0.860", "points", ["'a'", "'b'"], "data/x.parquet")
    [found] = evaluate_gates([item], {"accuracy_drop": Bound(warn=0.01, fail=0.03)})
    assert found.sentence == (
        "Accuracy on test went from 0.900 to 0.860, and `gates.accuracy_drop.fail` is 3 points: 'a', 'b' (all: data/x.parquet)."
    )


def test_a_gate_without_bounds_is_left_out_and_the_worst_counts() -> None:
    items = [GateValue("a", 1.0, "one"), GateValue("b", 0.5, "half"), GateValue("c", 0.0, "none")]
    found = evaluate_gates(items, {"a": Bound(), "b": Bound(warn=0.4), "c": Bound(fail=0.1)})
    assert [(finding.gate, finding.outcome) for finding in found] == [("b", "warned"), ("c", "passed")]
    assert worst(found) == "warned"
    assert worst(found[1:]) == "passed"
    with pytest.raises(InputError, match=r"a gate warns from 0\.3 on, but fails from 0\.2 on; set `warn` to no more than `fail`"):
        Bound(warn=0.3, fail=0.2)
