"""The steps of an audit and of a collection of pairs, in order: the DAGs, and nothing else."""

from collections.abc import Mapping
from typing import Any

from cartograph.config import Params, Settings
from tasks import (
    ablate,
    aflite,
    bias,
    clean,
    collect,
    collection_report,
    compare,
    compare_audits,
    embed,
    encode,
    evaluate,
    features,
    fetch,
    gates,
    ingest,
    measure,
    noise,
    pairs,
    publish,
    publish_collection,
    report,
    retrain,
    score,
    select,
    train,
    tune,
)
from tasks.step import Step

STEPS: tuple[Step, ...] = (
    fetch.STEP,
    ingest.STEP,
    embed.STEP,
    tune.STEP,
    train.STEP,
    measure.STEP,
    noise.STEP,
    features.STEP,
    aflite.STEP,
    bias.STEP,
    clean.STEP,
    select.STEP,
    retrain.STEP,
    evaluate.STEP,
    ablate.STEP,
    score.STEP,
    compare_audits.STEP,
    gates.STEP,
    report.STEP,
    publish.STEP,
)


def collection(settings: Settings) -> tuple[Step, ...]:
    """Return the steps of a collection of pairs: as many rounds as its settings say."""
    return (pairs.STEP, encode.STEP, *collect.rounds(settings), compare.STEP, collection_report.STEP, publish_collection.STEP)


COLLECTION_SECTIONS: dict[str, type[Params]] = {
    "pairs": pairs.Params,
    "encode": encode.Params,
    "collect": collect.Params,
    "compare": compare.Params,
    "report": collection_report.Params,
    "publish": publish_collection.Params,
}


def sections(content: Mapping[str, Any]) -> dict[str, type[Params]]:
    """Return the models of a params.yaml's sections: those of a collection where it has the section ``collect``, else those of an audit."""
    return COLLECTION_SECTIONS if collect.SECTION in content else {step.name: step.params for step in STEPS}
