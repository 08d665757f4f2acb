"""The flow of an audit, without a server."""

from __future__ import annotations

import pytest

from cartograph.errors import CartographError
from flows import audit
from tasks.engine.workspace import Workspace


def test_an_error_that_nobody_foresaw_is_announced_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    announced: list[tuple[str, CartographError | None]] = []

    def fail(workspace: str) -> Workspace:
        raise RuntimeError("out of order")

    monkeypatch.setattr(audit, "open_workspace", fail)
    monkeypatch.setattr(audit, "announce", lambda name, space, error: announced.append((name, error)))
    with pytest.raises(RuntimeError, match="out of order"):
        audit.audit.fn("workspaces/reviews")
    assert [(name, str(error)) for name, error in announced] == [("workspaces/reviews", "RuntimeError: out of order")]
