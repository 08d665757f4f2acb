from __future__ import annotations

import numpy as np
import pytest

from cartograph.pairs.matcher import features as module
from cartograph.pairs.matcher.features import MISSING, Features
from cartograph.pairs.matcher.records import Records

LEFT = ["Sony KDL-40V5500 tv 2009", "canon sd1000", "", "pen"]
RIGHT = ["sony kdl40v5500 television 2009", "Canon SD-1100 7.1", "x", "pen"]
FIELDS = {"name": (LEFT, RIGHT), "price": (["9.99", "$1,200", "", "3"], ["10.99", "1200", "4", ""])}


@pytest.fixture(scope="module")
def table() -> dict[str, np.ndarray]:
    features = Features(Records(LEFT, RIGHT, FIELDS))
    return dict(zip(features.names, features.table(np.arange(4), np.arange(4)).T, strict=True))


def test_numbers_and_codes_that_differ_are_told_from_those_that_are_missing(table: dict[str, np.ndarray]) -> None:
    assert table["text: codes shared, of all"].tolist() == [1.0, 0.0, MISSING, MISSING]
    assert table["text: years shared, of all"].tolist() == [1.0, MISSING, MISSING, MISSING]
    assert table["price: amount"] == pytest.approx([1 / 10.99, 0.0, MISSING, MISSING])


def test_numbers_that_name_something_are_compared_as_they_are_written() -> None:
    born, age = ["19640225", "19640225", "19781231", ""], ["31", "31", "31", "4"]
    other, years = ["19640252", "19650225.0", "19781231.00", "19640225"], ["13", "31.0", "32", "5"]
    features = Features(Records(LEFT, RIGHT, {"born": (born, other), "age": (age, years)}))
    found = dict(zip(features.names, features.table(np.arange(4), np.arange(4)).T, strict=True))
    assert found["born: digits"] == pytest.approx([0.875, 0.875, 1.0, MISSING])
    assert found["born: amount"][0] < 1e-5, "a slip in a date is next to nothing as an amount"
    kinds = {name: [one.split(": ")[1] for one in features.names if one.startswith(name)] for name in ("born", "age")}
    assert kinds == {"born": ["digits", "amount"], "age": ["amount"]}


def test_equal_texts_have_every_similarity_and_empty_ones_none(table: dict[str, np.ndarray]) -> None:
    for name in ("words", "characters", "characters in order", "words in any order", "best part", "beginning (Jaro–Winkler)", "length"):
        assert table[f"text: {name}"][3] == pytest.approx(1.0)
        assert table[f"text: {name}"][2] <= 0
    assert np.isfinite(np.stack(list(table.values()))).all()
    assert max(column.max() for name, column in table.items() if "rarest" not in name) <= 1 + 1e-6


def test_a_single_text_has_no_features_of_fields() -> None:
    assert all(name.startswith("text: ") for name in Features(Records(LEFT, LEFT)).names)
    with_encoder = Features(Records(LEFT, LEFT), {"encoder": (np.eye(4, dtype=np.float32),) * 2})
    assert with_encoder.table(np.array([0]), np.array([1]))[0, with_encoder.names.index("text: encoder")] == 0


def test_pairs_are_compared_in_blocks_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    features = Features(Records(LEFT, RIGHT, FIELDS))
    left, right = np.repeat(np.arange(4), 4), np.tile(np.arange(4), 4)
    whole = features.table(left, right)
    monkeypatch.setattr(module, "_BLOCK", 3)
    said: list[int] = []
    assert np.array_equal(features.table(left, right, said.append), whole)
    assert said == [3, 6, 9, 12, 15, 16]
