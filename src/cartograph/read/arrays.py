"""Arrays of pixels: an NPZ archive (no pickle in it is read), or a Parquet file whose column holds arrays or whole image files."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Array
from cartograph.data.images import Unusable, canonical_png, png_of
from cartograph.errors import InputError
from cartograph.read import parquet
from cartograph.read.arrow import raw_columns
from cartograph.read.jsonl import as_text
from cartograph.read.source import BATCH_ROWS_OF_IMAGES, BROKEN_ARCHIVE, Batch, Rejected, Source, is_zip

MAX_ROWS = 10_000_000
"""Most rows of one archive; one that claims more is not read."""

_ROW_BYTES = 200_000_000
_BATCH_BYTES = 64_000_000
_HEADERS: dict[tuple[int, int], Callable[[Any], tuple[tuple[int, ...], bool, np.dtype[Any]]]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read(source: Source) -> Iterator[Batch]:
    """Yield the rows of an NPZ archive or a Parquet file: columns of images as binary (canonical PNG), others as text.

    In an archive an array of three or four axes (rows, height, width, channels) is a column of images, every array of one axis a column
    of texts; all have as many rows. In Parquet a column of images holds nested lists of numbers (height, width, channels), lists of as many
    numbers as a square has pixels, bytes of image files, or Hugging Face's ``{bytes, path}``. Values as in ``images.png_of``.

    Raises:
        InputError: it is neither, holds no images, or holds arrays that cannot be read without running code.
    """
    with open(source.path, "rb") as file:  # noqa: PTH123
        start = file.read(4)
    if start == b"PAR1":
        yield from _parquet(source)
    elif is_zip(source.path):
        yield from _archive(source)
    else:
        raise InputError(f"{source.name} is neither an NPZ archive nor a Parquet file; write one with numpy.savez_compressed.")


@dataclass(frozen=True)
class _Member:
    """One array of an archive, read from its beginning on, some rows at a time."""

    name: str
    shape: tuple[int, ...]
    kind: np.dtype[Any]
    file: IO[bytes]

    def rows(self, number: int) -> Array:
        """Return the next rows."""
        each = math.prod(self.shape[1:])
        content = self.file.read(number * each * self.kind.itemsize)
        return np.frombuffer(content, self.kind, number * each).reshape(number, *self.shape[1:])


def _archive(source: Source) -> Iterator[Batch]:
    try:
        with zipfile.ZipFile(source.path) as archive:
            members = [_member(source, archive, name) for name in archive.namelist() if name.endswith(".npy")]
            try:
                yield from _rows(source, [member for member in members if member.shape])
            finally:
                for member in members:
                    member.file.close()
    except BROKEN_ARCHIVE as error:
        raise InputError(f"{source.name} is not an NPZ archive that can be read ({str(error)[:200]}); write it again.") from error


def _member(source: Source, archive: zipfile.ZipFile, name: str) -> _Member:
    file = archive.open(name)
    title = name.removesuffix(".npy")
    header = _HEADERS.get(np.lib.format.read_magic(file))
    if header is None:
        raise InputError(f"array `{title}` of {source.name} is in a format that is not known here; write it with numpy.savez_compressed.")
    shape, by_column, kind = header(file)
    if kind.hasobject:
        raise InputError(f"array `{title}` of {source.name} holds Python objects, which can run code and are not read; save numbers.")
    if by_column and len(shape) > 1:
        raise InputError(f"array `{title}` of {source.name} is stored by columns; save numpy.ascontiguousarray of it.")
    if min(shape, default=0) < 0 or (shape and (shape[0] > MAX_ROWS or math.prod(shape[1:]) * kind.itemsize > _ROW_BYTES)):
        raise InputError(f"array `{title}` of {source.name} claims the shape {shape}, more than is read at once; save smaller arrays.")
    return _Member(title, shape, kind, file)


def _rows(source: Source, members: list[_Member]) -> Iterator[Batch]:
    images = _wanted(source, [member.name for member in members if len(member.shape) in (3, 4)])
    odd = next((member for member in members if len(member.shape) not in (1, 3, 4)), None)
    if odd is not None or not images:
        listed = ", ".join(f"{member.name} {member.shape}" for member in members) or "none"
        raise InputError(
            f"{source.name} holds the arrays {listed}; expected images of shape (rows, height, width) or (rows, height, width, channels), "
            "and beside them arrays of one axis."
        )
    lengths = {member.shape[0] for member in members}
    if len(lengths) > 1:
        listed = ", ".join(f"{member.name} {member.shape[0]:,}" for member in members)
        raise InputError(f"the arrays of {source.name} have different numbers of rows: {listed}; they must run in step.")
    total = lengths.pop()
    read = [member for member in members if member.name in images or len(member.shape) == 1]
    widest = max(math.prod(member.shape[1:]) * member.kind.itemsize for member in read)
    size = max(1, min(BATCH_ROWS_OF_IMAGES, _BATCH_BYTES // max(widest, 1)))
    for start in range(0, total, size):
        number = min(size, total - start)
        columns = {member.name: member.rows(number) for member in read}
        texts = {name: _texts(source, name, values) for name, values in columns.items() if name not in images}
        yield _batch(source, {name: list(columns[name]) for name in images}, texts, start, number)


def _texts(source: Source, name: str, values: Array) -> list[str | None]:
    if values.dtype.kind == "S":
        return [value.decode("utf-8", "replace") for value in values.tolist()]
    if values.dtype.kind not in "iufbU":
        raise InputError(f"array `{name}` of {source.name} holds {values.dtype}; expected numbers or texts.")
    return [None if value != value else as_text(value) for value in values.tolist()]


def _parquet(source: Source) -> Iterator[Batch]:
    done = 0
    for table in parquet.tables(source):
        yield image_batch(source, table, done)
        done += len(table)


def image_batch(source: Source, table: pa.Table, start: int) -> Batch:
    """Return the rows of an Arrow table some of whose columns hold images, as ``read`` does.

    Args:
        source: where it is from.
        table: typed columns.
        start: rows of the source that came before.

    Raises:
        InputError: no column holds images, or the table is damaged.
    """
    images = _wanted(source, [field.name for field in table.schema if _holds_images(field.type)])
    if not images:
        kinds = ", ".join(f"{field.name} ({field.type})" for field in table.schema)
        raise InputError(f"{source.name} has no column of arrays or image files; its columns are {kinds}.")
    # Other columns of images are left out; plain lists of numbers, such as votes, are texts.
    others = [field.name for field in table.schema if (_is_nested(field.type) or _is_bytes(field.type)) and field.name not in images]
    rest = raw_columns(table.drop_columns([*images, *others]), source.name)
    texts = {name: rest[name].to_pylist() for name in rest.column_names}
    try:
        table.select(images).validate(full=True)
    except pa.ArrowInvalid as error:
        raise InputError(f"{source.name} is damaged: {str(error).splitlines()[0]}; write it again.") from error
    values = {name: [_value(value) for value in table[name].to_pylist()] for name in images}
    return _batch(source, values, texts, start, len(table))


def _wanted(source: Source, names: list[str]) -> list[str]:
    """Return those columns that are read as images: boxes, masks and votes look like them. All where no column has a wanted name."""
    return [name for name in names if name in source.image_columns] or names


def _holds_images(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return any(kind.field(place).name == "bytes" for place in range(kind.num_fields))
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        while hasattr(kind, "value_type"):
            kind = kind.value_type
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
    return _is_bytes(kind)


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _is_nested(kind: pa.DataType) -> bool:
    """Return whether a column holds lists of lists of numbers, which cannot be written as a text."""
    return _holds_images(kind) and pa.types.is_nested(kind) and hasattr(kind, "value_type") and pa.types.is_nested(kind.value_type)


def _value(value: Any) -> Any:
    """Return a cell as bytes, or as nested lists or an array of pixels."""
    if isinstance(value, dict):
        return value.get("bytes")
    if isinstance(value, list) and value and not isinstance(value[0], list):
        for channels in (1, 3):
            side = math.isqrt(len(value) // channels)
            if side * side * channels == len(value):
                return np.asarray(value).reshape(side, side, channels)
    return value


def _batch(source: Source, images: dict[str, list[Any]], texts: dict[str, list[Any]], start: int, number: int) -> Batch:
    pictures: dict[str, list[bytes]] = {name: [] for name in images}
    rows, rejected = [], []
    for place in range(number):
        try:
            pngs = {name: _png(values[place], source.image_side) for name, values in images.items()}
        except Unusable as error:
            known = "; ".join(f"{name}: {values[place]}" for name, values in texts.items())
            rejected.append(Rejected(start + place + 1, error.reason, error.detail, known))
            continue
        rows.append(place)
        for name, png in pngs.items():
            pictures[name].append(png)
    columns = {name: pa.array(pngs, pa.binary()) for name, pngs in pictures.items()}
    for name, values in texts.items():
        chosen = [values[place] for place in rows]
        lists = any(isinstance(value, list) for value in chosen)
        columns[name] = pa.array(chosen, pa.list_(pa.string()) if lists else pa.string())
    return Batch(pa.table(columns), pa.array([start + place + 1 for place in rows], pa.int64()), tuple(rejected))


def _png(value: Any, side: int) -> bytes:
    if value is None:
        raise Unusable("no image", "empty cell")
    if isinstance(value, bytes):
        return canonical_png(value, side)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise Unusable("not an image", "rows of different lengths") from error
    return png_of(array, side)
