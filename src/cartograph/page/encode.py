"""Values as parts of a page: JSON that cannot leave its script element, columns as bytes, pictures as data URIs."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any

import numpy as np

from cartograph.data.arrays import Array

_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")

_COLUMN_TYPES = {"uint8": "u8", "uint16": "u16", "int16": "i16", "uint32": "u32", "int32": "i32", "float32": "f32"}
_WHOLE = ("uint8", "uint16", "int16", "uint32", "int32")


def script_json(value: Any) -> str:
    """Return JSON that is safe inside ``<script type="application/json">``.

    ``<``, ``>``, ``&``, the two Unicode line separators and lone surrogates become ``\\uXXXX``, so no value can end the
    element, open a comment, or break the encoding; the parsed value is the same.

    Raises:
        ValueError: a number is not finite.

    >>> script_json({"text": "</script>"})
    '{"text":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def column(values: Array) -> dict[str, str]:
    """Return a numeric column as base64 of its little-endian bytes: a fraction of its size as JSON numbers.

    Args:
        values: shape ``(n,)`` or ``(n, k)`` (row by row), of a type that a browser's typed arrays have.

    Raises:
        ValueError: another type.
    """
    kind = _COLUMN_TYPES.get(values.dtype.name)
    if kind is None:
        raise ValueError(f"a column of type {values.dtype} cannot be carried; use one of {', '.join(_COLUMN_TYPES)}")
    little = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"), copy=False)
    return {"type": kind, "data": base64.b64encode(little.tobytes()).decode("ascii")}


def whole_numbers(values: Array) -> dict[str, str]:
    """Return whole numbers as a column of the first type of one, two or four bytes that holds all of them.

    Args:
        values: integers of -2³¹ to 2³² - 1, of -2³¹ to 2³¹ - 1 where one is negative; any shape that ``column`` takes.

    Raises:
        ValueError: a number beyond that.

    >>> whole_numbers(np.array([0, 300]))["type"]
    'u16'
    """
    least, most = (int(values.min()), int(values.max())) if values.size else (0, 0)
    for name in _WHOLE:
        if np.iinfo(name).min <= least and most <= np.iinfo(name).max:
            return column(values.astype(name))
    raise ValueError(f"whole numbers from {least} to {most} cannot be carried; use some of at most four bytes")


def data_uri(content: bytes, media_type: str) -> str:
    """Return a picture as a ``data:`` address."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode('ascii')}"


def script_hash(source: str) -> str:
    """Return the Content-Security-Policy source expression that allows exactly this inline script."""
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
