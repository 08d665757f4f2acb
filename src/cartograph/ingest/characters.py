"""Whether models of a train set read its characters: found once, and kept with the set."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from cartograph.data.shared_words import column_reads_characters
from cartograph.schema import dataset_info, examples_schema


def with_characters(examples: pa.Table) -> pa.Table:
    """Return a train set (``schema.examples_schema``) that says in ``DatasetInfo.characters`` whether its characters are read."""
    info = dataset_info(examples.schema)
    if info.images or info.features or not column_reads_characters(examples, info.fields):
        return examples
    return examples.replace_schema_metadata(examples_schema(replace(info, characters=True)).metadata)
