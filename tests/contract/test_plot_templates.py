"""DVC's plots: every template fills, is valid Vega-Lite, and is drawn by the project's own page without a network."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import altair
import pytest
from dvc_render.html import render_html
from dvc_render.vega import VegaRenderer

from tasks.engine.workspace import CODE
from tasks.pipelines import STEPS

TEMPLATES = CODE / ".dvc" / "plots"
DECLARED = {name: how for step in STEPS for name, how in step.hints.plots.items()}
ROWS = {
    "map_densities": [
        {"measure": measure, "value": str(place / 4), "share": str(share), "rev": rev}
        for rev in ("main", "workspace")
        for measure in ("confidence", "variability", "correctness")
        for place, share in enumerate((0.1, 0.3, 0.6))
    ],
    "trained_on": [
        {"subset": subset, "seed": str(seed), "set": name, "metric": metric, "value": str(0.5 + seed / 10), "rev": rev}
        for rev in ("main", "workspace")
        for metric in ("accuracy", "macro_f1")
        for name in ("challenge", "validation")
        for subset in ("original", "cleaned", "random")
        for seed in (1, 2)
    ],
}


def renderer(template: str) -> VegaRenderer:
    [how] = [dict(how) for how in DECLARED.values() if how.get("template") == template]
    return VegaRenderer(ROWS[template], template, template_dir=str(TEMPLATES), revs_with_datapoints=["main", "workspace"], **how)


def test_every_template_is_used_and_there() -> None:
    used = {how["template"] for how in DECLARED.values() if how}
    assert used == {path.stem for path in TEMPLATES.glob("*.json")} == set(ROWS)
    assert all(Path(name).suffix in (".png", ".svg") for name, how in DECLARED.items() if not how)


@pytest.mark.parametrize("template", ROWS)
def test_a_filled_template_is_valid_and_has_no_gap(template: str) -> None:
    filled: dict[str, Any] = json.loads(renderer(template).partial_html())
    assert "DVC_METRIC" not in json.dumps(filled)
    altair.Chart.from_dict(filled, validate=True)


@pytest.mark.browser
def test_the_page_draws_both_without_a_network(tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no Chromium here: the page is not tested in a browser")
    from playwright.sync_api import sync_playwright

    page_file = tmp_path / "dvc_plots" / "index.html"
    render_html([renderer(name) for name in ROWS], page_file, html_template=str(TEMPLATES / "page.html"))
    said: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: request.url.startswith("file:") or said.append(request.url))
        page.goto(page_file.as_uri())
        drawn = page.locator("svg")
        assert drawn.count() == 2
        assert drawn.nth(0).locator("path").count() == 3 * 2
        assert drawn.nth(1).locator("circle").count() == 2 * 2 * 3 * 2
        assert page.locator("h2").all_inner_texts() == ["Where the rows lie on the map", "What each version is worth"]
        browser.close()
    assert said == []
