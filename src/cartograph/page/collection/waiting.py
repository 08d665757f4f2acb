"""The page of a collection that waits for people's answers: the pairs to answer, and the results so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cartograph.page.blocks import Block, Column, Command, Definitions, Facts, Section, Table
from cartograph.page.chart_blocks import Chart, Charts, Series
from cartograph.page.collection.phrases import interval_of
from cartograph.page.sections.how_made import how_made
from cartograph.page.step_results import HowMade
from cartograph.page.verdict import Figure, Verdict
from cartograph.pairs.comparison import MEASURES
from cartograph.wording import count, counted, cut, percent

_SHOWN = 20
_ANSWERS = (
    ("yes", "The two say the same, or the right one answers the left one: a positive pair."),
    ("no", "They do not."),
    ("skip", "Undecidable; the pair is left out of training and not asked about again."),
)


@dataclass(frozen=True)
class Waiting:
    """A collection that cannot go on.

    Attributes:
        number: of the round that waits.
        rounds: how many there are to be.
        why: the last sentence of the command's output.
        waits: whether it waits for answers; otherwise it failed, as ``why`` says.
        sheet: path of the round's sheet, as one types it.
        answers: ``yes``, ``no``, ``skip`` and ``open`` -> how many pairs of the sheet; None where it cannot be read.
        pairs: left text, right text and answer of the sheet's pairs.
        summary: rows of ``pairs.comparison.SUMMARY``, of the rounds that are done; none before the first.
        labels: labels from people in the rounds that are done, without skipped pairs.
        mistakes: the last model's surest false positives: ``left``, ``right``, ``probability``.
        texts: most characters of a text shown.
        how_made: how the collection is made.
    """

    number: int
    rounds: int
    why: str
    waits: bool
    sheet: str
    answers: Mapping[str, int] | None
    pairs: Sequence[tuple[str, str, str]]
    summary: Sequence[Mapping[str, Any]]
    labels: int
    mistakes: Sequence[Mapping[str, Any]]
    texts: int
    how_made: HowMade


def waiting_top(waiting: Waiting) -> Verdict:
    """Return the sentence, the lines under it, and four figures."""
    asked, left = (sum(waiting.answers.values()), waiting.answers["open"]) if waiting.answers else (0, 0)
    if waiting.waits and waiting.answers and not left:
        sentence = f"Round {waiting.number} of {waiting.rounds} already has all its answers: check them and run the command again"
    elif waiting.waits:
        sentence = f"Round {waiting.number} of {waiting.rounds} waits for answers to {counted(left, 'pair')}"
    else:
        sentence = f"Round {waiting.number} of {waiting.rounds} could not be done"
    last = waiting.summary[-2:]
    figures = (
        Figure("Answered", f"{count(asked - left)} of {count(asked)}" if waiting.answers else "\u2013", f"in {waiting.sheet}"),
        Figure("Labels so far", count(waiting.labels), f"from {counted(waiting.number - 1, 'round')}"),
        Figure("Positives found", count(round(last[0]["positive"])) if last else "\u2013", "among them"),
        Figure(
            "Average precision",
            percent(last[0]["mean"], 1) if last else "\u2013",
            f"over all test pairs; 95 % interval {interval_of(last[0])}" if last else "the first model needs the answers of round 1",
        ),
    )
    return Verdict(f"{sentence}.", (waiting.why,), figures)


def waiting_sections(waiting: Waiting) -> list[Section]:
    """Return the sections in their order."""
    return [
        section for section in (_asked(waiting), _so_far(waiting), _mistakes(waiting), how_made(waiting.how_made)) if section is not None
    ]


def _asked(waiting: Waiting) -> Section:
    facts = [("Sheet", waiting.sheet)]
    if waiting.answers is not None:
        facts += [(name.capitalize(), count(number)) for name, number in waiting.answers.items()]
    blocks: list[Block] = [Facts(facts), Definitions(_ANSWERS), Command(waiting.how_made.command)]
    cells = [(cut(left, waiting.texts), cut(right, waiting.texts), answer) for left, right, answer in waiting.pairs[:_SHOWN]]
    if cells:
        shown = f"The first {len(cells)} of its {count(len(waiting.pairs))} pairs" if len(cells) < len(waiting.pairs) else "Its pairs"
        blocks.append(Table(shown, (Column("Left"), Column("Right"), Column("Answer")), cells))
    lead = (
        "Fill in the column “label” of the sheet in any spreadsheet, save it as CSV under the same name, and run the command again. "
        "It may be filled in bit by bit: answers stay, no pair is asked about twice, and the page follows."
    )
    return Section("asked", "What you are asked to do", lead, blocks, short="To answer")


def _so_far(waiting: Waiting) -> Section | None:
    if not waiting.summary:
        return None
    rows = {(row["round"], row["measure"]): row for row in waiting.summary}
    numbers = list(dict.fromkeys(row["round"] for row in waiting.summary))
    first, second = MEASURES
    cells = [
        (
            number,
            round(rows[number, first]["labels"]),
            round(rows[number, first]["positive"]),
            100 * rows[number, first]["mean"],
            interval_of(rows[number, first]),
            100 * rows[number, second]["mean"],
            interval_of(rows[number, second]),
        )
        for number in numbers
    ]
    columns = (
        Column("Round", "count"),
        Column("Labels", "count", "asked for so far, skipped ones included"),
        Column("Positives", "count"),
        Column("Average precision", "points", "in per cent, over all test pairs"),
        Column("95 %", meaning="interval for other utterances of the same kind"),
        Column("P@R20", "points", "precision, in per cent, where a fifth of the positives is found"),
        Column("95 % "),
    )
    blocks: list[Block] = [Table("After every round", columns, cells)]
    if len(numbers) > 1:
        blocks.insert(0, Charts([_chart(measure, [rows[number, measure] for number in numbers]) for measure in MEASURES]))
    lead = "The model is trained from scratch after every round."
    return Section("so-far", "Results so far", lead, blocks, short="So far")


def _chart(measure: str, rows: Sequence[Mapping[str, Any]]) -> Chart:
    called = MEASURES[measure]
    ends = [(row["low"], row["high"]) for row in rows]
    line = Series(rows[0]["method"], [row["mean"] for row in rows], ends)
    return Chart(called[0].upper() + called[1:], "over all test pairs", "labels", [round(row["labels"]) for row in rows], [line])


def _mistakes(waiting: Waiting) -> Section | None:
    if not waiting.mistakes:
        return None
    cells = [(cut(one["left"], waiting.texts), cut(one["right"], waiting.texts), one["probability"]) for one in waiting.mistakes]
    lead = "Test pairs with the highest probability of being positive that no label calls positive."
    table = Table("After the last round", (Column("Left"), Column("Right"), Column("Probability", "probability")), cells)
    return Section("mistakes", "The surest false positives", lead, [table], short="Mistakes")
