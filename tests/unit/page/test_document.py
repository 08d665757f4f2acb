from __future__ import annotations

import base64
import json
import re
from dataclasses import replace

import numpy as np

from cartograph.page.audit import Audit, Limits
from cartograph.page.document import page
from tests.page_audits import with_planted_truth, with_suspects, with_versions


def test_a_tiny_audit_makes_a_page(audit: Audit) -> None:
    document = page(with_versions(with_planted_truth(audit)))
    assert document.startswith("<!doctype html>")
    assert "<title>default: data audit</title>" in document


def test_suspects_are_always_drawn(audit: Audit) -> None:
    few = replace(with_suspects(audit, flagged=(6, 2)), limits=Limits(examples=1, listed=1, max_points=5))
    content = json.loads(re.search(r'id="data-rows">(.*?)</script>', page(few), re.DOTALL)[1])
    places = np.frombuffer(base64.b64decode(content["place"]["data"]), dtype="<u4").tolist()
    suspect = np.frombuffer(base64.b64decode(content["suspect"]["data"]), dtype=np.uint8).tolist()
    assert [place for place, flag in zip(places, suspect, strict=True) if flag] == [2, 6]
    assert "suspect" not in json.loads(re.search(r'id="data-rows">(.*?)</script>', page(audit), re.DOTALL)[1])
