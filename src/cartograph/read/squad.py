"""Questions in SQuAD's format as question-sentence pairs: does the sentence answer the question?

As QNLI was made of SQuAD (Wang et al. 2019): a sentence that holds an answer is ``entailment``, every other sentence of the paragraph
``not_entailment``.

Adversarial SQuAD (Jia and Liang 2017) repeats a question, under its id with a suffix, with sentences at the end of the paragraph that were
made to mislead. A file that has such copies is read as Swayamdipta et al. 2020 have it: of each copy the sentences that hold an answer, and
as ``not_entailment`` those that were added; the questions that it copies, and those without a copy, are in no row. The published AddSent
file makes 5,324 pairs so, as in the paper's Table 5; 2,760 are ``entailment``, and 3,409 are distinct, since copies share answers.
Every sentence of every question would be 20,318 pairs, 81 % of them ``not_entailment``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa

from cartograph.errors import InputError
from cartograph.read.opening import open_text
from cartograph.read.source import BATCH_ROWS, Batch, Rejected, Source

_END = re.compile(r"[.!?][\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])")
_SHORT = re.compile(
    r"(?:^|[\s(\[\"'“])(?:[A-Z]|(?:[A-Za-z]\.)+[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|No|Mt|Gen|Col|Lt|Capt|Rev|ca|cf|b|d|e\.g|i\.e)\.$"
)


def read(source: Source) -> Iterator[Batch]:
    """Yield the pairs as the columns ``question``, ``sentence``, ``label`` and ``id`` (of the question).

    The number of a row is that of its question, counted through the file. A question is rejected where no answer is at the place
    that the file gives.

    Raises:
        InputError: the file is not in SQuAD's format.
    """
    with open_text(source.path, source, newline="\n", whole=True) as file:
        try:
            articles = json.load(file)["data"]
            questions = [
                (one, str(paragraph["context"])) for article in articles for paragraph in article["paragraphs"] for one in paragraph["qas"]
            ]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(
                f"{source.name} is not in SQuAD's format (data, paragraphs, context and qas): {type(error).__name__}: {error}; name "
                "another format."
            ) from error
    originals = _originals(questions)
    for start in range(0, len(questions), BATCH_ROWS):
        yield _batch(questions[start : start + BATCH_ROWS], start + 1, originals)


def _originals(questions: Sequence[tuple[Any, str]]) -> list[str | None] | None:
    """Return for each question the paragraph without what was added to mislead, None for one that is no copy; None where none is."""
    contexts = {one["id"]: context for one, context in questions if isinstance(one, dict) and isinstance(one.get("id"), str)}
    originals: list[str | None] = []
    for one, context in questions:
        name = one.get("id") if isinstance(one, dict) else None
        copied = contexts.get(name.split("-", 1)[0]) if isinstance(name, str) and "-" in name else None
        longer = copied is not None and len(context) > len(copied) and context.startswith(copied)
        originals.append(copied if longer else None)
    return originals if any(original is not None for original in originals) else None


def _batch(questions: Sequence[tuple[Any, str]], first: int, originals: Sequence[str | None] | None) -> Batch:
    rows: list[tuple[int, str, str, str, str]] = []
    rejected: list[Rejected] = []
    for number, (question, context) in enumerate(questions, start=first):
        original = None if originals is None else originals[number - 1]
        if originals is not None and original is None:
            continue
        pairs = _pairs(question, context, original)
        if isinstance(pairs, str):
            rejected.append(Rejected(number, "no answer is where the file says", pairs, json.dumps(question, ensure_ascii=False)))
        else:
            rows += [(number, *pair) for pair in pairs]
    names = ("question", "sentence", "label", "id")
    columns = {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(names, start=1)}
    return Batch(pa.table(columns), pa.array([row[0] for row in rows], pa.int64()), tuple(rejected))


def _pairs(question: Any, context: str, original: str | None) -> list[tuple[str, str, str, str]] | str:
    """Return question, sentence, label and id of each sentence; of a copy's, those with an answer and those behind the original's end."""
    try:
        text, name = str(question["question"]).strip(), str(question["id"])
        answers = {(int(answer["answer_start"]), str(answer["text"])) for answer in question["answers"]}
    except (KeyError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    spans = [(start, start + len(answer)) for start, answer in answers if answer and start >= 0 and context.startswith(answer, start)]
    if not spans:
        return f"{len(answers)} answers, none of them in the paragraph"
    kept = len(context) if original is None else len(original)
    places = sentences(context[:kept], spans) + [(kept + begin, kept + end) for begin, end in sentences(context[kept:])]
    rows = []
    for begin, end in places:
        holds = any(begin < last and start < end for start, last in spans)
        if holds or original is None or begin >= kept:
            rows.append((text, context[begin:end].strip(), "entailment" if holds else "not_entailment", name))
    return rows


def sentences(text: str, whole: Sequence[tuple[int, int]] = ()) -> list[tuple[int, int]]:
    """Return where the sentences of a text begin and end; none ends inside one of the spans ``whole``.

    >>> text = "Mr. Smith (b. 1900) sang. He was loud! Was he?"
    >>> [text[begin:end].strip() for begin, end in sentences(text)]
    ['Mr. Smith (b. 1900) sang.', 'He was loud!', 'Was he?']
    """
    ends = [found.end() for found in _END.finditer(text) if not _SHORT.search(text[: found.start() + 1])]
    ends = [end for end in ends if not any(start < end < last for start, last in whole)]
    edges = [0, *ends, len(text)]
    return [(begin, end) for begin, end in pairwise(edges) if text[begin:end].strip()]
