"""Every code block of the documentation, run as it stands there, in a project such as its reader would have."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from tests.integration.project import Project
from tests.integration.test_readme import write_encoder, write_reviews

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)
_PORTS = {"8786": "a Dask scheduler's", "5001": "an MLflow server's"}
_SERVERS = ("python -m dask", "mlflow server", "python -m flows.serve", "prefect worker")
BRANDS, KINDS = ("acme", "globex", "initech", "umbrella"), ("camera", "lens", "case", "charger", "tripod", "strap", "filter", "bag")
IDENTITY = {f"GIT_{who}_{what}": f"reader{at}" for who in ("AUTHOR", "COMMITTER") for what, at in (("NAME", ""), ("EMAIL", "@example.org"))}


@dataclass(frozen=True)
class Block:
    language: str
    title: str
    text: str


def blocks(page: str) -> list[Block]:
    return [Block(*found) for found in _BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))]


PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
METHODS = [page for page in PAGES if page.startswith("methods/") and not page.endswith("-measured.md")]
"""Pages that say how a method works; what was measured, where it is a page of its own, has no formula of its own."""
ELSEWHERE = ("guide.md", "tutorials/dvc.md")
"""Pages whose commands test_readme.py and test_dvc_use.py run."""
RUN = [page for page in PAGES if page not in ELSEWHERE and any(block.language in ("sh", "diff") for block in blocks(page))]
SHORTENED = ("tutorials/cluster.md", "tutorials/storage.md")
"""Pages whose audits show the same with fewer models; that of tutorials/own-csv.md is what a reader's file gets."""
SMALLER = (
    ("seeds: [1, 2, 3]", "seeds: [1]"),
    ("aflite:\n  enabled: true ", "aflite:\n  enabled: false "),
    ("bias:\n  enabled: true ", "bias:\n  enabled: false "),
)


@pytest.mark.parametrize("page", METHODS)
def test_a_method_has_a_formula_a_figure_made_by_the_code_and_an_example_that_runs(page: str) -> None:
    sys.path.insert(0, str(DOCS))
    try:
        from figures import DRAWN, MADE
    finally:
        sys.path.remove(str(DOCS))
    text = (DOCS / page).read_text(encoding="utf-8")
    assert re.search(r"^\$\$.+\$\$$", text, re.MULTILINE)
    shown = set(re.findall(r"!\[[^\]]+\]\(\.\./(?:figures/)?([\w-]+\.png)\)", text))
    assert shown
    assert shown <= {*MADE, *DRAWN, "data-map.png"}
    examples = [block for block in blocks(page) if block.language == "python"]
    assert examples
    for example in examples:
        exec(compile(example.text, page, "exec"), {"__name__": page})


@pytest.mark.slow
def test_the_loops_of_your_own_training_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks("tutorials/own-loop.md"):
        assert block.language == "python"
        exec(compile(block.text, "own-loop.md", "exec"), names)
    assert {"map.html", "own-loop.html"} <= {path.name for path in tmp_path.iterdir()}


def test_no_block_is_of_a_kind_that_nobody_runs() -> None:
    kinds = {block.language for page in PAGES for block in blocks(page)}
    assert kinds <= {"sh", "python", "diff", "yaml", "csv", "text"}


def test_edits_fit_the_code_as_it_is() -> None:
    for page in RUN:
        files: dict[str, str] = {}
        for block in blocks(page):
            if block.language == "diff":
                text = files.get(block.title) or (ROOT / block.title).read_text(encoding="utf-8")
                files[block.title] = edited(text, block.text, f"{page}: {block.title}")


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_every_block_of_a_page_works(page: str, make_project: Callable[[], Project]) -> None:
    project = make_project()
    prepare(project)
    ports = {given: free_port() for given in _PORTS}
    with servers(project) as serve:
        for block in blocks(page):
            text = block.text
            for given, own in ports.items():
                text = text.replace(given, str(own))
            if block.language == "sh":
                for command in filter(None, text.splitlines()):
                    serve(command) if command.startswith(_SERVERS) else bash(project, command)
                    if page in SHORTENED and (made := re.search(r"tasks init (workspaces/\w+)", command)):
                        make_smaller(project, made[1])
            elif block.language == "diff":
                path = project.path / block.title
                path.write_text(edited(path.read_text(encoding="utf-8"), text, block.title), encoding="utf-8")
            elif "/" in block.title or (block.language == "text" and block.title):
                (project.path / block.title).write_text(text, encoding="utf-8")
            elif block.language == "python":
                bash(project, "python -", text)


def prepare(project: Project) -> None:
    """Make what a reader has: reviews, an encoder, tests, and the default audit, here a small one."""
    write_reviews(project.path / "reviews.csv", 200)
    write_reviews(project.path / "reviews-test.csv", 40, start=200)
    write_encoder(project.path / "encoder")
    write_shops(project.path)
    for name in ("tests", "benchmarks"):
        copytree(ROOT / name, project.path / name)
    params = (ROOT / "params.yaml").read_text(encoding="utf-8")
    assert "rows: 6000 " in params
    project.params(params.replace("rows: 6000 ", "rows: 1000 "))
    project.environment |= IDENTITY
    make_smaller(project, ".")


def make_smaller(project: Project, workspace: str) -> None:
    """Take the models of further seeds and the filter's comparisons out of a workspace's audit."""
    path = project.path / workspace / "params.yaml"
    params = path.read_text(encoding="utf-8")
    for long, short in SMALLER:
        assert long in params or short in params, f"{path} has neither {long!r} nor {short!r}"
        params = params.replace(long, short)
    path.write_text(params, encoding="utf-8")
    bash(project, f"python -m tasks dvc-yaml --workspace {workspace}")


def write_shops(folder: Path) -> None:
    """Write two tables of 80 products; 60 are in both, under other words and prices."""
    rng = np.random.default_rng(11)
    names = [f"{rng.choice(BRANDS)} {' '.join(rng.choice(KINDS, 2, replace=False))} k{rng.integers(1000, 9999)}" for _ in range(100)]
    for name, own, word in (("a", names[:80], "new"), ("b", names[20:], "offer")):
        lines = (f"{name}{row},{product} {word},{rng.uniform(10, 90):.2f}\n" for row, product in enumerate(own))
        (folder / f"shop-{name}.csv").write_text("id,name,price\n" + "".join(lines), encoding="utf-8")


def bash(project: Project, command: str, given: str = "") -> None:
    done = subprocess.run(
        ["bash", "-c", command], cwd=project.path, env=project.environment, input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{given}\n{done.stdout[-3000:]}\n{done.stderr[-5000:]}"


def edited(text: str, diff: str, where: str) -> str:
    """Return a file's text with a block of changed lines: those with a space or a minus must stand there once, as they are here."""
    lines = diff.splitlines()
    old = "\n".join(line[1:] for line in lines if not line.startswith("+"))
    new = "\n".join(line[1:] for line in lines if not line.startswith("-"))
    assert text.count(f"\n{old}\n") == 1, f"{where} does not have, once:\n{old}"
    return text.replace(f"\n{old}\n", f"\n{new}\n")


@contextmanager
def servers(project: Project) -> Iterator[Callable[[str], None]]:
    """Give a function that starts a command which serves, and waits until it does; all are stopped at the end."""
    started: list[subprocess.Popen[bytes]] = []

    def serve(command: str) -> None:
        log = (project.path / f"server-{len(started)}.log").open("w")
        environment = project.environment | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
        process = subprocess.Popen(
            ["bash", "-c", command], cwd=project.path, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        started.append(process)
        port = re.search(r"--port (\d+)", command)
        for _ in range(600):
            assert process.poll() is None, f"{command}\n{Path(log.name).read_text()[-3000:]}"
            if ready(project, command, int(port[1]) if port else None):
                return
            time.sleep(0.3)
        pytest.fail(f"{command} did not come up")

    try:
        yield serve
    finally:
        for process in reversed(started):
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def ready(project: Project, command: str, port: int | None) -> bool:
    if "flows.serve" in command:
        return project.run("prefect", "deployment", "inspect", "audit/reviews", code=None).returncode == 0
    if port is None:
        return True
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
