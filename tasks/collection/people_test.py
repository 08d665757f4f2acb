"""The test by people's answers: the sheet of test pairs, and what each model's test is by it."""

from __future__ import annotations

from collections.abc import Mapping
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


def test_sheet(inputs: Inputs) -> bytes:
    """Return the test pairs that people are asked about as a sheet, shuffled, so that nobody knows how likely they are."""
    import numpy as np

    from cartograph.pairs.answers import answer_sheet
    from cartograph.pairs.tables import load_sample, load_task

    keys = load_sample(inputs[ENCODED] / "sample-test.parquet").keys[questions_of(inputs[ENCODED]).rows]
    return answer_sheet(load_task(inputs[PAIRS]), np.random.default_rng(0).permutation(keys))


def people_metrics(inputs: Inputs, collect: Collect, seed: int) -> dict[str, float]:
    """Return the numbers of the test by people's answers: before any label, after the last round, and their difference, with intervals.

    ``people.asked`` and ``people.answered`` alone, where not all pairs are answered.

    Args:
        inputs: of the step `compare`.
        collect: the section of that name.
        seed: of the draws behind intervals.

    Raises:
        InputError: the sheet has what is no answer, or is about other data.
    """
    import numpy as np

    from cartograph.pairs.answers import answers_in
    from cartograph.pairs.estimate import POSITIVE, bootstrap_scores, curve
    from cartograph.pairs.people_test import answered_sample
    from cartograph.pairs.tables import load_sample, load_task

    questions, task = questions_of(inputs[ENCODED]), load_task(inputs[PAIRS])
    whole = load_sample(inputs[ENCODED] / "sample-test.parquet")
    sheet = answers_in(inputs[ANSWERED].read_bytes(), ANSWERED, task) if ANSWERED in inputs else None
    answers: Mapping[int, int] = sheet.answers if sheet is not None else {}
    asked = whole.keys[questions.rows].tolist()
    metrics = {"people.asked": float(len(asked)), "people.answered": float(sum(key in answers for key in asked))}
    decided = [answers[key] for key in asked if answers.get(key, -1) >= 0]
    if metrics["people.answered"] < len(asked) or not decided:
        if sheet is not None:
            there = f"{int(metrics['people.answered']):,} of the {len(asked):,} test pairs are answered"
            say(f"{ANSWERED}: {there}; the test by answers waits for the rest.")
        return metrics
    sample, rows = answered_sample(whole, questions, answers)
    hidden = (sample.kind == POSITIVE) & (np.arange(len(rows)) >= whole.positives)
    metrics |= {"people.found": float(hidden.sum()), "people.hidden": float(sample.weight[hidden].sum())}
    last = inputs[folder_of(collect.methods[0], collect.seeds[0], collect.rounds)] / TEST_SCORES
    scores = {name: np.load(path, allow_pickle=False)[rows] for name, path in (("untrained", inputs[ENCODED] / UNTRAINED), ("last", last))}
    draws = dict(
        zip(
            scores,
            bootstrap_scores(sample, task.space("test"), list(scores.values()), collect.resamples, np.random.default_rng(seed)),
            strict=True,
        )
    )
    for name, score in scores.items():
        found = curve(sample, score)
        for place, (measure, value) in enumerate(
            (("average_precision", found.average_precision), ("precision_at_recall_20", found.precision_at()))
        ):
            metrics |= _with_ends(f"people.{name}.{measure}", value, draws[name][:, place])
    gain = metrics["people.last.average_precision"] - metrics["people.untrained.average_precision"]
    return metrics | _with_ends("people.gain", gain, draws["last"][:, 0] - draws["untrained"][:, 0])


def _with_ends(name: str, value: float, draws: Floats) -> dict[str, float]:
    import numpy as np

    low, high = np.nanquantile(draws, [0.025, 0.975])
    return {name: value, f"{name}.low": float(min(low, value)), f"{name}.high": float(max(high, value))}
