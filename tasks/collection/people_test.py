"""The test by people's answers: the sheet of test pairs, and what each model's test is by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tasks.collection.encode import DATA as ENCODED
from tasks.collection.encode import PAIRS, UNTRAINED, questions_of
from tasks.collection.parameters import TEST_SCORES, Collect, folder_of
from tasks.engine.step import Inputs
from tasks.presentation.console import say

if TYPE_CHECKING:
    from cartograph.data.arrays import Floats

SHEET, ANSWERED = "reports/test-pairs.csv", "review/test-pairs.csv"
"""Test pairs to answer, and the sheet that comes back."""

_MOST_DRAWS = 400
"""Of the labels of unanswered pairs; each scores all pairs of the sample."""


def test_sheet(inputs: Inputs) -> bytes:
    """Return the test pairs that people are asked about as a sheet, shuffled, so that nobody knows how likely they are."""
    import numpy as np

    from cartograph.pairs.answers import answer_sheet
    from cartograph.pairs.tables import load_sample, load_task

    keys = load_sample(inputs[ENCODED] / "sample-test.parquet").keys[questions_of(inputs[ENCODED]).rows]
    return answer_sheet(load_task(inputs[PAIRS]), np.random.default_rng(0).permutation(keys))


@dataclass(frozen=True)
class TestByPeople:
    """The test by people's answers.

    Attributes:
        metrics: ``people.asked``, ``people.answered``, and once all pairs are answered the numbers before any label (``untrained``), after
            the last round (``last``), and their difference, with intervals.
        values: (n_rounds,) average precision after each round; None before all are answered.
        draws: (n_draws, n_rounds) the same on each draw.
    """

    metrics: Mapping[str, float]
    values: Floats | None = None
    draws: Floats | None = None


def test_by_people(inputs: Inputs, collect: Collect, seed: int) -> TestByPeople:
    """Return the test by people's answers.

    Args:
        inputs: of the step `compare`.
        collect: the section of that name.
        seed: of the draws behind intervals.

    Raises:
        InputError: the sheet has what is no answer, or is about other data.
    """
    import numpy as np

    from cartograph.pairs.answered_test import answered_draws
    from cartograph.pairs.answers import answers_in
    from cartograph.pairs.estimate import POSITIVE
    from cartograph.pairs.people_test import answered_sample
    from cartograph.pairs.tables import load_sample, load_task

    questions, task = questions_of(inputs[ENCODED]), load_task(inputs[PAIRS])
    whole = load_sample(inputs[ENCODED] / "sample-test.parquet")
    sheet = answers_in(inputs[ANSWERED].read_bytes(), ANSWERED, task) if ANSWERED in inputs else None
    answers: Mapping[int, int] = sheet.answers if sheet is not None else {}
    asked = whole.keys[questions.rows].tolist()
    metrics = {"people.asked": float(len(asked)), "people.answered": float(sum(key in answers for key in asked))}
    if metrics["people.answered"] < len(asked) or not any(answers[key] >= 0 for key in asked):
        if sheet is not None:
            there = f"{int(metrics['people.answered']):,} of the {len(asked):,} test pairs are answered"
            say(f"{ANSWERED}: {there}; the test by answers waits for the rest.")
        return TestByPeople(metrics)
    sample, rows = answered_sample(whole, questions, answers)
    hidden = (sample.kind == POSITIVE) & (np.arange(len(rows)) >= whole.positives)
    metrics |= {"people.found": float(hidden.sum()), "people.hidden": float(sample.weight[hidden].sum())}
    done = [inputs[folder_of(collect.methods[0], collect.seeds[0], number)] / TEST_SCORES for number in range(1, collect.rounds + 1)]
    scores = [np.load(path, allow_pickle=False) for path in (inputs[ENCODED] / UNTRAINED, *done)]
    number = min(collect.resamples, _MOST_DRAWS)
    draws = [*answered_draws(whole, questions, answers, scores, number, np.random.default_rng(seed))]
    for name, place in (("untrained", 0), ("last", -1)):
        metrics |= _with_ends(f"people.{name}.average_precision", draws[place][:, 0])
        metrics |= _with_ends(f"people.{name}.precision_at_recall_20", draws[place][:, 1])
    metrics |= _with_ends("people.gain", draws[-1][:, 0] - draws[0][:, 0])
    # What a reader gets who subtracts; the middle of the differences is another number.
    gain = metrics["people.last.average_precision"] - metrics["people.untrained.average_precision"]
    metrics["people.gain"] = min(max(gain, metrics["people.gain.low"]), metrics["people.gain.high"])
    precisions = np.stack([drawn[:, 0] for drawn in draws[1:]], axis=1)
    return TestByPeople(metrics, np.median(precisions, axis=0), precisions)


def _with_ends(name: str, draws: Floats) -> dict[str, float]:
    """Return the middle of the draws, and the ends of their middle 95 %."""
    import numpy as np

    low, middle, high = np.quantile(draws, [0.025, 0.5, 0.975])
    return {name: float(middle), f"{name}.low": float(low), f"{name}.high": float(high)}
