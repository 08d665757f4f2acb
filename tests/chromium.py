"""A real browser for the tests of pages: how Chromium is started, and what it complained of."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WATCH = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) => window.refused.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


SIGHTS: dict[str, tuple[int, int, Literal["light", "dark"]]] = {
    "desktop": (1366, 860, "light"),
    "phone": (390, 844, "light"),
    "dark": (1366, 860, "dark"),
}
"""Width, height and colours under which a page is looked at."""


def violations(page: Page) -> list[str]:
    """What axe-core finds wrong with a page, everything on it unfolded: the rule, and the elements that break it."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    # What unfolds is measured by the page in the next frame, which can be late where others work: the one after it has begun.
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{one['id']}: {', '.join(str(node['target']) for node in one['nodes'][:5])}" for one in found]


def violations_at_every_sight(page: Page) -> list[str]:
    """The same on a screen, on a phone and in the dark, of a page that is small."""
    found = []
    for name, (width, height, scheme) in SIGHTS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        found += [f"{name}: {one}" for one in violations(page)]
    page.emulate_media(color_scheme=None)
    return found


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser, until the block ends; skips the tests where none is installed."""
    if not Path(CHROMIUM).exists() and shutil.which("chromium") is None:
        pytest.skip("no Chromium here: the page is not tested in a browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium") or CHROMIUM, headless=True, args=FLAGS)
        yield browser
        browser.close()
