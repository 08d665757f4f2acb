"""The steps of an audit, in order: the DAG, and nothing else."""

from tasks import clean, embed, evaluate, ingest, measure, noise, publish, report, retrain, score, select, train
from tasks.step import Step

STEPS: tuple[Step, ...] = (
    ingest.STEP,
    embed.STEP,
    train.STEP,
    measure.STEP,
    noise.STEP,
    clean.STEP,
    select.STEP,
    retrain.STEP,
    evaluate.STEP,
    score.STEP,
    report.STEP,
    publish.STEP,
)
