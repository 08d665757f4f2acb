"""A data set of the Hugging Face hub: ``hub:NAME[@CONFIG][:SPLIT]``; none of its scripts is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from cartograph.errors import InputError
from cartograph.read.huggingface import choose, rows_of
from cartograph.read.source import Batch, Source

PREFIX = "hub:"
_ID = re.compile(r"hub:(?P<name>[^@:]+)(@(?P<config>[^:]+))?(:(?P<split>[\w.-]+))?")


def read(source: Source) -> Iterator[Batch]:
    """Yield the rows of one split of a hub's data set.

    Raises:
        InputError: the id is malformed, the hub cannot be reached, or it has no such data set, configuration or split.
    """
    match = _ID.fullmatch(source.path)
    if match is None:
        raise InputError(f"`{source.path}` is not a hub id; write `hub:NAME`, `hub:NAME@CONFIG` or `hub:NAME@CONFIG:SPLIT`.")
    import datasets

    try:
        loaded = datasets.load_dataset(match["name"], match["config"])
    except (datasets.exceptions.DatasetNotFoundError, datasets.exceptions.DataFilesNotFoundError) as error:
        raise InputError(f"{source.path}: {_sentence(error)}; correct the name.") from error
    except OSError as error:
        raise InputError(
            f"{source.path} cannot be fetched: {_sentence(error)}; where no hub can be reached, fetch the data set elsewhere, save it "
            "with `save_to_disk`, and name that folder."
        ) from error
    except (ValueError, RuntimeError) as error:
        raise InputError(f"{source.path}: {_sentence(error)}.") from error
    split = source.split or match["split"]
    yield from rows_of(source, choose(replace(source, split=split), loaded))


def _sentence(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
