"""What the benchmarks ask of cleanlab."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from benchmarks import cleanlab_peer


def test_a_benchmark_without_its_peer_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cleanlab", None)
    monkeypatch.setattr(sys, "argv", ["/somewhere/benchmarks/features.py"])
    with pytest.raises(SystemExit, match=r"^benchmarks/features\.py compares with cleanlab, .*: pip install "):
        cleanlab_peer.peer_version()


def test_precision_is_that_of_the_most_doubtful_rows_first():
    wrong = np.array([False, True, False, True])
    assert cleanlab_peer.precision_of(wrong, np.array([0.1, 0.9, 0.2, 0.8])) == 1.0
    assert cleanlab_peer.precision_of(wrong, np.array([0.9, 0.1, 0.8, 0.2])) < 0.5
    assert cleanlab_peer.precision_of(np.zeros(4, dtype=bool), np.arange(4.0)) is None
