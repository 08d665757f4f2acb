"""What every step keeps to, whatever is listed in STEPS."""

from __future__ import annotations

import pytest

from tasks.commands.params_yaml import render
from tasks.engine.receipt import versions
from tasks.engine.step import Step
from tasks.engine.workspace import CODE
from tasks.pipelines import STEPS, open_workspace


@pytest.fixture(params=STEPS, ids=lambda step: step.name)
def step(request: pytest.FixtureRequest) -> Step:
    return request.param


def test_every_parameter_is_described_in_one_line(step: Step) -> None:
    for key, field in step.params.model_fields.items():
        assert field.description, f"{step.name}.{key} has no description"
        assert "\n" not in field.description


def test_its_section_has_defaults_that_are_valid(step: Step) -> None:
    assert step.params.model_validate({}) == step.params()


def test_what_decides_its_numbers_is_installed(step: Step) -> None:
    assert "-" not in versions(step.libraries).values()


def test_its_files_stand_inside_the_workspace(step: Step) -> None:
    space = open_workspace(CODE)
    for cell in step.expand(space.settings):
        for name in (*cell.outputs_of(space.settings), cell.receipt_name):
            assert space.resolve(name).is_relative_to(CODE / "data") or space.resolve(name).is_relative_to(CODE / "reports")


def test_no_output_belongs_to_two_steps() -> None:
    settings = open_workspace(CODE).settings
    names = [name for step in STEPS for cell in step.expand(settings) for name in cell.outputs_of(settings)]
    assert len(names) == len(set(names))


def test_a_new_workspace_shows_every_key_of_every_step(step: Step) -> None:
    text = render({"ingest": {"source": "files", "train": ["x.csv"]}})
    for key in step.params.model_fields:
        assert f"  {key}:" in text or (step.name, key) in {("ingest", "rows"), ("ingest", "seed")}
