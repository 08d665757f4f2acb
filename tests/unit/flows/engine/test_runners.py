"""Which runners there are, and what is said of one that cannot be had."""

from __future__ import annotations

import sys

import pytest

from cartograph.errors import InputError
from flows.engine.runners import check_runner


def test_dask_where_it_is_not_installed_is_a_sentence_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    for address in (None, "tcp://127.0.0.1:9"):
        with pytest.raises(
            InputError, match=r"--runner dask needs the library `distributed`, .* `pip install -c constraints\.txt -e '\.\[dask\]'`"
        ):
            check_runner("dask", address)
    check_runner("local", None)
