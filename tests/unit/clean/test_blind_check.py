"""The check by people: what a blind sheet shows, what its answers say, and how far two annotators agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from cartograph.clean.blind_check import Item, Key, answered_sheet, draw, in_words, key_from_json, read_answers, score, sheet_of
from cartograph.data.spreadsheet import read_sheet, write_sheet
from cartograph.errors import InputError
from cartograph.statistics.proportion import wilson_interval
from tests.cleaning import make_examples, make_noise
from tests.training_sets import small_images

EXAMPLES = make_examples([(f"bad-{number}", f"=text {number}", number % 3) for number in range(200)])
NOISE = make_noise(EXAMPLES, {f"bad-{number}": (1, 0.5) for number in range(60)})


def drawn(seed: int = 1, per_class: int = 50) -> tuple[Key, bytes]:
    return draw(EXAMPLES, NOISE, np.random.default_rng(seed), per_class)


def test_the_sheet_has_both_kinds_and_shows_neither_label_nor_prediction() -> None:
    key, content = drawn()
    records = read_sheet(content, "b.csv", ("item", "answer"))
    assert len(records) == len(key.items) == 100
    kinds = [item.predicted for item in key.items]
    assert kinds.count("noise") == kinds.count("clean") == 50
    assert kinds != sorted(kinds)
    assert {item.uid for item in key.items if item.predicted == "noise"} < {f"bad-{number}" for number in range(60)}
    assert list(records[0].cells) == ["item", "text", "choices", "answer", "comment"]
    texts = dict(zip(EXAMPLES["uid"].to_pylist(), EXAMPLES["text"].to_pylist(), strict=True))
    for record, item in zip(records, key.items, strict=True):
        assert record.cells["text"] == texts[item.uid]
        assert record.cells["choices"] == "bad | good | odd | ambiguous"
        assert record.cells["answer"] == ""
        assert item.uid not in record.cells["item"]
    assert drawn() == drawn()
    assert drawn(2)[0].sheet != key.sheet == sheet_of(content, "b.csv")
    assert key_from_json(key.to_json(), "k") == key


def test_fewer_suspects_than_asked_for_are_all_taken() -> None:
    noise = make_noise(EXAMPLES, {"bad-3": (1, 0.5)})
    key, _ = draw(EXAMPLES, noise, np.random.default_rng(1))
    assert [item.uid for item in key.items if item.predicted == "noise"] == ["bad-3"]
    assert key.among == {"noise": 1, "clean": 199}


def test_without_suspects_twice_as_many_other_rows_say_how_many_labels_are_wrong() -> None:
    key, _ = draw(EXAMPLES, make_noise(EXAMPLES, {}), np.random.default_rng(1), per_class=20)
    assert [item.predicted for item in key.items] == ["clean"] * 40
    answered = {
        item.item: next(answer for answer in key.answers if (answer == item.given) != (place < 4)) for place, item in enumerate(key.items)
    }
    numbers = score(key, [answered])
    assert (numbers["labels.rows"], numbers["labels.mislabelled"]) == (200, pytest.approx(20))
    assert [numbers["labels.low"], numbers["labels.high"]] == pytest.approx([200 * end for end in wilson_interval(4, 40)])
    assert in_words(numbers) == [
        "predicted clean: 10 % of 40 rows mislabelled or ambiguous (95 % interval 4 to 23 %): 10 % mislabelled, 0 % ambiguous",
        "so about 20 of all 200 labels are wrong (95 % interval 8 to 46)",
    ]


@pytest.mark.slow
def test_the_interval_of_all_labels_holds_the_true_number() -> None:
    rng, held = np.random.default_rng(5), []
    for _ in range(200):
        wrong = np.concatenate([rng.random(300) < 0.6, rng.random(2_700) < 0.1])
        flagged = {f"r{row}": (1, 0.9) for row in range(300)}
        examples = make_examples([(f"r{row}", "text", 0) for row in range(3_000)], labels=("x", "y"))
        key, _ = draw(examples, make_noise(examples, flagged), rng)
        numbers = score(key, [{item.item: "y" if wrong[int(item.uid[1:])] else "x" for item in key.items}])
        held.append(numbers["labels.low"] <= wrong.sum() <= numbers["labels.high"])
    assert np.mean(held) >= 0.93


def test_of_a_kind_that_was_read_whole_nothing_is_left_to_guess() -> None:
    key = replace(KEY, among={"noise": 4, "clean": 4})
    numbers = score(key, [answers("yyaxxxxx")])
    assert [numbers[f"labels.{name}"] for name in ("mislabelled", "low", "high")] == [2.0, 2.0, 2.0]
    more = score(replace(KEY, among={"noise": 4, "clean": 100}), [answers("yyaxxxxx")])
    assert (more["labels.mislabelled"], more["labels.low"]) == (2.0, 2.0)
    assert more["labels.high"] == pytest.approx(2 + 100 * wilson_interval(0, 4)[1])
    # Nobody settled a row of a kind that has some.
    assert "labels.mislabelled" not in score(key, [answers("xxxx----")])


def test_a_class_called_ambiguous_leaves_the_word_to_it() -> None:
    examples = make_examples([("a", "one", 0), ("b", "two", 1)], labels=("Ambiguous", "clear"))
    key, _ = draw(examples, make_noise(examples, {"a": (1, 0.5)}), np.random.default_rng(1))
    assert key.answers == ("Ambiguous", "clear", "(no single label)")


KEY = Key(
    "b000000",
    ("x", "y", "ambiguous"),
    tuple(Item(f"b000000-00{number}", f"u{number}", "noise" if number < 5 else "clean", "x") for number in range(1, 9)),
)


def answers(text: str) -> dict[str, str]:
    full = {"x": "x", "y": "y", "a": "ambiguous"}
    return {item.item: full[letter] for item, letter in zip(KEY.items, text, strict=True) if letter != "-"}


def test_one_annotator_has_shares_and_no_agreement() -> None:
    numbers = score(KEY, [answers("yyaxxxx-")])
    assert {name: value for name, value in numbers.items() if not name.endswith((".low", ".high"))} == {
        "annotators": 1,
        "unanswered": 1,
        "predicted_noise.rows": 4,
        "predicted_noise.mislabelled": 0.5,
        "predicted_noise.ambiguous": 0.25,
        "predicted_noise.either": 0.75,
        "predicted_clean.rows": 3,
        "predicted_clean.mislabelled": 0,
        "predicted_clean.ambiguous": 0,
        "predicted_clean.either": 0,
    }
    assert (numbers["predicted_noise.low"], numbers["predicted_noise.high"]) == wilson_interval(3, 4)


def test_two_annotators_settle_what_they_answer_alike() -> None:
    numbers = score(KEY, [answers("yyaxxxxx"), answers("yxaxxxy-")])
    assert numbers["agreement.rows"] == 7
    assert numbers["agreement.raw"] == 5 / 7
    assert numbers["agreement.kappa"] == pytest.approx(cohen_kappa_score(list("yyaxxxx"), list("yxaxxxy")))
    assert (numbers["disagreements"], numbers["unanswered"]) == (2, 1)
    assert (numbers["predicted_noise.rows"], numbers["predicted_noise.either"]) == (3, 2 / 3)
    assert (numbers["predicted_clean.rows"], numbers["predicted_clean.either"]) == (2, 0)
    lines = in_words(numbers)
    assert lines[0] == "agreement of two annotators on 7 rows: 71 %, Cohen's kappa 0.50; 2 left to discuss"
    assert lines[1].startswith(
        "predicted noise: 67 % of 3 rows mislabelled or ambiguous (95 % interval 21 to 94 %): 33 % mislabelled, 33 %"
    )
    assert lines[3] == "1 rows were not answered by everybody"


def test_a_kind_that_nobody_settled_has_no_share() -> None:
    numbers = score(KEY, [answers("xxxx----")])
    assert numbers["predicted_clean.rows"] == 0
    assert "predicted_clean.either" not in numbers
    assert "predicted clean: no row with a settled answer" in in_words(numbers)
    with pytest.raises(InputError, match="no item of the blind sheet b000000 was answered by both annotators"):
        score(KEY, [answers("xxxx----"), answers("----xxxx")])


def sheet(*rows: tuple[str, str]) -> bytes:
    return write_sheet(("item", "answer"), rows)


def test_answers_are_read_whatever_their_case_and_order() -> None:
    content = sheet(("b000000-002", " Ambiguous "), ("b000000-001", "X"), ("b000000-003", ""))
    assert read_answers(content, "f.csv", KEY) == {"b000000-002": "ambiguous", "b000000-001": "x"}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("b000000-001", "z")], r"^f\.csv line 2: the answer 'z' to b000000-001 is not one of x, y, ambiguous\.$"),
        (
            [("b000000-001", "x"), ("b000000-009", "x")],
            r"^f\.csv line 3: 'b000000-009' is not one of the 8 items of the blind sheet",
        ),
        (
            [("b000000-001", "x"), ("b000000-001", "y")],
            r"^f\.csv line 3: item b000000-001 is there already, on line 2; leave one",
        ),
        ([("b000000-001", "")], r"^f\.csv holds no answer; fill in the column `answer` with one of x, y, ambiguous\.$"),
    ],
)
def test_answers_that_cannot_be_used_are_named(rows: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_answers(sheet(*rows), "f.csv", KEY)


def test_rows_of_two_sheets_and_what_is_no_key_are_refused() -> None:
    with pytest.raises(InputError, match=r"f\.csv holds rows of 2 blind sheets \(b000000, b111111\), expected those of one\."):
        sheet_of(sheet(("b000000-001", ""), ("b111111-001", "")), "f.csv")
    with pytest.raises(InputError, match=r"holds rows of 0 blind sheets \(none\)"):
        sheet_of(sheet(), "f.csv")
    for text in ("{", "[]", '{"sheet": "b"}'):
        with pytest.raises(InputError, match="k is not the key of a blind sheet; draw a new sheet"):
            key_from_json(text, "k")


def test_what_was_hidden_is_shown_beside_the_answers() -> None:
    content = answered_sheet(KEY, [answers("x-------"), answers("y-------")], ["Ann", "=Bob"])
    first = content.decode("utf-8-sig").splitlines()[:3]
    assert first == [
        "item,uid,predicted,given_label,answer of Ann,answer of =Bob",
        "b000000-001,u1,noise,x,x,y",
        "b000000-002,u2,noise,x,,",
    ]


def test_a_blind_sheet_shows_pictures() -> None:
    rows = small_images(6)
    _, blind = draw(rows, make_noise(rows, {"u0000": (1, 0.8), "u0001": (1, 0.8)}), np.random.default_rng(0), per_class=2)
    assert blind.decode("utf-8-sig").count("data:image/png;base64,") == 4
