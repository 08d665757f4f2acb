"""The blind check: rows of both predicted kinds, shuffled, shown to people without label or prediction, and the numbers of their answers.

Source: Swayamdipta et al., *Dataset Cartography* (EMNLP 2020), §5: fifty rows predicted as noise and fifty as clean, annotated by two
people; agreement, and the share that is mislabelled or ambiguous of each kind (67 % and 13 % on WinoGrande, 76 % and 4 % on SNLI).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import pyarrow as pa

from cartograph.clean.cleaning import aligned
from cartograph.clean.decisions import class_list, find_class
from cartograph.clean.review_sheet import text_columns
from cartograph.data.images import shown_fields
from cartograph.data.spreadsheet import read_sheet, write_sheet
from cartograph.errors import InputError
from cartograph.schema import LABEL, UID, dataset_info
from cartograph.statistics.annotator_agreement import cohen_kappa, raw_agreement
from cartograph.statistics.proportion import wilson_interval
from cartograph.wording import about, count

PER_CLASS = 50
KINDS = ("noise", "clean")
COLUMNS = ("item", "answer")
_AFTER = ("choices", "answer", "comment")


@dataclass(frozen=True)
class Item:
    """A row of a blind sheet: the name it has there, and what the sheet does not show."""

    item: str
    uid: str
    predicted: str
    given: str


@dataclass(frozen=True)
class Key:
    """What belongs to a blind sheet and is kept from those who fill it in.

    Attributes:
        sheet: the sheet's name, from its content.
        answers: what may be answered: the classes, and last the word for a row that has no single label.
        items: its rows, in the sheet's order.
        among: how many rows of each kind they were drawn from; empty of a sheet that was drawn before that was kept.
    """

    sheet: str
    answers: tuple[str, ...]
    items: tuple[Item, ...]
    among: Mapping[str, int] = field(default_factory=dict)

    @property
    def ambiguous(self) -> str:
        """The answer that a row has no single label."""
        return self.answers[-1]

    def to_json(self) -> str:
        """Return the key as JSON."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"


def key_from_json(text: str, name: str) -> Key:
    """Read a key back.

    Raises:
        InputError: the text is not such a key.
    """
    try:
        content = json.loads(text)
        return Key(content["sheet"], tuple(content["answers"]), tuple(Item(**item) for item in content["items"]), content.get("among", {}))
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{name} is not the key of a blind sheet; draw a new sheet with `python -m tasks review --blind`.") from error


def draw(examples: pa.Table, noise: pa.Table, rng: np.random.Generator, per_class: int = PER_CLASS) -> tuple[Key, bytes]:
    """Draw a blind sheet: ``per_class`` suspects and as many other rows, or all there are, shuffled; of one kind alone twice as many.

    Args:
        examples: the train set (``schema.examples_schema``).
        noise: its suspects (``schema.NOISE``), in any order.
        rng: draws and shuffles.

    Returns:
        the key, and the sheet as CSV: an item's name that says nothing, the texts, what may be answered, ``answer``, ``comment``.
    """
    info = dataset_info(examples.schema)
    flagged = aligned(noise, examples)["flagged"].to_numpy()
    pools = {"noise": np.flatnonzero(flagged), "clean": np.flatnonzero(~flagged)}
    most = per_class if all(map(len, pools.values())) else 2 * per_class
    drawn = [(int(row), kind) for kind in KINDS for row in rng.choice(pools[kind], min(most, len(pools[kind])), replace=False)]
    drawn = [drawn[place] for place in rng.permutation(len(drawn))]
    rows = examples.take(pa.array([row for row, _ in drawn]))
    known = rows.select([UID, LABEL]).to_pylist()
    hidden = [(row[UID], kind, info.labels[row[LABEL]]) for row, (_, kind) in zip(known, drawn, strict=True)]
    sheet = "b" + hashlib.sha256(json.dumps(hidden, ensure_ascii=False).encode()).hexdigest()[:6]
    items = tuple(Item(f"{sheet}-{number:03d}", *one) for number, one in enumerate(hidden, start=1))
    word = "ambiguous" if "ambiguous" not in (label.casefold() for label in info.labels) else "(no single label)"
    key = Key(sheet, (*info.labels, word), items, {kind: len(pool) for kind, pool in pools.items()})
    header = (COLUMNS[0], *text_columns(info, ("item", *_AFTER)), *_AFTER)
    choices = " | ".join(key.answers)
    shown = zip(*shown_fields(rows, info), strict=True)
    lines = [(item.item, *texts, choices, "", "") for item, texts in zip(items, shown, strict=True)]
    return key, write_sheet(header, lines)


def sheet_of(content: bytes, name: str) -> str:
    """Return which sheet a filled one is.

    Raises:
        InputError: it holds no rows, or rows of several sheets.
    """
    records = read_sheet(content, name, COLUMNS)
    sheets = sorted({record.cells["item"].strip().rpartition("-")[0] for record in records})
    if sheets == [""]:
        raise InputError(
            f"{name} has no names of a blind sheet's rows in `item`, such as b1a2b3-001; take the sheet as `--blind` wrote it."
        )
    if len(sheets) != 1:
        found = ", ".join(sheets[:5]) or "none"
        raise InputError(f"{name} holds rows of {len(sheets)} blind sheets ({found}), expected those of one.")
    return sheets[0]


def read_answers(content: bytes, name: str, key: Key) -> dict[str, str]:
    """Return item -> answer from a filled sheet, rows without an answer left out.

    Raises:
        InputError: an item is unknown or there twice, or an answer is not possible; the message names the line.
    """
    answers: dict[str, str] = {}
    items = {item.item for item in key.items}
    seen: dict[str, str] = {}
    for record in read_sheet(content, name, COLUMNS):
        item, answer = record.cells["item"].strip(), record.cells["answer"].strip()
        if item not in items:
            raise InputError(f"{name} {record.place}: {item!r} is not one of the {len(items)} items of the blind sheet {key.sheet}.")
        if item in seen:
            raise InputError(f"{name} {record.place}: item {item} is there already, on {seen[item]}; leave one of them.")
        seen[item] = record.place
        meant = find_class(answer, key.answers) if answer else None
        if answer and meant is None:
            raise InputError(f"{name} {record.place}: the answer {answer!r} to {item} is not one of {class_list(key.answers)}.")
        if meant is not None:
            answers[item] = meant
    if not answers:
        raise InputError(f"{name} holds no answer; fill in the column `answer` with one of {class_list(key.answers)}.")
    return answers


def score(key: Key, answers: Sequence[Mapping[str, str]]) -> dict[str, float]:
    """Return what one or two annotators found, as flat numbers.

    ``predicted_noise.mislabelled``, ``.ambiguous`` and ``.either`` with its 95 % interval ``.low`` to ``.high`` are shares of the
    ``.rows`` predicted as noise that have a settled answer, and the same for ``predicted_clean``. Two annotators settle a row by
    answering alike, as in the paper. ``labels.mislabelled`` is how many of all ``labels.rows`` are, by the shares of both kinds and how
    many rows there are of each, with its interval: what no model has to be believed for. ``agreement.raw`` and ``agreement.kappa`` are
    over the ``agreement.rows`` that both answered, and ``disagreements`` are the rows left to discuss. A kind without a settled row has
    its ``.rows`` = 0 and no shares.

    Args:
        key: of the sheet.
        answers: of each annotator, item -> answer.

    Raises:
        ValueError: not one annotator or two.
        InputError: no row was answered by both.
    """
    if len(answers) not in (1, 2):
        raise ValueError(f"one annotator or two, not {len(answers)}")
    settled = dict(answers[0])
    numbers: dict[str, float] = {"annotators": len(answers)}
    if len(answers) == 2:
        both = [item.item for item in key.items if item.item in answers[0] and item.item in answers[1]]
        if not both:
            raise InputError(f"no item of the blind sheet {key.sheet} was answered by both annotators.")
        one, other = ([answered[item] for item in both] for answered in answers)
        settled = {item: left for item, left, right in zip(both, one, other, strict=True) if left == right}
        numbers |= {"agreement.rows": len(both), "agreement.raw": raw_agreement(one, other), "agreement.kappa": cohen_kappa(one, other)}
        numbers["disagreements"] = len(both) - len(settled)
    numbers["unanswered"] = sum(any(item.item not in answered for answered in answers) for item in key.items)
    for kind in KINDS:
        numbers |= {f"predicted_{kind}.{name}": value for name, value in _shares(key, kind, settled).items()}
    return numbers | _of_all(key, numbers)


def _of_all(key: Key, numbers: Mapping[str, float]) -> dict[str, float]:
    """Return how many of all labels are wrong; the kinds' Wilson intervals are joined as Zou and Donner (2008) join those of a sum."""
    kinds = [kind for kind in KINDS if key.among.get(kind)]
    if not kinds or not all(numbers[f"predicted_{kind}.rows"] for kind in kinds):
        return {}
    wrong, below, above = 0.0, 0.0, 0.0
    for kind in kinds:
        read, rows, share = int(numbers[f"predicted_{kind}.rows"]), key.among[kind], numbers[f"predicted_{kind}.mislabelled"]
        # Where every row of a kind was read, nothing of it is left to guess.
        low, high = wilson_interval(round(share * read), read) if read < rows else (share, share)
        wrong += rows * share
        below, above = below + (rows * (share - low)) ** 2, above + (rows * (high - share)) ** 2
    every = sum(key.among.values())
    ends = {"low": max(wrong - below**0.5, 0.0), "high": min(wrong + above**0.5, float(every))}
    return {"labels.rows": every, "labels.mislabelled": wrong, **{f"labels.{name}": end for name, end in ends.items()}}


def _shares(key: Key, kind: str, settled: Mapping[str, str]) -> dict[str, float]:
    own = [(settled[item.item], item.given) for item in key.items if item.predicted == kind and item.item in settled]
    if not own:
        return {"rows": 0}
    ambiguous = sum(answer == key.ambiguous for answer, _ in own)
    mislabelled = sum(answer not in (key.ambiguous, given) for answer, given in own)
    low, high = wilson_interval(ambiguous + mislabelled, len(own))
    shares = {"mislabelled": mislabelled / len(own), "ambiguous": ambiguous / len(own), "either": (ambiguous + mislabelled) / len(own)}
    return {"rows": len(own), **shares, "low": low, "high": high}


def answered_sheet(key: Key, answers: Sequence[Mapping[str, str]], names: Sequence[str]) -> bytes:
    """Return the answers with what the sheet did not show, as CSV: item, uid, predicted kind, given label, and an answer per annotator."""
    header = ("item", "uid", "predicted", "given_label", *(f"answer of {name}" for name in names))
    rows = ((item.item, item.uid, item.predicted, item.given, *(one.get(item.item, "") for one in answers)) for item in key.items)
    return write_sheet(header, rows)


def in_words(numbers: Mapping[str, float]) -> list[str]:
    """Return the findings as lines for a person."""
    lines = []
    if "agreement.raw" in numbers:
        lines.append(
            f"agreement of two annotators on {numbers['agreement.rows']:.0f} rows: {100 * numbers['agreement.raw']:.0f} %, "
            f"Cohen's kappa {numbers['agreement.kappa']:.2f}; {numbers['disagreements']:.0f} left to discuss"
        )
    for kind in KINDS:
        rows = numbers[f"predicted_{kind}.rows"]
        if not rows and "labels.rows" in numbers:
            continue  # there are none of this kind
        if not rows:
            lines.append(f"predicted {kind}: no row with a settled answer")
            continue
        either, low, high, wrong, unclear = (
            100 * numbers[f"predicted_{kind}.{name}"] for name in ("either", "low", "high", "mislabelled", "ambiguous")
        )
        lines.append(
            f"predicted {kind}: {either:.0f} % of {rows:.0f} rows mislabelled or ambiguous (95 % interval {low:.0f} to {high:.0f} %): "
            f"{wrong:.0f} % mislabelled, {unclear:.0f} % ambiguous"
        )
    if "labels.rows" in numbers:
        number, *ends = (about(numbers[f"labels.{name}"]) for name in ("mislabelled", "low", "high"))
        every = count(int(numbers["labels.rows"]))
        lines.append(f"so about {number} of all {every} labels are wrong (95 % interval {' to '.join(ends)})")
    if numbers["unanswered"]:
        lines.append(f"{numbers['unanswered']:.0f} rows were not answered by everybody")
    return lines
