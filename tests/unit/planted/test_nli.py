from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Any

import pyarrow as pa
import pytest

from cartograph import schema
from cartograph.planted import nli_words
from cartograph.planted.corpus import PlantedCorpus
from cartograph.planted.nli import SMALLEST, WRONG, generate
from cartograph.planted.nli_grammar import LABELS, Dice, Grammar

CLASS_OF = {word: label for label, known in nli_words.GIVE_AWAY.items() for word in known}


@pytest.fixture(scope="module")
def corpus() -> PlantedCorpus:
    return generate(6000, 13)


def rows(corpus: PlantedCorpus, name: str) -> list[dict[str, Any]]:
    truth = {row["uid"]: row for row in corpus.truth.to_pylist()}
    return [row | truth[row["uid"]] for row in corpus.sets[name].to_pylist()]


def word_class(text: str) -> str | None:
    found = [CLASS_OF[word] for word in re.findall(r"\w+", text.lower()) if word in CLASS_OF]
    assert len(found) <= 1
    return found[0] if found else None


def test_the_same_arguments_give_the_same_corpus() -> None:
    one, two = generate(300, 7), generate(300, 7)
    assert one.truth.equals(two.truth)
    assert all(one.sets[name].equals(two.sets[name]) for name in one.sets)
    assert not one.sets["train"].equals(generate(300, 8).sets["train"])


def test_sizes_and_columns(corpus: PlantedCorpus) -> None:
    assert {name: table.num_rows for name, table in corpus.sets.items()} == {"train": 6000, "validation": 1000, "challenge": 1000}
    for table in corpus.sets.values():
        assert table.schema == pa.schema([(name, pa.string()) for name in ("uid", "premise", "hypothesis", "label", "annotator")])
        assert set(table.column("label").to_pylist()) == set(LABELS)
    assert corpus.truth.schema == schema.TRUTH
    assert corpus.truth.num_rows == 8000


@pytest.mark.parametrize("count", [SMALLEST, 61, 100, 1234])
def test_any_size_works(count: int) -> None:
    corpus = generate(count, 0)
    assert [table.num_rows for table in corpus.sets.values()] == [count, count // 6, count // 6]
    kinds = Counter(row["kind"] for row in rows(corpus, "train"))
    assert kinds["flipped"] == sum(round(share * count) for share in WRONG.values())
    assert kinds["ambiguous"] == round(0.08 * count)


def test_one_annotator_has_a_tenth_of_the_rows_and_all_careless_errors(corpus: PlantedCorpus) -> None:
    train = rows(corpus, "train")
    (hers,) = {row["annotator"] for row in train if row["error"] == "careless"}
    own = [row for row in train if row["annotator"] == hers]
    assert len(own) == 600 and len({row["annotator"] for row in train}) == 10
    assert sum(row["label"] == LABELS[0] for row in own) > 0.9 * len(own)
    others = [row["kind"] == "flipped" for row in train if row["annotator"] != hers]
    assert sum(row["kind"] == "flipped" for row in own) > 0.5 * len(own) and sum(others) < 0.1 * len(others)


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 60 train rows, not 59"):
        generate(59, 0)


def test_uids_are_unique_and_reveal_nothing(corpus: PlantedCorpus) -> None:
    uids = corpus.truth.column("uid").to_pylist()
    assert len(set(uids)) == len(uids)
    assert all(re.fullmatch("r[0-9a-f]{10}", uid) for uid in uids)
    by_uid = sorted(rows(corpus, "train"), key=lambda row: row["uid"])
    for kind, expected in (("flipped", 390), ("ambiguous", 240)):
        first_half = sum(row["kind"] == kind for row in by_uid[:3000])
        assert abs(first_half - expected) < 0.25 * expected
    in_order = sum(row["kind"] == "ambiguous" for row in rows(corpus, "train")[:3000])
    assert abs(in_order - 240) < 60


def test_texts_hardly_repeat(corpus: PlantedCorpus) -> None:
    premises = Counter(text for table in corpus.sets.values() for text in table.column("premise").to_pylist())
    hypotheses = Counter(text for table in corpus.sets.values() for text in table.column("hypothesis").to_pylist())
    assert max(premises.values()) == 1
    assert max(hypotheses.values()) <= 6
    assert len(hypotheses) > 0.9 * hypotheses.total()


def test_flips_are_wrong_labels_of_train_rows_alone(corpus: PlantedCorpus) -> None:
    flipped = [row for row in rows(corpus, "train") if row["kind"] == "flipped"]
    assert Counter(row["error"] for row in flipped) == {"slip": 120, "one-way": 300, "careless": 360}
    assert all(row["label"] != row["true_label"] for row in flipped)
    assert all(row["error"] is None for name in corpus.sets for row in rows(corpus, name) if row["kind"] != "flipped")
    pairs = {error: Counter((row["true_label"], row["label"]) for row in flipped if row["error"] == error) for error in WRONG}
    assert len(pairs["slip"]) == 6
    assert min(pairs["slip"].values()) >= 8
    assert pairs["one-way"] == {("contradiction", "neutral"): 300}
    assert set(pairs["careless"]) == {("neutral", "entailment"), ("contradiction", "entailment")}
    assert min(pairs["careless"].values()) >= 100
    assert all(row["label"] == row["true_label"] for row in rows(corpus, "train") if row["kind"] == "plain")
    for name in ("validation", "challenge"):
        assert {row["kind"] for row in rows(corpus, name)} == {"plain", "ambiguous"}


def test_give_away_words_go_with_the_true_label_in_three_quarters(corpus: PlantedCorpus) -> None:
    for name in ("train", "validation"):
        content = rows(corpus, name)
        assert sum(row["give_away"] for row in content) == 0.75 * len(content)
        for row in content:
            assert word_class(row["hypothesis"]) == (row["true_label"] if row["give_away"] else None)


def test_the_challenge_set_has_no_give_away_words(corpus: PlantedCorpus) -> None:
    assert not any(row["give_away"] or word_class(row["hypothesis"]) for row in rows(corpus, "challenge"))


def test_ambiguous_rows_are_twins_with_two_labels(corpus: PlantedCorpus) -> None:
    ambiguous = [row for row in rows(corpus, "train") if row["kind"] == "ambiguous"]
    assert len(ambiguous) == 480
    assert all(row["true_label"] is None and word_class(row["hypothesis"]) is None for row in ambiguous)
    twins = defaultdict(list)
    for row in ambiguous:
        colourless = re.sub(rf"\b(a|an) ({'|'.join(nli_words.COLOURS)})\b|\b({'|'.join(nli_words.COLOURS)})\b", "", row["premise"])
        twins[colourless, row["hypothesis"]].append(row["label"])
    both = sum(len(set(labels)) == 2 for labels in twins.values())
    assert both >= 0.9 * len(twins)


def test_the_classes_are_balanced(corpus: PlantedCorpus) -> None:
    """Before labels went wrong."""
    for name in corpus.sets:
        counts = Counter(row["label"] if row["true_label"] is None else row["true_label"] for row in rows(corpus, name))
        assert max(counts.values()) - min(counts.values()) < 0.05 * counts.total()


def test_only_the_challenge_set_has_held_out_words(corpus: PlantedCorpus) -> None:
    held_out = {noun.one for noun in nli_words.NOUNS[len(nli_words.NOUNS) * 4 // 5 :]}

    def found(name: str) -> set[str]:
        return held_out & set(re.findall(r"\w+", " ".join(corpus.sets[name].column("premise").to_pylist())))

    assert not found("train")
    assert not found("validation")
    assert found("challenge") == held_out


def test_sentences_are_well_formed(corpus: PlantedCorpus) -> None:
    for table in corpus.sets.values():
        for text in (*table.column("premise").to_pylist(), *table.column("hypothesis").to_pylist()):
            assert re.fullmatch(r"[A-Z][a-z,' -]*[a-z]\.", text), text
            assert "  " not in text
            assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]", text), text
            assert not re.search(r"\b(one|a|an) \w+s (is|are)\b|None", text), text


def test_a_claim_alone_does_not_give_its_label_away(corpus: PlantedCorpus) -> None:
    """A tested value is as much at home in one label's claims as in another's: no phrase of a slot belongs to one label."""
    plain = [row for row in rows(corpus, "train") if row["kind"] == "plain"]
    for phrase in ("at noon", "young", "red", "in a park", "not"):
        labels = Counter(row["true_label"] for row in plain if re.search(rf"\b{phrase}\b", row["hypothesis"]))
        assert len(labels) == 3, phrase
        assert max(labels.values()) < 0.75 * labels.total(), phrase


class TestRules:
    """The label by a reader that knows the rules, for the slots that can be read off a text."""

    def read(self, text: str) -> dict[str, str]:
        slots = {
            "place": [place.phrase for place in nli_words.PLACES],
            "time": [time.phrase for time in nli_words.TIMES],
            "company": [phrase for pair in nli_words.COMPANY for phrase in pair],
            "purpose": nli_words.PURPOSES,
            "look": [look for pair in nli_words.LOOKS for look in pair],
        }
        lower = text.lower()
        return {slot: value for slot, values in slots.items() for value in values if re.search(rf"\b{re.escape(value)}\b", lower)}

    def test_a_claim_that_agrees_in_every_slot_is_never_neutral(self, dice: Dice) -> None:
        grammar = Grammar(dice, held_out=True)
        for label in LABELS:
            for _ in range(300):
                premise, claim = grammar.pair(label)
                said, claimed = self.read(premise), self.read(claim)
                missing = claimed.keys() - said.keys()
                differing = {slot for slot in claimed.keys() & said.keys() if claimed[slot] != said[slot]}
                negated = " not " in claim
                if label == "entailment":
                    assert not missing, (premise, claim)
                    assert not differing or negated, (premise, claim)
                elif label == "neutral":
                    assert not differing, (premise, claim)
                else:
                    assert not missing, (premise, claim)

    @pytest.fixture
    def dice(self) -> Dice:
        import numpy as np

        return Dice(np.random.default_rng(3))

    def test_numbers_follow_from_the_bounds(self, dice: Dice) -> None:
        grammar = Grammar(dice, held_out=True)
        value = {word: number for number, word in nli_words.NUMBERS.items()} | {"a": 1, "an": 1}
        seen = 0
        for label in ("entailment", "contradiction"):
            for _ in range(1500):
                premise, claim = grammar.pair(label)
                bound = re.match(r"(At least|Fewer than) (\w+) ", claim)
                if bound:
                    said = re.search(r"\b(an?|one|two|three|four|five|six|seven|eight|nine)\b (?!(park|cellar))", self.subject(premise))
                    assert said is not None
                    number, limit = value[said[1].lower()], value[bound[2]]
                    holds = number >= limit if bound[1] == "At least" else number < limit
                    assert holds == (label == "entailment"), (premise, claim)
                    seen += 1
        assert seen > 20

    def subject(self, premise: str) -> str:
        for front in (*(time.phrase for time in nli_words.TIMES), *(place.phrase for place in nli_words.PLACES)):
            premise = re.sub(rf"^{front}, ", "", premise, flags=re.IGNORECASE)
        return re.sub(r"^There (is|are) ", "", premise).lower()
