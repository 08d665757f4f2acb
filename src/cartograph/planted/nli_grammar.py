"""Premises and claims: a label follows from how the claim's tested slot relates to the scene.

A claim repeats who acts and what is done, and tests one slot: the *same* as in the scene (entailment), *missing* from it
(neutral) or in *conflict* with it (contradiction). It is stated exactly, in general terms (people, outdoors, at least two), or
negated, which exchanges same and conflict. As in crowd-sourced inference corpora (Bowman et al. 2015, section 2.1), a claim
is about the scene of its premise: the boy in the claim is the boy of the premise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

import numpy as np

from cartograph.planted import nli_words
from cartograph.planted.nli_scene import Scene, flat, join, phrase, sentence

T = TypeVar("T")
Relation = Literal["same", "missing", "conflict"]
Form = Literal["exact", "general", "negated"]
Pair = tuple[str, str]

LABELS = ("entailment", "neutral", "contradiction")

_OPTIONAL = ("look", "garment", "detail", "place", "time", "company", "purpose")
_OPTIONAL_SHARE = 0.2
_RELATION: dict[str, Relation] = {"entailment": "same", "neutral": "missing", "contradiction": "conflict"}
_NEGATED: dict[Relation, Relation] = {"same": "conflict", "missing": "missing", "conflict": "same"}


def _spread(weights: Mapping[T, int]) -> tuple[T, ...]:
    return tuple(value for value, weight in weights.items() for _ in range(weight))


_FORMS: dict[str, tuple[Form, ...]] = {
    "entailment": _spread({"exact": 10, "general": 8, "negated": 2}),
    "neutral": _spread({"exact": 17, "general": 2, "negated": 1}),
    "contradiction": _spread({"exact": 13, "general": 3, "negated": 4}),
}
_TESTED: dict[tuple[Relation, Form], tuple[str, ...]] = {
    ("same", "exact"): ("number", *["action"] * 4, *_OPTIONAL),
    ("missing", "exact"): _spread(
        {"number": 1, "look": 2, "garment": 1, "detail": 1, "place": 1, "time": 1, "company": 2, "purpose": 5},
    ),
    ("conflict", "exact"): _spread(
        {"number": 1, "noun": 1, "action": 1, "look": 3, "garment": 1, "detail": 2, "place": 1, "time": 2, "company": 2},
    ),
    ("same", "general"): _spread({"number": 2, "noun": 3, "action": 3, "place": 2, "time": 1}),
    ("missing", "general"): ("place", "time"),
    ("conflict", "general"): _spread({"number": 1, "action": 4, "place": 2, "time": 2}),
    ("same", "negated"): _spread({"look": 1, "garment": 1, "action": 3, "place": 2}),
    ("missing", "negated"): ("look", "garment", "place"),
    ("conflict", "negated"): ("look", "garment", "action", "place"),
}
_PAIRS = {*nli_words.LOOKS, *nli_words.COMPANY, *(pair for action in nli_words.ACTIONS for pair in action.details)}
_OPPOSITE = {word: other for pair in _PAIRS for word, other in (pair, pair[::-1])}


class Dice:
    """Draws from a generator in blocks: a draw at a time costs microseconds, and a row needs some thirty."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._block: list[float] = []

    def chance(self, share: float) -> bool:
        """Return True in a share of the calls."""
        return self._unit() < share

    def pick(self, values: Sequence[T]) -> T:
        """Return one of the values."""
        return values[int(self._unit() * len(values))]

    def other(self, values: Sequence[T], than: T) -> T:
        """Return one of the values that is not ``than``."""
        return self.pick([value for value in values if value != than])

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """Return the values in random order."""
        return [values[place] for place in self._rng.permutation(len(values)).tolist()]

    def _unit(self) -> float:
        if not self._block:
            self._block = self._rng.random(4096).tolist()
        return self._block.pop()


class Grammar:
    """Writes pairs of a premise and a claim.

    Args:
        dice: where chance comes from.
        held_out: whether the held-out words are used too.
    """

    def __init__(self, dice: Dice, *, held_out: bool) -> None:
        def known(values: Sequence[T]) -> Sequence[T]:
            return values if held_out else values[: len(values) * 4 // 5]

        self._dice = dice
        self._nouns, self._actions, self._places = known(nli_words.NOUNS), known(nli_words.ACTIONS), known(nli_words.PLACES)

    def pair(self, label: str) -> Pair:
        """Return a premise and a hypothesis whose label is ``label``."""
        form = self._dice.pick(_FORMS[label])
        relation = _RELATION[label] if form != "negated" else _NEGATED[_RELATION[label]]
        slot = self._dice.pick(_TESTED[relation, form])
        scene = self._scene(slot, relation)
        claim = self._general(scene, slot, relation) if form == "general" else self._exact(scene, slot, relation, negated=form == "negated")
        return sentence(self._premise(scene)), sentence(claim)

    def contested(self, situation: nli_words.Contested) -> tuple[Pair, Pair]:
        """Return two pairs of one claim about one situation, whose premises differ in a colour alone."""
        dice = self._dice
        number = dice.pick((1, 1, 1, 1, 0, 2, 3))
        look = dice.pick(flat(nli_words.LOOKS)) if dice.chance(0.5) else None
        scene = Scene(number, dice.pick(self._nouns), look=look, garment=self._garment())
        premise = sentence(join(scene.counted("some"), "in", scene.worn, scene.be, situation.seen))
        twin = replace(scene, garment=self._conflict("garment", scene))
        other = sentence(join(twin.counted("some"), "in", twin.worn, twin.be, situation.seen))
        claim = sentence(f"the {scene.bare} {scene.be} {situation.claimed}")
        return (premise, claim), (other, claim)

    def _scene(self, slot: str, relation: Relation) -> Scene:
        dice = self._dice
        number = dice.pick((1, 1, 1, 1, 1, 0, 2, 3, 4, 5))
        if slot == "number":
            number = 0 if relation == "missing" else dice.pick((1, 2, 3, 4, 5))
        scene = Scene(number, dice.pick(self._nouns), dice.pick(self._actions))
        given = {name: dice.chance(_OPTIONAL_SHARE) for name in _OPTIONAL} | {slot: relation != "missing"}
        return replace(scene, **{name: self._value(name, scene) for name in _OPTIONAL if given[name]})

    def _related(self, slot: str, scene: Scene, relation: Relation) -> Any:
        if relation == "same":
            return getattr(scene, slot)
        return self._value(slot, scene) if relation == "missing" else self._conflict(slot, scene)

    def _value(self, slot: str, scene: Scene) -> Any:
        """Return a value for a slot that the scene leaves open."""
        if slot == "garment":
            return self._garment()
        details = flat(scene.action.details) if scene.action else ()
        pools: dict[str, Sequence[Any]] = {
            "number": (2, 3, 4, 5),
            "look": flat(nli_words.LOOKS),
            "detail": details,
            "place": self._places,
            "time": nli_words.TIMES,
            "company": flat(nli_words.COMPANY),
            "purpose": nli_words.PURPOSES,
        }
        return self._dice.pick(pools[slot])

    def _conflict(self, slot: str, scene: Scene) -> Any:
        """Return a value that excludes the scene's own."""
        dice, own = self._dice, getattr(scene, slot)
        if slot == "garment":
            return (*own[:2], dice.other(nli_words.COLOURS, own[2]))
        if slot in ("look", "detail", "company"):
            return _OPPOSITE[own]
        if slot in ("place", "time"):
            pool: Sequence[Any] = self._places if slot == "place" else nli_words.TIMES
            return dice.pick([value for value in pool if value.general != own.general])
        if slot == "noun":
            return dice.other([noun for noun in self._nouns if noun.group == own.group], own)
        return dice.other(range(1, 8) if slot == "number" else self._actions, own)

    def _garment(self) -> tuple[str, str, str]:
        return (*self._dice.pick(nli_words.GARMENTS), self._dice.pick(nli_words.COLOURS))

    def _premise(self, scene: Scene) -> str:
        dice = self._dice
        who = join(scene.counted(dice.pick(("some", "several"))), "in" if scene.garment else None, scene.worn)
        if dice.chance(0.2):
            return join("there", scene.be, who, scene.doing, *scene.tail())
        for slot in ("time", "place"):
            front = phrase(getattr(scene, slot))
            if front and dice.chance(0.3):
                return join(f"{front},", who, scene.be, scene.doing, *scene.tail(without=slot))
        return join(who, scene.be, scene.doing, *scene.tail())

    def _exact(self, scene: Scene, slot: str, relation: Relation, *, negated: bool) -> str:
        dice = self._dice
        claimed = self._repeated(scene, slot)
        claimed = replace(claimed, **{slot: self._related(slot, scene, relation)})
        verb = join(claimed.be, "not" if negated else None)
        the, tail = f"the {claimed.bare}", claimed.tail()
        if slot == "look" and (negated or dice.chance(0.5)):
            return join(the, claimed.doing, *tail, verb, claimed.look)
        if slot == "garment":
            return join(the, claimed.doing, *tail, verb, "wearing", claimed.worn)
        who = claimed.counted("some") if slot in ("number", "look") or dice.chance(0.4) else the
        if slot == "place" and dice.chance(0.3):
            return join(who, verb, *tail)
        return join(who, verb, claimed.doing, *tail)

    def _general(self, scene: Scene, slot: str, relation: Relation) -> str:
        dice = self._dice
        claimed = self._repeated(scene, slot)
        the, tail = f"the {claimed.bare}", claimed.tail()
        if slot == "number":
            return join(self._bound(scene, fits=relation == "same"), claimed.doing, *tail)
        if slot == "noun":
            noun = claimed.noun._replace(one=claimed.noun.general, many=claimed.noun.general_many)
            return join(replace(claimed, noun=noun).counted("some"), claimed.be, claimed.doing, *tail)
        if slot == "action":
            doing = scene.action.general if scene.action and relation == "same" else dice.pick(nli_words.IDLE)
            return join(the, claimed.be, doing, *tail)
        own = getattr(scene, slot)
        pool = ("outdoors", "indoors") if slot == "place" else ("during the day", "after dark")
        general = dice.pick(pool) if relation == "missing" else own.general if relation == "same" else dice.other(pool, own.general)
        return join(the, claimed.be, claimed.doing, *tail, general)

    def _bound(self, scene: Scene, *, fits: bool) -> str:
        """Return a subject and verb with a bound on the number, which the scene's number keeps or not."""
        dice, number = self._dice, scene.number
        upper = dice.chance(0.5) and (fits or number > 1)
        if upper:
            bound = dice.pick(range(number + 1, number + 4) if fits else range(2, number + 1))
        else:
            bound = dice.pick(range(1, number + 1) if fits else range(number + 1, number + 4))
        noun, be = (scene.noun.one, "is") if bound == 1 else (scene.noun.many, "are")
        return f"{'fewer than' if upper else 'at least'} {nli_words.NUMBERS[bound]} {noun} {be}"

    def _repeated(self, scene: Scene, slot: str) -> Scene:
        """Return what a claim repeats of a scene: who and what, and at times one thing more that is not the tested slot."""
        others = [name for name in ("detail", "place", "time", "company", "purpose") if name != slot and getattr(scene, name) is not None]
        if slot == "action":
            others = [name for name in others if name != "detail"]
        claimed = Scene(scene.number, scene.noun, scene.action)
        if not others or not self._dice.chance(0.35):
            return claimed
        name = self._dice.pick(others)
        return replace(claimed, **{name: getattr(scene, name)})
