"""The listed defects are still defects of this code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def test_what_every_listed_defect_replaces_stands_in_its_file_and_its_tests_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.delitem(sys.modules, "mutants", raising=False)
    from benchmarks.mutants import MUTANTS

    assert len(MUTANTS) > 40
    for mutant in MUTANTS:
        assert mutant.before in (ROOT / mutant.file).read_text(encoding="utf-8"), mutant
        assert all((ROOT / path.partition("::")[0]).exists() for path in mutant.tests.split()), mutant
