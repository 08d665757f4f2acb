"""The step `noise`: labels are flipped to learn what a wrong label looks like; then the suspects among the original rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from cartograph.config import Section, Settings
from cartograph.data.json_files import write_json
from cartograph.errors import InputError
from tasks.audit import recipes, train
from tasks.audit.committees import Training, committee_inputs, committees, read_dynamics_of, read_training
from tasks.audit.impossible import leave_no_suspects, no_flips
from tasks.audit.parameters.embed import Embed
from tasks.audit.parameters.measure import Measure
from tasks.audit.parameters.train import Train
from tasks.engine.step import Hints, Inputs, Out, Step
from tasks.presentation.console import progress

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from cartograph.dynamics.epoch_files import Dynamics
    from cartograph.maps.measures import Measures
    from cartograph.suspects.flips import Flips
    from cartograph.suspects.listing import Evidence

_ROWS = "data/ingest/train.parquet"
_DATA = "data/noise"
_METRICS = "reports/noise.metrics.json"
_FIGURES = ("reports/figures/noise.png", "reports/figures/noise.svg")
_ASSUMPTION = "by assumption, not learnt: that a wrong label is doubted as firmly as an easy row's own label is believed"


Known = Callable[[], tuple["Dynamics", "Dynamics | None"]]
"""Reads dynamics, and those of K-fold training."""


class Noise(Section):
    """The section ``noise`` of params.yaml."""

    flip_share: float = Field(
        0.01, gt=0, lt=1, description="share of the rows whose labels are flipped to test the detectors, taken from the easy region"
    )
    min_flips: int = Field(
        16, ge=4, description="fewest flips, if a quarter of the easy region has that many: small sets flip a larger share"
    )
    detector: Literal["auto", "confidence", "measures", "committee"] = Field(
        "auto",
        description="confidence (the paper's), measures (all of the map), committee (out-of-fold models; estimates how many are wrong), "
        "or auto: the committee where there is one, else the best on flips",
    )
    folds: int = Field(5, ge=2, description="folds of the committee: each row is scored by models that never saw it")
    threshold: float = Field(0.5, gt=0, lt=1, description="rows with at least this probability are flagged as suspects")
    seed: int = Field(13, ge=0, description="seed of flips, folds and samples")


def run(params: Noise, inputs: Inputs, out: Out) -> str:
    """Write the suspects, the experiment, its figure and its numbers; return how many suspects there are and how they were found."""
    import numpy as np
    import pyarrow.parquet as pq

    from cartograph.data.memory import release_memory
    from cartograph.data.parquet import write_parquet
    from cartograph.features.telling import what_tells
    from cartograph.schema import dataset_info
    from cartograph.suspects.class_forms import class_forms
    from cartograph.suspects.detector import choose_detector
    from cartograph.suspects.listing import choose_suggestions, suspects_table
    from cartograph.suspects.record import noise_metrics, noise_record, without_number

    by_uid = _labels(inputs)
    training = read_training(inputs["data/train"])
    assumed = training.assumed
    easy = _easy_rows(inputs, by_uid, out.workspace.settings.of(Measure).easy)
    reason = no_flips(by_uid, int(np.count_nonzero(easy)))
    if reason is not None:
        asked = {"asked": params.detector, "threshold": params.threshold}
        return leave_no_suspects(reason, by_uid, asked, out[_DATA], out[_METRICS], [out[name] for name in _FIGURES])
    # Before anything else is in memory beside the texts.
    telling = what_tells(pq.read_table(inputs[_ROWS]))
    outcome = dataset_info(by_uid.schema).outcome
    release_memory(by_uid.num_rows)
    flips = _flip(params, by_uid, easy)
    original, noised = _before_and_after(params, inputs, out, by_uid, training, flips)
    rng = np.random.default_rng([params.seed, 2])
    doubt = original.committee.doubt if original.committee is not None else None
    unknown = doubt.unknown if doubt is not None else None
    choice = choose_detector(noised.columns, original.columns, flips.planted, rng, asked=params.detector, assumed=assumed, unknown=unknown)
    suggestions = choose_suggestions(original, noised, flips)
    suspects = suspects_table(
        by_uid["uid"].to_numpy(zero_copy_only=False),
        choice.chosen,
        original,
        suggestions.probabilities,
        threshold=params.threshold,
        assumption=_ASSUMPTION if assumed else "",
    )
    write_parquet(suspects, out[_DATA] / "noise.parquet")
    experiment = _experiment(by_uid["uid"], flips, original, noised)
    write_parquet(experiment, out[_DATA] / "experiment.parquet")
    _draw(experiment, out, assumed)
    asked = {"detector": params.detector, "threshold": params.threshold}
    found = noise_record(flips, choice, suggestions, suspects, doubt, asked=asked, assumption=_ASSUMPTION if assumed else None)
    found = without_number(found, telling, class_forms(original.names, original.labels), outcome)
    write_json(out[_DATA] / "noise.json", found)
    write_json(out[_METRICS], noise_metrics(found))
    return _summary(found)


def _labels(inputs: Mapping[str, Path]) -> pa.Table:
    """Return the train rows' labels, sorted by uid."""
    import pyarrow.parquet as pq

    return pq.read_table(inputs[_ROWS], columns=["uid", "label"]).sort_by("uid")


def _texts(inputs: Mapping[str, Path]) -> pa.Table:
    """Return the train rows, sorted by uid."""
    import pyarrow.parquet as pq

    from cartograph.data.memory import release_memory

    rows = pq.read_table(inputs[_ROWS]).sort_by("uid")
    release_memory(rows.num_rows)
    return rows


def _map(inputs: Mapping[str, Path]) -> pa.Table:
    """Return the rows' places on the map, sorted by uid."""
    import pyarrow.parquet as pq

    return pq.read_table(inputs["data/measure"] / "measures.parquet").sort_by("uid")


def _easy_rows(inputs: Mapping[str, Path], by_uid: pa.Table, least: float) -> np.ndarray:
    """Return which rows are easy to learn, sorted by uid."""
    from cartograph.maps.regions import easiest_rows

    places = _map(inputs)
    if not by_uid["uid"].combine_chunks().equals(places["uid"].combine_chunks()):
        raise InputError(
            f"{_ROWS} and the data map are not of the same rows ({by_uid.num_rows:,} and {places.num_rows:,}); they come from different "
            "runs: run the audit again."
        )
    return easiest_rows(places, least)


def _flip(params: Noise, by_uid: pa.Table, easy: np.ndarray) -> Flips:
    import numpy as np

    from cartograph.schema import dataset_info
    from cartograph.suspects.flips import choose_flips

    least = min(params.min_flips, max(4, int(easy.sum()) // 4))
    share = params.flip_share if round(params.flip_share * by_uid.num_rows) >= least else least / by_uid.num_rows
    n_classes = len(dataset_info(by_uid.schema).labels)
    return choose_flips(easy, by_uid["label"].to_numpy(), n_classes, share, np.random.default_rng([params.seed, 0]))


def _before_and_after(
    params: Noise, inputs: Inputs, out: Out, by_uid: pa.Table, training: Training, flips: Flips
) -> tuple[Evidence, Evidence]:
    """Return what is known of the rows under the given labels, and under the flipped ones."""
    from cartograph.data.memory import release_memory
    from cartograph.data.progress import piece_of
    from cartograph.schema import dataset_info
    from cartograph.suspects.listing import Evidence, assumed_measures, map_measures

    labels, names = by_uid["label"].to_numpy(), dataset_info(by_uid.schema).labels
    wanted = not training.assumed or params.detector == "committee"
    recorded: Known = partial(read_dynamics_of, inputs["data/train"])
    # One after the other, so that a training, its dynamics and what the committee makes of the texts are not in memory together.
    retrained = training.recorded and not training.assumed
    trained = _train_on_flips(out, training.file, inputs[_ROWS], by_uid, flips) if retrained else None
    release_memory(by_uid.num_rows)
    section = out.workspace.settings.of(Measure)
    measures = map_measures(_map(inputs))
    # Without a retraining the flips are judged by what the model said of them under their own labels.
    labelled = ((labels, recorded, measures), (flips.labels, trained or recorded, None)) if training.recorded else ()
    found = [_from_dynamics(section, known, given, names, own, early=training.fine_tuned) for given, known, own in labelled]
    release_memory(by_uid.num_rows)
    embed = out.workspace.settings.find(Embed)
    file = None if embed is None else embed.file
    committee = committees(_texts(inputs), training, inputs, folds=params.folds, seed=params.seed, wanted=wanted, file=file)
    release_memory(by_uid.num_rows)
    with progress("noise", "folds of models") as update:
        before, later = (piece_of(update, side, 2) for side in range(2))
        if not training.recorded:
            after = assumed_measures(measures, flips.planted, len(names))
            original = Evidence(labels, names, measures, None, None, committee(labels, None, None, before))
            return original, Evidence(flips.labels, names, after, None, None, committee(flips.labels, None, None, later))
        sides = []
        for (evidence, heard), shown in zip(found, (before, later), strict=True):
            sides.append(replace(evidence, committee=committee(evidence.labels, *heard, shown)))
            release_memory(by_uid.num_rows)
    return sides[0], sides[1]


def _from_dynamics(
    section: Measure, known: Known, labels: np.ndarray, names: Sequence[str], measures: Measures | None, *, early: bool
) -> tuple[Evidence, tuple[Dynamics | None, Dynamics | None]]:
    """Return what dynamics say of the rows under these labels, and which of them a committee hears; ``early``: also those in sample.

    ``measures`` are those of the map, where the labels are the given ones; None: they are measured here.
    """
    from cartograph.maps.measures import compute_measures, epoch_window
    from cartograph.suspects.listing import Evidence, mean_probabilities

    dynamics, out_of_fold = known()
    window = section.window
    used = epoch_window(dynamics.logits.shape[1], **window)
    held_out = None if out_of_fold is None else mean_probabilities(out_of_fold.logits[:, used])
    if measures is None:
        measures = compute_measures(dynamics.uids, dynamics.logits, labels, include_ci=section.include_ci, **window)
        if out_of_fold is not None:
            held = compute_measures(dynamics.uids, out_of_fold.logits, labels, include_ci=section.include_ci, **window)
            measures = measures.with_out_of_fold(held)
    in_sample = mean_probabilities(dynamics.logits[:, used])
    evidence = Evidence(labels, names, measures, in_sample, used.stop - used.start, None, held_out)
    return evidence, (dynamics if early else None, out_of_fold)


def _train_on_flips(out: Out, trained: Path, rows: Path, by_uid: pa.Table, flips: Flips) -> Known:
    """Train from scratch on the flipped labels by the recipe of the section ``train``; return what reads that training's dynamics."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from cartograph.data.memory import release_memory
    from cartograph.data.parquet import write_parquet
    from cartograph.data.subsets import take_subset
    from cartograph.dynamics.epoch_files import read_dynamics
    from cartograph.train.apart import fit_apart

    section = out.workspace.settings.of(Train)
    out.checkpoints.mkdir(parents=True, exist_ok=True)
    labels = pa.table({"uid": by_uid["uid"], "label": pa.array(flips.labels)})
    flipped = out.checkpoints / "flipped.parquet"
    write_parquet(take_subset(pq.read_table(rows), labels, "the flipped set"), flipped)
    release_memory(by_uid.num_rows)
    recipe = replace(recipes.recipe_of(section, out.workspace, trained), live=False)
    with progress("noise") as update:
        found = fit_apart(
            recipe, flipped, out.checkpoints, folds=section.folds, processes=section.process_count, progress=update, spread=out.spread
        )
    return lambda: (read_dynamics(found.dynamics), None if found.out_of_fold is None else read_dynamics(found.out_of_fold))


def _experiment(uids: pa.ChunkedArray, flips: Flips, original: Evidence, noised: Evidence) -> pa.Table:
    import pyarrow as pa

    from cartograph.suspects.figures import EXPERIMENT

    sides = {"before": original.measures, "after": noised.measures}
    columns: dict[str, Any] = {"uid": uids, "flipped": flips.planted}
    columns |= {f"{name}_{when}": getattr(measures, name) for when, measures in sides.items() for name in ("confidence", "variability")}
    return pa.table(columns, schema=EXPERIMENT)


def _draw(experiment: pa.Table, out: Out, assumed: bool) -> None:
    from cartograph.figures.saving import save_figure
    from cartograph.suspects.figures import noise_figure

    figure = noise_figure(experiment, assumed=assumed)
    for name in _FIGURES:
        save_figure(figure, out[name])


def _summary(found: Mapping[str, Any]) -> str:
    from cartograph.wording import counted, share

    part = f"{counted(found['suspects'], 'suspect')} ({share(found['suspects'], found['rows'])})"
    return f"{part}, by {found['detector']}{', by assumption' if found['assumption'] else ''}"


def _inputs(settings: Settings) -> tuple[str, ...]:
    trained = settings.of(Train)
    pretrained = recipes.pretrained_files(trained) if trained.dynamics is None else ()
    return (_ROWS, "data/measure", "data/train", *committee_inputs(settings), *pretrained)


STEP = Step(
    name="noise",
    run=run,
    params=Noise,
    inputs=_inputs,
    outputs=(_DATA, _METRICS, *_FIGURES),
    libraries=(*train.STEP.libraries, "matplotlib", "scipy"),
    reads=("train", "measure"),
    hints=Hints(resources="gpu"),
)
