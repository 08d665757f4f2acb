"""The page's text where its script may not run."""

from __future__ import annotations

from dataclasses import replace

from cartograph.page.audit import Audit
from cartograph.page.blocks import Column, Section, Table
from cartograph.page.sections.order import SECTIONS
from cartograph.page.verdict import Verdict, verdict
from cartograph.page.without_scripts import MOST_ROWS, still_text
from tests.page_audits import HOSTILE, audit_of_images, with_suspects


def text_of(audit: Audit) -> str:
    return still_text(verdict(audit), [section for build in SECTIONS if (section := build(audit)) is not None], audit)


def test_head_sections_and_suspects_are_said(audit: Audit) -> None:
    found = with_suspects(audit)
    text = text_of(found)
    assert text.startswith(f"<h1>{verdict(found).sentence}</h1>")
    for build in SECTIONS:
        if (section := build(found)) is not None:
            assert f"<h2>{section.title}</h2>" in text
    assert "<th>Suggestion</th>" in text and "<p>easy-to-learn: " in text
    first = found.examples["text"][1].as_py()
    where = f"{found.examples['source'][1].as_py()}, row {found.examples['row'][1].as_py()}"
    assert f"<tr><td>1</td><td>{where}</td><td>{first}</td>" in text


def test_what_the_data_say_is_escaped(audit: Audit) -> None:
    column = audit.examples.column_names.index("text")
    texts = [HOSTILE] * len(audit.examples)
    examples = audit.examples.set_column(column, audit.examples.schema.field(column), [texts])
    text = text_of(with_suspects(replace(audit, examples=examples)))
    assert "&lt;script&gt;window.pwned = 1&lt;/script&gt;" in text and "<script" not in text


def test_of_a_long_table_the_first_rows_stand_there_and_how_many_there_are() -> None:
    columns = [Column("Pair"), Column("Rows", "count"), Column("Share", "share")]
    table = Table("Pairs", columns, [[f"pair {number}", 1000 + number, 0.5] for number in range(1234)])
    text = still_text(Verdict("Nothing.", (), ()), [Section("pairs", "Pairs", "See `uid`.", [table])])
    assert "<caption>Pairs (the first 50 of 1,234)</caption>" in text and "<p>See <code>uid</code>.</p>" in text
    assert text.count("<tr><td>") == MOST_ROWS and "<tr><td>pair 0</td><td>1,000</td><td>50\u00a0%</td></tr>" in text


def test_of_images_no_bytes_are_written() -> None:
    text = text_of(with_suspects(audit_of_images(20)))
    assert "PNG" not in text and "<th>Suggestion</th>" in text


def test_halves_of_characters_are_replaced_and_points_are_written_as_on_the_page() -> None:
    table = Table("Points", [Column("Name", "text"), Column("Points", "points")], [["a\ud800b", -1.23], ["c", -0.04]])
    text = still_text(Verdict("Nothing.", (), ()), [Section("points", "Points", blocks=[table])])
    assert text.encode() and "<td>a?b</td><td>\u22121.2</td>" in text and "<td>c</td><td>0.0</td>" in text
