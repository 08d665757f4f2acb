from __future__ import annotations

import numpy as np

from cartograph.pairs.matcher.first_questions import first_questions
from cartograph.pairs.matcher.records import Records

RNG = np.random.default_rng(5)
LEFT = [" ".join(RNG.choice([f"word{number}" for number in range(40)], 5)) for _ in range(50)]
SAME = Records(LEFT, [f"{text} again" for text in LEFT[:20]] + [f"other{row} word{row}" for row in range(30)])


def test_half_are_the_most_alike_and_records_differ() -> None:
    found = first_questions(SAME, 10, 20)
    assert len(found.left) == len(set(found.left.tolist())) == len(set(found.right.tolist())) == 20
    assert np.all(np.diff(found.score) <= 0)
    same = found.left == found.right
    assert same[:10].all()
    assert not same[-5:].any(), "pairs that are less alike are asked about too"


def test_where_records_are_few_they_come_again() -> None:
    texts = ["red chair", "red chair oak", "oak chair", "blue lamp"]
    found = first_questions(Records(texts, texts), 3, 10)
    pairs = set(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert {(0, 1), (0, 2), (1, 2)} <= pairs
    assert len(pairs) == len(found.left)
    assert found.left.tolist() == first_questions(Records(texts, texts), 3, 10).left.tolist()
