"""Writes THIRD-PARTY-NOTICES.md: every package that the project installs, its version and its licence.

`python .ci/notices.py` reads the metadata of what is installed here, at the versions of constraints.txt. `--check` writes nothing and ends
with 1 where the file names other packages or versions than constraints.txt.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import deque
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "THIRD-PARTY-NOTICES.md"
_LONGEST = 80
_GPL = re.compile(r"(?<!L)GPL|GNU (Affero )?General Public License", re.IGNORECASE)
_ROW = re.compile(r"^\| ([^ |]+) \| ([^ |]+) \| .* \|$", re.MULTILINE)
_HEAD = """\
# Notices of third parties

What `make`, `make bench` and the tools of a release install, with the version of `constraints.txt` and the licence that each package
states of itself. Neither this repository nor Cartograph's wheel contains any of them: pip installs them from their own distributions, which
hold the texts of their licences. `make notices` writes this page.

## Under the GNU General Public License

These state a GPL, alone or as one of several to choose from. None is required by the library alone unless its way says so.

"""


def pins() -> dict[str, str]:
    """Return the version of each package in constraints.txt, by its normalised name."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return {canonicalize_name(name): version.strip() for name, equal, version in (line.partition("==") for line in lines) if equal}


def listed() -> dict[str, str]:
    """Return the version of each package on the page, by its normalised name."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return {canonicalize_name(name): version for name, version in _ROW.findall(text) if name not in ("package", "---")}


def licence(of: Distribution) -> str:
    """Return the licence that a distribution states: its expression, a short field, its classifiers, or how its licence's file begins."""
    classifiers = [
        line.split(" :: ")[-1] for line in of.metadata.get_all("Classifier") or () if line.startswith("License :: OSI Approved :: ")
    ]
    field = (of.metadata.get("License") or "").strip()
    short = [field] if field and len(field) <= _LONGEST and "\n" not in field and field.upper() != "UNKNOWN" else []
    fields = [*short, *(line for line in classifiers if _GPL.search(line))] if short else classifiers
    return (of.metadata.get("License-Expression") or "; ".join(fields) or _beginning(of)).replace("|", "or")


def _beginning(of: Distribution) -> str:
    for file in of.files or ():
        if file.name.startswith(("LICENSE", "LICENCE", "COPYING")):
            lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
            return f"its {file.name}: {' '.join(lines[:2])}"
    return "not stated"


def ways() -> dict[str, str]:
    """Return for each required package the shortest way to it from the project: the extra, then what requires what."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    starts = {"the library": project["dependencies"]} | {f"extra {name}": each for name, each in project["optional-dependencies"].items()}
    waiting = deque((Requirement(line), start) for start, lines in starts.items() for line in lines)
    seen: set[tuple[str, frozenset[str]]] = set()
    found: dict[str, str] = {}
    while waiting:
        requirement, way = waiting.popleft()
        name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if name == "cartograph" or (name, extras) in seen:
            continue
        seen.add((name, extras))
        found.setdefault(name, way)
        try:
            waiting += ((each, f"{way} → {name}") for each in _requirements(distribution(name), extras))
        except PackageNotFoundError:
            continue
    return found


def _requirements(of: Distribution, extras: frozenset[str]) -> Iterator[Requirement]:
    for requirement in map(Requirement, of.requires or ()):
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": name}) for name in extras or {""}):
            yield requirement


def page() -> str:
    """Return the page.

    Raises:
        SystemExit: a package of constraints.txt is not installed here, or in another version.
    """
    rows, gpl, missing, through = [], [], [], ways()
    for name, version in sorted(pins().items()):
        try:
            found = distribution(name)
        except PackageNotFoundError:
            missing.append(f"{name}=={version}")
            continue
        if Version(found.version).public != Version(version).public:
            missing.append(f"{name}=={version} (here is {found.version})")
        stated = licence(found)
        rows.append(f"| {name} | {version} | {stated} |")
        if _GPL.search(stated):
            gpl.append(f"- **{name}**: {stated}; {through.get(name, 'nothing')} requires it.")
    if missing:
        raise SystemExit(f"constraints.txt names {', '.join(missing)}, which is not installed here: run `make notices`")
    table = ["## All", "", "| package | version | licence |", "| --- | --- | --- |", *rows]
    return _HEAD + "\n".join([*gpl, "", *table]) + "\n"


def main(arguments: list[str]) -> int:
    """Write the page, or with --check compare it with constraints.txt; return the exit code."""
    if "--check" not in arguments:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    differing = sorted({name for name, _ in pins().items() ^ listed().items()})
    if differing:
        sys.stderr.write(f"{PAGE.name} and constraints.txt differ about {', '.join(differing)}: run `make notices`\n")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
