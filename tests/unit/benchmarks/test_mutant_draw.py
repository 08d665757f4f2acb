"""Defects drawn by lot."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks import mutant_draw

SOURCE = '''"""Not 3 + 3."""
LIMIT = 3


def choose(values: tuple[int, int] = (1, 2), *, strict: bool = True) -> int:
    if not values or (len(values) > 1 and strict):
        raise ValueError(f"more than {1 + 1}")
    print(values)
    return sum(values) - values[0]
'''


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "chosen.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.setattr(mutant_draw, "FILES", ("chosen.py",))
    return tmp_path


def test_every_place_that_decides_something_is_changed_once(source: Path) -> None:
    changes = mutant_draw.drawn(source, 100, seed=1)
    texts = [SOURCE[: change.start] + change.after + SOURCE[change.stop :] for change in changes]
    for text in texts:
        ast.parse(text)
    said = {SOURCE[change.start : change.stop].strip() + " -> " + change.after.strip() for change in changes}
    assert said == {
        "1 -> 2",
        "2 -> 3",
        "True -> False",
        "not -> ",
        "> -> >=",
        "and -> or",
        "print(values) -> pass",
        "- -> +",
        "0 -> 1",
    }
    assert len(set(texts)) == len(texts) == 10


def test_the_same_seed_draws_the_same(source: Path) -> None:
    assert mutant_draw.drawn(source, 4, seed=1) == mutant_draw.drawn(source, 4, seed=1)
    assert mutant_draw.drawn(source, 4, seed=1) != mutant_draw.drawn(source, 4, seed=2)
