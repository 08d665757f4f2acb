"""What an audit in memory gives back: the page, the map in a notebook, the rows that stay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cartograph.errors import InputError
from cartograph.frames.audit import audit
from cartograph.frames.recorded import from_dynamics
from cartograph.frames.result import FrameAudit
from cartograph.page.read_verdict import verdict_of

EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    words = {"pos": ("good", "fine", "lovely"), EVIL: ("bad", "dull", "poor")}
    labels = ["pos", EVIL] * 400
    texts = [" ".join([*rng.choice(words[label], 3), *rng.choice([f"w{number}" for number in range(40)], 2), EVIL]) for label in labels]
    table = pd.DataFrame({"text": texts, "label": labels, "stars": np.arange(800) / 2})
    table.loc[0:800:16, "label"] = EVIL
    return table


@pytest.fixture(scope="module")
def found(frame: pd.DataFrame) -> FrameAudit:
    return audit(frame, text="text", label="label", epochs=8)


def test_the_page_holds_map_and_suspects_and_escapes_what_the_texts_say(found: FrameAudit, tmp_path: Path) -> None:
    path = found.report(tmp_path / "made" / "page.html")
    page = path.read_text(encoding="utf-8")
    assert path == tmp_path / "made" / "page.html" and page.startswith("<!doctype html>")
    assert EVIL not in page and "default-src 'none'" in page
    assert '"Suspects"' in page and "flipped" not in page.partition("plotly")[0].lower()
    assert found.report(tmp_path / "again.html").read_bytes() == path.read_bytes()


def test_a_notebook_shows_the_numbers_and_the_map_escaped(found: FrameAudit) -> None:
    shown = found._repr_html_()
    assert shown.startswith("<p>audit of 800 rows: ") and "Plotly.newPlot" in shown and EVIL not in shown
    assert "<li>Not in that number are errors that follow a rule" in shown


def test_what_was_found_is_said_in_the_sentences_of_the_page(found: FrameAudit, tmp_path: Path) -> None:
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert found.verdict == verdict_of(page)
    recorded = from_dynamics((["a", "b"], [0, 1], np.zeros((2, 2, 2))))
    assert len(recorded.verdict[0]) > 10


def test_the_page_counts_the_rows_of_a_frame_as_iloc_does(frame: pd.DataFrame, found: FrameAudit) -> None:
    shown = found._page.examples
    assert frame["text"].iloc[shown["row"].to_numpy()].tolist() == shown["text"].to_pylist()


def test_rows_that_are_surely_wrong_leave_and_the_others_keep_all_columns(frame: pd.DataFrame, found: FrameAudit) -> None:
    sure = found.suspects.index[found.suspects["probability"] >= 0.8]
    assert len(sure) > 15 and set(sure) <= set(range(0, 800, 16))
    pd.testing.assert_frame_equal(found.cleaned(), frame.drop(index=sure))
    relabelled = found.cleaned("relabel")
    changed = relabelled["label"] != frame.loc[relabelled.index, "label"]
    assert set(relabelled.index[changed]) | (set(frame.index) - set(relabelled.index)) == set(sure)
    assert (relabelled["label"][changed] == "pos").all()


def test_what_cannot_be_cleaned_is_said(found: FrameAudit) -> None:
    with pytest.raises(InputError, match="recipe must be auto, drop-flagged, relabel or down-weight, but is 'decisions-only'"):
        found.cleaned("decisions-only")  # type: ignore[arg-type]
    recorded = from_dynamics((["a", "b"], [0, 1], np.zeros((2, 2, 2))))
    with pytest.raises(InputError, match="no frame whose rows could be kept"):
        recorded.cleaned()


def test_columns_that_are_named_like_those_of_suspects_keep_their_values() -> None:
    rows = {"reason": [f"{word} film {number}" for number in range(40) for word in ("good", "bad")], "suggested": ["pos", "neg"] * 40}
    rows["suggested"][10] = "neg"
    found = audit(pd.DataFrame(rows | {"probability": 0.5}), text="reason", label="suggested", epochs=2)
    assert found.suspects.columns.tolist() == ["reason (given)", "suggested (given)", "suggested", "probability", "reason"]
    assert len(found.suspects) and found.suspects["reason (given)"].str.contains(" film ").all()


def test_rows_of_a_table_that_are_there_twice_under_two_labels_are_counted_in_a_sentence() -> None:
    rng = np.random.default_rng(2)
    sizes = rng.normal(0, 1, 120)
    once = pd.DataFrame({"size": sizes, "width": rng.normal(0, 1, 120), "label": np.where(sizes > 0, "big", "small")})
    again = once.head(6).assign(label=np.where(sizes[:6] > 0, "small", "big"))
    found = audit(pd.concat([once, again], ignore_index=True), features=True, label="label", epochs=2)
    said = "12 of the 126 rows have the values of another row under another label: of two such labels one is wrong, or the columns do not "
    assert f"{said}decide it." in found.verdict
