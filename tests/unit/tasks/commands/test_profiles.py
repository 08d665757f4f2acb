"""The profiles of an audit, and how a params.yaml is given one."""

from __future__ import annotations

import pytest
import yaml

from cartograph.errors import InputError
from tasks.commands.params_yaml import render
from tasks.commands.profiles import PROFILES, has_profile, keys_of_profile, with_keys
from tasks.pipelines import STEPS
from tests.workspaces import settings_of

INGEST = {"source": "files", "train": ["a.csv"], "text": ["text"], "evaluation": {}}


def test_every_profile_sets_the_same_keys() -> None:
    keys = {name: {section: set(given) for section, given in sections.items()} for name, sections in PROFILES.items()}
    assert keys["quick"] == keys["standard"] == keys["full"]


def test_a_profile_does_more_than_the_one_before() -> None:
    usual = {step.name: step.params() for step in STEPS if step.name != "ingest"}
    settings = [settings_of(**usual | {"ingest": INGEST} | PROFILES[name]) for name in ("quick", "standard", "full")]
    done = [{step.name for step in STEPS if step.when(given)} for given in settings]
    assert done[0] < done[1] < done[2]
    assert {"retrain", "evaluate"} <= done[1] - done[0] and {"aflite", "bias"} <= done[2] - done[1]


@pytest.mark.parametrize("start", list(PROFILES))
@pytest.mark.parametrize("end", list(PROFILES))
def test_a_profile_can_follow_any_other(start: str, end: str) -> None:
    text = render({"ingest": INGEST} | keys_of_profile(start))
    after = with_keys(text, keys_of_profile(end))
    settings = settings_of(**yaml.safe_load(after))
    assert has_profile(settings, end) and (start == end or not has_profile(settings, start))
    assert [line.partition("#")[2] for line in after.splitlines()] == [line.partition("#")[2] for line in text.splitlines()]
    assert (after == text) == (start == end)


def test_a_key_that_is_not_on_a_line_of_its_own_is_left_to_the_person() -> None:
    with pytest.raises(InputError, match=r"no line for `retrain\.subsets`; set it to \[\] there by hand"):
        with_keys("retrain: {seeds: [1]}\naflite:\n  subsets: [original]\n", {"retrain": {"subsets": []}})
    with pytest.raises(InputError, match=r"retrain\.subsets"):
        with_keys("retrain:\n  subsets:\n    - original\n", {"retrain": {"subsets": []}})


@pytest.mark.parametrize("value", ["[original,\n    cleaned]", '[original, "a #b"]', "original\n    cleaned", '"original\n    cleaned"'])
def test_a_value_that_is_not_whole_on_its_line_is_left_to_the_person(value: str) -> None:
    with pytest.raises(InputError, match=r"does not have `retrain\.subsets` whole on its line; set it to \[\] there by hand"):
        with_keys(f"retrain:\n  subsets: {value}\n  seeds: [1]\n", {"retrain": {"subsets": []}})
