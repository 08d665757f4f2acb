"""Odd surroundings: each ends with the right result, or with one sentence and the exit code 2."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.project_copy import copy_project
from tests.integration.project import Project

SMALL = """\
ingest: {source: planted-nli, rows: 240, seed: 13}
train: {model: bow, epochs: 2, learning_rate: 0.01}
measure: {burn_in: 0}
retrain: {subsets: []}
aflite: {enabled: false}
bias: {enabled: false}
publish: {enabled: false}
"""
NO_LOCKS = """\
#include <errno.h>
int flock(int file, int operation) { (void)file; (void)operation; errno = ENOLCK; return -1; }
"""
NO_ENTRY = """\
#include <pwd.h>
#include <stddef.h>
struct passwd *getpwuid(uid_t user) { (void)user; return NULL; }
int getpwuid_r(uid_t user, struct passwd *entry, char *text, size_t size, struct passwd **found) {
  (void)user; (void)entry; (void)text; (void)size; *found = NULL; return 0;
}
"""
_CAP_DAC_OVERRIDE, _PR_CAPBSET_DROP = 1, 24

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path) -> Project:
    path = tmp_path / "plain"
    path.mkdir()
    return Project(path, copy_project(path, SMALL))


def preloaded(source: str, folder: Path) -> dict[str, str]:
    """The environment in which a function of the C library is another one."""
    if shutil.which("gcc") is None or not sys.platform.startswith("linux"):
        pytest.skip("needs gcc on Linux, for functions in place of the C library's")
    (folder / "other.c").write_text(source)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", folder / "other.so", folder / "other.c"], check=True)
    return {"LD_PRELOAD": str(folder / "other.so")}


def outcome(project: Project, *command: str, code: int, **options: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=project.path, env=project.environment, capture_output=True, text=True, check=False, **options
    )  # type: ignore[call-overload]
    assert done.returncode == code, done.stdout[-2000:] + done.stderr[-4000:]
    assert "Traceback" not in done.stdout + done.stderr
    return " ".join((done.stdout + done.stderr).split())


def test_an_audit_by_a_user_without_home_or_name_in_another_place_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "Zoë Müller 数据" / "project"
    path.mkdir(parents=True)
    monkeypatch.delenv("HOME")
    for name in [name for name in os.environ if name in ("LANG", "USER", "LOGNAME", "LNAME", "USERNAME") or name.startswith("LC_")]:
        monkeypatch.delenv(name)
    copied = copy_project(path, SMALL)
    project = Project(path, copied | {"LC_ALL": "C", "TZ": "Pacific/Kiritimati"} | preloaded(NO_ENTRY, tmp_path))
    outcome(project, "flows.audit", code=0, umask=0o077)
    assert (path / "reports/report.html").exists() and (path / "dvc.lock").exists()
    made = [file for folder in ("data", "reports") for file in (path / folder).rglob("*") if file.is_file()]
    assert made and not [file for file in made if file.stat().st_mode & 0o077]
    # Names of files in ASCII: libraries would write to another folder.
    project.environment |= {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert "set PYTHONUTF8=1, or a UTF-8 locale" in outcome(project, "tasks", "run", "ingest", code=2)


def test_where_i_is_not_the_small_letter_of_i(project: Project, tmp_path: Path) -> None:
    """In Turkish, I and i are letters of two pairs; what is compared without case must not depend on where it is."""
    made = subprocess.run(["localedef", "-i", "tr_TR", "-f", "UTF-8", str(tmp_path / "tr_TR.UTF-8")], capture_output=True, check=False)
    if made.returncode > 1 or not (tmp_path / "tr_TR.UTF-8").exists():
        pytest.skip("this machine cannot make a Turkish locale")
    rows = "".join(f"ISTANBUL in winter {i},{('TITLE', 'Title', 'IŞIK', 'ışık')[i % 4]}\n" for i in range(40))
    (project.path / "train.csv").write_text("TEXT,LABEL\n" + rows, encoding="utf-8")
    project.params("ingest: {source: files, train: train.csv, text: TEXT, label: LABEL}\n")
    project.run("tasks", "dvc-yaml")
    results = []
    for variables in ({"LC_ALL": "C.UTF-8"}, {"LC_ALL": "tr_TR.UTF-8", "LOCPATH": str(tmp_path)}):
        project.environment |= variables
        project.run("tasks", "run", "ingest", "--force")
        results.append([(project.path / name).read_bytes() for name in ("data/ingest/train.parquet", "reports/ingest.metrics.json")])
    assert results[0] == results[1]


def test_a_clock_that_goes_back(project: Project) -> None:
    (project.path / "train.csv").write_text("text,label\n" + "".join(f"row {i},{'ab'[i % 2]}\n" for i in range(40)))
    project.params("ingest: {source: files, train: train.csv, text: text}\n")
    project.run("tasks", "dvc-yaml")
    project.run("tasks", "run", "ingest")
    tomorrow = time.time() + 86_400
    for path in (project.path, *project.path.rglob("*")):
        if ".git" not in path.parts:
            os.utime(path, (tomorrow, tomorrow))
    assert project.executed_by(lambda: project.run("tasks", "run", "ingest")) == set()
    # As long as before, and older than what was made of it.
    (project.path / "train.csv").write_text((project.path / "train.csv").read_text().replace("row 7,b", "row 7,a"))
    assert project.executed_by(lambda: project.run("tasks", "run", "ingest")) == {"ingest"}
    assert project.executed_by(lambda: project.run("tasks", "run", "ingest")) == set()


def as_one_who_may_not() -> None:
    # Root may write everywhere, unless it gives that up.
    if os.getuid() == 0:
        ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, 0, 0, 0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs the capabilities of Linux")
@pytest.mark.parametrize("command", [("tasks", "run", "ingest"), ("flows.audit",)], ids=["a step", "an audit"])
def test_a_checkout_that_can_only_be_read(project: Project, command: tuple[str, ...]) -> None:
    folders = [project.path, *(path for path in project.path.rglob("*") if path.is_dir())]
    for path in folders:
        path.chmod(0o555)
    try:
        said = outcome(project, *command, code=2, preexec_fn=as_one_who_may_not)
    finally:
        for path in folders:
            path.chmod(0o755)
    assert f"error workspace {project.path} cannot be written by this user (Permission denied" in said
    assert not (project.path / "data").exists()


@pytest.mark.parametrize("command", [("tasks", "run", "ingest"), ("flows.audit",)], ids=["a step", "an audit"])
def test_a_file_system_that_locks_no_files(project: Project, tmp_path: Path, command: tuple[str, ...]) -> None:
    project.environment |= preloaded(NO_LOCKS, tmp_path)
    said = outcome(project, *command, code=2)
    assert "is on a file system without file locks (No locks available), so two audits could write at once" in said
    assert not (project.path / "data").exists()
