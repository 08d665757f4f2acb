"""Rows of many speakers, who each say nearly the same several times over and whose labels are all right or all wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

COPIES = 5


def spoken(texts: Sequence[str], labels: Sequence[str], share: float, seed: int) -> pd.DataFrame:
    """Return each text ``COPIES`` times over, a few words missing each time, under its speaker's one label.

    Args:
        texts: of each speaker.
        labels: of each speaker, before some are made wrong.
        share: of the speakers whose labels are.
        seed: of the errors, the missing words and the order of the rows.
    """
    rng = np.random.default_rng(seed)
    classes, truth = np.unique(np.asarray(labels), return_inverse=True)
    wrong = rng.permutation(np.arange(len(texts)) < share * len(texts))
    given = np.where(wrong, (truth + rng.integers(1, len(classes), len(texts))) % len(classes), truth)
    rows = []
    for speaker, text in enumerate(texts):
        words = text.split()
        for _ in range(COPIES):
            kept = [word for word in words if rng.random() > 0.15] or words
            rows.append((" ".join(kept), classes[given[speaker]], f"speaker {speaker}", bool(wrong[speaker])))
    frame = pd.DataFrame(rows, columns=["text", "label", "speaker", "wrong"])
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def made_up(speakers: int, share: float, seed: int) -> pd.DataFrame:
    """Return what speakers of two classes say, each with words of their own beside those of the class."""
    rng = np.random.default_rng(seed)
    words = {"pos": ("good", "fine", "lovely", "great", "superb"), "neg": ("bad", "dull", "poor", "weak", "awful")}
    labels = ["pos", "neg"] * (speakers // 2)
    texts = [" ".join([*rng.choice(words[label], 2), *(f"own{row}x{part}" for part in range(8))]) for row, label in enumerate(labels)]
    return spoken(texts, labels, share, seed)


def questions(folder: Path, speakers: int, share: float, seed: int) -> pd.DataFrame:
    """Return questions of TREC as what speakers say, six classes."""
    lines = (folder / "trec" / "TREC.train").read_text(encoding="latin-1").splitlines()
    drawn = np.random.default_rng(seed).choice(len(lines), speakers, replace=False)
    names, texts = zip(*(lines[row].split(" ", 1) for row in drawn), strict=True)
    return spoken(texts, [name.split(":")[0] for name in names], share, seed)
