from __future__ import annotations

import pytest

from cartograph.audits.gates import Bound, GateValue, evaluate_gates, worst
from cartograph.config import load_settings
from cartograph.errors import InputError
from tasks.audit.gates import Gates


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
        "Accuracy on test went from 0.900 to 0.860, at or above the 3 points of `gates.accuracy_drop.fail`: 'a', 'b' (all: data/x.parquet)."
    )


def test_a_gate_without_bounds_is_left_out_and_the_worst_counts() -> None:
    items = [GateValue("a", 1.0, "one"), GateValue("b", 0.5, "half"), GateValue("c", 0.0, "none")]
    found = evaluate_gates(items, {"a": Bound(), "b": Bound(warn=0.4), "c": Bound(fail=0.1)})
    assert [(finding.gate, finding.outcome) for finding in found] == [("b", "warned"), ("c", "passed")]
    assert worst(found) == "warned"
    assert worst(found[1:]) == "passed"
    with pytest.raises(InputError, match=r"a gate warns from 0\.3 on, but fails from 0\.2 on; set `warn` to no more than `fail`"):
        Bound(warn=0.3, fail=0.2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{suspect: {warn: 0.1}}", r"unknown key `gates\.suspect`; did you mean `suspects`\?"),
        (
            "{suspects: {warn: 0.3, fail: 0.2}}",
            r"`gates\.suspects`: a gate must warn before it fails, but `warn` is 0\.3 and",
        ),
        ("{suspects: {warn: 0}}", r"`gates\.suspects\.warn`: input should be greater than 0, but is 0"),
        ("{suspects: 0.1}", r"`gates\.suspects`"),
    ],
)
def test_wrong_bounds_are_told(tmp_path, text: str, message: str) -> None:
    (tmp_path / "params.yaml").write_text(f"gates: {text}\n")
    with pytest.raises(InputError, match=message):
        load_settings(tmp_path / "params.yaml", {"gates": Gates})


def test_a_gate_can_be_switched_off(tmp_path) -> None:
    (tmp_path / "params.yaml").write_text("gates: {suspects: null, new_suspects: {fail: 0.1}}\n")
    found = load_settings(tmp_path / "params.yaml", {"gates": Gates})["gates"]
    assert (found.suspects.warn, found.suspects.fail) == (None, None)
    assert (found.new_suspects.warn, found.new_suspects.fail) == (None, 0.1)
