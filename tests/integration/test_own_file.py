"""A person's path: a CSV of one's own, twenty decisions by keyboard, and the cleaned version in MLflow beside the original."""

from __future__ import annotations

import csv
import json
import random
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tasks.commands.profiles import with_keys
from tests.checkout import ROOT
from tests.chromium import chromium
from tests.integration.project import Project
from tests.mlflow_server import compare_train_sets, compared, tracking_server
from tests.review_server import served

WORDS = {"negative": ["dull", "awful", "broken"], "positive": ["lovely", "great", "superb"]}
THINGS = ["film", "book", "meal", "hotel", "phone"]
ROWS, FLIPPED, DECIDED = 300, 30, 20
SPACE = "workspaces/made"


def write_reviews(path: Path) -> None:
    """Write reviews, each of which says what its label should be; every tenth has the other label."""
    rng = random.Random(13)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["review", "sentiment"])
        for number in range(ROWS):
            right, other = rng.sample(sorted(WORDS), 2)
            text = f"The {rng.choice(THINGS)} number {number} was {' and '.join(rng.sample(WORDS[right], 2))}"
            writer.writerow([text, other if number % (ROWS // FLIPPED) == 0 else right])


def label_of(text: str) -> str:
    return next(label for label, words in WORDS.items() if any(word in text for word in words))


def decide(browser: Browser, project: Project) -> dict[str, str]:
    """Decide on suspects as somebody who reads them, with the keyboard alone; return the label given to each text."""
    given = {}
    with served(project.path, project.path / SPACE, "--annotator", "Ann") as server, browser.new_page() as page:
        page.set_default_timeout(40_000)
        page.goto(server.address)
        for place in range(DECIDED):
            asked = page.locator(f".question[data-place='{place}']")
            expect(asked).to_be_visible(timeout=40_000)
            text = asked.locator(".texts").first.inner_text().splitlines()[-1]
            given[text] = label_of(text)
            page.keyboard.press(str(1 + sorted(WORDS).index(given[text])))
        expect(page.locator(".progress")).to_have_text(f"{DECIDED} of {FLIPPED}, less than a minute")
    return given


def audit(project: Project) -> str:
    """Audit the file as the README says; return what was said."""
    [command] = re.findall(r"^make audit DATA=.*$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    shutil.copy(ROOT / "Makefile", project.path)
    (project.path / "ready").touch()
    # The environment that runs the tests, taken for the one that `make` would install.
    arguments = [f"VENV={sys.prefix}", "READY=ready", "PROFILE=quick", f"WORKSPACE={SPACE}"]
    done = subprocess.run(
        [*shlex.split(command), *arguments], cwd=project.path, env=project.environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.browser
@pytest.mark.slow
def test_a_file_is_audited_reviewed_and_its_cleaned_version_compared(make_project: Callable[[], Project], tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    project = make_project()
    space = project.path / SPACE
    write_reviews(project.path / "reviews.csv")
    said = audit(project)
    assert f"Next       open {SPACE}/reports/report.html in a browser" in said
    assert (space / "reports/report.html").exists()
    with chromium() as browser:
        decided = decide(browser, project)
        params = space / "params.yaml"
        params.write_text(with_keys(params.read_text(), {"retrain": {"subsets": ["original", "cleaned"], "seeds": [1]}}))
        executed = project.executed_by(lambda: project.run("flows.audit", "--workspace", SPACE), SPACE)
        assert {"clean", "evaluate", "publish"} <= executed and not executed & {"ingest", "train", "measure", "noise"}
        rows = pq.read_table(space / "data/clean/cleaned.parquet").to_pylist()
        assert {row["review"]: row["sentiment"] for row in rows if row["review"] in decided} == decided
        assert sum(row["sentiment"] != label_of(row["review"]) for row in rows) == FLIPPED - DECIDED

        experiment = json.loads((space / ".cartograph/mlflow-run.json").read_text())["experiment"]
        numbers = json.loads((space / "reports/evaluate.metrics.json").read_text())
        version = json.loads((space / "data/clean/version.json").read_text())["version"]
        with tracking_server(project.path) as server, browser.new_page(viewport={"width": 1500, "height": 1100}) as page:
            page.set_default_timeout(60_000)
            compare_train_sets(page, server, experiment)
            shown = compared(page, page.get_by_role("link", name="held-out.accuracy", exact=True))
            assert {name: float(value) for name, value in shown.items()} == {
                name: pytest.approx(numbers[f"{name}.held-out.accuracy.mean"], abs=0.0005) for name in ("original", "cleaned")
            }
            versions = compared(page, page.get_by_text("cartograph.dataset_version", exact=True))
            assert versions["cleaned"].startswith(version[:12]) and versions["original"] != versions["cleaned"]
            assert len(page.screenshot(path=tmp_path / "compare.png")) > 20_000
            page.goto(f"http://{server}/#/experiments/{experiment}/models")
            for name in ("original", "cleaned"):
                expect(page.get_by_role("link", name=name, exact=True).first).to_be_visible(timeout=60_000)
