"""The step `evaluate`: a comparison of the retrained models, version by version, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from cartograph.config import Section, Settings
from cartograph.data.json_files import read_json, write_json
from cartograph.errors import InputError
from tasks.audit.held_out import held_out_set, holds_out
from tasks.audit.ingested_sets import ingested_sets
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.parameters.retrain import Retrain
from tasks.audit.plan import chosen_selections, retrained_models, selections
from tasks.engine.failed_cell import failure_of
from tasks.engine.step import Hints, Inputs, Out, Step

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.compare.versions import Comparison, EvaluationSet

_DATA = "data/evaluate"
_ROWS, _SUSPECTS = "data/ingest/train.parquet", "data/noise/noise.parquet"
_FOUND, _CHANGES, _VERSION = "data/noise/noise.json", "data/clean/changes.parquet", "data/clean/version.json"
_METRICS = "reports/evaluate.metrics.json"
_SCORES = {
    "x": "value",
    "y": "subset",
    "x_label": "score",
    "y_label": "trained on",
    "title": "What each version is worth",
    "template": "trained_on",
}


class Evaluate(Section):
    """The section ``evaluate`` of params.yaml."""

    metrics: tuple[Literal["accuracy", "macro_f1"], ...] = Field(
        ("accuracy", "macro_f1"), min_length=1, description="accuracy, macro_f1; the first is the report's main metric"
    )
    bootstrap: int = Field(1000, ge=100, le=1_000_000, description="resamples behind each 95 % interval")
    seed: int = Field(13, ge=0, description="seed of the resamples")


def run(params: Evaluate, inputs: Inputs, out: Out) -> str:
    """Write the numbers of every model, their means and their differences; return what cleaning changed."""
    from cartograph.compare.markdown import broken_lines, differences_line, markdown
    from cartograph.compare.recommendation import recommend
    from cartograph.compare.selections import TrainedSelections
    from cartograph.compare.selections import markdown as selection_page
    from cartograph.compare.versions import PAIRS, VERSIONS, compare_versions
    from cartograph.ingest.identity import NOT_CONTRADICTED
    from cartograph.ingest.leakage import NOT_IN_TRAIN
    from cartograph.wording import counted

    every = retrained_models(out.workspace.settings)
    failures = _failure_reasons(every, inputs)
    runs = {run: folder for run, folder in every.items() if run not in failures}
    found = {run: read_json(inputs[folder] / "metrics.json") for run, folder in runs.items()}
    failed = {run: run in failures or bool(found[run]["train.failed"]) for run in every}
    rows = {subset: int(metrics["rows"]) for (subset, _), metrics in found.items()}
    selected = TrainedSelections(
        {name: selections(out.workspace.settings)[name] for name in chosen_selections(out.workspace.settings)}, rows
    )
    groups = (*out.workspace.settings.of(Ingest).groups, NOT_IN_TRAIN, NOT_CONTRADICTED)
    named = [Path(name).stem for name in inputs if name.startswith("data/ingest/") and name != _ROWS]
    if named:
        sets = [part for name in named for part in _evaluation_sets(name, groups, inputs, runs)]
    else:
        sets = _held_out_sets(out.workspace.settings.of(Retrain), inputs, runs)
    scored = tuple(dict.fromkeys(params.metrics))
    pairs = (*PAIRS, *selected.pairs())
    comparison = compare_versions(sets, failed, scored, resamples=params.bootstrap, seed=params.seed, pairs=pairs)
    listed = [{"subset": subset, "seed": seed, "reason": reason} for (subset, seed), reason in failures.items()]
    ending = "\n".join(["", *broken_lines(listed)])
    noise = read_json(inputs[_FOUND]) if _FOUND in inputs else None
    advice = recommend(comparison.differences, noise, _decided(inputs), weighted=_weighted(inputs))
    advised = "" if advice is None else f"\n{advice.sentence}\n"
    _write(comparison, markdown(comparison.only(VERSIONS), rows) + advised + ending, out[_DATA])
    write_json(out[_DATA] / "recommended.json", {} if advice is None else advice.content())
    write_json(out[_DATA] / "broken.json", listed)
    if selected.named:
        (out[_DATA] / "selections.md").write_text(selection_page(comparison, selected, scored) + ending, encoding="utf-8")
    metrics = comparison.numbers() | {f"{subset}.rows": number for subset, number in rows.items()}
    metrics |= {"retrain.failed": sum(failed.values()), "retrain.broken": len(failures)}
    write_json(out[_METRICS], metrics)
    summary = differences_line(comparison.of_sets().differences.to_pylist(), params.metrics[0])
    if advice is not None and advice.outcome == "unchanged" and not advice.decided:
        summary = "cleaning changed nothing that a model sees; use the original"
    elif advice is not None and advice.version == "original":
        summary += "; use the original"
    return (summary or f"{counted(len(every), 'model')} on {counted(max(len(named), 1), 'set')}") + (
        f"; {sum(failed.values())} of {len(every)} FAILED" if any(failed.values()) else ""
    )


def _weighted(inputs: Mapping[str, Path]) -> bool:
    """Return whether the cleaned rows have weights; False where nothing was cleaned."""
    return _VERSION in inputs and bool(read_json(inputs[_VERSION])["weighted"])


def _decided(inputs: Mapping[str, Path]) -> int:
    """Return how many changes people made, if the cleaned rows have no others; 0 where nothing was cleaned."""
    import pyarrow.parquet as pq

    from cartograph.clean.reviewed import all_by_people

    if _CHANGES not in inputs:
        return 0
    return all_by_people(pq.read_table(inputs[_CHANGES]), weighted=_weighted(inputs))


def _failure_reasons(runs: Mapping[tuple[str, int], str], inputs: Mapping[str, Path]) -> dict[tuple[str, int], str]:
    """Return why each training broke off that left no model.

    Raises:
        InputError: none is left.
    """
    reasons = {run: failure_of(inputs[folder]) for run, folder in runs.items()}
    failures = {run: reason for run, reason in reasons.items() if reason is not None}
    if len(failures) == len(runs):
        (subset, seed), reason = next(iter(failures.items()))
        raise InputError(
            f"every one of the {len(runs)} trainings of the step `retrain` failed, so there is nothing to compare; the first, `{subset}` "
            f"with seed {seed}: {reason}"
        )
    return failures


def _evaluation_sets(
    name: str, groups: Sequence[str], inputs: Mapping[str, Path], runs: Mapping[tuple[str, int], str]
) -> list[EvaluationSet]:
    """Return a set, and each group of its rows that has any."""
    import numpy as np
    import pyarrow.parquet as pq

    from cartograph.schema import GROUPS, UID

    rows = pq.read_table(inputs[f"data/ingest/{name}.parquet"]).sort_by(UID)
    whole = _scored(rows, f"data/ingest/{name}.parquet", inputs, runs)
    members = [set(own or ()) for own in rows[GROUPS].to_pylist()] if GROUPS in rows.column_names else []
    places = {group: np.flatnonzero([group in own for own in members]) for group in groups}
    return [whole, *(whole.group(group, inside) for group, inside in places.items() if len(inside))]


def _held_out_sets(params: Retrain, inputs: Mapping[str, Path], runs: Mapping[tuple[str, int], str]) -> list[EvaluationSet]:
    """Return the train rows that no model was trained on, and, where some of them are suspects, those that are none."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from cartograph.compare.versions import TRUSTED, EvaluationSet
    from cartograph.schema import UID

    rows = held_out_set(params, pq.read_table(inputs[_ROWS])).sort_by(UID)
    whole = _scored(rows, f"the part of {_ROWS} that is held out", inputs, runs)
    noise = pq.read_table(inputs[_SUSPECTS], columns=[UID, "flagged"])
    suspects = noise.filter(noise["flagged"])[UID].combine_chunks()
    trusted = np.flatnonzero(~pc.is_in(rows[UID], value_set=pa.array(suspects, pa.string())).to_numpy(zero_copy_only=False))
    if not 0 < len(trusted) < len(rows):
        return [whole]
    own = {run: labels[trusted] for run, labels in whole.predicted.items()}
    return [whole, EvaluationSet(TRUSTED, whole.domain, whole.gold[trusted], own)]


def _scored(rows: pa.Table, where: str, inputs: Mapping[str, Path], runs: Mapping[tuple[str, int], str]) -> EvaluationSet:
    """Return what every model predicts of a set.

    Raises:
        InputError: predictions are of other rows.
    """
    import pyarrow.parquet as pq

    from cartograph.compare.versions import EvaluationSet
    from cartograph.dynamics.epoch_files import by_blocks
    from cartograph.schema import LABEL, UID, dataset_info

    info, predicted = dataset_info(rows.schema), {}
    for run, folder in runs.items():
        scored = pq.read_table(inputs[folder] / "predictions" / f"{info.name}.parquet").sort_by(UID)
        if not scored[UID].combine_chunks().equals(rows[UID].combine_chunks()):
            raise InputError(
                f"{folder}/predictions/{info.name}.parquet is about other rows than {where} ({scored.num_rows:,} and "
                f"{rows.num_rows:,}); they come from different runs: run the audit again."
            )
        predicted[run] = by_blocks(scored, lambda logits, _: logits.argmax(axis=1))
    return EvaluationSet(info.name, info.domain, rows[LABEL].to_numpy(), predicted)


def _write(comparison: Comparison, page: str, folder: Path) -> None:
    from pyarrow.csv import write_csv

    from cartograph.data.parquet import write_parquet

    write_parquet(comparison.evaluation, folder / "evaluation.parquet")
    write_parquet(comparison.summary, folder / "summary.parquet")
    write_parquet(comparison.differences, folder / "differences.parquet")
    write_csv(comparison.evaluation, folder / "evaluation.csv")
    (folder / "evaluation.md").write_text(page, encoding="utf-8")


def _inputs(settings: Settings) -> tuple[str, ...]:
    scored = (_ROWS, _SUSPECTS) if holds_out(settings) else ingested_sets(settings)[1:]
    found = (_FOUND,) if "noise" in settings else ()
    cleaned = (_CHANGES, _VERSION) if "clean" in settings else ()
    return (*retrained_models(settings).values(), *scored, *found, *cleaned)


STEP = Step(
    name="evaluate",
    run=run,
    params=Evaluate,
    inputs=_inputs,
    outputs=(_DATA, _METRICS),
    libraries=("numpy", "pyarrow", "scipy"),
    when=lambda settings: bool(retrained_models(settings)),
    reads=("retrain", "select", "ingest"),
    hints=Hints(plots={f"{_DATA}/evaluation.csv": _SCORES}),
)
