"""The steps of an audit, in order: the DAG, and nothing else."""

from tasks import ingest, measure, publish, report, score, train
from tasks.step import Step

STEPS: tuple[Step, ...] = (
    ingest.STEP,
    train.STEP,
    measure.STEP,
    score.STEP,
    report.STEP,
    publish.STEP,
)
