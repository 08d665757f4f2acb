"""What a page shows of an audit, read from the outputs of its steps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cartograph.config import Settings
from cartograph.data.json_files import read_json
from tasks.audit.blind import read_blind
from tasks.audit.epochs import label_probabilities
from tasks.audit.impossible import reasons
from tasks.audit.parameters.measure import Measure
from tasks.audit.parameters.report import Report
from tasks.audit.plan import chosen_selections, experiment_folders, selections
from tasks.engine.failed_cell import failure_of
from tasks.engine.receipt import versions
from tasks.engine.workspace import Workspace

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.compare.versions import Comparison
    from cartograph.data.arrays import Floats
    from cartograph.page.audit import Audit
    from cartograph.page.step_results import (
        Aflite,
        Bias,
        Cleaning,
        EvaluationLabels,
        ExperimentAnswer,
        HowMade,
        LabelFound,
        Selections,
        SinceLastAudit,
        Suspects,
    )

COMPARED = "data/evaluate"
NOISE = "data/noise"
AFLITE = ("data/aflite", "reports/aflite.metrics.json")
BIAS = ("data/bias", "reports/bias.metrics.json")
CLEANED = ("data/clean/changes.parquet", "data/clean/decided.parquet", "data/clean/version.json", "data/clean/arms.json")
SINCE = "data/compare"
GATES = "data/gates"
EVALUATION_LABELS = "data/evaluation_labels"
EMBEDDED = "data/embed/made.json"
STILL = "reports/figures/data_map.png"
LIBRARIES = (
    "accelerate",
    "great-expectations",
    "matplotlib",
    "numpy",
    "pandas",
    "plotly",
    "pyarrow",
    "tokenizers",
    "torch",
    "transformers",
)

_RECORDS = {NOISE: "noise.json", AFLITE[0]: "aflite.json"}


def map_inputs(settings: Settings) -> tuple[str, ...]:
    """Return what a page needs to show the map and the suspects."""
    metrics = tuple(f"reports/{step}.metrics.json" for step in ("ingest", "train", "measure"))
    noise = (NOISE, "reports/noise.metrics.json") if "noise" in settings else ()
    return ("data/ingest", "data/train", "data/measure", *metrics, STILL, *noise)


def read_audit(params: Report, inputs: Mapping[str, Path], workspace: Workspace) -> Audit:
    """Return what a page shows of an audit.

    Args:
        params: how much it shows.
        inputs: declared name -> path, those of ``map_inputs`` at the least; what has no input has no part of the page.
        workspace: the audit's.
    """
    import pyarrow.parquet as pq

    from cartograph.compare.versions import VERSIONS
    from cartograph.data.subsets import rows_of
    from cartograph.page.audit import Audit, Limits
    from cartograph.page.encode import data_uri
    from cartograph.schema import HISTORY, UID

    ingest, train = inputs["data/ingest"], inputs["data/train"]
    measures = pq.read_table(inputs["data/measure"] / "measures.parquet")
    history = train / "history.parquet"
    probabilities = label_probabilities(train / "dynamics", measures[UID])
    measure = workspace.settings.of(Measure)
    versions = _read_comparison(inputs).only(VERSIONS) if COMPARED in inputs else None
    return Audit(
        examples=rows_of(pq.read_table(ingest / "train.parquet"), measures[UID], "the data map", "data/ingest/train.parquet"),
        measures=measures,
        probabilities=probabilities,
        history=pq.read_table(history) if history.exists() else HISTORY.empty_table(),
        validation=read_json(ingest / "validation.json"),
        quarantine=pq.read_table(ingest / "quarantine.parquet"),
        training=read_json(train / "training.json"),
        metrics={Path(name).name.split(".")[0]: read_json(path) for name, path in inputs.items() if name.endswith(".metrics.json")},
        score=_score(inputs, measures),
        window=_window(measure, probabilities),
        still=data_uri(inputs[STILL].read_bytes(), "image/png"),
        how_made=_how_made(inputs, workspace),
        comparison=None if versions is None else versions.of_sets(),
        groups=None if versions is None else versions.of_groups(),
        selections=_selections(inputs, workspace),
        suspects=_suspects(inputs, measures),
        impossible=reasons(*(inputs[name] / file for name, file in _RECORDS.items() if name in inputs)),
        aflite=_aflite(inputs),
        bias=_bias(inputs),
        cleaning=_cleaning(inputs),
        experiments=[_experiment_answer(inputs[name]) for name in experiment_folders(workspace.settings) if name in inputs],
        broken=read_json(inputs[COMPARED] / "broken.json") if COMPARED in inputs else (),
        since_last_audit=_since_last_audit(inputs),
        gates=read_json(inputs[GATES] / "gates.json")["gates"] if GATES in inputs else (),
        evaluation_labels=_evaluation_labels(inputs, ingest),
        several=_several(inputs),
        strata=_strata(ingest, measures),
        blind=read_blind(inputs, NOISE),
        limits=Limits(params.examples, params.listed, params.text_characters, max_points=measure.max_points, seed=measure.seed),
    )


def _evaluation_labels(inputs: Mapping[str, Path], ingest: Path) -> list[EvaluationLabels]:
    """Return what was found about the labels of evaluation sets; nothing where nobody looked."""
    import pyarrow.parquet as pq

    from cartograph.data.subsets import rows_of
    from cartograph.page.step_results import EvaluationLabels
    from cartograph.schema import NOISE as LISTED

    if EVALUATION_LABELS not in inputs:
        return []
    folder, found = inputs[EVALUATION_LABELS], []
    for name, record in read_json(folder / "evaluation_labels.json").items():
        examples, path = pq.read_table(ingest / f"{name}.parquet"), folder / f"{name}.parquet"
        suspects = pq.read_table(path, filters=[("flagged", "=", True)]).sort_by("rank") if path.exists() else None
        rows = examples.slice(0, 0) if suspects is None else rows_of(examples, suspects["uid"], f"{EVALUATION_LABELS}/{name}.parquet")
        found.append(EvaluationLabels(name, record, rows, LISTED.empty_table() if suspects is None else suspects))
    return found


def _several(inputs: Mapping[str, Path]) -> list[LabelFound]:
    """Return what was found label by label; nothing where rows have one label."""
    from cartograph.page.step_results import LabelFound

    path = inputs[NOISE] / "labels.json" if NOISE in inputs else None
    if path is None or not path.exists():
        return []
    return [
        LabelFound(one["name"], one["rows"], one["missing"], one["surplus"], one["wrong"] and tuple(one["wrong"]), one["note"])
        for one in read_json(path)
    ]


def _strata(ingest: Path, measures: pa.Table) -> pa.Table | None:
    """Return in which part of each stratum a row on the map is; None where rows have several labels."""
    import pyarrow.parquet as pq

    from cartograph.data.subsets import rows_of
    from cartograph.schema import UID

    path = ingest / "strata.parquet"
    return rows_of(pq.read_table(path), measures[UID], "the data map", f"data/ingest/{path.name}") if path.exists() else None


def _score(inputs: Mapping[str, Path], measures: pa.Table) -> pa.Table | None:
    """Return the score of the rows on the map; None where the truth is unknown."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from cartograph.schema import UID

    if "data/score" not in inputs:
        return None
    score = pq.read_table(inputs["data/score"] / "score.parquet")
    return score.filter(pc.is_in(score[UID], value_set=measures[UID].combine_chunks()))


def _suspects(inputs: Mapping[str, Path], measures: pa.Table) -> Suspects | None:
    """Return the suspects and how they were found; None where the audit did not look for any."""
    import pyarrow.parquet as pq

    from cartograph.data.subsets import rows_of
    from cartograph.page.step_results import Suspects
    from cartograph.schema import UID

    if NOISE not in inputs or reasons(inputs[NOISE] / "noise.json"):
        return None
    folder = inputs[NOISE]
    suspects = rows_of(pq.read_table(folder / "noise.parquet"), measures[UID], "the data map", f"{NOISE}/noise.parquet")
    return Suspects(suspects, read_json(folder / "noise.json"), pq.read_table(folder / "experiment.parquet"))


def _cleaning(inputs: Mapping[str, Path]) -> Cleaning | None:
    """Return what cleaning changed; None where nothing was cleaned."""
    import pyarrow.parquet as pq

    from cartograph.page.step_results import Cleaning

    if CLEANED[0] not in inputs:
        return None
    changes, decided, version, arms = CLEANED
    return Cleaning(pq.read_table(inputs[changes]), read_json(inputs[version]), read_json(inputs[arms]), pq.read_table(inputs[decided]))


def _aflite(inputs: Mapping[str, Path]) -> Aflite | None:
    """Return the filter's rows and rounds; None where nothing was filtered."""
    import pyarrow.parquet as pq

    from cartograph.page.step_results import Aflite

    if AFLITE[0] not in inputs or reasons(inputs[AFLITE[0]] / "aflite.json"):
        return None
    folder = inputs[AFLITE[0]]
    rows, history = (pq.read_table(folder / f"{name}.parquet") for name in ("aflite", "history"))
    return Aflite(rows, history, read_json(folder / "aflite.json"))


def _bias(inputs: Mapping[str, Path]) -> Bias | None:
    """Return what simple models guess before and after the filter; None where that was not measured."""
    import pyarrow.parquet as pq

    from cartograph.page.step_results import Bias

    if BIAS[0] not in inputs:
        return None
    folder = inputs[BIAS[0]]
    accuracies, words, neighbours = (pq.read_table(folder / f"{name}.parquet") for name in ("accuracies", "words", "neighbours"))
    return Bias(accuracies, words, neighbours, read_json(folder / "sample.json"))


def _experiment_answer(folder: Path) -> ExperimentAnswer:
    """Return what an experiment found, or why it failed."""
    import pyarrow.parquet as pq

    from cartograph.page.step_results import ExperimentAnswer

    reason = failure_of(folder)
    if reason is not None:
        return ExperimentAnswer(folder.name, "", "", reason, failed=True)
    finding = read_json(folder / "finding.json")
    tables = {name: pq.read_table(folder / f"{name}.parquet") for name in finding.pop("tables")}
    return ExperimentAnswer(**finding, tables=tables, picture=(folder / f"{folder.name}.png").read_bytes())


def _since_last_audit(inputs: Mapping[str, Path]) -> SinceLastAudit | None:
    """Return what changed since the last audit; None for a workspace's first."""
    import pyarrow.parquet as pq

    from cartograph.audits.columns import ColumnDrift
    from cartograph.page.step_results import SinceLastAudit

    if SINCE not in inputs or not (inputs[SINCE] / "comparison.json").exists():
        return None
    comparison, record = read_json(inputs[SINCE] / "comparison.json"), read_json(inputs[SINCE] / "record.json")
    numbers = [*record["earlier"], record["numbers"]]
    return SinceLastAudit(
        audits=tuple(comparison["audits"]),
        rows=pq.read_table(inputs[SINCE] / "rows.parquet"),
        numbers=comparison["numbers"],
        regions=comparison["regions"],
        classes={name: tuple(shares) for name, shares in comparison["classes"].items()},
        trend=list(zip(range(record["number"] - len(numbers) + 1, record["number"] + 1), numbers, strict=True)),
        embedded=read_json(inputs[EMBEDDED])["sets"] if EMBEDDED in inputs else {},
        columns=tuple(ColumnDrift(**column) for column in comparison.get("columns", ())),
    )


def _read_comparison(inputs: Mapping[str, Path]) -> Comparison:
    import pyarrow.parquet as pq

    from cartograph.compare.versions import Comparison

    return Comparison(*(pq.read_table(inputs[COMPARED] / f"{name}.parquet") for name in ("evaluation", "summary", "differences")))


def _selections(inputs: Mapping[str, Path], workspace: Workspace) -> Selections | None:
    """Return how models trained on selections compare; None where no model was trained on one."""
    from cartograph.compare.selections import WHOLE, TrainedSelections
    from cartograph.page.step_results import Selections

    trained = chosen_selections(workspace.settings)
    if COMPARED not in inputs or not trained:
        return None
    named = {name: selections(workspace.settings)[name] for name in trained}
    numbers = read_json(inputs["reports/evaluate.metrics.json"])
    rows = {name: int(numbers[f"{name}.rows"]) for name in (WHOLE, *named) if f"{name}.rows" in numbers}
    return Selections(_read_comparison(inputs).only((WHOLE, *named)), TrainedSelections(named, rows))


def _window(measure: Measure, probabilities: Floats | None) -> tuple[int, int]:
    """Return the epochs that the measures use."""
    from cartograph.maps.measures import epoch_window

    if probabilities is None:
        return 0, 0
    used = epoch_window(probabilities.shape[1], **measure.window)
    return used.start, used.stop


def _how_made(inputs: Mapping[str, Path], workspace: Workspace) -> HowMade:
    from cartograph.page.step_results import HowMade
    from tasks.engine.digest import digest_path

    sets = sorted(path for path in inputs["data/ingest"].glob("*.parquet"))
    digests = {f"data/ingest/{path.name}": digest_path(path) for path in sets}
    digests |= {name: digest_path(inputs[name]) for name in ("data/train", "data/measure")}
    default = workspace.relative == "."
    return HowMade(
        name=workspace.name,
        command="make audit" if default else f"make audit WORKSPACE={workspace.typed}",
        parameters={name: section.model_dump(mode="json") for name, section in workspace.settings.items()},
        versions=versions(("cartograph", *LIBRARIES)),
        digests=digests,
    )
