"""What a step would compute now: its inputs, and the sections that it reads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cartograph.errors import InputError
from tasks.engine.receipt import fingerprint
from tests.small_steps import STEP, Doubling, Grid, space
from tests.workspaces import make_workspace, with_sections


def test_a_missing_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"step `double` needs .*data/source, which an earlier step makes"):
        fingerprint(STEP, make_workspace(tmp_path, double=Doubling()))


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="there is no file that is there and cannot be read")
def test_an_input_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"step `double` needs .*/self/mem, which cannot be read \(.+\); change its permissions"):
        fingerprint(replace(STEP, inputs=("file:/proc/self/mem",)), space(tmp_path))


def test_another_section_that_a_step_reads_counts(tmp_path: Path) -> None:
    step = replace(STEP, reads=("grid",))
    before = fingerprint(step, with_sections(space(tmp_path), grid=Grid()))
    assert fingerprint(step, with_sections(space(tmp_path), grid=Grid(seeds=(3,)))) != before
    assert fingerprint(step, with_sections(space(tmp_path), grid=Grid())) == before
