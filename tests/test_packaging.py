"""What is installed with the library, with the platform, and with each extra: as much as they import, and no more."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution, distributions, packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.integration.test_readme import write_reviews

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LIBRARY = [Requirement(line) for line in PROJECT["dependencies"]]
PAGES = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/guide.md")]
EXAMPLES = [code for page in PAGES for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL)]
SOURCES = ("databases", "snowflake", "bigquery", "flightsql", "lake")
FIRST_PARTY = {"cartograph", "tasks", "flows", "benchmarks", "tests"}


def extra(name: str) -> list[Requirement]:
    """The requirements of an extra, those of the extras that it names included."""
    found = []
    for requirement in map(Requirement, PROJECT["optional-dependencies"][name]):
        found += [inner for other in requirement.extras for inner in extra(other)] if requirement.name == "cartograph" else [requirement]
    return found


def names(requirements: Iterable[Requirement]) -> set[str]:
    return {canonicalize_name(requirement.name) for requirement in requirements}


def imported_distributions(*folders: str) -> set[str]:
    """The distributions whose modules are imported under the folders, in functions and for type checkers too."""
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    known = sys.stdlib_module_names | FIRST_PARTY | {file.stem for file in files}
    modules: set[str] = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                modules.add(node.module.split(".")[0])
    distributions = packages_distributions()
    return {the_one_declared(distributions.get(module, [module])) for module in modules - known}


def the_one_declared(having_a_module: Iterable[str]) -> str:
    found = sorted(map(canonicalize_name, having_a_module))
    declared = names(LIBRARY).union(*map(names, map(extra, PROJECT["optional-dependencies"])))
    return next((name for name in found if name in declared), found[0])


def test_the_library_requires_exactly_what_it_imports() -> None:
    assert names(LIBRARY) == imported_distributions("src/cartograph") - names(of_the_sources())


@pytest.mark.slow
def test_the_extras_of_databases_and_lakes_are_what_the_processes_that_read_them_import_and_a_manager() -> None:
    beside_the_library = imported_distributions("src/cartograph") - names(LIBRARY)
    assert names(of_the_sources()) - {"adbc-driver-manager"} == beside_the_library


def of_the_sources() -> list[Requirement]:
    return [requirement for name in SOURCES for requirement in extra(name)]


def test_the_platform_and_dask_extras_require_exactly_what_steps_and_flows_import_besides() -> None:
    beside_the_library = imported_distributions("tasks", "flows") - names(LIBRARY)
    bounds_of_what_others_import = {"fastapi", "sqlalchemy"}
    assert names(extra("platform")) | names(extra("dask")) == beside_the_library | bounds_of_what_others_import


def test_no_bound_is_lost() -> None:
    assert {str(requirement) for requirement in extra("platform") if requirement.specifier} == {"fastapi<0.140", "sqlalchemy<2.1"}


@pytest.mark.parametrize(("folders", "name"), [(("docs", "tests"), "dev"), (("benchmarks",), "bench")])
def test_what_surrounds_the_code_imports_only_what_its_extra_requires(folders: tuple[str, ...], name: str) -> None:
    assert imported_distributions(*folders) <= names(LIBRARY) | names(extra(name))


def test_make_installs_every_extra_but_the_benchmarks() -> None:
    assert "-e '.[dev]'" in (ROOT / "Makefile").read_text(encoding="utf-8")
    assert set().union(*(names(extra(name)) for name in ("platform", "dask", "s3", *SOURCES, "docs"))) <= names(extra("dev"))


def test_every_requirement_has_a_version_in_the_constraints() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {canonicalize_name(line.partition("==")[0]) for line in lines}
    assert names(LIBRARY).union(*map(names, map(extra, PROJECT["optional-dependencies"]))) <= pinned


def test_every_pinned_version_installs_on_the_oldest_python_that_is_supported() -> None:
    oldest = f"{PROJECT['requires-python'].removeprefix('>=')}.0"
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    here = [one for one in distributions() if pinned.get(one.name, "") == one.version]
    assert len(here) > 100
    assert [f"{one.name} {one.version}" for one in here if oldest not in SpecifierSet(one.metadata.get("Requires-Python", ""))] == []


def test_only_the_platform_reads_the_built_in_corpora() -> None:
    library = [file for file in (ROOT / "src/cartograph").rglob("*.py") if "planted" not in file.relative_to(ROOT).parts]
    assert library
    assert not [file for file in library if re.search(r"^\s*(from|import) cartograph\.planted\b", file.read_text(encoding="utf-8"), re.M)]


def test_the_citation_has_the_version_and_the_three_papers() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"]
    assert [paper["authors"][0]["family-names"] for paper in citation["references"]] == ["Swayamdipta", "Le Bras", "Mussmann"]
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_hooks_at_a_commit_run_what_make_has_installed() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    programs = {hook["entry"].split()[0].removeprefix(".venv/bin/") for repo in hooks for hook in repo["hooks"]}
    assert programs == {"ruff", "codespell", "mypy", "python"}
    assert programs - {"python"} <= names(extra("dev"))


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_links_of_the_pages_at_the_root_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(((?!https?:)[^)#]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert links
    assert not [link for link in links if not (ROOT / link).exists()]


@pytest.mark.slow
def test_the_wheel_alone_audits_a_file_and_runs_the_examples_of_the_readme_and_the_guide(tmp_path: Path) -> None:
    python = fresh_environment(tmp_path / "environment", built_wheel(tmp_path))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert run(python, elsewhere, "import cartograph; print(cartograph.__file__)").startswith(str(tmp_path))
    for module in ("cartograph.planted", "prefect", "mlflow", "dvc", "pytest"):
        absent = f"from importlib.util import find_spec\nassert find_spec({module!r}) is None, {module!r}"
        run(python, elsewhere, absent)
    run(python, elsewhere, "import pkgutil, importlib, cartograph\n" + EVERY_MODULE)
    write_reviews(elsewhere / "reviews.csv", 200)
    assert len(EXAMPLES) >= 3
    for example in EXAMPLES:
        run(python, elsewhere, example)
    command = [python.parent / "cartograph", "audit", "reviews.csv", "--text", "review", "--label", "sentiment"]
    done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert sorted(path.name for path in (elsewhere / "reviews-audit").iterdir()) == ["cleaned.csv", "report.html", "suspects.csv"]


EVERY_MODULE = "for module in pkgutil.walk_packages(cartograph.__path__, 'cartograph.'): importlib.import_module(module.name)"


def run(python: Path, folder: Path, code: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([python, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr[-3000:]}"
    return done.stdout.strip()


def built_wheel(folder: Path) -> Path:
    """The project's wheel, built from a copy, since a build leaves files in its folder."""
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    wheel = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation", "-w", str(folder), str(source)]
    subprocess.run(wheel, check=True)
    return next(folder.glob("cartograph-*.whl"))


def fresh_environment(folder: Path, wheel: Path) -> Path:
    """An environment of its own with the wheel and links to what it requires, directly or not, in this one's versions; its Python.

    To download these would take minutes and a network; links show the same modules, and no others.
    """
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True)
    modules = next(folder.glob("lib/python*/site-packages"))
    for found in required_distributions(distribution_in(modules)):
        for file in found.files or ():
            source = Path(str(found.locate_file(file)))
            target = modules / file
            if ".." not in file.parts and source.exists() and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(source)
    return python


def distribution_in(folder: Path) -> Distribution:
    return next(iter(Distribution.discover(name="cartograph", path=[str(folder)])))


def required_distributions(start: Distribution) -> list[Distribution]:
    """What a distribution requires, directly or not, as it is installed here."""
    found: dict[str, Distribution] = {}
    waiting = list(requirements_of(start, frozenset()))
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement = waiting.pop()
        name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, extras) not in seen:
            seen.add((name, extras))
            found[name] = distribution(name)
            waiting += requirements_of(found[name], extras)
    return list(found.values())


def requirements_of(of: Distribution, extras: frozenset[str]) -> Iterator[Requirement]:
    for requirement in map(Requirement, of.requires or ()):
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": name}) for name in extras or {""}):
            yield requirement
