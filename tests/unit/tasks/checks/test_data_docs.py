"""The pages of the checks: one a set, and an index that leads to them."""

from __future__ import annotations

import re
from pathlib import Path

from tasks.checks import data_docs

PAGE = '<html><head><script>a()</script></head><body class="x"><h1>Checks</h1><script>b()</script></body></html>'


def test_the_index_has_a_row_for_each_set_with_what_failed_of_its_checks(tmp_path: Path) -> None:
    folder = tmp_path / "data_docs"
    folder.mkdir()
    (folder / "left.html").write_text("of an earlier audit")
    checks = [{"passed": True}, {"passed": False}, {"passed": True}]
    entries = [
        {"set": "train", "domain": "train", "rows_read": 1200, "checks": checks},
        {"set": "<b>", "domain": "ood", "rows_read": 7, "checks": checks[:1]},
    ]
    data_docs.write(folder, {"train": PAGE}, entries)
    assert {path.name for path in folder.iterdir()} == {"index.html", "train.html"}
    index = (folder / "index.html").read_text(encoding="utf-8")
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(<td>.*?)</tr>", index)]
    assert rows == [
        ['<a href="train.html">train</a>', "train", "1,200", "3", "1 failed"],
        ['<a href="&lt;b&gt;.html">&lt;b&gt;</a>', "ood", "7", "1", "all passed"],
    ]
    page = (folder / "train.html").read_text(encoding="utf-8")
    assert "<h1>Checks</h1>" in page
    assert "<script" not in page


def test_texts_of_any_depth_are_no_markup_and_no_template() -> None:
    value = {"a": ["<b>", 3, {"c": "costs $value & more"}], "d": None, "e": True}
    assert data_docs.escaped(value) == {"a": ["&lt;b&gt;", 3, {"c": "costs &#36;value &amp; more"}], "d": None, "e": True}


def test_pages_are_written_where_no_folder_was(tmp_path: Path) -> None:
    folder = tmp_path / "reports" / "data_docs"
    data_docs.write(folder, {}, [])
    assert [path.name for path in folder.iterdir()] == ["index.html"]


def test_a_page_keeps_its_own_links_and_loses_those_that_lead_away() -> None:
    body = '<body id="x"><p>text</p><a href="#here">down</a> <a class="y" href="https://example.org/?a=1">out</a><img src="http://pixel"></body>'
    page = data_docs.self_contained(f"<html><head></head>{body}</html>", "A <title>")
    assert page.endswith('<body><p><a href="index.html">All sets</a></p><p>text</p><a href="#here">down</a> out</body></html>\n')
    assert "<title>A &lt;title&gt;</title>" in page
