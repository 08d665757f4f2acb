from __future__ import annotations

import base64
import hashlib
import json
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartograph.page.encode import column, data_uri, script_hash, script_json, whole_numbers

# Lone surrogates included: json.loads lets them in, UTF-8 does not let them out.
any_text = st.text(st.characters(codec=None, exclude_categories=()))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)


class Scripts(HTMLParser):
    """What a browser's parser sees: the start tags, and the text of the first script."""

    def __init__(self, document: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@given(json_values)
def test_any_value_survives_the_page_and_stays_in_its_script(value: object) -> None:
    text = script_json(value)
    assert json.loads(text) == value
    assert text.isprintable() or not set(text) & set("<>&\u2028\u2029\n\r")
    text.encode("utf-8")
    seen = Scripts(f'<script type="application/json">{text}</script>')
    assert seen.tags == ["script"]
    assert json.loads(seen.text) == value


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--<script>", "]]>", "&lt;", "\u2028\u2029", "\ud800"])
def test_what_could_end_a_script_is_escaped(text: str) -> None:
    assert not set(script_json([text])) & set("<>&\u2028\u2029\ud800")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_json_cannot_write_is_an_error(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json([number])


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "uint32", "int32", "float32", ">f4"])
def test_a_column_is_its_little_endian_bytes(dtype: str) -> None:
    values = np.array([[0, 1], [2, 3]], dtype=dtype)
    content = column(values)
    little = {"u": "<u", "i": "<i", "f": "<f"}[content["type"][0]] + str(int(content["type"][1:]) // 8)
    assert np.frombuffer(base64.b64decode(content["data"]), dtype=little).tolist() == [0, 1, 2, 3]


def test_a_column_of_another_type_is_an_error() -> None:
    with pytest.raises(ValueError, match="column of type float64 cannot be carried; use one of uint8"):
        column(np.zeros(2))


@pytest.mark.parametrize(
    ("least", "most", "kind"),
    [
        (0, 255, "u8"),
        (0, 256, "u16"),
        (-1, 2, "i16"),
        (0, 65_536, "u32"),
        (-1, 40_000, "i32"),
        (-32_769, 0, "i32"),
        (2**31, 2**32 - 1, "u32"),
    ],
)
def test_whole_numbers_take_as_few_bytes_as_hold_them(least: int, most: int, kind: str) -> None:
    content = whole_numbers(np.array([least, most], dtype=np.int64))
    assert content["type"] == kind
    assert np.frombuffer(base64.b64decode(content["data"]), dtype=f"<{kind[0]}{int(kind[1:]) // 8}").tolist() == [least, most]


def test_no_whole_numbers_are_an_empty_column() -> None:
    assert whole_numbers(np.empty(0, dtype=np.int64)) == {"type": "u8", "data": ""}


@pytest.mark.parametrize("values", [[2**32], [-1, 2**31]])
def test_a_whole_number_beyond_four_bytes_is_an_error(values: list[int]) -> None:
    with pytest.raises(ValueError, match=r"whole numbers from .* cannot be carried; use some of at most four bytes"):
        whole_numbers(np.array(values, dtype=np.int64))


def test_pictures_are_data_uris_and_scripts_are_allowed_by_their_hash() -> None:
    assert data_uri(b"<svg/>", "image/svg+xml") == "data:image/svg+xml;base64,PHN2Zy8+"
    assert script_hash("a()") == f"'sha256-{base64.b64encode(hashlib.sha256(b'a()').digest()).decode()}'"
