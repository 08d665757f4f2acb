from __future__ import annotations

import json
import re
from importlib.resources import files

import numpy as np

from cartograph.figures.interactive_map import interactive_map
from cartograph.figures.palette import correctness_levels
from cartograph.page.figure import drawn_rows, map_content
from tests.page_audits import audit_of_texts, decoded


def test_points_are_positions_among_the_carried_rows() -> None:
    audit = audit_of_texts(40, text="t")
    figure = interactive_map(audit.measures, None, max_points=15, seed=1, labels=audit.info.labels, always=[0, 39])
    drawn = drawn_rows(figure)
    assert len(drawn) == 15
    assert {0, 39} <= set(drawn.tolist())
    carried = np.union1d(drawn, [0, 39, 20])
    content = map_content(figure, carried)
    assert "template" not in content["layout"]
    at = np.concatenate([decoded(level["positions"]) for level in content["levels"]])
    assert sorted(carried[at].tolist()) == drawn.tolist()
    for level in content["levels"]:
        rows = carried[decoded(level["positions"])]
        assert len(set(audit.correctness[rows].tolist())) <= 1
    assert all(trace.get("x") != [None] or "customdata" not in trace for trace in content["data"])
    json.dumps(content, allow_nan=False)


def test_every_shape_of_the_palette_can_be_drawn() -> None:
    script = (files("cartograph.page") / "assets" / "dom.js").read_text()
    steps = np.arange(25.0)
    symbols = {level.symbol for last in range(1, 25) for level in correctness_levels(steps[: last + 1] / last)}
    assert len(symbols) > 8
    assert {symbol for symbol in symbols if not re.search(rf'^  "?{symbol}"?: "M', script, re.M)} == set()
