"""The step `embed` of rows with several labels: a frozen encoder's vector of every text, for the step `noise`."""

from __future__ import annotations

from dataclasses import replace

from cartograph.config import Settings
from cartograph.errors import InputError
from tasks.audit import embed
from tasks.audit.parameters.embed import Embed
from tasks.engine.step import Inputs, Out
from tasks.labels.ingest import ROWS


def run(params: Embed, inputs: Inputs, out: Out) -> str:
    """Write the vectors of the rows, and the encoder beside them; return how many rows became what.

    Raises:
        InputError: the rows are a table of features, which an encoder of texts does not read.
    """
    import pyarrow.parquet as pq

    from cartograph.schema import dataset_info

    if dataset_info(pq.read_schema(inputs[ROWS])).features:
        raise InputError("`embed.pretrained` names an encoder of texts, but the rows are a table of features; leave it out.")
    return embed.embed_texts(params, {"train": inputs[ROWS]}, out)


def _inputs(settings: Settings) -> tuple[str, ...]:
    return (ROWS, *embed.encoder_files(settings.of(Embed)))


STEP = replace(embed.STEP, run=run, inputs=_inputs, when=lambda settings: settings.of(Embed).pretrained is not None)
