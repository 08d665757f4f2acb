"""Questions in SQuAD's format as question-sentence pairs: does the sentence answer the question?

As QNLI was made of SQuAD (Wang et al. 2019), and Adversarial SQuAD (Jia and Liang 2017) is to be for it: a sentence that holds an answer is
``entailment``, every other sentence of the paragraph ``not_entailment``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa

from cartograph.errors import InputError
from cartograph.read.source import BATCH_ROWS, Batch, Rejected, Source, open_text

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
    with open_text(source.path, source, newline="\n") as file:
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
    for start in range(0, len(questions), BATCH_ROWS):
        yield _batch(questions[start : start + BATCH_ROWS], start + 1)


def _batch(questions: Sequence[tuple[Any, str]], first: int) -> Batch:
    rows: list[tuple[int, str, str, str, str]] = []
    rejected: list[Rejected] = []
    for number, (question, context) in enumerate(questions, start=first):
        pairs = _pairs(question, context)
        if isinstance(pairs, str):
            rejected.append(Rejected(number, "no answer is where the file says", pairs, json.dumps(question, ensure_ascii=False)))
        else:
            rows += [(number, *pair) for pair in pairs]
    names = ("question", "sentence", "label", "id")
    columns = {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(names, start=1)}
    return Batch(pa.table(columns), pa.array([row[0] for row in rows], pa.int64()), tuple(rejected))


def _pairs(question: Any, context: str) -> list[tuple[str, str, str, str]] | str:
    try:
        text, name = str(question["question"]).strip(), str(question["id"])
        answers = {(int(answer["answer_start"]), str(answer["text"])) for answer in question["answers"]}
    except (KeyError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    spans = [(start, start + len(answer)) for start, answer in answers if answer and start >= 0 and context.startswith(answer, start)]
    if not spans:
        return f"{len(answers)} answers, none of them in the paragraph"
    return [
        (
            text,
            context[begin:end].strip(),
            "entailment" if any(begin < last and start < end for start, last in spans) else "not_entailment",
            name,
        )
        for begin, end in sentences(context, spans)
    ]


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
