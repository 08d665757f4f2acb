"""A whole audit of a data frame in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cartograph.errors import InputError
from cartograph.frames.audit import FrameAudit, audit

WRONG = [f"r{row}" for row in range(7, 240, 10)]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    words = {"pos": ("good", "fine", "lovely", "great", "superb"), "neg": ("bad", "dull", "poor", "weak", "awful")}
    labels = ["pos", "neg"] * 120
    others = [f"w{number}" for number in range(60)]
    texts = [" ".join([*rng.choice(words[label], 2), *rng.choice(others, 4)]) for label in labels]
    table = pd.DataFrame({"text": texts, "label": labels}, index=[f"r{row}" for row in range(240)])
    table.loc[WRONG, "label"] = ["pos" if table.loc[row, "label"] == "neg" else "neg" for row in WRONG]
    return table


@pytest.fixture(scope="module")
def found(frame: pd.DataFrame) -> FrameAudit:
    return audit(frame, text="text", label="label", epochs=30)


def test_wrong_labels_are_suspects_under_the_frames_index_with_what_they_should_be(frame: pd.DataFrame, found: FrameAudit) -> None:
    assert set(found.suspects.index) <= set(WRONG) and len(found.suspects) > 8
    assert all(found.suspects.loc[row, "suggested"] != frame.loc[row, "label"] for row in found.suspects.index)
    assert found.suspects["probability"].is_monotonic_decreasing and found.suspects["probability"].between(0.5, 1).all()
    assert found.wrong is not None and found.wrong.low <= len(WRONG) <= found.wrong.high


def test_every_row_has_its_measures_and_the_wrong_ones_low_confidence(frame: pd.DataFrame, found: FrameAudit) -> None:
    assert found.measures.index.equals(frame.index)
    confidence = found.measures["confidence"]
    assert confidence[WRONG].mean() < confidence.drop(WRONG).mean() - 0.2
    assert {"confidence", "variability", "correctness", "region"} <= set(found.measures.columns)


def test_the_map_has_a_point_for_each_row_and_the_result_is_a_line(found: FrameAudit) -> None:
    assert found.map().layout.meta["rows"] == 240
    assert repr(found).startswith(f"<audit of 240 rows: {len(found.suspects)} suspects, wrong labels: about ")


def test_the_same_frame_gives_the_same_result_and_pairs_are_taken(frame: pd.DataFrame, found: FrameAudit) -> None:
    pd.testing.assert_frame_equal(audit(frame, text="text", label="label", epochs=30).measures, found.measures)
    pairs = audit(frame.assign(other="about a film"), text=["text", "other"], label="label", epochs=2)
    assert len(pairs.measures) == 240


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({}, {"text": "review"}, "the frame has no column 'review'; its columns are text, label"),
        ({"label": None}, {}, r"column 'label' is empty in row 'r0' \(240 such rows\)"),
        ({"label": "pos"}, {}, "column 'label' holds 1 class in 240 rows"),
        ({}, {"text": ["text", "text", "text"]}, "text names 3 columns; name one, or two of pairs"),
        ({}, {"epochs": 1}, "epochs must be 2 or more"),
    ],
)
def test_a_frame_that_cannot_be_audited_is_refused(frame: pd.DataFrame, change: dict, arguments: dict, message: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(InputError, match=message):
        audit(frame.assign(**change), **{"text": "text", "label": "label"} | arguments)
