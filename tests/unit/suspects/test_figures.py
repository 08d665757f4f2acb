from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from cartograph.figures.saving import save_figure
from cartograph.suspects.figures import EXPERIMENT, noise_figure, shares


def experiment() -> pa.Table:
    flipped = [True] * 4 + [False] * 2
    columns = {"confidence_before": 0.95, "variability_before": 0.02, "confidence_after": 0.1, "variability_after": 0.3}
    return pa.table(
        {"uid": [f"u{row}" for row in range(6)], "flipped": flipped} | {name: [value] * 6 for name, value in columns.items()},
        schema=EXPERIMENT,
    )


def test_shares_are_of_the_flipped_rows() -> None:
    share, edges = shares(np.array([0.0, 0.05, 0.5, 0.6]), "variability", bins=5)
    np.testing.assert_allclose(share, [0.5, 0, 0, 0, 0.5])
    np.testing.assert_allclose(edges, [0, 0.1, 0.2, 0.3, 0.4, 0.5])


def test_the_figure_is_the_same_bytes_and_says_what_was_assumed(tmp_path: Path) -> None:
    for name in ("one.svg", "other.svg", "one.png", "other.png"):
        save_figure(noise_figure(experiment()), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "other.png").read_bytes()
    words = [text.get_text() for text in noise_figure(experiment(), assumed=True).texts]
    assert "4 rows of the easy region; assumed, not retrained" in words
