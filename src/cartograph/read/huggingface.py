"""A Hugging Face data set on disk: a folder made by ``save_to_disk``, or one of Arrow or Parquet shards. None of its scripts is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from cartograph.errors import InputError
from cartograph.read import parquet
from cartograph.read.arrays import image_batch
from cartograph.read.source import Batch, Source, refuse_links_out

_SHARDS = (".parquet", ".arrow")
_SHARD = re.compile(r"[-_.]?\d+(-of-\d+)?$")


def read(source: Source) -> Iterator[Batch]:
    """Yield the rows of a data set's folder, or of one split of it.

    Raises:
        InputError: the folder holds no data set, several splits while the source names none, or a link that leads out of it.
    """
    folder = Path(source.path)
    if not folder.is_dir():
        raise InputError(f"{source.name} is not a folder; a Hugging Face data set on disk is one.")
    if (folder / "state.json").is_file() or (folder / "dataset_dict.json").is_file():
        from datasets import load_from_disk

        try:
            loaded = load_from_disk(str(folder))
        except (OSError, ValueError, KeyError, pa.ArrowInvalid) as error:
            raise InputError(f"{source.name} is not a data set that can be read ({error}); save it again with `save_to_disk`.") from error
        yield from rows_of(source, choose(source, loaded) if (folder / "dataset_dict.json").is_file() else loaded)
    else:
        files = choose(source, _splits(source, folder))
        refuse_links_out(source, files)
        yield from _shards(source, files)


def holds_shards(path: str) -> bool:
    """Return whether a folder has Arrow or Parquet files in it or in one of its sub-folders."""
    return any(file.suffix in _SHARDS for file in Path(path).rglob("*"))


def choose(source: Source, splits: dict[str, Any]) -> Any:
    """Return the split that the source names, or the only one.

    Raises:
        InputError: with the names of the splits.
    """
    names = ", ".join(splits)
    if source.split is not None and source.split not in splits:
        raise InputError(f"{source.name} has no split `{source.split}`; it has {names}.")
    if source.split is None and len(splits) != 1:
        raise InputError(f"{source.name} has the splits {names}; name one, as in `{{path: {source.name}, split: {next(iter(splits))}}}`.")
    return splits[source.split or next(iter(splits))]


def rows_of(source: Source, dataset: Any) -> Iterator[Batch]:
    """Yield the rows of a loaded ``datasets.Dataset``."""
    done = 0
    for part in dataset.with_format("arrow").iter(batch_size=source.batch_rows):
        named = part.replace_schema_metadata(dataset.features.arrow_schema.metadata)
        yield _batch(source, named, done)
        done += len(part)


def _batch(source: Source, table: pa.Table, start: int) -> Batch:
    return image_batch(source, table, start) if source.images else parquet.raw_batch(table, source.name, start)


def _splits(source: Source, folder: Path) -> dict[str, list[Path]]:
    """Return split -> shards: ``train-00000-of-00002.parquet``, ``name-train.arrow``, ``train/0000.parquet``."""
    splits: dict[str, list[Path]] = {}
    for file in sorted(file for file in folder.rglob("*") if file.suffix in _SHARDS and file.is_file()):
        stem = _SHARD.sub("", file.stem)
        split = stem.rsplit("-", 1)[-1] if stem else file.parent.name
        splits.setdefault(split, []).append(file)
    for split, files in splits.items():
        folders = sorted({file.parent.relative_to(folder).as_posix() for file in files})
        if len(folders) > 1:
            raise InputError(
                f"{source.name} holds split `{split}` in several folders ({', '.join(folders)}); name one of them as the path."
            )
    if not splits:
        raise InputError(
            f"{source.name} holds no data set: no `state.json` of `save_to_disk`, no .parquet, no .arrow file and no image; name a file."
        )
    return splits


def _shards(source: Source, files: list[Path]) -> Iterator[Batch]:
    done = 0
    for file in files:
        shard = replace(source, path=str(file), name=f"{source.name}/{file.name}", split=None)
        for table in parquet.tables(shard) if file.suffix == ".parquet" else _stream(shard):
            yield _batch(shard, table, done)
            done += len(table)


def _stream(source: Source) -> Iterator[pa.Table]:
    try:
        with pa.memory_map(source.path) as file, pa.ipc.open_stream(file) as reader:
            for part in reader:
                yield pa.Table.from_batches([part], reader.schema)
    except pa.ArrowInvalid as error:
        raise InputError(f"{source.name} is not an Arrow stream that can be read ({error}); save the data set again.") from error
