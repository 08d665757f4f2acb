"""The step `measure`: from training dynamics, or a map made elsewhere, to measures, regions and the still data map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cartograph.data.json_files import read_json, write_json
from cartograph.errors import InputError
from tasks.audit.parameters.measure import Measure
from tasks.engine.step import Hints, Inputs, Out, Step

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import pyarrow as pa

    from cartograph.dynamics.epoch_files import Dynamics
    from cartograph.maps.measures import Measures
    from cartograph.maps.regions import Regions
    from cartograph.maps.stability import BurnOut

_ROWS = "data/ingest/train.parquet"
_DYNAMICS = "data/train"
_TABLES = "data/measure"
_METRICS = "reports/measure.metrics.json"
_FIGURES = ("reports/figures/data_map.png", "reports/figures/data_map.svg")
_DENSITIES = {
    "x": "value",
    "y": "share",
    "y_label": "share of the rows",
    "title": "Where the rows lie on the map",
    "template": "map_densities",
}
_SHOWN = 3


def run(params: Measure, inputs: Inputs, out: Out) -> str:
    """Write the measures, the burn-out curve, the densities, the metrics and the map; return the cuts of the regions as one line."""
    import pyarrow.parquet as pq

    rows = pq.read_table(inputs[_ROWS], columns=["uid", "label", "source"]).sort_by("uid")
    imported = (inputs[_DYNAMICS] / "coordinates.parquet").is_file()
    uids, gold, measures, curve = _from_coordinates(params, inputs, rows) if imported else _from_dynamics(params, inputs, rows)
    regions = write_map(params, out, uids, gold, measures, curve, title_of(rows, inputs[_DYNAMICS] / "training.json"))
    return in_words(regions, imported)


def write_map(
    params: Measure, out: Out, uids: np.ndarray, gold: np.ndarray, measures: Measures, curve: BurnOut | None, title: str
) -> Regions:
    """Write all that the step leaves of measured rows; return their regions."""
    import numpy as np
    from pyarrow.csv import write_csv

    from cartograph.data.parquet import write_parquet
    from cartograph.figures.saving import save_figure
    from cartograph.figures.still_map import data_map
    from cartograph.maps.regions import assign_regions
    from cartograph.maps.table import burn_out_table, density_table, map_metrics, map_table

    shares = {"easy": params.easy, "ambiguous": params.ambiguous, "hard": params.hard}
    regions = assign_regions(uids, measures.confidence, measures.variability, **shares, rng=np.random.default_rng(params.seed))
    table = map_table(uids, gold, measures, regions)
    write_parquet(table, out[_TABLES] / "measures.parquet")
    write_parquet(burn_out_table(curve), out[_TABLES] / "burn_out.parquet")
    write_csv(density_table(table), out[_TABLES] / "densities.csv")
    write_json(out[_METRICS], map_metrics(measures, regions))
    figure = data_map(table, max_points=params.max_points, seed=params.seed, title=title)
    for name in _FIGURES:
        save_figure(figure, out[name])
    return regions


def _from_dynamics(params: Measure, inputs: Inputs, rows: pa.Table) -> tuple[np.ndarray, np.ndarray, Measures, BurnOut]:
    import pyarrow.parquet as pq

    from cartograph.maps.measures import compute_measures, epoch_window, gold_probabilities
    from cartograph.maps.stability import burn_out
    from cartograph.schema import dataset_info

    labels = dataset_info(pq.read_schema(inputs[_ROWS])).labels
    uids, gold, logits = _dynamics(inputs[_DYNAMICS] / "dynamics", rows, labels)
    window = params.window
    measures = compute_measures(uids, logits, gold, include_ci=params.include_ci, **window)
    curve = burn_out(gold_probabilities(uids, logits[:, epoch_window(logits.shape[1], **window)], gold))
    out_of_fold = inputs[_DYNAMICS] / "out_of_fold"
    if out_of_fold.is_dir():
        _, _, held = _dynamics(out_of_fold, rows, labels)
        measures = measures.with_out_of_fold(compute_measures(uids, held, gold, include_ci=params.include_ci, **window))
    return uids, gold, measures, curve


def _dynamics(folder: Path, rows: pa.Table, labels: tuple[str, ...]) -> Dynamics:
    from cartograph.dynamics.epoch_files import read_dynamics

    dynamics = read_dynamics(folder)
    uids, gold, logits = dynamics
    if logits.shape[2] != len(labels):
        raise InputError(
            f"the dynamics in {folder} have {logits.shape[2]} classes and the data has {len(labels)} ({', '.join(labels[:8])}); "
            "use the dynamics of a training on this data."
        )
    _check_uids(rows, uids, folder)
    _check_gold(rows, gold, labels, folder)
    return dynamics


def _from_coordinates(params: Measure, inputs: Inputs, rows: pa.Table) -> tuple[np.ndarray, np.ndarray, Measures, None]:
    import pyarrow.parquet as pq

    from cartograph.maps.table import coordinates

    path = inputs[_DYNAMICS] / "coordinates.parquet"
    asked = [name for name in ("burn_in", "epochs", "include_ci") if getattr(params, name) != Measure.model_fields[name].default]
    if asked:
        raise InputError(f"`{asked[0]}` of `measure` needs dynamics per epoch, but {path} holds finished coordinates; leave it out.")
    table = pq.read_table(path).sort_by("uid")
    uids = table.column("uid").to_numpy(zero_copy_only=False)
    _check_uids(rows, uids, path)
    return uids, rows.column("label").to_numpy(), coordinates(table), None


def _check_uids(rows: pa.Table, uids: np.ndarray, source: Path) -> None:
    import numpy as np

    expected = rows.column("uid").to_numpy(zero_copy_only=False)
    if np.array_equal(expected, uids):
        return
    missing, unknown = sorted(set(expected) - set(uids)), sorted(set(uids) - set(expected))
    found = (
        [f"{len(missing):,} of the {len(expected):,} uids of the data are not in the map's source ({_some(missing)})"] if missing else []
    )
    found += [f"{len(unknown):,} of its {len(uids):,} uids are not in the data ({_some(unknown)})"] if unknown else []
    found = found or ["some uid is there more than once"]
    raise InputError(f"{source} does not belong to this train set: {'; '.join(found)}; train on this data, or import what belongs to it.")


def _check_gold(rows: pa.Table, gold: np.ndarray, labels: tuple[str, ...], source: Path) -> None:
    import numpy as np

    given = rows.column("label").to_numpy()
    differing = np.flatnonzero(given != gold)
    if not len(differing):
        return
    first = differing[0]
    trained_as = labels[gold[first]] if 0 <= gold[first] < len(labels) else "no label of the data"
    raise InputError(
        f"{source}: uid {rows.column('uid')[first].as_py()!r} was trained as {gold[first]} ({trained_as}) but has label {given[first]} "
        f"({labels[given[first]]}) in the data, one of {len(differing):,} such rows; train on this data, or give the labels "
        "the order in which they were trained."
    )


def _some(uids: list[str]) -> str:
    return ", ".join(repr(uid) for uid in uids[:_SHOWN]) + (", …" if len(uids) > _SHOWN else "")


def title_of(rows: pa.Table, training: Path) -> str:
    """Return what stands above the still map: the sources, the model, its epochs."""
    sources = sorted(set(rows.column("source").to_pylist()))
    facts = read_json(training) if training.is_file() else {}
    dataset = sources[0] if len(sources) == 1 else f"{sources[0]} + {len(sources) - 1} more"
    epochs = f"{facts['epochs']} epochs" if facts.get("epochs") else None
    return " · ".join(str(part) for part in (dataset, facts.get("model"), epochs) if part)


def in_words(regions: Regions, imported: bool) -> str:
    """Return the cuts of the regions as one line."""
    from cartograph.maps.regions import AMBIGUOUS, EASY, HARD

    easy, hard, varied = (regions.cuts[name].value for name in (EASY, HARD, AMBIGUOUS))
    parts = [f"easy ≥ {_short(easy)}"] if easy is not None else []
    parts += [f"hard ≤ {_short(hard)}"] if hard is not None else []
    parts = [", ".join(parts) or "too few rows for regions", "none varied" if varied is None else f"ambiguous ≥ {_short(varied)}"]
    return "; ".join(parts) + " (no logits)" if imported else "confidence " * (easy is not None) + "; ".join(parts)


def _short(value: float) -> str:
    return f"{value:.3f}".lstrip("0") if value < 0.9995 else "1"


OUTPUTS = (_TABLES, _METRICS, *_FIGURES)
PLOTS = {f"{_TABLES}/densities.csv": _DENSITIES, _FIGURES[0]: {}}

STEP = Step(
    name="measure",
    run=run,
    params=Measure,
    inputs=(_ROWS, _DYNAMICS),
    outputs=OUTPUTS,
    libraries=("matplotlib", "numpy", "pyarrow"),
    hints=Hints(plots=PLOTS),
)
