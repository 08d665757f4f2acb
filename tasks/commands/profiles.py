"""How much an audit does, by name: the profiles `quick`, `standard` and `full`, and a params.yaml that is given one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from cartograph.config import Settings
from cartograph.errors import InputError

PROFILES: dict[str, dict[str, dict[str, Any]]] = {
    "quick": {
        "aflite": {"enabled": False},
        "clean": {"recipe": "decisions-only"},
        "select": {"strategies": []},
        "retrain": {"subsets": [], "selections": False},
    },
    "standard": {
        "aflite": {"enabled": False},
        "clean": {"recipe": "auto"},
        "select": {"strategies": ["random", "ambiguous", "hard-to-learn", "high-confidence"]},
        "retrain": {"subsets": ["original", "cleaned", "random"], "selections": False},
    },
    "full": {
        "aflite": {"enabled": True},
        "clean": {"recipe": "auto"},
        "select": {"strategies": ["random", "ambiguous", "hard-to-learn", "high-confidence", "aflite"]},
        "retrain": {"subsets": ["original", "cleaned", "random"], "selections": True},
    },
}
"""Profile -> section of params.yaml -> the keys that it sets. Each sets the same keys, so that one can follow another."""

USUAL = "standard"
"""The profile of a new workspace."""


def keys_of_profile(name: str) -> dict[str, dict[str, Any]]:
    """Return the sections and keys that a profile sets; none for an empty name.

    Raises:
        InputError: there is no such profile.
    """
    if not name:
        return {}
    if name not in PROFILES:
        raise InputError(f"there is no profile {name!r}; use {', '.join(PROFILES)}.")
    return PROFILES[name]


def has_profile(settings: Settings, name: str) -> bool:
    """Return whether the settings have every value that a profile sets."""
    content = {section: settings[section].model_dump(mode="json") for section in PROFILES[name] if section in settings}
    return all(content.get(section, {}).get(key) == value for section, keys in PROFILES[name].items() for key, value in keys.items())


def with_keys(text: str, given: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of a params.yaml in which these keys have these values; everything else, comments included, stays as it is.

    Args:
        text: of the file, in which each key stands on a line of its own below its section.
        given: section -> key -> value.

    Raises:
        InputError: a key is not there, or not on one line.

    >>> print(with_keys("retrain:\\n  seeds: [1, 2]   # a model each\\n", {"retrain": {"seeds": [3]}}), end="")
    retrain:
      seeds: [3]                 # a model each
    """
    from tasks.commands.params_yaml import inline

    for section, keys in given.items():
        for key, value in keys.items():
            pattern = rf"^({section}:[^\n]*\n(?:(?:[ #][^\n]*)?\n)*?)  {key}:(?! *(?:#|\n))([^\n#]*)"
            written = f"  {key}: {inline(value)}"
            line = re.search(pattern, text, re.MULTILINE)
            if line is None:
                raise InputError(f"params.yaml has no line for `{section}.{key}`; set it to {inline(value)} there by hand.")
            after = f"{text[: line.start()]}{line[1]}{written:<28} {text[line.end() :]}"
            if not (_is_whole(line[2]) and _differs_in(text, after, section, key, value)):
                raise InputError(f"params.yaml does not have `{section}.{key}` whole on its line; set it to {inline(value)} there by hand.")
            text = after
    return text


def _is_whole(value: str) -> bool:
    try:
        yaml.safe_load(value)
    except yaml.YAMLError:
        return False
    return True


def _differs_in(before: str, after: str, section: str, key: str, value: Any) -> bool:
    """Return whether a params.yaml says after a change what it said before, but for one key."""
    wanted = yaml.safe_load(before)
    wanted[section][key] = value
    try:
        return bool(yaml.safe_load(after) == wanted)
    except yaml.YAMLError:
        return False
