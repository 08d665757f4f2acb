"""How long a filter takes at most, by a clock that stands until it is moved."""

from __future__ import annotations

import pytest

from cartograph.adversarial_filter.forecast import Forecast, Forecaster


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def heard() -> list[Forecast]:
    return []


@pytest.fixture
def timer(clock: Clock, heard: list[Forecast]) -> Forecaster:
    """Of rounds of 100, 80, 60 and, for the measure of what is kept, 50 rows: 290 in all."""
    return Forecaster(100, 50, 20, True, heard.append, clock)


def test_the_first_classifiers_say_how_long_all_rounds_take(clock: Clock, heard: list[Forecast], timer: Forecaster) -> None:
    with timer.a_round() as moved:
        clock.now += 7  # what only the first round has to do
        moved(0.0)
        clock.now += 3  # what every round has to do before its first classifiers
        moved(0.1)
        assert heard == [], "one point is no line"
        clock.now += 0.4
        moved(0.12)
        assert heard == [], "so little says nothing"
        clock.now += 1.6
        moved(0.2)
    # A tenth took 2 s: the round takes 3 + 2 + 16 s, one of n rows n hundredths of that, and all of them 290.
    assert heard[0] == Forecast(rounds=4, ended=0, seconds=12.0, seconds_left=pytest.approx(16 + 21 * 1.9))


def test_rounds_that_have_ended_say_it_more_closely(clock: Clock, heard: list[Forecast], timer: Forecaster) -> None:
    with timer.a_round() as moved:
        moved(0.0)
        clock.now += 10
    assert heard == [Forecast(4, 1, 10.0, pytest.approx(19.0))]
    with timer.a_round() as moved:
        clock.now += 2
        moved(0.01)
        assert heard[-1] == Forecast(4, 1, 12.0, pytest.approx(17.0)), "in a later round every word counts"
        clock.now += 14
        moved(0.9)
        assert heard[-1] == Forecast(4, 1, 26.0, pytest.approx(11.0)), "a round that takes longer is nearly over"
        clock.now += 4
    assert heard[-1] == Forecast(4, 2, 30.0, pytest.approx(20 * 110 / 80))
    for _ in range(2):
        with timer.a_round():
            clock.now += 5
    assert heard[-1] == Forecast(4, 4, 40.0, 0.0)


def test_the_slice_sizes_say_how_many_rounds_there_can_be(clock: Clock, heard: list[Forecast]) -> None:
    for asked, rounds in (((100, 50, 20, False), 3), ((100, 50, 25, True), 3), ((100, 99, 1, False), 1), ((40, 50, 20, True), 1)):
        with Forecaster(*asked, heard.append, clock).a_round():
            pass
        assert heard.pop().rounds == rounds, asked
    with Forecaster(100, 50, 20, True, None, clock).a_round() as moved:
        moved(0.5)
