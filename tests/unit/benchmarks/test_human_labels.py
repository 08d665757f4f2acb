"""The rows that a hundred people judged are found among SNLI's, however each file spells them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import human_labels


@pytest.mark.realdata
def test_every_judged_row_is_a_train_row_and_a_quarter_is_against_its_label(real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(human_labels, "DATA", real_data)
    rows = human_labels.train_rows()
    found = human_labels.judged(rows)
    assert (len(rows), len(found), sum(found.values())) == (11_508, 1_514, 378)
    assert set(found) <= {row["uid"] for row in rows}


def test_a_pair_is_its_letters_and_digits() -> None:
    assert human_labels.key("A man , with 2 dogs .", "It 's late .") == human_labels.key("A man, with 2 dogs.", "It's late.")
    assert human_labels.key("a b", "c") != human_labels.key("a", "b c")
