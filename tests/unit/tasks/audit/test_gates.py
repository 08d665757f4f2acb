from __future__ import annotations

import pytest

from cartograph.config import load_settings
from cartograph.errors import InputError
from tasks.audit.gates import Gates


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
def test_wrong_bounds_are_refused(tmp_path, text: str, message: str) -> None:
    (tmp_path / "params.yaml").write_text(f"gates: {text}\n")
    with pytest.raises(InputError, match=message):
        load_settings(tmp_path / "params.yaml", {"gates": Gates})


def test_a_gate_can_be_switched_off(tmp_path) -> None:
    (tmp_path / "params.yaml").write_text("gates: {suspects: null, new_suspects: {fail: 0.1}}\n")
    found = load_settings(tmp_path / "params.yaml", {"gates": Gates})["gates"]
    assert (found.suspects.warn, found.suspects.fail) == (None, None)
    assert (found.new_suspects.warn, found.new_suspects.fail) == (None, 0.1)
