"""The review page: in a real browser with the keyboard alone, and its server as somebody else's page would find it."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, Page, expect

from cartograph.data.spreadsheet import read_sheet
from cartograph.pairs.answers import answer_sheet
from cartograph.pairs.tables import load_task
from tasks.engine.lock import hold
from tasks.engine.running import run_step
from tasks.engine.workspace import STATE
from tasks.pipelines import steps_of
from tests.chromium import WATCH, chromium, violations_at_every_sight
from tests.cleaning import make_examples, make_noise
from tests.page_audits import audit_of_images
from tests.report_audit import HOSTILE
from tests.review_server import Served, served
from tests.workspaces import open_new, save

pytestmark = pytest.mark.browser
# A busy machine is no failure.
expect.set_options(timeout=40_000)
MANY = tuple(f"intent {number:02d} of many" for number in range(20))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def audit(project: Path, suspects: int, labels: tuple[str, ...] = ("bad", "good", "odd"), rows: int = 40) -> Path:
    """The folder of an audit whose first rows are suspects, of hostile texts."""
    path = project / "workspaces" / "reviews"
    open_new(path, ingest={"source": "files", "train": "t.csv", "text": "text"})
    examples = make_examples([(f"u{n:03d}", f"row {n} {HOSTILE}", n % len(labels)) for n in range(rows)], labels)
    save(examples, path / "data/ingest/train.parquet")
    flagged = {f"u{n:03d}": ((n + 1) % len(labels), 0.9) for n in range(suspects)}
    save(make_noise(examples, flagged), path / "data/noise/noise.parquet")
    return path


def decided(space: Path) -> dict[str, tuple[str, ...]]:
    path = space / "review/decisions.csv"
    records = read_sheet(path.read_bytes(), "d", ("uid",)) if path.exists() else []
    return {f"{one.cells['uid']} {one.cells['by']}": (one.cells["decision"], one.cells["new_label"]) for one in records}


def open_page(browser: Browser, server: Served) -> Page:
    """Open the page; it must never ask anybody but its server, nor complain."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.add_init_script(WATCH)
    page.asked, page.said = [], []  # type: ignore[attr-defined]
    page.on("request", lambda request: page.asked.append(request.url))  # type: ignore[attr-defined]
    page.on("pageerror", lambda error: page.said.append(str(error)))  # type: ignore[attr-defined]
    page.goto(server.address)
    expect(page.locator("h1")).to_be_visible()
    return page


def close(page: Page, server: Served) -> None:
    assert page.evaluate("[window.refused, window.pwned ?? null]") == [[], None]
    assert page.said == []  # type: ignore[attr-defined]
    assert all(url.startswith((server.address, "data:")) for url in page.asked)  # type: ignore[attr-defined]
    page.context.close()


def at(page: Page, place: int) -> None:
    expect(page.locator(f".question[data-place='{place}']")).to_be_visible()


@pytest.mark.slow
def test_suspects_are_decided_with_the_keyboard_alone(browser: Browser, project: Path) -> None:
    space = audit(project, 6)
    with served(project, space, "--annotator", "Ann") as server:
        page = open_page(browser, server)
        at(page, 0)
        expect(page.locator(".progress")).to_have_text("0 of 6")
        expect(page.locator(".asked .texts")).to_contain_text("<img src=x onerror=")
        expect(page.locator(".nearest li")).to_have_count(5)
        assert violations_at_every_sight(page) == []
        page.keyboard.press("k")
        at(page, 1)
        assert decided(space) == {"u000 Ann": ("keep", "")}
        page.keyboard.press("d")
        at(page, 2)
        page.keyboard.press("s")
        at(page, 3)
        page.keyboard.press("3")
        at(page, 4)
        page.keyboard.press("/")
        page.keyboard.type("goo")
        expect(page.locator("#completions li")).to_have_text(["good"])
        page.keyboard.press("Enter")
        at(page, 5)
        expect(page.locator(".progress")).to_have_text(re.compile(r"^4 of 6, less than a minute$"))
        page.keyboard.press("u")
        at(page, 4)
        assert decided(space) == {"u000 Ann": ("keep", ""), "u001 Ann": ("drop", ""), "u003 Ann": ("relabel", "odd")}
        page.keyboard.press("k")
        at(page, 5)
        page.keyboard.press("k")
        expect(page.locator(".panel h2")).to_have_text("1 skipped")
        page.keyboard.press("r")
        at(page, 2)
        page.keyboard.press("k")
        expect(page.locator(".panel h2")).to_have_text("All suspects are decided")
        expect(page.locator(".panel")).to_contain_text("python -m flows.audit --workspace workspaces/reviews")
        assert violations_at_every_sight(page) == []
        assert len(decided(space)) == 6
        close(page, server)


@pytest.mark.slow
def test_below_a_list_that_was_mostly_right_further_rows_are_asked_about(browser: Browser, project: Path) -> None:
    space = audit(project, 3)
    way = "python -m tasks review --workspace workspaces/reviews --open --further 50"
    with served(project, space, "--annotator", "Ann") as server:
        page = open_page(browser, server)
        for place in range(3):
            at(page, place)
            page.keyboard.press("d")
        expect(page.locator(".panel")).to_contain_text("People changed 3 of the last 3 labels down the list: errors go on below it.")
        expect(page.locator(".panel")).to_contain_text(f"The next rows: {way}")
        close(page, server)
    with served(project, space, "--annotator", "Ann", "--further", "4") as server:
        page = open_page(browser, server)
        expect(page.locator(".progress")).to_have_text("3 of 7")
        for place in range(3, 7):
            at(page, place)
            page.keyboard.press("k")
        expect(page.locator(".panel h2")).to_have_text("All suspects are decided")
        expect(page.locator(".panel")).not_to_contain_text("go on")
        close(page, server)
    assert [what for what, _ in decided(space).values()] == ["drop"] * 3 + ["keep"] * 4


@pytest.mark.slow
def test_a_killed_server_has_lost_no_answer(project: Path) -> None:
    space = audit(project, 30)
    with served(project, space, "--annotator", "Ann") as server:
        for place in range(20):
            status, _ = server.send(place, "drop")
            assert status == 200
            if place == 12:
                server.process.kill()
                break
    assert len(decided(space)) == 13
    with served(project, space, "--annotator", "Ann") as server:
        assert len(server.get("overview")["answers"]) == 13


@pytest.mark.slow
def test_two_tabs_neither_lose_an_answer_nor_overwrite_one_unasked(browser: Browser, project: Path) -> None:
    space = audit(project, 4)
    with served(project, space, "--annotator", "Ann") as server:
        first, second = open_page(browser, server), open_page(browser, server)
        at(first, 0)
        at(second, 0)
        first.keyboard.press("k")
        at(first, 1)
        second.keyboard.press("d")
        expect(second.locator("#said")).to_contain_text(
            "answered in the meantime, in another tab or window: keep. Yours, drop, is not saved."
        )
        assert decided(space) == {"u000 Ann": ("keep", "")}
        second.keyboard.press("r")
        at(second, 1)
        assert decided(space) == {"u000 Ann": ("drop", "")}
        second.keyboard.press("k")
        at(second, 2)
        first.keyboard.press("d")
        expect(first.locator("#said")).to_contain_text("answered in the meantime")
        first.keyboard.press("Enter")
        at(first, 2)
        first.keyboard.press("k")
        at(first, 3)
        second.keyboard.press("k")
        at(second, 3)
        assert decided(space) == {"u000 Ann": ("drop", ""), "u001 Ann": ("keep", ""), "u002 Ann": ("keep", "")}
        close(first, server)
        close(second, server)


@pytest.mark.slow
def test_two_annotators_answer_apart_and_settle_what_they_see_differently(browser: Browser, project: Path) -> None:
    space = audit(project, 4)
    with served(project, space, "--annotator", "Ann") as ann, served(project, space, "--annotator", "Bob") as bob:
        for place in range(4):
            assert ann.send(place, "keep")[0] == 200
        page = open_page(browser, bob)
        for place, key in enumerate("kkkd"):
            at(page, place)
            page.keyboard.press(key)
        panel = page.locator(".panel")
        expect(panel).to_contain_text("Ann and Bob both decided 4 rows and agree on 75 % of them")
        expect(panel).to_contain_text("1 rows are decided differently")
        page.keyboard.press("t")
        at(page, 3)
        expect(page.locator(".warned")).to_have_text("Decided differently: Ann: keep; Bob: drop")
        page.keyboard.press("d")
        expect(panel).to_contain_text("Everything is saved.")
        assert decided(space)["u003 Ann; Bob"] == ("drop", "")
        close(page, bob)
    with served(project, space) as other:
        assert len(other.get("overview")["answers"]) == 4


@pytest.mark.slow
def test_a_blind_annotator_learns_nothing_of_labels(browser: Browser, project: Path) -> None:
    space = audit(project, 5, rows=10)
    with served(project, space, "--blind", "--annotator", "Ann") as ann, served(project, space, "--blind", "--annotator", "Bob") as bob:
        known = [ann.get(f"question/{place}") for place in range(10)]
        assert all(question.keys() == {"fields", "keys", "answer"} for question in known)
        assert ann.get("context/0") == {"near": [], "epochs": []}
        assert all(ann.send(place, "good")[0] == 200 for place in range(10))
        page = open_page(browser, bob)
        for place in range(10):
            at(page, place)
            page.keyboard.press("0" if place == 9 else "2")
        expect(page.locator(".panel")).to_contain_text("With Ann: agreement of two annotators on 10 rows: 90 %")
        close(page, bob)
    assert len(list((space / "review").glob("blind-b*-Ann.csv"))) == 1
    assert not (space / "review/decisions.csv").exists()


@pytest.mark.slow
def test_labels_beyond_nine_are_typed_and_images_are_shown(browser: Browser, project: Path) -> None:
    space = audit(project, 2, MANY, rows=60)
    with served(project, space) as server:
        page = open_page(browser, server)
        at(page, 0)
        expect(page.locator(".choice.suggested span").first).to_have_text("intent 01 of many")
        page.keyboard.press("/")
        page.keyboard.type("17")
        page.keyboard.press("Enter")
        at(page, 1)
        assert next(iter(decided(space).values())) == ("relabel", "intent 17 of many")
        close(page, server)
    pictures = audit_of_images(20)
    save(pictures.examples, space / "data/ingest/train.parquet")
    save(make_noise(pictures.examples, {"u0000003": (1, 0.9)}), space / "data/noise/noise.parquet")
    (space / "review/decisions.csv").unlink()
    with served(project, space) as server:
        page = open_page(browser, server)
        expect(page.locator(".asked img.picture")).to_be_visible()
        assert page.locator(".asked img.picture").evaluate("image => [image.naturalWidth, image.complete]") == [8, True]
        close(page, server)


@pytest.mark.slow
def test_an_audit_without_suspects_asks_about_the_rows_doubted_most_and_one_that_doubts_none_says_so(
    browser: Browser, project: Path
) -> None:
    space = audit(project, 0)
    with served(project, space) as server:
        page = open_page(browser, server)
        at(page, 0)
        expect(page.locator(".asked")).to_contain_text("row 39")
        close(page, server)
    path = space / "data/noise/noise.parquet"
    noise = pq.read_table(path)
    save(noise.set_column(1, "probability", pa.array([0.0] * noise.num_rows)), path)
    with served(project, space) as server:
        page = open_page(browser, server)
        expect(page.locator(".panel")).to_contain_text("This audit doubts no label.")
        close(page, server)


@pytest.mark.slow
def test_an_answer_is_refused_while_an_audit_holds_the_workspace(browser: Browser, project: Path) -> None:
    space = audit(project, 2)
    with served(project, space) as server:
        page = open_page(browser, server)
        at(page, 0)
        with hold(space / STATE, "python -m flows.audit"):
            page.keyboard.press("k")
            expect(page.locator("#said")).to_contain_text("Your answer (keep) is not saved.")
            expect(page.locator("#said")).to_contain_text("`python -m flows.audit`")
        page.keyboard.press("k")
        at(page, 1)
        close(page, server)


def asked(server: Served, method: str, path: str, **headers: str) -> int:
    host, port = server.origin.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port))
    body = json.dumps({"place": 0, "answer": "drop", "before": ""}).encode() if method == "POST" else None
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    status = connection.getresponse().status
    connection.close()
    return status


def test_other_pages_and_programs_of_the_network_get_nothing(project: Path) -> None:
    space = audit(project, 2)
    with served(project, space, "--annotator", "Ann") as server:
        path = server.address.removeprefix(server.origin)
        given = {"Content_Type": "application/json", "Origin": server.origin}
        assert asked(server, "GET", path) == 200
        assert asked(server, "GET", "/") == asked(server, "GET", "/wrong/overview") == 404
        assert asked(server, "GET", f"{path}docs") == asked(server, "GET", f"{path}openapi.json") == 404
        assert asked(server, "GET", path, Host="evil.example") == 421
        assert asked(server, "GET", path, Origin="http://evil.example") == asked(server, "GET", path, Sec_Fetch_Site="cross-site") == 403
        assert asked(server, "POST", f"{path}answer", **(given | {"Origin": "http://evil.example"})) == 403
        assert asked(server, "POST", f"{path}answer", Content_Type="application/json") == 403
        assert asked(server, "POST", f"{path}answer", **(given | {"Content_Type": "text/plain"})) == 403
        assert asked(server, "POST", f"{path}answer", **(given | {"Content_Length": "900000"})) == 413
        assert decided(space) == {}
        assert server.send(0, "relabel nothing")[0] == server.send(0, "maybe")[0] == 422
        assert server.send(99, "keep")[0] == 404
        assert decided(space) == {}
        assert asked(server, "POST", f"{path}answer", **given) == 200
        reply = http.client.HTTPConnection(*server.origin.removeprefix("http://").split(":"))
        reply.request("GET", path)
        headers = reply.getresponse().headers
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert (headers["Cache-Control"], headers["Set-Cookie"]) == ("no-store", None)
        reply.close()


@pytest.mark.slow
def test_five_hundred_answers_are_all_there(project: Path) -> None:
    space = audit(project, 500, rows=520)
    with served(project, space, "--annotator", "Ann") as server:
        answers = ("keep", "drop", "relabel odd")
        assert all(server.send(place, answers[place % 3])[0] == 200 for place in range(500))
    # Every third row is odd already: to relabel it so is to keep it.
    outcomes = (("keep", ""), ("drop", ""), ("keep", ""))
    assert decided(space) == {f"u{n:03d} Ann": outcomes[n % 3] for n in range(500)}


def round_of_three_pairs(path: Path) -> Path:
    """The sheet of a collection's first round, with three pairs and no answer."""
    collect = {"methods": ["uncertainty"], "oracle": "people", "given": "none", "rounds": 1, "first_round": 20}
    space = open_new(path, pairs={"rows": 200}, collect=collect)
    run_step(next(step for step in steps_of(space.settings) if step.name == "pairs"), space)
    sheet = path / "review/round-01.csv"
    sheet.parent.mkdir(exist_ok=True)
    sheet.write_bytes(answer_sheet(load_task(path / "data/pairs"), np.array([3, 17, 40])))
    return sheet


@pytest.mark.slow
def test_pairs_of_a_collection_are_answered_on_its_sheet(browser: Browser, project: Path) -> None:
    path = project / "workspaces" / "pairs"
    sheet = round_of_three_pairs(path)
    with served(project, path) as server:
        page = open_page(browser, server)
        for place, key in enumerate("yn0"):
            at(page, place)
            if key == "y":
                assert violations_at_every_sight(page) == []
            page.keyboard.press(key)
        expect(page.locator(".panel h2")).to_have_text("All pairs are answered")
        expect(page.locator(".panel")).to_contain_text("python -m flows.collect --workspace workspaces/pairs")
        page.keyboard.press("u")
        at(page, 2)
        close(page, server)
    assert [record.cells["label"] for record in read_sheet(sheet.read_bytes(), "s", ("pair",))] == ["yes", "no", ""]


@pytest.mark.slow
def test_two_people_answer_pairs_apart_and_settle_what_they_answer_differently(browser: Browser, project: Path) -> None:
    path = project / "workspaces" / "pairs"
    sheet = round_of_three_pairs(path)
    with served(project, path, "--annotator", "Ann") as ann, served(project, path, "--annotator", "Bob") as bob:
        for place, word in enumerate(("yes", "no", "no")):
            assert ann.send(place, word)[0] == 200
        page = open_page(browser, bob)
        for place, key in enumerate("yyn"):
            at(page, place)
            expect(page.locator(".question")).not_to_contain_text("Ann")
            page.keyboard.press(key)
        panel = page.locator(".panel")
        expect(panel).to_contain_text("Ann and Bob both answered 3 pairs and agree on 67 % of them")
        expect(panel).to_contain_text("1 pairs are answered differently; the round waits until they are settled.")
        page.keyboard.press("t")
        at(page, 1)
        expect(page.locator(".question .note")).to_have_text("Answered differently: Ann: no; Bob: yes")
        page.keyboard.press("n")
        expect(panel).to_contain_text("Everything is saved.")
        close(page, bob)
    assert [record.cells["label"] for record in read_sheet(sheet.read_bytes(), "s", ("pair",))] == ["yes", "no", "no"]
