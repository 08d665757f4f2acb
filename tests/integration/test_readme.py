"""Every command in the README and the guide, run as it stands there, on files such as a user would have."""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.project import MakeProject, Project

ROOT = Path(__file__).resolve().parent.parent.parent
README, GUIDE = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/guide.md"))
PYTHON = [code for page in (README, GUIDE) for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL)]


def commands_in(page: str) -> list[str]:
    return [line for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) for line in block.splitlines() if line.strip()]


COMMANDS = commands_in(GUIDE)


def write_reviews(path: Path, rows: int, start: int = 0) -> None:
    things, good, bad = ["film", "book", "meal", "hotel", "phone"], ["lovely", "great", "superb"], ["dull", "awful", "broken"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["review", "sentiment"])
        for number in range(start, start + rows):
            kind, words = ("positive", good) if number % 2 else ("negative", bad)
            writer.writerow([f"The {things[number % 5]} number {number} was {words[number % 3]}", kind])


def write_duplicates(path: Path) -> None:
    from cartograph.planted.paraphrases import generate

    stated = [row for row in generate(600, 1).stated.to_pylist() if row["label"] == "1"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "duplicate"])
        writer.writerows((row["left"], row["right"]) for row in stated)


def write_photos(folder: Path) -> None:
    import numpy as np

    from cartograph.data.images import png_of

    for number in range(60):
        place = folder / ("day" if number % 2 else "night") / f"{number}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        shades = np.random.default_rng(number).integers(0, 120, (12, 16, 3), dtype=np.uint8)
        place.write_bytes(png_of(shades + np.uint8(120 * (number % 2)), 256))


def write_encoder(folder: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "was", "film", "book", "lovely", "great", "dull", "awful"]
    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    config = BertConfig(vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
    BertModel(config).save_pretrained(folder)


@pytest.fixture(scope="module")
def project(make_project: MakeProject) -> Project:
    project = make_project(database=False)
    write_reviews(project.path / "reviews.csv", 200)
    write_reviews(project.path / "reviews-test.csv", 40, start=200)
    write_encoder(project.path / "encoder")
    write_photos(project.path / "photos")
    write_duplicates(project.path / "duplicates.csv")
    return project


def test_the_two_commands_are_what_ci_runs() -> None:
    ci = (ROOT / ".ci" / "run").read_text()
    assert commands_in(README)[0] == "make audit"
    assert COMMANDS[:3] == ["make audit", "make test", ". .venv/bin/activate"]
    assert "make audit" in ci
    assert "make test" in ci


def test_the_screen_of_the_readme_is_one_screen() -> None:
    assert len(README.split()) < 520 and len(README.splitlines()) < 60


def serving(project: Project, command: list[str], ready: Callable[[], bool]) -> subprocess.Popen[str]:
    process = project.start(*command)
    for _ in range(300):
        if ready():
            return process
        assert process.poll() is None, process.stdout.read() if process.stdout else ""
        time.sleep(0.3)
    pytest.fail(f"{command} did not come up")


def stop(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def check_mlflow(project: Project, arguments: list[str]) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])

    def ready() -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    stop(serving(project, [*arguments, "--port", port], ready))


def check_schedule(project: Project, arguments: list[str]) -> None:
    """A process that serves or works takes a run of the deployment."""

    def ready() -> bool:
        return project.run("prefect", "deployment", "inspect", "audit/reviews", code=None).returncode == 0

    process = serving(project, arguments, ready)
    try:
        before = project.executions("workspaces/reviews")
        project.run("prefect", "deployment", "run", "audit/reviews", "--watch", "--watch-timeout", "120")
        assert project.executions("workspaces/reviews") == before, "the audit was fresh, yet its schedule ran a step"
    finally:
        stop(process)


def module_of(command: str) -> list[str]:
    arguments = shlex.split(command)
    return arguments[2:] if arguments[:2] == ["python", "-m"] else arguments


def for_a_platform(arguments: list[str]) -> bool:
    return arguments[0] in ("flows.deploy", "flows.compare") or arguments[:2] == ["prefect", "worker"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_command_works(project: Project) -> None:
    for arguments in map(module_of, COMMANDS[3:]):
        if arguments[:2] == ["mlflow", "ui"]:
            check_mlflow(project, arguments)
        elif arguments[0] == "flows.serve":
            check_schedule(project, arguments)
        elif not for_a_platform(arguments):
            project.run(*arguments)
    assert (project.path / "workspaces/reviews/reports/report.html").exists()


@pytest.mark.slow
def test_every_command_of_a_platform_works(project: Project) -> None:
    space = project.path / "workspaces/reviews"
    if not space.exists():
        for arguments in map(module_of, COMMANDS):
            if "workspaces/reviews" in arguments and arguments[0] in ("tasks", "flows.audit"):
                project.run(*arguments)
    found = [arguments for arguments in map(module_of, COMMANDS) if for_a_platform(arguments)]
    assert [arguments[0] for arguments in found] == ["flows.deploy", "prefect", "flows.compare"]
    deploy, worker, comparison = found
    project.run(*deploy)
    check_schedule(project, worker)
    shutil.copytree(space, project.path / comparison[2])
    assert "the same rows" in project.run(*comparison).stdout


@pytest.mark.slow
def test_the_library_examples_work(tmp_path: Path) -> None:
    write_reviews(tmp_path / "reviews.csv", 200)
    for code in PYTHON:
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
