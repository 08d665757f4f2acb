"""The step `compare`: methods side by side over all test pairs, the curves, the collected datasets as versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from cartograph.config import Section, Settings
from cartograph.data.json_files import read_json, write_json
from tasks.collection.encode import DATA as ENCODED
from tasks.collection.encode import UNTRAINED
from tasks.collection.pairs import partly_stated
from tasks.collection.parameters import SECTION, Collect, folder_of
from tasks.collection.people_test import ANSWERED, TestByPeople, test_by_people, test_sheet
from tasks.collection.people_test import SHEET as TEST_SHEET
from tasks.engine.step import Inputs, Out, Step

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.pairs.comparison import RoundResult
    from cartograph.pairs.more_labels import Forecast

DATA, METRICS = "data/compare", "reports/compare.metrics.json"
HOUR = "hour.json"
CURVES, RELIABILITY = "reports/figures/collection.svg", "reports/figures/reliability.svg"
FIGURES = (CURVES, RELIABILITY, "reports/figures/collection.png", "reports/figures/reliability.png")
SHEET, CHECKS = "reports/mistakes.csv", "review/mistakes.csv"
"""False positives to judge, and the sheet that comes back with people's judgements."""


class Compare(Section):
    """The section ``compare`` of params.yaml."""

    seed: int = Field(13, ge=0, description="seed of the draws behind intervals over seeds")


def run(params: Compare, inputs: Inputs, out: Out) -> str:
    """Write results, summary, differences, figures, versions and metrics; return the best method."""
    from cartograph.data.parquet import write_parquet
    from cartograph.figures.saving import save_figure
    from cartograph.pairs.comparison import differences, results, summary
    from cartograph.pairs.figures import curve_figure, reliability_figure
    from cartograph.pairs.method_metrics import corrected_metrics, method_metrics

    collect = out.workspace.settings.of(Collect)
    arms, folder = _round_results(inputs, collect), out[DATA]
    arms = [*untrained_results(inputs["data/pairs"], inputs[ENCODED], collect), *arms]
    versions = _versions(inputs, collect, folder)
    findings: dict[str, Any] = {method: read_json(_last(inputs, collect, method) / "findings.json") for method in collect.methods}
    out[SHEET].write_bytes(_sheet(inputs, findings))
    tables = {"results": results(arms), "summary": summary(arms, params.seed), "differences": differences(arms, params.seed)}
    for name, table in tables.items():
        write_parquet(table, folder / f"{name}.parquet")
    write_json(folder / "versions.json", versions)
    write_json(folder / "findings.json", findings)
    reliability = {method: found["reliability"] for method, found in findings.items()}
    for name in FIGURES:
        figure = (
            curve_figure(tables["summary"], collect.methods) if "collection" in name else reliability_figure(reliability, collect.methods)
        )
        save_figure(figure, out[name])
    last = [arm for arm in arms if arm.round == collect.rounds]
    false_positives = {method: found["putative"] for method, found in findings.items()}
    metrics = method_metrics(tables["summary"], last, params.seed) | corrected_metrics(false_positives, _judgements(inputs), last)
    if partly_stated(out.workspace.settings):
        metrics |= {f"{method}.partly_stated": 1.0 for method in collect.methods} | _gains(inputs, collect)
    by_people = TestByPeople({})
    if collect.oracle == "people":
        out[TEST_SHEET].write_bytes(test_sheet(inputs))
        by_people = test_by_people(inputs, collect, params.seed)
        metrics |= by_people.metrics
    write_json(out[METRICS], metrics)
    best = max(collect.methods, key=lambda method: metrics[f"{method}.average_precision"])
    partly = partly_stated(out.workspace.settings)
    write_json(
        folder / HOUR, vars(_an_hour([arm for arm in arms if arm.method == best and arm.round], by_people, params.seed, partly=partly))
    )
    if (by_answers := metrics.get("people.last.average_precision")) is not None:
        ends = " to ".join(f"{metrics[f'people.last.average_precision.{end}']:.3f}" for end in ("low", "high"))
        return f"best {best} of {len(collect.methods)} methods, AP {by_answers:.3f} by people's answers (95 % CI {ends})"
    low = " (too low: unstated test pairs count as negative)" if partly else ""
    reached = [metrics[f"{method}.average_precision"] for method in collect.methods]
    if len(reached) > 1 and max(reached) == min(reached):
        return f"AP {max(reached):.3f}{low} by each of {len(reached)} methods"
    return f"best {best}, AP {max(reached):.3f}{low} of {len(reached)} methods"


def _an_hour(arms: Sequence[RoundResult], by_people: TestByPeople, seed: int, *, partly: bool) -> Forecast:
    """Return what one more hour of labelling would bring the best method, by the test of people's answers where there is one."""
    import numpy as np

    from cartograph.pairs.more_labels import AN_HOUR, Forecast, forecast

    numbers = sorted({arm.round for arm in arms})
    rounds = [[arm for arm in arms if arm.round == number] for number in numbers]
    labels = np.array([np.mean([arm.numbers["labels"] + arm.numbers.get("given", 0.0) for arm in own]) for own in rounds])
    rng = np.random.default_rng(seed)
    if by_people.values is not None and by_people.draws is not None:
        return forecast(labels, by_people.values, by_people.draws, AN_HOUR, rng)
    if partly:
        return Forecast(
            AN_HOUR, 0.0, 0.0, 0.0, "the test rests on pairs that nobody has stated until people have answered reports/test-pairs.csv"
        )
    values = np.array([np.mean([arm.numbers["test.average_precision"] for arm in own]) for own in rounds])
    draws = np.stack([np.mean([arm.draws[:, 0] for arm in own], axis=0) for own in rounds], axis=1)
    return forecast(labels, values, draws, AN_HOUR, rng)


def _round_results(inputs: Inputs, collect: Collect) -> list[RoundResult]:
    import numpy as np

    from cartograph.pairs.comparison import RoundResult

    found = []
    for method in collect.methods:
        for number in range(1, collect.rounds + 1):
            for seed in collect.seeds:
                folder = inputs[folder_of(method, seed, number)]
                draws = np.load(folder / "resampled.npy", allow_pickle=False)
                path = folder / "balanced.npy"
                balanced = np.load(path, allow_pickle=False) if path.exists() else None
                found.append(RoundResult(method, seed, number, read_json(folder / "scores.json")["numbers"], draws, balanced))
    return found


def untrained_results(pairs: Path, encoded: Path, collect: Collect) -> list[RoundResult]:
    """Return the scores of the model before any label as round 0 of every method and seed; on the same draws as all rounds."""
    import numpy as np

    from cartograph.pairs.comparison import RoundResult
    from cartograph.pairs.estimate import bootstrap_scores, curve
    from cartograph.pairs.tables import load_sample, load_task

    path = encoded / UNTRAINED
    if not path.exists():
        return []
    sample, score = load_sample(encoded / "sample-test.parquet"), np.load(path, allow_pickle=False)
    whole = curve(sample, score)
    space = load_task(pairs).space("test")
    draws = next(bootstrap_scores(sample, space, [score], collect.resamples, np.random.default_rng(0)))
    numbers = {"labels": 0.0, "answered": 0.0, "positive": 0.0}
    numbers |= {"test.average_precision": whole.average_precision, "test.precision_at_recall_20": whole.precision_at()}
    return [RoundResult(method, seed, 0, numbers, draws) for method in collect.methods for seed in collect.seeds]


def _last(inputs: Inputs, collect: Collect, method: str) -> Path:
    return inputs[folder_of(method, collect.seeds[0], collect.rounds)]


def _gains(inputs: Inputs, collect: Collect) -> dict[str, float]:
    """Return how much better each method's last matcher ranks answers that it has not seen than the label-free score does."""
    found: dict[str, float] = {}
    for method in collect.methods:
        gain = read_json(_last(inputs, collect, method) / "scores.json")["chosen"].get("gain")
        if gain is not None:
            found |= {f"{method}.answers_gain": gain["value"], f"{method}.answers_gain_error": gain["error"]}
    return found


def _versions(inputs: Inputs, collect: Collect, folder: Path) -> dict[str, dict[str, Any]]:
    """Write each collected dataset with its texts; return what each is."""
    import pyarrow.parquet as pq

    from cartograph.data.parquet import write_parquet
    from cartograph.pairs.comparison import collection_version
    from cartograph.pairs.tables import load_task

    task = load_task(inputs["data/pairs"])
    (folder / "collected").mkdir()
    found = {}
    for method in collect.methods:
        for seed in collect.seeds:
            table = pq.read_table(inputs[folder_of(method, seed, collect.rounds)] / "collected.parquet")
            whole = _with_texts(table, task.left, task.right)
            columns = [whole[name].to_pylist() for name in ("left", "right", "label")]
            version = collection_version(*columns)
            write_parquet(whole, folder / "collected" / f"{method}-{seed}.parquet")
            positive = sum(label == 1 for label in columns[2])
            found[f"{method}-{seed}"] = {"version": version, "rows": len(whole), "positive": positive}
    return found


def _with_texts(table: pa.Table, left: Any, right: Any) -> pa.Table:
    import pyarrow as pa

    rows, others = table["left"].to_pylist(), table["right"].to_pylist()
    texts = {"left": [left[row] for row in rows], "right": [right[row] for row in others]}
    return pa.table({**texts, "label": table["label"], "round": table["round"]})


def _sheet(inputs: Inputs, findings: Mapping[str, Any]) -> bytes:
    """Return the false positives of all methods' models as one sheet, shuffled, so that nobody knows whose they are."""
    import numpy as np

    from cartograph.pairs.answers import answer_sheet
    from cartograph.pairs.tables import load_task

    asked = {key for found in findings.values() for keys in found["putative"].values() for key in keys}
    keys = np.random.default_rng(0).permutation(np.array(sorted(asked), np.int64))
    return answer_sheet(load_task(inputs["data/pairs"]), keys)


def _judgements(inputs: Inputs) -> Mapping[int, int]:
    """Return what people said of false positives, by key; empty where nobody judged any.

    Raises:
        InputError: a judgement is not valid, two of one pair differ, or the sheet is about other data.
    """
    from cartograph.pairs.answers import answers_in
    from cartograph.pairs.tables import load_task

    return answers_in(inputs[CHECKS].read_bytes(), CHECKS, load_task(inputs["data/pairs"])).answers if CHECKS in inputs else {}


def rounds_of(settings: Settings) -> tuple[str, ...]:
    """Return where every round of every method and seed stands."""
    collect = settings.of(Collect)
    numbers = range(1, collect.rounds + 1)
    return tuple(folder_of(method, seed, number) for number in numbers for method in collect.methods for seed in collect.seeds)


STEP = Step(
    name="compare",
    run=run,
    params=Compare,
    inputs=lambda settings: ("data/pairs", ENCODED, *rounds_of(settings)),
    optional=(CHECKS, ANSWERED),
    outputs=lambda settings: (DATA, *FIGURES, METRICS, SHEET, *((TEST_SHEET,) if settings.of(Collect).oracle == "people" else ())),
    libraries=("matplotlib", "numpy", "pyarrow"),
    reads=(SECTION, "pairs"),
)
