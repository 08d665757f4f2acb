"""The notices of third parties, and what `make vulnerabilities` says of pip-audit's answers."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import distribution
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent


def loaded(name: str) -> ModuleType:
    spec = spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def notices() -> ModuleType:
    return loaded("notices")


def test_the_notices_name_the_packages_and_versions_of_the_constraints(notices: ModuleType) -> None:
    assert notices.listed() == notices.pins(), "run `make notices`"
    assert all(name == canonicalize_name(name) for name in notices.listed())


def test_a_package_without_a_notice_is_named(notices: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    (tmp_path / "page.md").write_text(notices.PAGE.read_text(encoding="utf-8").replace("\n| numpy |", "\n| nunpy |"), encoding="utf-8")
    monkeypatch.setattr(notices, "PAGE", tmp_path / "page.md")
    assert notices.main(["--check"]) == 1
    assert "differ about numpy, nunpy: run" in capsys.readouterr().err


def test_every_pinned_package_is_required_by_something(notices: ModuleType) -> None:
    ways = notices.ways()
    assert [name for name in notices.pins() if name not in ways and _installed(name)] == []
    assert ways["numpy"] == "the library" and ways["mlflow-skinny"] == "extra platform → mlflow"


def _installed(name: str) -> bool:
    try:
        distribution(name)
    except ModuleNotFoundError:
        return False
    return True


def test_the_notices_name_what_is_under_the_gpl_and_how_it_comes_in(notices: ModuleType) -> None:
    text = notices.PAGE.read_text(encoding="utf-8")
    assert "- **pygit2**: GPLv2 with linking exception; extra platform → dvc → scmrepo requires it." in text
    assert "- **grandalf**: GPLv2 or EPLv1; GNU General Public License v2 (GPLv2); extra platform → dvc requires it." in text


@pytest.mark.parametrize("name", ["numpy", "torch", "pygit2", "huey", "text-unidecode"])
def test_a_row_says_what_the_metadata_say(notices: ModuleType, name: str) -> None:
    stated = notices.licence(distribution(name))
    assert f"| {name} | {notices.pins()[name]} | {stated} |" in notices.PAGE.read_text(encoding="utf-8")


FINE = {"name": "numpy", "version": "2.4.6", "vulns": []}
BAD = {"name": "pip", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2", "3"]}]}
UNKNOWN = {"name": "own", "skip_reason": "Dependency not found on PyPI"}


@pytest.mark.parametrize(
    ("packages", "code", "said"),
    [
        ([FINE], 0, "0 known vulnerabilities in 1 packages"),
        ([FINE, BAD], 1, "pip 1: PYSEC-1, fixed in 2, 3\n1 known vulnerabilities in 2 packages"),
        ([FINE, UNKNOWN], 2, "0 known vulnerabilities in 1 packages\n1 packages could not be checked: own"),
        ([BAD, UNKNOWN], 1, "pip 1: PYSEC-1, fixed in 2, 3\n1 known vulnerabilities in 1 packages\n1 packages could not be checked: own"),
        ([UNKNOWN], 2, "pip-audit could not reach its data, so nothing was checked: its service knows none of 1 packages"),
    ],
)
def test_packages_that_were_not_checked_are_no_clean_answer(packages: list[dict], code: int, said: str) -> None:
    assert loaded("vulnerabilities").verdict(json.dumps({"dependencies": packages, "fixes": []}), "") == (code, said)


def test_an_audit_of_vulnerabilities_that_fails_says_why_and_ends_with_2() -> None:
    code = "import sys; sys.argv = ['x', '--no-such-option']; import runpy; runpy.run_path(sys.argv.pop(0), run_name='__main__')"
    code = code.replace("'x'", repr(str(ROOT / ".ci" / "vulnerabilities.py")))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout.startswith("pip-audit gave no report, so nothing was checked: ")


def test_a_list_of_packages_does_not_say_where_the_checkout_lies(tmp_path: Path) -> None:
    own = {"name": "cartograph", "externalReferences": [{"type": "distribution", "url": ROOT.as_uri()}]}
    other = {"name": "numpy", "externalReferences": [{"type": "website", "url": "https://numpy.org"}, {"url": "file:///x"}]}
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"components": [own, other], "metadata": {"component": own}}), encoding="utf-8")
    loaded("sbom").main([str(path)])
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "components": [{"name": "cartograph"}, {"name": "numpy", "externalReferences": [{"type": "website", "url": "https://numpy.org"}]}],
        "metadata": {"component": {"name": "cartograph"}},
    }
