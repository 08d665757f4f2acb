from __future__ import annotations

import re
from importlib.resources import files

import pytest

from cartograph.page.parts import asset, script

SCRIPTS = sorted(path.name for path in (files("cartograph.page") / "assets").iterdir() if path.name.endswith(".js"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_carried_without_comments_and_indentation(name: str) -> None:
    lines = asset(name).splitlines()
    assert lines and not [line for line in lines if line != line.strip() or not line or line.startswith("//")]
    source = (files("cartograph.page") / "assets" / name).read_text(encoding="utf-8")
    code = [line.strip() for line in source.splitlines() if not line.strip().startswith("//")]
    assert lines == [line for line in code if line]
    open_at_the_end = [line for line in lines if len(re.findall(r"(?<!/)`", line)) % 2]
    assert not open_at_the_end, "a text over several lines would lose its indentation"


def test_scripts_are_one_function() -> None:
    assert script(["content", "plain"]).startswith('"use strict";\n(() => {\n') and script(["plain"]).endswith("})();\n")
