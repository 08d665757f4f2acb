from __future__ import annotations

import os
import random
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from tasks.engine.surroundings import prepare
from tests.checkout import ROOT, changes, uncommitted
from tests.workspaces import use_project

prepare()
# A busy machine is no failure.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real datasets: CARTOGRAPH_DATA, or shared/data beside the project."""
    folder = Path(os.environ.get("CARTOGRAPH_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"real data is not at {folder}; name its folder in CARTOGRAPH_DATA")
    return folder


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of the test's own, a folder in ``tmp_path``: workspaces belong to it, and relative paths start from it."""
    path = tmp_path / "project"
    path.mkdir()
    return use_project(path, monkeypatch)


BEFORE = pytest.StashKey[dict[str, int]]()
BEGUN = pytest.StashKey[float]()
CHANGED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle-seed", type=int, default=None, help="run the files of tests in an order drawn by this seed")
    parser.addoption("--count-within", default=None, metavar="FOLDER", help="with --cov: count lines while tests of this folder run alone")
    parser.addoption("--slow-within", type=float, default=None, metavar="MINUTES", help="leave out slow tests that would begin later")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BEGUN] = time.monotonic()


def pytest_runtest_setup(item: pytest.Item) -> None:
    minutes = item.config.getoption("--slow-within")
    if minutes is not None and item.get_closest_marker("slow") and time.monotonic() - item.config.stash[BEGUN] > 60 * minutes:
        pytest.skip(f"the {minutes:g} minutes of slow tests are over; `make test-all` runs every one")


def pytest_report_header(config: pytest.Config) -> str | None:
    seed = config.getoption("--shuffle-seed")
    return None if seed is None else f"files in an order drawn by seed {seed}: `--shuffle-seed {seed}` repeats it"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Count no lines while a test of another folder, and what it sets up, runs."""
    folder = item.config.getoption("--count-within")
    if folder is None or item.path.is_relative_to(ROOT / folder):
        return (yield)
    from coverage import Coverage

    counted = Coverage.current()
    if counted is None:
        return (yield)
    counted.stop()
    try:
        return (yield)
    finally:
        counted.start()


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.stash[BEFORE] = uncommitted(ROOT)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run whose tests changed the checkout; of several workers, the process that started them looks when all have ended."""
    if hasattr(session.config, "workerinput"):
        return
    changed = changes(session.config.stash[BEFORE], uncommitted(ROOT))
    session.config.stash[CHANGED] = changed
    if changed and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if changed := config.stash.get(CHANGED, []):
        terminalreporter.section("the checkout changed during the tests, which write to tmp_path alone", red=True)
        for name in changed[:20]:
            terminalreporter.line(name)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the files with whole audits first: begun last, they would run on while the other workers have nothing left.

    Where slow tests end after some minutes, none runs on, and each has the same chance to be run.
    """
    seed = config.getoption("--shuffle-seed")
    place = dict.fromkeys(sorted({item.path for item in items}), 0.0)
    if seed is not None:
        rng = random.Random(seed)
        place = {path: rng.random() for path in place}
    ends = config.getoption("--slow-within") is not None
    items.sort(key=lambda item: (not ends and "integration" not in item.path.parts, place[item.path]))
