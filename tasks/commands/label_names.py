"""Names of classes from a file beside the data, for labels that are numbers: one name per line, ``id,name`` lines, or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping

from cartograph.errors import InputError
from tasks.commands.given_files import stored
from tasks.engine.workspace import project_root


def names_of(given: str, labels: Collection[str]) -> dict[str, str]:
    """Return label -> class name.

    Args:
        given: a path: of a file with one name per line (of the labels 0, 1, … or 1, 2, …, whichever the data have), of lines with a label
            and its name (separated by a comma, a tab, or white space), or of a JSON object or list.
        labels: that the data have.

    Raises:
        InputError: the file cannot be read, or has no name for some of the labels.
    """
    path = project_root() / stored(given)
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--label-names {given} cannot be read ({error}); name a text file in UTF-8.") from error
    numbers = {label for label in labels if re.fullmatch(r"\d+", label)}
    names = _parsed(content, zero="0" in numbers, paired=_are_pairs(content, labels))
    if _is_list(content, labels) and numbers and "0" not in numbers and max(map(int, numbers)) < len(names):
        raise InputError(
            f"--label-names {given} names {len(names)} labels in order; the data have {_some(dict.fromkeys(sorted(numbers, key=int)))}: "
            "the first name may be of `0` or of `1`; write a line `label,name` for each label."
        )
    missing = sorted(set(labels) - names.keys())
    if missing:
        raise InputError(
            f"--label-names {given} names {len(names)} labels ({_some(names)}), and none of them is {_some(dict.fromkeys(missing))}; "
            "write a line `label,name` for each label."
        )
    return names


def _some(names: Mapping[str, object]) -> str:
    return ", ".join(f"`{name}`" for name in list(names)[:5]) + (", …" if len(names) > 5 else "")


def _are_pairs(content: str, labels: Collection[str]) -> bool:
    firsts = {parts[0] for line in content.splitlines() if len(parts := _fields(line)) == 2}
    return set(labels) <= firsts


def _is_list(content: str, labels: Collection[str]) -> bool:
    try:
        return not isinstance(json.loads(content), dict)
    except ValueError:
        return not _are_pairs(content, labels)


def _fields(line: str) -> list[str]:
    parts = re.split(r"\s*[,;\t]\s*|\s+", line.strip(), maxsplit=1)
    return [part.strip().strip('"') for part in parts]


def _parsed(content: str, *, zero: bool, paired: bool) -> dict[str, str]:
    start = 0 if zero else 1
    try:
        value = json.loads(content)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return {str(label): str(name) for label, name in value.items()}
    lines = [line.strip() for line in content.splitlines() if line.strip()]
    if isinstance(value, list):
        lines = [str(name) for name in value]
    elif paired:
        return {fields[0]: fields[1] for fields in map(_fields, lines) if len(fields) == 2}
    return {str(number): name for number, name in enumerate(lines, start=start)}
