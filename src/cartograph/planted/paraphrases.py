"""A generated pairwise task: questions, some of which are planted paraphrases of one another.

A question is a wording of its kind with a synonym in each slot. Stated are a chain of pairs through the questions of one meaning, and
negatives that somebody thought of: pairs about the same thing that ask something else. What nobody stated are pairs that ask in nearly the
same words about another thing or another place, of which there are many more.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from cartograph.data.arrays import Integers

_OBJECTS = (
    "sofa|couch|settee",
    "bicycle|bike",
    "laptop|notebook computer",
    "phone|mobile|handset",
    "fridge|refrigerator",
    "washing machine|washer",
    "car|automobile",
    "motorbike|motorcycle",
    "lamp|light",
    "camera",
    "guitar",
    "piano",
    "lawnmower|grass cutter",
    "raincoat|mackintosh",
    "trousers|slacks",
    "jumper|sweater|pullover",
    "trainers|sneakers|running shoes",
    "rucksack|backpack",
    "suitcase|travel bag",
    "tap|faucet",
    "wardrobe|closet",
    "rug|carpet",
    "kettle",
    "oven|cooker|stove",
    "television|tv set",
    "headphones|earphones",
    "printer",
    "wheelchair",
    "pram|baby carriage|stroller",
    "tent",
    "boat|dinghy",
    "drill|boring tool",
    "microscope",
    "clarinet",
    "umbrella|brolly",
    "mirror|looking glass",
    "mattress",
    "greenhouse|glasshouse",
    "spectacles|glasses|eyewear",
    "hoover|vacuum cleaner",
)
_PLACES = (
    "lisbon|the portuguese capital",
    "oslo|the norwegian capital",
    "vienna|the austrian capital",
    "cairo|the egyptian capital",
    "quito|the ecuadorian capital",
    "hanoi|the vietnamese capital",
    "new york|the big apple",
    "paris|the city of light",
    "rome|the eternal city",
    "bombay|mumbai",
    "madras|chennai",
    "saigon|ho chi minh city",
    "los angeles|la",
    "san francisco|the bay area",
    "leeds",
    "porto",
    "turin|torino",
    "cologne|koeln",
    "munich|muenchen",
    "krakow|cracow",
    "seville|sevilla",
    "basel|basle",
    "antwerp",
    "ghent|gent",
    "nairobi",
    "lagos",
    "perth",
    "dunedin",
    "osaka",
    "busan|pusan",
    "tbilisi|the georgian capital",
    "riga|the latvian capital",
    "bergen",
    "aarhus|arhus",
    "malmo",
    "graz",
)
_QUALITIES = (
    "second-hand|used|pre-owned",
    "cheap|inexpensive|affordable",
    "electric|battery powered",
    "folding|collapsible",
    "waterproof|watertight",
    "tiny|very small|miniature",
    "huge|very large|giant",
    "antique|very old|vintage",
    "silent|noiseless|quiet",
    "red|crimson",
    "wooden|made of wood",
    "children's|kids'",
    "sturdy|robust|durable",
    "lightweight|light to carry",
)
_KINDS: tuple[tuple[str, ...], ...] = (
    (
        "where can i buy a {quality} {object} in {place}",
        "which shop in {place} sells {quality} {object}",
        "good stores to purchase {quality} {object} around {place}",
        "looking for a {quality} {object} seller near {place}, any ideas",
    ),
    (
        "how do i repair a {quality} {object} in {place}",
        "who can fix my {quality} {object} around {place}",
        "my {quality} {object} is broken, what can i do about it in {place}",
        "best way of mending {quality} {object} near {place}",
    ),
    (
        "how much does a {quality} {object} cost in {place}",
        "what is the price of a {quality} {object} in {place}",
        "what would i have to pay for {quality} {object} around {place}",
        "is {number} pounds too much for a {quality} {object} near {place}",
    ),
    (
        "how can i send a {quality} {object} to {place}",
        "what does shipping of {quality} {object} to {place} involve",
        "which courier delivers a {quality} {object} to {place}",
        "i want to mail my {quality} {object}, destination {place}",
    ),
    (
        "where can i rent a {quality} {object} in {place}",
        "is it possible to hire {quality} {object} around {place}",
        "short term lease of a {quality} {object} near {place}",
        "who lends a {quality} {object} for a week in {place}",
    ),
    (
        "may i take a {quality} {object} on the train to {place}",
        "is a {quality} {object} allowed on rail journeys to {place}",
        "do railways accept {quality} {object} as luggage towards {place}",
        "travelling to {place} by rail with my {quality} {object}, permitted or not",
    ),
    (
        "how do i clean a {quality} {object} for sale in {place}",
        "what gets dirt off {quality} {object} before selling it in {place}",
        "washing a {quality} {object} that i want to sell around {place}",
        "tips for removing stains from {quality} {object}, to be sold near {place}",
    ),
    (
        "where do i throw away a {quality} {object} in {place}",
        "which tip in {place} takes a {quality} {object}",
        "how to dispose of {quality} {object} around {place}",
        "recycling my unwanted {quality} {object} near {place}",
    ),
)
_OPENINGS = ("", "", "", "", "please help: ", "quick question, ", "sorry if this was asked before, ", "hi all, ")
_ENDINGS = ("?", "?", "", " ?", " thanks", ", please")
_SLOTS = {"object": _OBJECTS, "place": _PLACES, "quality": _QUALITIES}
_GROUP_SIZES = (0.60, 0.25, 0.10, 0.05)
_MEANINGS = 8
_TRIES = 12


@dataclass(frozen=True)
class Paraphrases:
    """A generated task.

    Attributes:
        questions: texts, all different.
        meaning: (n_questions,) what each asks; equal where two ask the same.
        stated: left, right (texts) and label (strings "1", "0").
    """

    questions: list[str]
    meaning: Integers
    stated: pa.Table


def generate(rows: int, seed: int) -> Paraphrases:
    """Return a task of about this many questions; the same seed gives the same task."""
    rng = np.random.default_rng(seed)
    questions: dict[str, int] = {}
    seen: set[tuple[int, ...]] = set()
    stated: list[tuple[str, str, str]] = []
    while len(questions) < rows:
        groups = _cluster(rng, seen, questions)
        for group in groups:
            stated += [(one, other, "1") for one, other in pairwise(group)]
        stated += _negatives(groups, rng)
    table = pa.table(dict(zip(("left", "right", "label"), map(list, zip(*stated, strict=True)), strict=True)))
    return Paraphrases(list(questions), np.array(list(questions.values())), table)


def _cluster(rng: np.random.Generator, seen: set[tuple[int, ...]], questions: dict[str, int]) -> list[list[str]]:
    thing = int(rng.integers(len(_OBJECTS)))
    groups = []
    for _ in range(_MEANINGS):
        kind = int(rng.integers(len(_KINDS)))
        values = {slot: thing if slot == "object" else int(rng.integers(len(choices))) for slot, choices in _SLOTS.items()}
        meaning = (kind, *values.values())
        if meaning in seen:
            continue
        seen.add(meaning)
        group: list[str] = []
        wanted = 1 + int(rng.choice(len(_GROUP_SIZES), p=_GROUP_SIZES))
        for _ in range(_TRIES):
            text = _worded(kind, values, rng)
            if text not in questions and len(group) < wanted:
                questions[text] = len(seen)
                group.append(text)
        if group:
            groups.append(group)
    return groups


def _worded(kind: int, values: dict[str, int], rng: np.random.Generator) -> str:
    slots = {slot: str(rng.choice(_SLOTS[slot][value].split("|"))) for slot, value in values.items()}
    wording = str(rng.choice(_KINDS[kind])).format(number=int(rng.integers(2, 90)) * 10, **slots)
    return str(rng.choice(_OPENINGS)) + wording + str(rng.choice(_ENDINGS))


def _negatives(groups: list[list[str]], rng: np.random.Generator) -> list[tuple[str, str, str]]:
    """Return as many pairs of different meaning as the cluster has positives, one at least: what makes it one component."""
    negatives = []
    for place, group in enumerate(groups[1:], start=1):
        for text in group:
            other = groups[int(rng.integers(place))]
            negatives.append((text, str(rng.choice(other)), "0"))
            if len(group) == 1 or rng.random() < 0.5:
                break
    return negatives
