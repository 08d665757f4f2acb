"""params.yaml as frozen models: one section per step, unknown keys and wrong types are errors that name the way out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from cartograph.errors import InputError

_MAX_BYTES = 2_000_000
_MAX_DEPTH = 50
_MAX_VALUES = 500_000


class Section(BaseModel):
    """Base of every section's model: immutable, strict about unknown keys, complete with defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


_S = TypeVar("_S", bound=Section)


class Settings(Mapping[str, Section]):
    """All sections of one params.yaml by name, validated; immutable."""

    def __init__(self, sections: Mapping[str, Section] | None = None) -> None:
        self._sections = dict(sections or {})

    def __getitem__(self, name: str) -> Section:
        return self._sections[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sections)

    def __len__(self) -> int:
        return len(self._sections)

    def __repr__(self) -> str:
        return f"Settings({self._sections!r})"

    def __or__(self, others: Mapping[str, Section]) -> Settings:
        """Return these settings with other sections added, or in place of those of the same name."""
        return Settings({**self._sections, **others})

    def find(self, model: type[_S]) -> _S | None:
        """Return the section that this model describes; None where these settings have none.

        >>> class Measure(Section):
        ...     burn_in: int = 0
        >>> Settings({"measure": Measure(burn_in=2)}).find(Measure)
        Measure(burn_in=2)
        """
        return next((section for section in self._sections.values() if isinstance(section, model)), None)

    def of(self, model: type[_S]) -> _S:
        """Return the section that this model describes.

        Raises:
            InputError: these settings have none, as those of an audit and of a collection of pairs lack each other's.
        """
        section = self.find(model)
        if section is None:
            known = ", ".join(f"`{name}`" for name in self._sections) or "none"
            raise InputError(f"these settings have no section of the model {model.__name__}; their sections: {known}.")
        return section


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping in a YAML file.

    Raises:
        InputError: the file is missing, too large or too deeply nested, is not YAML or none that DVC reads, names a key twice, or does not
            hold a mapping.
    """
    try:
        with path.open("rb") as file:
            read = file.read(_MAX_BYTES + 1)
        text = read.decode("utf-8")
    except FileNotFoundError as error:
        raise InputError(
            f"{path} is missing; make a workspace with `python -m tasks init`, or name another one with --workspace."
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8.") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); make it a file that this user can read.") from error
    if len(read) > _MAX_BYTES:
        raise InputError(f"{path} has more than {_MAX_BYTES / 1e6:,.0f} MB, which no such file needs; take out what is not a parameter.")
    return parse_yaml(text, path)


def parse_yaml(text: str, path: Path) -> dict[str, Any]:
    """Return the mapping in a YAML text; ``path`` is what messages call it.

    Raises:
        InputError: as ``read_yaml``.
    """
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is not None:
            _check_node(path, node)
        content = None if node is None else loader.construct_document(node)
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" line {where.line + 1}" if where is not None else ""
        # A character that no YAML may hold has a reason, and no problem.
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or type(error).__name__
        raise InputError(f"{path}{line} is not valid YAML: {problem}.") from error
    except RecursionError as error:
        raise InputError(f"{path} is nested too deeply to be read; parameters are sections, keys and lists.") from error
    except (ValueError, TypeError) as error:
        raise InputError(f"{path} holds a value that cannot be read ({error}); correct it.") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} must hold sections (`ingest:`, `train:`, …), but holds {type(content).__name__}.")
    return content


def _check_node(path: Path, node: yaml.Node) -> None:
    """Check that no mapping names a key twice, and that what is written in several places by alias does not make it endless or huge."""
    sizes: dict[int, int | None] = {}

    def size(inner: yaml.Node, depth: int) -> int:
        known = sizes.get(id(inner), 0)
        if known is None:
            raise InputError(f"{path} line {inner.start_mark.line + 1} holds itself (`&` and `*`); write the values out.")
        if known:
            return known
        sizes[id(inner)] = None
        if depth > _MAX_DEPTH:
            raise InputError(f"{path} line {inner.start_mark.line + 1} is nested deeper than {_MAX_DEPTH} levels; correct the brackets.")
        total = 1
        _check_colons(path, inner)
        if isinstance(inner, yaml.MappingNode):
            _check_keys(path, inner)
            total += sum(size(key, depth + 1) + size(value, depth + 1) for key, value in inner.value)
        elif isinstance(inner, yaml.SequenceNode):
            total += sum(size(item, depth + 1) for item in inner.value)
        if total > _MAX_VALUES:
            raise InputError(f"{path} comes to more than {_MAX_VALUES:,} values, its aliases (`*`) written out; write out what is meant.")
        sizes[id(inner)] = total
        return total

    size(node, 0)


def _check_colons(path: Path, node: yaml.Node) -> None:
    """Check that DVC's reader of YAML reads what stands between braces or brackets too."""
    if not isinstance(node, yaml.CollectionNode) or not node.flow_style:
        return
    held = [one for pair in node.value for one in pair] if isinstance(node, yaml.MappingNode) else node.value
    for one in held:
        if isinstance(one, yaml.ScalarNode) and one.style is None and ":" in one.value:
            raise InputError(
                f"{path} line {one.start_mark.line + 1} has a colon in a value between braces or brackets, which DVC does not read; put "
                'the value in quotes, as in {database: "env:NAME"}.'
            )


def _check_keys(path: Path, node: yaml.MappingNode) -> None:
    lines: dict[tuple[str, str], int] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
            continue
        line, known = key.start_mark.line + 1, (key.tag, key.value)
        if known in lines:
            raise InputError(f"{path} has `{key.value}` twice, in line {lines[known]} and in line {line}; keep one of them.")
        lines[known] = line


def load_settings(path: Path, models: Mapping[str, type[Section]]) -> Settings:
    """Validate every section of a params.yaml.

    A section that the file leaves out takes its defaults; a section or key that no model has is an error
    that names the nearest known one.

    Args:
        path: the params.yaml.
        models: section name -> model.

    Raises:
        InputError: naming file, key, what was expected and what came.
    """
    content = read_yaml(path)
    for name in content:
        if name not in models:
            raise InputError(f"{path}: unknown section `{name}`{_meant(str(name), models)}")
    sections: dict[str, Section] = {}
    for name, model in models.items():
        section = content.get(name)
        section = {} if section is None else section
        if not isinstance(section, dict):
            raise InputError(f"{path}: section `{name}` must hold keys and values, but holds {_shown(section)}.")
        try:
            sections[name] = model.model_validate(section)
        except ValidationError as error:
            raise InputError(_explain(path, name, model, error)) from error
    return Settings(sections)


def _explain(path: Path, section: str, model: type[Section], error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join([section, *(str(part) for part in first["loc"])])
    if first["type"] == "extra_forbidden":
        known = model.model_fields if len(first["loc"]) == 1 else {}
        return f"{path}: unknown key `{key}`{_meant(str(first['loc'][-1]), known)}"
    if first["type"] == "missing":
        return f"{path}: `{key}` is missing and has no default."
    message = first["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:]
    came = "" if first["type"] == "value_error" else f", but is {_shown(first['input'])}"
    return f"{path}: `{key}`: {message}{came}."


def _shown(value: Any) -> str:
    """Return a value as messages show it: what may be secret in a URL, its user, password and query, is left out."""
    return re.sub(r"(://[^\s'\"?]*)\?[^\s'\"]*", r"\1?…", re.sub(r"://[^\s'\"]*@", "://…@", repr(value)))


def _meant(name: str, known: Mapping[str, Any]) -> str:
    near = get_close_matches(name, list(known), n=1)
    if near:
        return f"; did you mean `{near[0]}`?"
    return f"; known: {', '.join(known)}." if known else "."
