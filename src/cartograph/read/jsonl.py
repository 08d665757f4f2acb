"""JSON lines, an array of objects, or an object that holds one; fields of nested objects are columns named with dots (``a.b``)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import IO, Any

import pyarrow as pa

from cartograph.errors import InputError
from cartograph.read.encodings import NOT_DECODED, broken_byte, printable
from cartograph.read.opening import open_text
from cartograph.read.source import BATCH_ROWS, MAX_COLUMNS, Batch, Rejected, Source

Numbered = tuple[int, dict[str, Any]]
Label = str | list[str] | None
"""A new label, or the new list of labels; None: as it was."""


def read(source: Source) -> Iterator[Batch]:
    """Yield the objects of a JSONL file, or of a file that holds one array of objects, alone or in an object (``{"data": [...]}``).

    Numbers and booleans become text (``1``, ``true``), ``null`` and ``NaN`` become null, a list becomes a list of texts.

    Raises:
        InputError: the file is one array or object and is not valid JSON, or the object holds no array of objects, or several.
    """
    with open_text(source.path, source, newline="\n") as file:
        if _begins_with(file) == "[":
            yield from _array(source, _loaded(source, file))
        elif (whole := _one_object(file)) is not None:
            yield from _array(source, whole[_key_of_records(source, whole)])
        else:
            yield from _lines(source, file)


def _begins_with(file: IO[str]) -> str:
    """Return the first character of a file that is not white space, and go back to its beginning."""
    start = file.read(1)
    while start.isspace():
        start = file.read(1)
    file.seek(0)
    return start


def _one_object(file: IO[str]) -> dict[str, Any] | None:
    """Return the object that a file is as a whole, None for a file of lines; go back to its beginning."""
    first, second = (next((line for line in file if not line.isspace()), "") for _ in range(2))
    file.seek(0)
    try:
        alone = isinstance(value := json.loads(first, parse_constant=_nothing), dict) and not second and len(_lists_of_objects(value)) == 1
        return value if alone else None
    except (ValueError, RecursionError):
        pass
    try:
        whole = json.load(file, parse_constant=_nothing) if first.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        whole = None
    file.seek(0)
    return whole


def _lists_of_objects(value: Mapping[str, Any]) -> list[str]:
    return [key for key, inner in value.items() if isinstance(inner, list) and inner and all(isinstance(one, dict) for one in inner)]


def _key_of_records(source: Source, whole: Mapping[str, Any]) -> str:
    found = _lists_of_objects(whole)
    if len(found) != 1:
        keys = ", ".join(f"`{key}`" for key in list(whole)[:8]) + (", …" if len(whole) > 8 else "")
        held = f"several arrays of objects ({', '.join(found)})" if found else "no array of objects"
        raise InputError(
            f"{source.name} is one JSON object with the keys {keys} and {held}; write the records as one object per line, or as one array."
        )
    return found[0]


def _lines(source: Source, file: IO[str]) -> Iterator[Batch]:
    numbered = enumerate(file, start=1)
    while chunk := list(islice(numbered, BATCH_ROWS)):
        records: list[Numbered] = []
        rejected: list[Rejected] = []
        for number, line in chunk:
            if line.isspace():
                continue
            if wrong := broken_byte(line):
                rejected.append(Rejected(number, NOT_DECODED, wrong, printable(line.rstrip("\r\n"))))
                continue
            try:
                value = json.loads(line, parse_constant=_nothing)
            except (ValueError, RecursionError) as error:
                rejected.append(Rejected(number, "not valid JSON", str(error), line.rstrip("\r\n")))
                continue
            _sort_in(number, value, records, rejected, line.rstrip("\r\n"))
        yield _batch(source, records, rejected)


def _loaded(source: Source, file: IO[str]) -> Any:
    try:
        return json.load(file, parse_constant=_nothing)
    except json.JSONDecodeError as error:
        raise InputError(f"{source.name} is not valid JSON: line {error.lineno}, column {error.colno}: {error.msg}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source.name} is not JSON that can be read: {error}.") from error


def _array(source: Source, values: list[Any]) -> Iterator[Batch]:
    for start in range(0, len(values), BATCH_ROWS):
        records: list[Numbered] = []
        rejected: list[Rejected] = []
        for number, value in enumerate(values[start : start + BATCH_ROWS], start=start + 1):
            _sort_in(number, value, records, rejected, None)
        yield _batch(source, records, rejected)


def rewrite(source: Source, column: str, kept: Mapping[int, Label]) -> Iterator[str]:
    """Yield the text of a JSON file with some of its records: lines byte for byte but for new labels, an array written again.

    Args:
        column: the label's; dots lead into nested objects.
        kept: number of each record that stays -> its new label, or its list of labels; None where it keeps its own. A label that is a
            number in the file stays one.
    """
    lists = any(isinstance(label, list) or (label or "").startswith("[") for label in kept.values())
    spelled = _items(source, column) if lists else {}
    with open_text(source.path, source, newline="\n") as file:
        if _begins_with(file) == "[":
            records = _kept(json.load(file), column, kept, spelled)
            yield "[\n" + ",\n".join(json.dumps(record, ensure_ascii=False) for record in records) + "\n]\n"
            return
        if (whole := _one_object(file)) is not None:
            key = _key_of_records(source, whole)
            yield json.dumps({**whole, key: _kept(whole[key], column, kept, spelled)}, ensure_ascii=False, indent=1) + "\n"
            return
        for number, line in enumerate(file, start=1):
            if number in kept:
                label = kept[number]
                end = line[len(line.rstrip("\r\n")) :]
                yield line if label is None else json.dumps(_relabelled(json.loads(line), column, label, spelled), ensure_ascii=False) + end


def _items(source: Source, column: str) -> dict[str, Any]:
    """Return what the lists of a column hold, as it is in the file, by how it is read."""
    with open_text(source.path, source, newline="\n") as file:
        if _begins_with(file) == "[":
            values: Iterable[Any] = json.load(file)
        elif (whole := _one_object(file)) is not None:
            values = whole[_key_of_records(source, whole)]
        else:
            values = map(_line, file)
        cells = (_flat(value).get(column) for value in values if isinstance(value, dict))
        return {as_text(item) or "": item for cell in cells if isinstance(cell, list) for item in cell}


def _line(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_nothing)
    except (ValueError, RecursionError):
        return None


def _kept(values: list[Any], column: str, kept: Mapping[int, Label], spelled: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [_relabelled(value, column, kept[number], spelled) for number, value in enumerate(values, start=1) if number in kept]


def _relabelled(record: dict[str, Any], column: str, label: Label, spelled: Mapping[str, Any]) -> dict[str, Any]:
    if label is None:
        return record
    new: dict[str, Any] = put_at(record, column.split("."), lambda old: like(old, label, spelled))
    return new


def put_at(value: Any, parts: Sequence[str], new: Callable[[Any], Any]) -> Any:
    """Return a JSON value with another one where a path leads; text that holds JSON stays text.

    Args:
        value: the whole.
        parts: of the path: keys, of which one may consist of several parts with dots between them, and places in lists, negative ones
            from the end. A last key that is not there is added.
        new: returns the new value for the old one, or for None.

    >>> put_at({"marks": ['{"value": "good"}']}, ["marks", "0", "value"], lambda old: "bad")
    {'marks': ['{"value": "bad"}']}
    """
    if not parts:
        return new(value)
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        return json.dumps(put_at(json.loads(value), parts, new), ensure_ascii=False)
    if isinstance(value, list):
        copy = list(value)
        copy[int(parts[0])] = put_at(value[int(parts[0])], parts[1:], new)
        return copy
    there: dict[str, Any] = value if isinstance(value, dict) else {}
    for length in range(len(parts), 0, -1):
        key = ".".join(parts[:length])
        if key in there:
            return {**there, key: put_at(there[key], parts[length:], new)}
    return {**there, ".".join(parts): new(None)}


def like(old: Any, label: str | list[str], spelled: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Return a label as the value that it replaces is written: as a number where that is one, a list as the file has its items."""
    new: Any = label
    if isinstance(old, int | float | list) and isinstance(label, str):
        try:
            new = json.loads(label)
        except ValueError:
            return label
        if isinstance(new, list) != isinstance(old, list) or not isinstance(new, int | float | list):
            return label
    return [spelled.get(as_text(item) or "", item) for item in new] if isinstance(new, list) else new


def _nothing(constant: str) -> None:
    return None


def _sort_in(number: int, value: Any, records: list[Numbered], rejected: list[Rejected], text: str | None) -> None:
    if isinstance(value, dict) and value:
        records.append((number, value))
    else:
        kind = "an object without keys" if value == {} else type(value).__name__
        rejected.append(Rejected(number, "not a JSON object", kind, json.dumps(value) if text is None else text))


def _batch(source: Source, records: list[Numbered], rejected: list[Rejected]) -> Batch:
    try:
        table = _table(source, [record for _, record in records])
    except UnicodeEncodeError:
        readable = []
        for number, record in records:
            if _is_unicode(record):
                readable.append((number, record))
            else:
                wrong = broken_byte(json.dumps(record, ensure_ascii=False))
                reason = (NOT_DECODED, wrong) if wrong else ("not valid Unicode", "half of a surrogate pair")
                rejected.append(Rejected(number, *reason, json.dumps(record)))
        records = readable
        table = _table(source, [record for _, record in records])
        rejected.sort(key=lambda record: record.row)
    return Batch(table, pa.array([number for number, _ in records], pa.int64()), tuple(rejected))


def _is_unicode(record: dict[str, Any]) -> bool:
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _table(source: Source, records: list[dict[str, Any]]) -> pa.Table:
    flat = [_flat(record) for record in records]
    names: dict[str, None] = {}
    for record in flat:
        names.update(dict.fromkeys(record))
    if len(names) > MAX_COLUMNS:
        raise InputError(f"{source.name} has more than {MAX_COLUMNS} different keys; the keys of its objects must be names of columns.")
    return pa.table({name: _column([record.get(name) for record in flat]) for name in names})


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    if not any(isinstance(value, dict) for value in record.values()):
        return record
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict):
            flat.update({f"{key}.{name}": inner for name, inner in _flat(value).items()} or {key: None})
        else:
            flat[key] = value
    return flat


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values, pa.string())
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        pass
    if all(value is None or isinstance(value, list) for value in values):
        return pa.array([value if value is None else [as_text(item) for item in value] for value in values], pa.list_(pa.string()))
    return pa.array([as_text(value) for value in values], pa.string())


def as_text(value: Any) -> str | None:
    """Return a JSON value as text: whole numbers without a fraction, lists and objects as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)
