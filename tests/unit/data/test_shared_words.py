"""Texts that share hardly a word."""

from __future__ import annotations

import pyarrow as pa

from cartograph.data.shared_words import column_reads_characters, reads_characters

NAMES = [
    f"{begin}{middle}{end}"
    for begin in ("Kow", "Now", "Lin", "Ber")
    for middle in ("al", "ak", "dg", "gs")
    for end in ("ska", "ren", "tz", "o")
]


def test_a_tenth_of_the_rows_is_needed_and_fifty_rows_to_tell() -> None:
    sentences = [f"this is row {row % 7}" for row in range(91)]
    assert not reads_characters([*sentences, *NAMES[:9]]) and reads_characters([*sentences[:90], *NAMES[:10]])
    assert not reads_characters(NAMES[:49])
    pairs = [(name, NAMES[-place]) for place, name in enumerate(NAMES)]
    assert reads_characters([(name, "x" * place) for place, name in enumerate(NAMES)]) and not reads_characters(pairs)


def test_scripts_without_blanks_share_no_word() -> None:
    assert reads_characters([f"\u0928\u093f\u0915\u094b{chr(0x0905 + row % 40)}{chr(0x0905 + row // 40)}" for row in range(60)])


def test_a_script_without_blanks_is_read_by_characters_whatever_latin_words_its_rows_share() -> None:
    japanese = [f"GNU grep {row % 5} \u306f\u30d5\u30a1\u30a4\u30eb\u304b\u3089\u884c\u3092\u63a2\u3059" for row in range(60)]
    assert reads_characters(japanese)
    apart = [f"GNU grep {row % 5} \u306f \u30d5\u30a1\u30a4\u30eb \u304b\u3089 \u884c \u3092" for row in range(60)]
    assert not reads_characters(apart), "words that were set apart are words"
    named = [f"this is row {row % 5} of the book \u30d5\u30a1\u30a4\u30eb\u304b\u3089" for row in range(60)]
    assert not reads_characters(named)
    signs = [f"GNU {row % 5} \u306f\u3001\u672c\u3092\u3001\u8aad\u3080\u3002\u5f7c\u306f\uff0c\u6b69\u304f\uff01" for row in range(60)]
    assert reads_characters(signs)
    korean = [f"\ud30c\uc77c\uc5d0\uc11c {row % 5} \uc904\uc744 \ucc3e\ub294\ub2e4" for row in range(60)]
    assert not reads_characters(korean)


def test_whether_characters_are_read_is_seen_in_a_sample_of_many_rows() -> None:
    rows = [f"name{row}" for row in range(20_100)]
    assert reads_characters(rows) and not reads_characters([f"a {row}" for row in rows])


def test_columns_of_a_table_are_read_as_their_rows_are() -> None:
    for texts in (NAMES, [f"name{row}" for row in range(20_100)], [f"a {row}" for row in range(20_100)]):
        table = pa.table({"text": texts, "same": ["and the same"] * len(texts)})
        assert column_reads_characters(table, ["text"]) == reads_characters(texts)
        assert not column_reads_characters(table, ["text", "same"])
