from __future__ import annotations

import pytest

from cartograph.data.progress import piece_of


@pytest.mark.parametrize("each", [5, None])
def test_pieces_count_up_to_the_whole_one_after_the_other(each: int | None) -> None:
    heard: list[tuple[int, int]] = []
    for number in range(3):
        piece = piece_of(lambda done, total: heard.append((done, total)), number, 3, each)
        assert piece is not None
        for done in (2, 5, 10):
            piece(done, 10)
    size = 10 if each is None else each
    assert heard == [(size * number + done, 3 * size) for number in range(3) for done in (2 * size // 10, size // 2, size)]


def test_a_piece_of_nothing_says_nothing() -> None:
    assert piece_of(None, 0, 2) is None
    heard: list[tuple[int, int]] = []
    piece = piece_of(lambda done, total: heard.append((done, total)), 1, 2, 4)
    assert piece is not None
    piece(0, 0)
    assert heard == [(4, 8)]
