"""The step `score`: how many of the errors planted in a built-in corpus the suspects and the map find."""

from __future__ import annotations

from cartograph.config import Section, Settings
from cartograph.data.json_files import write_json
from cartograph.errors import InputError
from tasks.audit.filtering import is_filtered
from tasks.audit.ingested_sets import is_built_in
from tasks.engine.step import Inputs, Out, Step

_NOISE, _AFLITE = "data/noise", "data/aflite"


class Score(Section):
    """The section ``score`` of params.yaml: there is nothing to set."""


def run(params: Score, inputs: Inputs, out: Out) -> str:
    """Compare the suspects, or without them low confidence, with the planted flips; return how well they were found."""
    import pyarrow.parquet as pq

    from cartograph.data.parquet import write_parquet
    from cartograph.planted.score import score

    measures = pq.read_table(inputs["data/measure"] / "measures.parquet")
    truth = pq.read_table(inputs["data/truth"] / "truth.parquet")
    suspects = pq.read_table(inputs[_NOISE] / "noise.parquet") if _NOISE in inputs else None
    aflite = pq.read_table(inputs[_AFLITE] / "aflite.parquet") if _AFLITE in inputs else None
    try:
        table, metrics = score(measures, truth, suspects, aflite)
    except ValueError as error:
        raise InputError(f"the map cannot be scored: {error}; run the audit from its start with `--force ingest`.") from error
    write_parquet(table, out["data/score"] / "score.parquet")
    write_json(out["reports/score.metrics.json"], metrics)
    summary = "planted flips: average precision {average_precision:.2f}".format(**metrics)
    if suspects is not None:
        summary += ", precision {precision:.2f}, recall {recall:.2f}".format(**metrics)
    summary = summary.replace(" 0.", " .")
    if "give_away.odds_ratio" in metrics:
        summary += f"; AFLite removing give-away rows: odds ratio {metrics['give_away.odds_ratio']:.1f}"
    return summary


def _inputs(settings: Settings) -> tuple[str, ...]:
    noise = (_NOISE,) if "noise" in settings else ()
    return ("data/truth", "data/measure", *noise, *((_AFLITE,) if is_filtered(settings) else ()))


STEP = Step(
    name="score",
    run=run,
    params=Score,
    inputs=_inputs,
    outputs=("data/score", "reports/score.metrics.json"),
    libraries=("numpy", "pyarrow", "scikit-learn"),
    when=is_built_in,
)
