from __future__ import annotations

from cartograph.schema import NOISE
from cartograph.suspects.not_looked_for import all_alike, not_looked_for
from tests.training_sets import small_set


def test_a_list_without_suspects_keeps_the_labels_and_says_why() -> None:
    rows = small_set(rows=3).sort_by("uid")
    table, record = not_looked_for(rows, all_alike(3), {"threshold": 0.4})
    assert table.schema == NOISE and table["suggested"].to_pylist() == rows["label"].to_pylist()
    assert not any(table["flagged"].to_pylist()) and set(table["reason"].to_pylist()) == {"not looked for"}
    assert (record["suspects"], record["threshold"], record["wrong"]) == (0, 0.4, None)
    assert record["impossible"] == "Wrong labels could not be looked for: all 3 rows have the same label. Add rows of other classes."
