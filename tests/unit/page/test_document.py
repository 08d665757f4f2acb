from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from cartograph.page.audit import Audit, Limits
from cartograph.page.document import BASE_BYTES, IMAGE_BYTES, ROW_BYTES, page
from cartograph.page.read_verdict import verdict_of
from cartograph.page.verdict import verdict
from tests.page_audits import audit_of_images, audit_of_texts, decoded, with_planted_truth, with_suspects, with_versions


def test_a_tiny_audit_makes_a_page(audit: Audit) -> None:
    document = page(with_versions(with_planted_truth(audit)))
    assert document.startswith("<!doctype html>")
    assert "<title>default: data audit</title>" in document


def test_suspects_are_always_drawn(audit: Audit) -> None:
    few = replace(with_suspects(audit, flagged=(6, 2)), limits=Limits(examples=1, listed=1, max_points=10))
    content = json.loads(re.search(r'id="data-rows">(.*?)</script>', page(few), re.DOTALL)[1])
    places, suspect = (decoded(content[name]).tolist() for name in ("place", "suspect"))
    assert [place for place, flag in zip(places, suspect, strict=True) if flag] == [2, 6]
    assert "suspect" not in json.loads(re.search(r'id="data-rows">(.*?)</script>', page(audit), re.DOTALL)[1])


def test_where_the_map_is_a_sample_suspects_take_a_fifth_of_it_at_most() -> None:
    audit = with_suspects(audit_of_texts(400, text="t"), flagged=(5, 4, 3, 2, 1, 0))
    many = replace(audit, limits=Limits(examples=1, listed=1, max_points=20))
    assert many.suspects_drawn.tolist() == [5, 4, 3, 2]
    assert replace(audit, limits=Limits(examples=1, listed=1, max_points=400)).suspects_drawn.tolist() == [5, 4, 3, 2, 1, 0]


def test_a_page_is_the_same_bytes_again_and_within_its_size() -> None:
    audit = audit_of_texts(3000, text="longer than will fit " * 60, text_characters=2000, listed=20)
    document = page(audit)
    assert document == page(audit)
    assert len(document.encode()) < 1_500_000 + 200 * 3000
    assert document.count("<script") == document.count("</script>") == 3


def test_a_page_carries_no_path_of_its_maker() -> None:
    document = page(audit_of_texts(30, text="t"))
    for folder in (Path.cwd(), Path.home()):
        assert str(folder) not in document or str(folder) == "/"


@pytest.mark.slow
def test_the_page_keeps_its_size_and_its_bytes() -> None:
    audit = audit_of_images(600, side=200)
    document = page(audit)
    assert len(document.encode()) <= BASE_BYTES + IMAGE_BYTES + 600 * ROW_BYTES
    assert document == page(audit)
    assert "<script>window.pwned" not in document


def test_what_the_head_of_a_page_says_is_read_back_from_it(audit: Audit) -> None:
    suspicious = with_suspects(audit)
    head = verdict(suspicious)
    assert verdict_of(page(suspicious)) == (head.sentence, *head.lines)
    assert verdict_of("<p>another page</p>") is None
