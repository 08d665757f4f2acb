"""The step `clean`: the train set cleaned in the way that helps most by cross-validation, reasons for every change, a sheet to review."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from cartograph.config import Section, Settings
from cartograph.data.json_files import read_json, write_json
from tasks.audit.committees import committee_inputs, suspects_among
from tasks.audit.decisions import (
    CONFIGURATION,
    DECISIONS,
    SHEET,
    TASKS,
    decisions_in,
    require_sheet_saved,
    tell_passed_over,
    write_decided,
    write_review,
)
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.plan import selection_file
from tasks.audit.sources import files_of, read_files, sources_of
from tasks.engine.step import Inputs, Out, Step
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.clean.arms import Again, Arm
    from cartograph.clean.cleaning import Cleaning, Recipe
    from cartograph.clean.decisions import Decision
    from cartograph.clean.original_columns import KeptRows
    from cartograph.read.source import Source

ROWS, SUSPECTS = "data/ingest/train.parquet", "data/noise/noise.parquet"
FOUND = "data/noise/noise.json"
ARMS = "data/clean/arms.json"
DATA, METRICS = "data/clean", "reports/clean.metrics.json"
RECIPES: dict[Arm, Recipe] = {"original": "decisions-only", "drop": "drop-flagged", "relabel": "relabel", "down-weight": "down-weight"}
"""The recipe that makes each arm."""


class CleanSection(Section):
    """What every section ``clean`` says: what happens to suspects that nobody decided about, and how far cleaning may go."""

    recipe: str = "decisions-only"
    precision: float = Field(
        0.8, ge=0, le=1, description="suspects are changed without a person where their label is wrong with at least this probability"
    )
    max_class_change: float = Field(
        0.5,
        ge=0,
        description="part of a class's rows by which cleaning may shrink or grow it, else the audit fails; recipe auto leaves a class to "
        "people of which it would take more",
    )
    review_limit: int = Field(500, ge=0, description="most suspects on the review sheet")
    seed: int = Field(13, ge=0, description="seed of the random subset that the cleaned one is compared with, and of the blind check")


class Clean(CleanSection):
    """The section ``clean`` of params.yaml."""

    recipe: Literal["auto", "drop-flagged", "relabel", "down-weight", "decisions-only"] = Field(
        "auto",
        description="what becomes of suspects: drop-flagged; relabel (to the suggestion where it is sure enough, else drop); down-weight "
        "(every row counts by how much likelier its label is than the suggested one); decisions-only (nothing); auto: of these the best by "
        "cross-validation on the train set. review/decisions.csv takes precedence",
    )
    relabel_above: float = Field(0.9, ge=0, le=1, description="recipe relabel: the suggestion is taken where its probability is above this")


def run(params: Clean, inputs: Inputs, out: Out) -> str:
    """Write the cleaned version, its subsets, its changes and checks, and the review sheet; return what was changed.

    Raises:
        InputError: decisions do not fit the data, or the sheet to be replaced holds some that were not taken in.
        GateError: a class would be left without rows.
    """
    import numpy as np
    import pyarrow.parquet as pq

    from cartograph.clean.cleaning import cleaned_examples, subsets, version
    from cartograph.clean.recommended import doubted_again, recommended_arm
    from cartograph.data.memory import release_memory
    from cartograph.data.parquet import write_parquet
    from tasks.checks.cleaned_set import validate_cleaning

    examples, noise = pq.read_table(inputs[ROWS]), pq.read_table(inputs[SUSPECTS])
    decisions = decisions_in(inputs.get(DECISIONS), examples)
    require_sheet_saved(out.workspace, examples)
    passed_over = tell_passed_over(inputs.get(DECISIONS), examples)
    found = read_json(inputs[FOUND])
    ways = clean_by_each_recipe(params, examples, noise, decisions, calibrated=bool(found["calibrated"]))
    arms: dict[Arm, Cleaning] = {arm: ways[recipe] for arm, recipe in RECIPES.items()}
    wrong, calibrated = found["wrong"] if found["calibrated"] else None, bool(found["calibrated"])
    rng = np.random.default_rng([params.seed, 1])

    def again(rows: pa.Table, of_rows: Mapping[Arm, Cleaning]) -> Again:
        def by_arm(part: pa.Table, listed: pa.Table, decided: Mapping[str, Decision]) -> Mapping[Arm, Cleaning]:
            outcomes = clean_by_each_recipe(params, part, listed, decided, calibrated=calibrated)
            return {arm: outcomes[recipe] for arm, recipe in RECIPES.items()}

        return doubted_again(suspects_among(rows, inputs, out.workspace.settings, found), rows, decisions, of_rows, by_arm)

    with progress("clean", "folds of models") as update:
        choice = recommended_arm(
            examples,
            noise,
            decisions,
            arms,
            rng,
            wrong=wrong,
            unknown=found["unknown"],
            between=found.get("between"),
            again=again if found["detector"] == "committee" else None,
            progress=update,
        )
    recipe = RECIPES[choice.recommended] if params.recipe == "auto" else params.recipe
    cleaning = ways[recipe]
    write_review(params.review_limit, examples, noise, decisions, out[SHEET], out[TASKS], out[CONFIGURATION])
    metrics = write_decided(out[DATA], examples, noise, decisions, wrong)
    # The files are read once more: what is not needed beside them goes first.
    del ways, arms, noise
    release_memory(examples.num_rows)
    cleaned = cleaned_examples(examples, cleaning)
    folder = out[DATA]
    files = _write_originals(out.workspace.settings, inputs, examples, cleaned, cleaning, folder)
    release_memory(examples.num_rows)
    write_parquet(cleaning.changes, folder / "changes.parquet")
    for name, subset in subsets(examples, cleaned, np.random.default_rng(params.seed)).items():
        write_parquet(subset, out[selection_file(name)])
    write_json(folder / Path(ARMS).name, {"asked": params.recipe, "used": recipe, **choice.content()})
    described = {**version(examples, cleaned, cleaning.changes), "recipe": recipe, "too_many": list(cleaning.too_many)}
    described["passed_over"] = passed_over
    write_json(folder / "version.json", described)
    validation = validate_cleaning(examples, cleaned, cleaning.changes, files=files, bound=params.max_class_change)
    write_json(folder / "validation.json", validation)
    metrics |= cleaning_metrics(described, len(decisions), cleaning, validation)
    metrics |= {"changes.share": described["changes"] / described["parent_rows"], "weighted": int(described["weighted"])}
    write_json(out[METRICS], metrics)
    return _summary(described)


def clean_by_each_recipe(
    params: Clean, examples: pa.Table, noise: pa.Table, decisions: Mapping[str, Decision], *, calibrated: bool
) -> dict[Recipe, Cleaning]:
    """Return the outcome of each recipe.

    Raises:
        GateError: a class would be left without rows.
    """
    return {recipe: clean_by(params, examples, noise, decisions, recipe, calibrated=calibrated) for recipe in RECIPES.values()}


def clean_by(
    params: Clean, examples: pa.Table, noise: pa.Table, decisions: Mapping[str, Decision], recipe: Recipe, *, calibrated: bool
) -> Cleaning:
    """Return the outcome of one recipe; errors as above."""
    from cartograph.clean.cleaning import clean

    more = {"relabel_above": params.relabel_above, "precision": params.precision}
    if params.recipe == "auto":
        more["most_taken"] = params.max_class_change
    return clean(examples, noise, decisions, recipe=recipe, calibrated=calibrated, **more)


def _write_originals(
    settings: Settings, inputs: Inputs, examples: pa.Table, cleaned: pa.Table, cleaning: Cleaning, folder: Path
) -> list[str]:
    """Write cleaned.parquet in the original's own columns, and a copy in its own format where it is one text file; return its files.

    Weights are a column more, for which a CSV or TSV file has room; of other formats there is no such copy where there are any.
    """
    import pyarrow as pa

    from cartograph.clean.original_columns import kept_rows, with_weights
    from cartograph.data.parquet import write_parquet
    from cartograph.read.rewrite import parquet_rows
    from tasks.audit.ingest import columns_of, labelling_of

    params = settings.of(Ingest)
    if params.source != "files":
        write_parquet(_with_label_names(cleaned), folder / "cleaned.parquet")
        return [params.source]
    usual = params.usual
    side = params.image_side if params.image else None
    sources = sources_of(params.train, usual, inputs, side, params.image)
    with progress("clean", "bytes") as update:
        files = read_files(params.train, usual, inputs, update, side, params.image)
    kept = kept_rows(files, columns_of(params), labelling_of(params), examples, cleaning.kept, cleaning.labels, cleaning.weights)
    whole = None
    if len(kept) == 1:
        whole = parquet_rows(sources[0], kept[0].column, kept[0].by_number)
        if kept[0].own_column:
            _write_own_format(sources[0], kept[0], folder)
    if whole is None:
        whole = pa.concat_tables([one.table() for one in kept], promote_options="default")
    write_parquet(with_weights(whole, kept), folder / "cleaned.parquet")
    return [file.name for file in files]


def _write_own_format(source: Source, kept: KeptRows, folder: Path) -> None:
    from cartograph.clean.original_columns import weights_name
    from cartograph.read.rewrite import has_room, own_suffix, rewrite

    suffix = own_suffix(source)
    if suffix is None or (kept.weights is not None and not has_room(source)):
        return
    more = None
    if kept.weights is not None:
        numbers = zip(kept.by_number, kept.weights.tolist(), strict=True)
        more = weights_name(kept.file.batch.table.column_names), dict(numbers)
    rewrite(source, kept.column, kept.by_number, folder / f"cleaned{suffix}", more)


def _with_label_names(cleaned: pa.Table) -> pa.Table:
    """Return the built-in corpus's columns that models read: uid, texts or features, and the label's name."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from cartograph.schema import WEIGHT, dataset_info, values_of

    info = dataset_info(cleaned.schema)
    own = [feature.name for feature in info.features]
    fields = {name: values_of(cleaned, name) for name in own} or {name: cleaned[name] for name in info.fields}
    names = pc.take(pa.array(info.labels, pa.string()), cleaned["label"])
    weights = {WEIGHT: cleaned[WEIGHT]} if WEIGHT in cleaned.column_names else {}
    return pa.table({"uid": cleaned["uid"], **fields, "label": names, **weights})


def cleaning_metrics(version: Mapping[str, Any], decided: int, cleaning: Cleaning, validation: Mapping[str, Any]) -> dict[str, float]:
    """Return what the step counts, whether rows have one label or several."""
    [entry] = validation["sets"]
    return {
        "rows.original": version["parent_rows"],
        "rows.cleaned": version["rows"],
        "changes": version["changes"],
        "dropped": version["dropped"],
        "relabelled": version["relabelled"],
        "decisions": decided,
        "suspects.kept": cleaning.overruled,
        "classes.spared": len(cleaning.spared),
        "validation.passed": int(validation["passed"]),
        "validation.failed": sum(not check["passed"] for check in entry["checks"]),
    }


def _summary(version: dict[str, Any]) -> str:
    parts = [f"{version[what]:,} {what}" for what in ("dropped", "relabelled") if version[what]]
    parts += ["each weighted by how likely its label is right"] * version["weighted"]
    return f"{version['rows']:,} rows, {', '.join(parts) or 'nothing changed'}, version {version['version']}"


def _inputs(settings: Settings) -> tuple[str, ...]:
    ingest = settings.of(Ingest)
    return (ROWS, SUSPECTS, FOUND, *committee_inputs(settings), *(files_of(ingest.train) if ingest.source == "files" else ()))


STEP = Step(
    name="clean",
    run=run,
    params=Clean,
    inputs=_inputs,
    optional=(DECISIONS,),
    outputs=(DATA, *map(selection_file, ("original", "cleaned", "random")), SHEET, TASKS, CONFIGURATION, METRICS),
    libraries=("great-expectations", "numpy", "pyarrow", "scikit-learn", "scipy"),
    reads=("ingest", "noise"),
)
