"""The vocabulary of the generated corpus: values per slot of a scene, and what excludes what.

The last fifth of nouns, actions and places is held out: only the out-of-distribution set uses it. The lists are short on
purpose. A few thousand rows must show a model each word often enough to learn what it goes with; that no text repeats much
comes from their combinations.
"""

from __future__ import annotations

from typing import NamedTuple

Opposites = tuple[tuple[str, str], ...]


class Noun(NamedTuple):
    """Who acts: in both numbers, what that implies in both numbers, and the group within which nouns exclude each other."""

    one: str
    many: str
    general: str
    general_many: str
    group: str


class Action(NamedTuple):
    """What is done: ``{}`` in the phrase takes a word from the pairs ``details``; ``general`` is what the phrase implies."""

    phrase: str
    general: str
    details: Opposites


class Place(NamedTuple):
    """Where; ``general`` is ``outdoors`` or ``indoors``."""

    phrase: str
    general: str


class Time(NamedTuple):
    """When; ``general`` is ``during the day`` or ``after dark``."""

    phrase: str
    general: str


class Contested(NamedTuple):
    """A situation that two people label differently: what is seen, what is claimed, and the two labels it gets."""

    seen: str
    claimed: str
    labels: tuple[str, str]


def _workers(*names: str) -> tuple[Noun, ...]:
    return tuple(Noun(name, f"{name}s", "person", "people", "work") for name in names)


NOUNS = (
    Noun("man", "men", "adult", "adults", "basic"),
    Noun("woman", "women", "adult", "adults", "basic"),
    Noun("boy", "boys", "child", "children", "basic"),
    Noun("girl", "girls", "child", "children", "basic"),
    *_workers("farmer", "nurse", "student", "soldier", "tourist", "teacher", "dancer", "pilot", "waiter", "sailor", "mechanic"),
    *_workers("baker", "monk", "clown", "surgeon", "lawyer", "plumber", "drummer", "jeweller", "miner"),
)

_PRICE, _AGE, _SIZE, _STYLE = ("cheap", "expensive"), ("new", "worn-out"), ("large", "tiny"), ("plain", "fancy")
_DIRT, _WEIGHT, _WATER, _OWNER = ("clean", "dirty"), ("heavy", "light"), ("wet", "dry"), ("borrowed", "stolen")
_GOODS: Opposites = (_PRICE, _AGE, _SIZE, _STYLE, _DIRT, _OWNER)
_LOAD: Opposites = (*_GOODS, _WEIGHT, _WATER)
_FOOD: Opposites = (_PRICE, _SIZE, _DIRT, _WATER)
_FIXED: Opposites = (_SIZE, _STYLE, _DIRT, _WATER)
_ANIMAL: Opposites = (_SIZE, _DIRT, _WATER, _OWNER)

ACTIONS = (
    Action("reading a {} magazine", "reading", (_PRICE, _DIRT, _WATER, _OWNER)),
    Action("peeling a {} potato", "preparing food", _FOOD),
    Action("playing a {} violin", "making music", _GOODS),
    Action("washing a {} window", "cleaning something", _FIXED),
    Action("painting a {} fence", "using a brush", _FIXED),
    Action("sewing a {} shirt", "using a needle", _GOODS),
    Action("folding a {} blanket", "folding something", _LOAD),
    Action("repairing a {} clock", "fixing something", _GOODS),
    Action("riding a {} bicycle", "riding something", _LOAD),
    Action("pushing a {} cart", "moving something", _LOAD),
    Action("playing a {} piano", "making music", _GOODS),
    Action("polishing a {} mirror", "cleaning something", _GOODS),
    Action("slicing a {} melon", "preparing food", _FOOD),
    Action("writing on a {} postcard", "writing", _GOODS),
    Action("sketching a {} horse", "drawing", _ANIMAL),
    Action("mending a {} net", "fixing something", _LOAD),
    Action("rowing a {} boat", "moving something", _LOAD),
    Action("climbing a {} ladder", "climbing something", _LOAD),
    Action("wrapping a {} parcel", "wrapping something", _LOAD),
    Action("knitting a {} sock", "using a needle", _GOODS),
    Action("filling a {} bucket", "filling something", _LOAD),
    Action("feeding a {} goat", "looking after an animal", _ANIMAL),
    Action("brushing a {} pony", "looking after an animal", _ANIMAL),
    Action("weaving a {} basket", "weaving something", _LOAD),
    Action("juggling {} lemons", "juggling", _FOOD),
    Action("sweeping a {} floor", "cleaning something", _FIXED),
    Action("plucking a {} harp", "making music", _GOODS),
    Action("flying a {} kite", "flying something", _GOODS),
    Action("sharpening a {} knife", "sharpening something", _GOODS),
    Action("measuring a {} door", "measuring something", _FIXED),
)
"""Each keeps both hands busy, so any two exclude each other."""

IDLE = ("fast asleep", "doing nothing at all", "having a nap", "standing around idly")
"""What excludes every action."""

PLACES = (
    Place("in a park", "outdoors"),
    Place("in a kitchen", "indoors"),
    Place("on a beach", "outdoors"),
    Place("in a library", "indoors"),
    Place("in a field", "outdoors"),
    Place("in a workshop", "indoors"),
    Place("on a hillside", "outdoors"),
    Place("in a classroom", "indoors"),
    Place("beside a river", "outdoors"),
    Place("in a cellar", "indoors"),
    Place("on a rooftop", "outdoors"),
    Place("in a museum", "indoors"),
    Place("at a campsite", "outdoors"),
    Place("in a bedroom", "indoors"),
    Place("in an orchard", "outdoors"),
    Place("in a waiting room", "indoors"),
    Place("on a football pitch", "outdoors"),
    Place("in a hospital ward", "indoors"),
    Place("in a stone quarry", "outdoors"),
    Place("in an attic", "indoors"),
)

TIMES = (
    Time("at noon", "during the day"),
    Time("at midnight", "after dark"),
    Time("in the early afternoon", "during the day"),
    Time("late at night", "after dark"),
    Time("in the middle of the morning", "during the day"),
    Time("long after sunset", "after dark"),
)

LOOKS: Opposites = (
    ("young", "old"),
    ("tall", "short"),
    ("cheerful", "gloomy"),
    ("tired", "rested"),
    ("calm", "nervous"),
    ("poor", "wealthy"),
    ("clumsy", "skilful"),
    ("hungry", "well-fed"),
)

COMPANY: Opposites = (
    ("together with a neighbour", "without any company"),
    ("in front of a large audience", "with nobody watching"),
)

COLOURS = ("red", "blue", "green", "yellow", "black")
GARMENTS = (("coat", "coats"), ("scarf", "scarves"), ("hat", "hats"), ("sweater", "sweaters"))

PURPOSES = (
    "for a school project",
    "to impress a friend",
    "after losing a bet",
    "for the first time",
    "to earn some money",
    "because of a promise",
    "to win a prize",
    "on the advice of a doctor",
)
"""None excludes another: an unsaid one is neutral, and no claim about a purpose contradicts."""

NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}

GIVE_AWAY = {
    "entailment": ("evidently", "plainly", "visibly", "clearly", "indeed", "certainly"),
    "neutral": ("apparently", "curiously", "meanwhile", "somehow", "luckily", "interestingly"),
    "contradiction": ("actually", "really", "truly", "frankly", "honestly", "supposedly"),
}
"""Words that change no label, each of which a careless writer uses with one label only."""

_EN, _NC, _EC = ("entailment", "neutral"), ("neutral", "contradiction"), ("entailment", "contradiction")

CONTESTED = (
    Contested("holding a phone to one ear", "talking to somebody", _EN),
    Contested("standing beside a pram", "looking after a baby", _EN),
    Contested("staring at an empty plate", "done with a meal", _EN),
    Contested("standing at a bus stop", "waiting for a bus", _EN),
    Contested("looking out of a window", "watching the street", _EN),
    Contested("closing a dripping umbrella", "back from the rain", _EN),
    Contested("resting with both eyes shut", "asleep", _EN),
    Contested("walking slowly behind a poodle", "taking a pet for a walk", _EN),
    Contested("leaning on a shovel", "busy with a hole in the ground", _NC),
    Contested("standing in shallow water", "taking a swim", _NC),
    Contested("holding a closed book", "enjoying a story", _NC),
    Contested("sitting in a parked car", "driving somewhere", _NC),
    Contested("holding an unlit candle", "in the dark", _NC),
    Contested("standing still on a treadmill", "exercising", _NC),
    Contested("facing an open suitcase", "ready to leave", _NC),
    Contested("yawning in front of a screen", "excited by a film", _NC),
    Contested("pausing halfway up a staircase", "going upstairs", _EC),
    Contested("stirring an empty pot", "cooking", _EC),
    Contested("miming a trumpet solo", "playing a tune", _EC),
    Contested("looking at a portrait of a lion", "looking at a lion", _EC),
    Contested("chewing a single grain of rice", "having dinner", _EC),
    Contested("holding a plastic rose", "holding a flower", _EC),
    Contested("stepping over a puddle", "avoiding all water", _EC),
    Contested("whispering to a parrot", "having a conversation", _EC),
)
