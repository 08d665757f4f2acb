"""The page in a real browser: what a reader sees, presses and prints."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, Page, expect

from cartograph.clean.decisions import read_decisions
from cartograph.config import Section
from cartograph.data.json_files import read_json, write_json
from cartograph.data.spreadsheet import unguarded
from cartograph.frames.audit import audit
from tasks.audit import decisions, first_page, noise, report
from tasks.audit.parameters.ablate import Ablate
from tasks.audit.parameters.ingest import Ingest
from tasks.audit.parameters.measure import Measure
from tasks.engine.step import Out
from tasks.engine.workspace import CODE
from tests.chromium import SIGHTS, WATCH, chromium, violations
from tests.label_sets import film_frame
from tests.report_audit import HOSTILE, write_audit
from tests.workspaces import make_workspace

pytestmark = pytest.mark.browser


class Noted(Ingest):
    note: str = HOSTILE


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def build(folder: Path, *, counted: bool = False, **options: Any) -> Path:
    imported = options.get("imported", False)
    inputs = write_audit(folder, **options)
    if counted:
        record = folder / "data/noise/noise.json"
        wrong = {"expected": 18.0, "low": 9.0, "high": 30.0, "most": 90.0}
        write_json(record, read_json(record) | {"calibrated": True, "wrong": wrong})
    if imported:
        inputs = {name: path for name, path in inputs.items() if "score" not in name}
    target = folder / "report.html"
    out = Out(make_workspace(CODE, **sections(imported)), {report.PAGE: target}, folder / "checkpoints", folder, folder / "failed")
    summary = report.run(report.Report(), inputs, out)  # type: ignore[arg-type]
    assert summary == f"reports/report.html, {target.stat().st_size / 1e6:.1f} MB"
    return target


def sections(imported: bool = False) -> dict[str, Section]:
    ingest = Noted(**({"source": "files", "train": "train.csv"} if imported else {}))
    others = {"measure": Measure(), "noise": noise.Noise(), "report": report.Report(), "ablate": Ablate(experiments=("seeds",))}
    return {"ingest": ingest, **others}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("imported"), imported=True)


Opener = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opener]:
    """Open a page and, when the test ends, see that it complained of nothing and asked nobody for anything."""
    seen: list[SimpleNamespace] = []

    def open_page(file: Path, *, width: int = 1366, height: int = 860, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        page = context.new_page()
        watched = SimpleNamespace(page=page, said=[], asked=[], file=file)
        page.on("console", lambda message: watched.said.append(message.text))
        page.on("pageerror", lambda error: watched.said.append(str(error)))
        page.on("request", lambda request: watched.asked.append(request.url))
        page.add_init_script(WATCH)
        page.goto(file.as_uri())
        if options.get("java_script_enabled", True):
            page.wait_for_selector("#plane[data-ready]")
        seen.append(watched)
        return page

    yield open_page
    for watched in seen:
        assert watched.page.evaluate("[window.refused ?? [], window.pwned ?? null]") == [[], None]
        assert watched.said == []
        assert {url for url in watched.asked if not url.startswith(("data:", "blob:"))} == {watched.file.as_uri()}
        watched.page.context.close()


PIXELS = """(name) => { const canvas = document.querySelector(`canvas.${name}`);
    const blank = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
    const copy = blank.getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    return [canvas, copy.getImageData(0, 0, canvas.width, canvas.height).data]; }"""


def colours(page: Page) -> int:
    """Return how many pixels of the points' canvas are not empty."""
    return page.evaluate(
        f"""() => {{ const [, data] = ({PIXELS})("points");
        let filled = 0; for (let at = 3; at < data.length; at += 4) filled += data[at] > 0; return filled; }}"""
    )


def drawn(page: Page) -> int:
    return int(page.locator("canvas.points").get_attribute("data-drawn") or -1)


def locate(page: Page) -> tuple[float, float]:
    """Return where on the screen the pinned row lies: the middle of its ring."""
    page.locator("#plane").scroll_into_view_if_needed()
    return page.evaluate(
        f"""() => {{ const [canvas, data] = ({PIXELS})("marks"); const box = canvas.getBoundingClientRect();
        let [x, y, n] = [0, 0, 0];
        for (let at = 3; at < data.length; at += 4) if (data[at]) {{
            const place = (at - 3) / 4; x += place % canvas.width; y += Math.floor(place / canvas.width); n += 1; }}
        return [box.x + (x / n) * box.width / canvas.width, box.y + (y / n) * box.height / canvas.height]; }}"""
    )


def pinned(page: Page) -> str:
    return page.locator(".pinned .card code").inner_text()


def test_the_map_is_drawn_with_its_regions_and_densities(opened: Opener, small: Path) -> None:
    page = opened(small)
    assert drawn(page) == 300
    assert colours(page) > 2000
    expect(page.locator("#plane")).to_contain_text("hard-to-learn")
    expect(page.locator("#plane")).to_contain_text("easy-to-learn")
    assert page.locator("#plane .density rect").count() > 20
    assert page.locator("#plane").get_attribute("aria-label").startswith("Scatter plot of 300 rows")
    assert page.locator(".plotlyjsicon, .modebar, a[href^=http]").count() == 0


def test_the_top_says_what_was_found(opened: Opener, small: Path) -> None:
    page = opened(small)
    expect(page.locator("h1")).to_contain_text(re.compile(r"\d+ of 300 labels look wrong \(\d+(\.\d)?\s%\);"))
    expect(page.locator("h1")).to_contain_text("1 of 8 checks of the data failed (none critical), and 4 rows could not be used")
    assert page.locator(".tile").count() == 4
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((node) => node.id)")
    assert len(ids) == len(set(ids))
    titles = page.locator("h2").all_inner_texts()
    assert titles == [
        "Data map",
        "Suspects",
        "Rows to read",
        "Regions",
        "Validation",
        "What cleaning is worth",
        "How robust the map is",
        "The model behind the map",
        "Against the planted truth",
        "How this was made",
    ]


def test_images_are_shown_as_pictures(opened: Opener, tmp_path: Path) -> None:
    from cartograph.page.document import page as document
    from tests.page_audits import HOSTILE as LABEL
    from tests.page_audits import audit_of_images

    (tmp_path / "report.html").write_text(document(audit_of_images(40, listed=5)), encoding="utf-8")
    page = opened(tmp_path / "report.html")
    card = page.locator(".pinned .card")
    expect(card.locator("img.picture")).to_be_visible()
    assert card.locator("img.picture").evaluate("image => [image.naturalWidth, image.complete]") == [8, True]
    expect(card.locator("img.picture")).to_have_class("picture coarse")
    x, y = locate(page)
    page.mouse.move(x, y)
    expect(page.locator(".tip img.picture")).to_be_visible()
    rows = page.locator("#rows tbody tr")
    assert rows.first.locator("img.picture").get_attribute("alt").startswith("picture <b> of u")
    expect(page.locator("#rows th").nth(1)).to_have_text("Image")
    page.locator("#rows input[type=search]").first.fill("base64")
    expect(page.locator("#rows .count").first).to_have_text(re.compile(r"^0 of"))
    assert LABEL in page.locator("#regions").inner_text()


def test_hovering_shows_the_row(opened: Opener, small: Path) -> None:
    page = opened(small)
    x, y = locate(page)
    expect(page.locator(".tip")).to_be_hidden()
    page.mouse.move(x, y)
    tip = page.locator(".tip")
    expect(tip).to_be_visible()
    expect(tip).to_contain_text(re.compile(r"premise.*hypothesis.*given (contradiction|entailment|neutral), model", re.S))
    page.mouse.move(x, y - 400)
    page.mouse.move(5, 5)
    expect(tip).to_be_hidden()


def test_clicking_pins_the_rows_card(opened: Opener, small: Path) -> None:
    page = opened(small)
    hardest = pinned(page)
    page.get_by_role("button", name="Next →").click()
    page.get_by_role("button", name="Next →").click()
    third = pinned(page)
    x, y = locate(page)
    page.get_by_role("button", name="← Previous").click()
    page.get_by_role("button", name="← Previous").click()
    assert pinned(page) == hardest != third
    page.locator("#plane").scroll_into_view_if_needed()
    page.mouse.click(x, y)
    card = page.locator(".pinned .card")
    expect(card).to_contain_text("Given label")
    assert pinned(page) == third
    assert card.locator("svg[role=img]").get_attribute("aria-label").startswith("Probability of the given label by epoch: 0.")
    expect(card).to_contain_text(re.compile(r"right in \d of 6 epochs"))


def test_without_suspects_the_rows_still_come_most_suspect_first(opened: Opener, tmp_path: Path) -> None:
    from dataclasses import replace

    from cartograph.page.document import page as document
    from tests.page_audits import audit_of_texts, with_suspects

    audit = with_suspects(audit_of_texts(40, text="t"), flagged=())
    assert audit.suspects is not None
    table = audit.suspects.rows
    backwards = replace(audit.suspects, rows=table.set_column(5, "rank", table["rank"].combine_chunks()[::-1]))
    (tmp_path / "report.html").write_text(document(replace(audit, suspects=backwards)), encoding="utf-8")
    page = opened(tmp_path / "report.html")
    for row in (39, 38, 37):
        expect(page.locator(".pinned .card")).to_contain_text(f"{row} t")
        page.get_by_role("button", name="Next →").click()


def test_the_legend_and_the_selects_filter(opened: Opener, small: Path) -> None:
    page = opened(small)
    level = page.locator(".level").last
    amount = int(level.locator(".amount").inner_text())
    level.click()
    assert level.get_attribute("aria-pressed") == "false"
    assert drawn(page) == 300 - amount
    level.click()
    page.locator(".narrowing > summary").click()
    page.locator(".live .filters").get_by_label("Region").select_option("hard-to-learn")
    assert drawn(page) == 30
    expect(page.locator(".live .count")).to_have_text("30 of 300 points shown")
    page.locator(".live .filters").get_by_label("model prefers another label").check()
    assert 0 < drawn(page) <= 30


def test_zooming_and_back(opened: Opener, small: Path) -> None:
    page = opened(small)
    before = colours(page)
    page.get_by_role("button", name="Zoom in").click()
    origin = page.locator("#plane .xtick text", has_text=re.compile("^0$"))
    expect(origin).to_have_count(0)
    page.get_by_role("button", name="Reset").click()
    expect(origin).to_have_count(1)
    assert colours(page) == before


def test_a_list_of_few_rows_is_shown_whole(opened: Opener, small: Path) -> None:
    page = opened(small)
    page.get_by_role("tab", name="Least confident").click()
    panel = page.locator("[role=tabpanel]").nth(1)
    more = panel.get_by_role("button", name=re.compile("^Show .* more$"))
    expect(more).to_be_visible()
    numbers = []
    for label in ("entailment", "neutral", "contradiction"):
        panel.get_by_label("Given label").select_option(label)
        numbers.append(int(panel.get_by_role("status").inner_text().split()[0]))
        whole = numbers[-1] < 20
        expect(panel.locator("tbody tr:not(.beyond)")).to_have_count(numbers[-1] if whole else 10)
        expect(more).to_be_visible(visible=not whole)
    assert any(10 < number < 20 for number in numbers)


def test_tables_sort_and_filter(opened: Opener, small: Path) -> None:
    page = opened(small)
    page.get_by_role("tab", name="Least confident").click()
    panel = page.locator("[role=tabpanel]").nth(1)
    ranks = lambda: [int(text) for text in panel.locator("tbody tr:not(.beyond) td:first-child").all_inner_texts()]  # noqa: E731
    assert ranks() == list(range(1, 11))
    heading = panel.locator("th", has_text="Rank")
    assert heading.get_attribute("aria-sort") == "ascending"
    panel.get_by_role("button", name="Rank").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert ranks() == list(range(50, 40, -1))
    panel.get_by_role("button", name="Show 40 more").click()
    assert ranks() == list(range(50, 0, -1))
    panel.get_by_role("button", name="Given label").click()
    labels = panel.locator("tbody tr td:nth-child(3)").all_inner_texts()
    assert labels == sorted(labels)
    panel.get_by_label("Given label").select_option("neutral")
    assert set(panel.locator("tbody tr td:nth-child(3)").all_inner_texts()) == {"neutral"}
    panel.get_by_label("Text, label or uid").fill("no such words")
    expect(panel.get_by_role("status")).to_have_text("0 of 50 rows")
    assert panel.locator("tbody tr").count() == 0


def test_suspects_sort_filter_and_say_why(opened: Opener, small: Path) -> None:
    page = opened(small)
    section = page.locator("#suspects")
    number = int(re.search(r"(\d+) of 300", page.locator("h1").inner_text())[1])
    expect(section.locator(".filters").get_by_role("status")).to_have_text(f"{number} of {number} rows")
    expect(page.locator(".tile", has_text="Suspects").locator(".value")).to_have_text(str(number))
    first = section.locator("tbody tr").first
    expect(first).to_contain_text(re.compile(r"the model gave this label .* on average and preferred .*; all 6 epochs disagreed"))
    suggestion = first.locator("td:nth-child(4) strong").inner_text()
    assert suggestion != first.locator("td:nth-child(3)").inner_text()
    section.get_by_role("button", name="Score").click()
    assert section.locator("th", has_text="Score").get_attribute("aria-sort") == "ascending"
    assert int(section.locator("tbody tr td:first-child").first.inner_text()) == number
    section.get_by_label("Suggestion").select_option(suggestion)
    assert set(section.locator("tbody td:nth-child(4) strong").all_inner_texts()) == {suggestion}
    section.get_by_role("button", name="Rank").click()
    section.locator("button.opener").first.click()
    expect(section.locator("tr.more .suspicion")).to_contain_text(f"Suspect 1: perhaps {suggestion}; score, which only ranks")
    section.get_by_role("button", name="Show on the map").click()
    expect(page.locator(".pinned .suspicion")).to_contain_text("Suspect 1: perhaps")
    page.locator(".narrowing > summary").click()
    page.locator(".live .filters").get_by_label("suspects only").check()
    assert drawn(page) == number


def test_where_wrong_labels_are_counted_a_suspect_has_a_probability(opened: Opener, tmp_path: Path) -> None:
    page = opened(build(tmp_path, counted=True))
    expect(page.locator("h1")).to_contain_text("About 18 of 300 labels are wrong (95\u00a0% CI 9 to 30); ")
    expect(page.locator("header")).to_contain_text("Not in that number are errors that follow a rule")
    section = page.locator("#suspects")
    assert section.locator("th", has_text="Probability").count() == 1
    section.locator("button.opener").first.click()
    expect(section.locator("tr.more .suspicion")).to_contain_text(
        re.compile(r"Suspect 1: probably .*; probability that its label is wrong: ")
    )


def test_a_row_opens_and_goes_to_the_map_and_back(opened: Opener, small: Path) -> None:
    page = opened(small)
    opener = page.locator("[role=tabpanel]").first.locator("button.opener").nth(1)
    opener.click()
    assert opener.get_attribute("aria-expanded") == "true"
    expect(page.locator("tr.more .card")).to_contain_text("Probability of the given label")
    page.get_by_role("button", name="Show on the map").click()
    expect(page.locator("#row-card")).to_be_focused()
    assert pinned(page) == page.locator("tr.more .card code").inner_text()
    page.get_by_role("button", name="Back to where you were").click()
    expect(opener).to_be_focused()


def test_everything_can_be_reached_by_keyboard(opened: Opener, small: Path) -> None:
    page = opened(small)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    page.locator("#plane").focus()
    first = pinned(page)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tip")).to_be_visible()
    page.keyboard.press("Enter")
    assert pinned(page) != first
    page.keyboard.press("Escape")
    expect(page.locator(".tip")).to_be_hidden()
    page.get_by_role("tab", name="Least confident").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Most variable")).to_be_focused()
    # Before both stand those doubted most.
    expect(page.locator("[role=tabpanel]").nth(2)).to_be_visible()
    expect(page.locator("[role=tabpanel]").nth(1)).to_be_hidden()
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth")
    assert outline == "solid3px"
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, select, input, [tabindex='0']")].filter((node) =>
        !(node.textContent.trim() || node.getAttribute("aria-label") || node.closest("label")?.textContent.trim())).length"""
    )
    assert unnamed == 0


@pytest.mark.slow
def test_a_hostile_row_stays_text(opened: Opener, small: Path) -> None:
    page = opened(small)
    page.evaluate("document.querySelectorAll('details').forEach((node) => (node.open = true))")
    page.get_by_role("tab", name="Least confident").click()
    panel = page.locator("[role=tabpanel]").nth(1)
    panel.get_by_label("Text, label or uid").fill("window.pwned")
    row = panel.locator("tbody tr").first
    expect(row).to_contain_text(HOSTILE)
    row.locator("button.opener").click()
    expect(panel.locator("tr.more dd").first).to_have_text(HOSTILE)
    panel.get_by_role("button", name="Show on the map").click()
    expect(page.locator(".pinned")).to_contain_text("plain & simple <b>bold</b> 日本語")
    page.mouse.move(*locate(page))
    expect(page.locator(".tip")).to_contain_text(HOSTILE)
    expect(page.locator("#origin")).to_contain_text(HOSTILE)
    expect(page.locator("#experiments .answer")).to_contain_text(HOSTILE)
    expect(page.locator("#experiments td").last).to_contain_text("</script><script>window.pwned = 1")
    assert page.locator("img:not(.still)").count() == 1, "an experiment's picture alone"
    assert page.locator("#page script, #page b, #page i").count() == 0
    assert page.evaluate("window.pwned") is None


def test_an_experiment_shows_its_picture(opened: Opener, small: Path) -> None:
    page = opened(small)
    section = page.locator("#experiments")
    expect(section.locator("h2")).to_have_text("How robust the map is")
    expect(section.locator("h3").first).to_have_text("seeds: do maps agree?")
    assert section.locator("img.drawing").evaluate("(node) => node.decode().then(() => node.naturalWidth)") > 300


def test_the_policy_refuses_what_is_not_the_pages_own(browser: Browser, small: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(small.as_uri())
    page.evaluate(
        """() => { const script = document.createElement("script"); script.textContent = "window.foreign = 1";
        document.body.append(script); }"""
    )
    page.evaluate(
        """() => new Promise((done) => { const image = new Image(); image.onerror = done; image.src = "http://localhost:9/x.png"; })"""
    )
    assert page.evaluate("window.foreign") is None
    assert [reason.split()[0] for reason in page.evaluate("window.refused")] == ["script-src-elem", "img-src"]
    context.close()


def contrast(page: Page, selector: str) -> float:
    return page.evaluate(
        """(selector) => {
        const channels = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
        const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        const light = (rgb) => rgb.map((c, at) => [0.2126, 0.7152, 0.0722][at] * linear(c / 255)).reduce((a, b) => a + b);
        const text = light(channels(getComputedStyle(document.querySelector(selector)).color));
        const page = light(channels(getComputedStyle(document.body).backgroundColor));
        return (Math.max(text, page) + 0.05) / (Math.min(text, page) + 0.05); }""",
        selector,
    )


@pytest.mark.slow
@pytest.mark.parametrize("sight", SIGHTS)
def test_nobody_is_shut_out_by_names_roles_headings_or_colours(opened: Opener, small: Path, tmp_path: Path, sight: str) -> None:
    width, height, scheme = SIGHTS[sight]
    page = opened(small, width=width, height=height, color_scheme=scheme)
    assert violations(page) == []
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    ink = page.evaluate("getComputedStyle(document.querySelector('#plane .annotation-text')).fill")
    assert ink == page.evaluate("getComputedStyle(document.body).color")
    picture = page.screenshot(path=tmp_path / f"{sight}.png", full_page=True)
    assert len(picture) > 50_000


def test_the_figure_follows_a_change_of_scheme(opened: Opener, small: Path) -> None:
    page = opened(small, color_scheme="light")
    page.emulate_media(color_scheme="dark")
    ink = page.evaluate("getComputedStyle(document.body).color")
    page.wait_for_function("(ink) => getComputedStyle(document.querySelector('#plane .annotation-text')).fill === ink", arg=ink)


def test_a_narrow_window_needs_no_sideways_scrolling(opened: Opener, small: Path) -> None:
    page = opened(small, width=420)
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    assert drawn(page) == 300


def test_it_prints_the_still_map(opened: Opener, small: Path, tmp_path: Path) -> None:
    page = opened(small, color_scheme="dark")
    page.emulate_media(media="print")
    expect(page.locator("img.still")).to_be_visible()
    assert page.evaluate("document.querySelector('img.still').naturalWidth") > 300
    assert page.locator("img.still").get_attribute("alt").startswith("Scatter plot of 300 rows")
    expect(page.locator(".live")).to_be_hidden()
    expect(page.locator("[role=tabpanel]").nth(2)).to_be_visible()
    assert contrast(page, "h1") >= 4.5
    assert page.pdf(path=tmp_path / "report.pdf", format="A4").startswith(b"%PDF")


def test_without_scripts_there_are_the_text_and_the_map(opened: Opener, small: Path) -> None:
    said = opened(small).locator("h1").inner_text()
    page = opened(small, java_script_enabled=False)
    expect(page.locator("h1")).to_have_text(said, use_inner_text=True)
    expect(page.locator("h2", has_text="How this was made")).to_be_visible()
    expect(page.locator("td", has_text="window.pwned = 1").first).to_be_visible()
    expect(page.locator("img.still")).to_be_visible()


def test_an_imported_map_says_what_is_not_known(opened: Opener, imported: Path) -> None:
    page = opened(imported)
    expect(page.locator(".pinned")).to_contain_text("Probability per epoch: not recorded with this map.")
    expect(page.locator("h1")).to_contain_text("by an assumption stated below")
    expect(page.locator("#suspects .why-so").first).to_contain_text("by assumption, not learnt")
    expect(page.locator("#training .why")).to_contain_text("Not available. The map was imported")
    assert page.locator("#planted").count() == 0
    assert page.locator("th", has_text="Model's label").count() == 0


def test_the_same_audit_gives_the_same_bytes(small: Path, tmp_path: Path) -> None:
    again = build(tmp_path)
    assert again.read_bytes() == small.read_bytes()


@pytest.mark.slow
def test_a_page_of_fifty_thousand_rows_opens_fast(opened: Opener, tmp_path: Path) -> None:
    rows = 50_000
    file = build(tmp_path, rows=rows, epochs=6)
    assert file.stat().st_size < 1_500_000 + 200 * rows
    page = opened(file)
    assert drawn(page) == 25_000
    expect(page.locator(".live .count")).to_have_text("25,000 of 25,000 points shown")
    page.mouse.move(*locate(page))
    expect(page.locator(".tip")).to_be_visible()


def test_decisions_on_the_page_come_back_as_decisions(opened: Opener, small: Path, tmp_path: Path) -> None:
    page = opened(small)
    section = page.locator("#suspects")
    rows = section.locator("tbody tr")
    assert section.get_by_role("button", name="Download decisions.csv").is_disabled()
    rows.nth(0).get_by_role("button", name="Keep").click()
    rows.nth(1).get_by_role("button", name="Drop").click()
    suggestion = rows.nth(2).get_by_role("button", name="→")
    suggestion.click()
    rows.nth(3).get_by_role("button", name="Keep").click()
    rows.nth(3).get_by_role("button", name="Keep").click()
    other = rows.nth(4).get_by_label("Another label")
    other.focus()
    label = other.locator("option").nth(1).inner_text()
    other.select_option(index=1)
    section.get_by_label("Your name").fill("=Ann; Lee")
    expect(section.locator(".decision-bar .count")).to_have_text(re.compile(r"^4 of \d+ decided$"))
    page.reload()
    page.wait_for_selector("#plane[data-ready]")
    expect(section.locator(".decision-bar .count")).to_have_text(re.compile(r"^4 of \d+ decided$"))
    expect(rows.nth(1).get_by_role("button", name="Drop")).to_have_attribute("aria-pressed", "true")
    with page.expect_download() as waited:
        section.get_by_role("button", name="Download decisions.csv").click()
    waited.value.save_as(tmp_path / "decisions.csv")
    content = small.read_text(encoding="utf-8")
    listed = json.loads(re.search(r'id="data-content">(.*?)</script>', content, re.DOTALL)[1])["sections"]
    block = next(block for section in listed for block in section["blocks"] if block["kind"] == "suspects")
    uids = [unguarded(suspect["uid"]) for suspect in block["suspects"]]
    examples = pq.read_table(small.parent / "data/ingest/train.parquet")
    given, labels = decisions.given_labels(examples)
    read = read_decisions((tmp_path / "decisions.csv").read_bytes(), "decisions.csv", given, labels)
    suggested = labels[block["suspects"][2]["suggested"]]
    assert [(one.uid, one.what, one.label, one.by) for one in read] == [
        (uids[0], "keep", None, "Ann  Lee"),
        (uids[1], "drop", None, "Ann  Lee"),
        (uids[2], "relabel", suggested, "Ann  Lee"),
        (uids[4], "relabel", label, "Ann  Lee"),
    ]


@pytest.mark.slow
def test_what_is_decided_on_the_first_look_is_decided_on_the_whole_page(browser: Browser, small: Path) -> None:
    space, first = make_workspace(CODE, **sections()), small.with_name("first-look.html")
    mapped = {name: small.parent / name for name in report.map_inputs(space.settings)}
    out = Out(space, {first_page.PAGE: first}, small.parent / "checkpoints", small.parent, small.parent / "failed")
    first_page.run(first_page.FirstPage(), mapped, out)  # type: ignore[arg-type]
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(first.as_uri())
    page.wait_for_selector("#plane[data-ready]")
    expect(page.locator(".top .name")).to_have_text("Data audit, first lookdefault")
    expect(page.locator(".lead").or_(page.locator(".further summary")).first).to_contain_text("This is a first look")
    assert violations(page) == []
    page.locator("#suspects tbody tr").nth(1).get_by_role("button", name="Drop").click()
    page.goto(small.as_uri())
    page.wait_for_selector("#plane[data-ready]")
    expect(page.locator("#suspects .decision-bar .count")).to_have_text(re.compile(r"^1 of \d+ decided$"))
    expect(page.locator("#suspects tbody tr").nth(1).get_by_role("button", name="Drop")).to_have_attribute("aria-pressed", "true")
    page.context.close()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_the_first_screen_has_the_verdict_and_the_whole_map_with_its_controls(opened: Opener, small: Path, width: int, height: int) -> None:
    page = opened(small, width=width, height=height)
    for selector in ("h1", ".tiles", ".legend", ".narrowing > summary", "#plane", ".zoom"):
        box = page.locator(selector).first.bounding_box()
        assert box is not None and box["y"] >= 0 and box["y"] + box["height"] <= height, (selector, box)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_suspects_have_rings_and_densities_follow_the_filter(opened: Opener, small: Path) -> None:
    page = opened(small)
    number = int(re.search(r"(\d+) of 300", page.locator("h1").inner_text())[1])
    points = page.locator("canvas.points")
    expect(points).to_have_attribute("data-rings", str(number))
    bars = "[...document.querySelectorAll('#plane .density title')].map((title) => title.textContent).join()"
    before = page.evaluate(bars)
    page.locator(".narrowing > summary").click()
    page.locator(".live .filters").get_by_label("suspects only").check()
    expect(points).to_have_attribute("data-drawn", str(number))
    assert page.evaluate(bars) != before
    page.locator(".live .filters").get_by_label("suspects only").uncheck()
    assert page.evaluate(bars) == before


def test_dragging_zooms_and_a_double_click_goes_back(opened: Opener, small: Path) -> None:
    page = opened(small)
    box = page.locator("#plane").bounding_box()
    origin = page.locator("#plane .xtick text", has_text=re.compile("^0$"))
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 300, steps=4)
    page.mouse.up()
    expect(origin).to_have_count(0)
    page.mouse.dblclick(box["x"] + 250, box["y"] + 250)
    expect(origin).to_have_count(1)


def test_of_several_labels_the_map_of_one_is_chosen_and_no_decision_is_asked_for(opened: Opener, tmp_path: Path) -> None:
    audit(film_frame(120, 0.05)[0], text="text", labels="tags", epochs=2, threshold=0.3).report(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    assert drawn(page) == 480
    page.get_by_label("Map of").select_option("sea")
    assert drawn(page) == 120
    page.locator(".narrowing > summary").click()
    page.locator(".narrowing").get_by_label("Given").select_option("yes")
    yes = drawn(page)
    page.locator(".narrowing").get_by_label("Given").select_option("no")
    assert 0 < yes < 120 and drawn(page) == 120 - yes
    assert page.locator("#suspects .suspects-table").count() == 1 and not page.locator(".decide").count()


def test_long_class_names_break_between_their_words_and_a_phone_shows_them_all(opened: Opener, tmp_path: Path) -> None:
    kinds = ("card_payment_not_recognised", "balance_not_updated_after_bank_transfer")
    frame = pd.DataFrame({"text": [f"{'card paid' if row % 2 else 'bank sum'} {row % 9} today" for row in range(80)]})
    frame["label"] = [kinds[row % 2 == 0] if row not in (10, 31) else kinds[row % 2] for row in range(80)]
    audit(frame, text="text", label="label", epochs=2, threshold=0.2).report(tmp_path / "report.html")
    page = opened(tmp_path / "report.html", width=390, height=844)
    row = page.locator("[role=tabpanel] tbody tr").first
    for title in ("Given label", "Model's label", "Confidence"):
        cell = row.locator(f'td[data-title="{title}"]')
        box = cell.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
        assert cell.evaluate("(cell) => getComputedStyle(cell, '::before').content").startswith(f'"{title}')
    wide = opened(tmp_path / "report.html", width=1440)
    label = wide.locator("[role=tabpanel] tbody tr").first.locator("td").nth(2)
    assert label.locator("wbr").count() >= 3
    lines = """(cell) => { const lines = []; const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) { const range = document.createRange(); range.selectNode(walk.currentNode);
            lines.push(range.getClientRects().length); } return lines; }"""
    assert set(label.evaluate(lines)) == {1}, "no part between two breaks is torn"


def test_an_interval_in_a_table_stays_on_one_line(opened: Opener, small: Path) -> None:
    said = opened(small).locator("#training td").all_text_contents()
    assert [text for text in said if re.fullmatch(r"0\.\d\d\u00a0to\u00a00\.\d\d", text)]
    assert not [text for text in said if re.fullmatch(r"0\.\d\d to 0\.\d\d", text)]


def test_what_stands_in_backticks_in_a_sections_lead_is_code(opened: Opener, tmp_path: Path) -> None:
    frame = pd.DataFrame({"size": [row % 7 for row in range(60)], "grade": ["ab"[row % 2] for row in range(60)]})
    audit(frame.assign(kind=frame["grade"].str.upper()), features=True, label="kind", epochs=2).report(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    expect(page.locator(".top code", has_text="grade").first).to_be_attached()
    assert not [lead for lead in page.locator(".lead, .further, h1").all_inner_texts() if "`" in lead]
