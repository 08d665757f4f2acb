from __future__ import annotations

import numpy as np

from cartograph.pairs.implied import contradictions, implied_pairs
from cartograph.pairs.task import Task

N = 8
NONE = np.empty(0, np.int64)


def task(*, transitive: bool = True) -> Task:
    texts = [f"text {row}" for row in range(N)]
    return Task(texts, texts, np.zeros(N, np.int8), True, transitive, NONE, NONE, np.empty(0, np.int8))


def keys(*pairs: tuple[int, int]) -> np.ndarray:
    return np.array([one * N + other for one, other in pairs], np.int64)


def test_pairs_within_a_group_and_between_two_that_differ_follow() -> None:
    asked, labels = keys((0, 1), (1, 2), (3, 4), (2, 3), (5, 6)), np.array([1, 1, 1, 0, -1], np.int8)
    same, differ = [(0, 1), (0, 2), (1, 2), (3, 4)], [(one, other) for one in (0, 1, 2) for other in (3, 4)]
    assert implied_pairs(task(), asked, labels).tolist() == sorted(keys(*same, *differ).tolist())
    assert len(implied_pairs(task(transitive=False), asked, labels)) == 0


def test_an_answer_that_others_contradict_is_named_with_the_shortest_proof() -> None:
    asked = keys((0, 1), (1, 2), (2, 3), (0, 2), (0, 3), (4, 5))
    labels = np.array([1, 1, 1, 1, 0, 0], np.int8)
    assert contradictions(task(), asked, labels) == {3: keys((0, 2), (2, 3)).tolist()}
    assert contradictions(task(), asked[:4], labels[:4]) == {}
    assert contradictions(task(transitive=False), asked, labels) == {}
