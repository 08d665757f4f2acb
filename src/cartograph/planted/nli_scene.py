"""The scene of a sentence of the generated corpus, slot by slot, and its phrases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cartograph.planted import nli_words


@dataclass(frozen=True)
class Scene:
    """A value per slot; None where nothing is said.

    ``number`` 0 means several, unsaid how many. ``garment`` is (one, many, colour). ``detail`` is said of the action's object.
    """

    number: int
    noun: nli_words.Noun
    action: nli_words.Action | None = None
    look: str | None = None
    garment: tuple[str, str, str] | None = None
    detail: str | None = None
    place: nli_words.Place | None = None
    time: nli_words.Time | None = None
    company: str | None = None
    purpose: str | None = None

    @property
    def be(self) -> str:
        """``is`` or ``are``."""
        return "is" if self.number == 1 else "are"

    @property
    def bare(self) -> str:
        """The noun in its number: ``men``."""
        return self.noun.one if self.number == 1 else self.noun.many

    @property
    def doing(self) -> str:
        """The action with its detail: ``riding a new bicycle``."""
        return "" if self.action is None else join(*self.action.phrase.format(self.detail or "").split())

    @property
    def worn(self) -> str:
        """The garment in its number: ``red coats``."""
        if self.garment is None:
            return ""
        one, many, colour = self.garment
        return f"a {colour} {one}" if self.number == 1 else f"{colour} {many}"

    def counted(self, several: str) -> str:
        """The noun with its number and look: ``two tall men``; ``several`` says an untold number."""
        determiner = {0: several, 1: "a"}.get(self.number) or nli_words.NUMBERS[self.number]
        return join(determiner, self.look, self.bare)

    def tail(self, without: str = "") -> tuple[str | None, ...]:
        """Company, place, time and purpose where the scene has them, in the order of a sentence, one of them left out."""
        phrases = {"company": self.company, "place": phrase(self.place), "time": phrase(self.time), "purpose": self.purpose}
        return tuple(text for slot, text in phrases.items() if slot != without)


def phrase(value: nli_words.Place | nli_words.Time | None) -> str | None:
    """Return the phrase of a place or a time."""
    return None if value is None else value.phrase


def join(*parts: str | None) -> str:
    """Return the parts that say something, with a space between."""
    return " ".join(part for part in parts if part)


def flat(pairs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return all words of some pairs."""
    return tuple(word for pair in pairs for word in pair)


_ARTICLE = re.compile(r"\b([Aa])(?= [aeiou])")


def sentence(text: str) -> str:
    """Return a text with its first letter large, ``a`` or ``an`` as the next letter wants it, and a full stop."""
    text = _ARTICLE.sub(r"\1n", text)
    return f"{text[0].upper()}{text[1:]}."


_VERB = re.compile(r"\b(is|are)\b")


def with_word(text: str, word: str, *, first: bool) -> str:
    """Return a sentence with an adverb put in: at its front, or behind its verb."""
    if first:
        return f"{word.capitalize()}, {text[0].lower()}{text[1:]}"
    return _VERB.sub(rf"\1 {word}", text, count=1)
