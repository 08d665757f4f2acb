from __future__ import annotations

import io
import json
from typing import Any

import pytest

from cartograph.read.answering import Refused, Request, answer_one


@pytest.mark.parametrize(
    ("raised", "answer"),
    [
        (None, {"rows": 3, "address": "db://ann"}),
        (Refused("has no ann"), {"error": "has no …"}),
        (ImportError("No module named 'x'"), {"error": "needs a driver that is not installed (No module named 'x'); `pip install -c "
         "constraints.txt -e '.[dbs]'`"}),
        (OSError("ann was refused"), {"error": "cannot be read: … was refused"}),
        (KeyError(), {"error": "cannot be read: KeyError"}),
    ],
)  # fmt: skip
def test_whatever_happens_is_one_answer_without_secrets(
    raised: Exception | None, answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({"variable": "PLACE", "rows": 3})))
    monkeypatch.setenv("PLACE", "db://ann")

    def respond(request: Request, address: str) -> dict[str, Any]:
        if raised is not None:
            raise raised
        return {"rows": request["rows"], "address": address}

    answer_one(
        respond,
        lambda text, _, address: text.replace(address[5:], "…"),
        done="read",
        needs="a driver",
        extra=lambda address: address[:2] + "s",
    )
    assert json.loads(capsys.readouterr().out) == answer
