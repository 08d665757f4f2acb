"""What the command `cartograph` writes at the end of an audit, and says of it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from cartograph.features.rule_words import rule_sentence
from cartograph.frames.cleaned_rows import Recipe
from cartograph.frames.labels_result import LabelsAudit
from cartograph.frames.result import FrameAudit, write_page
from cartograph.frames.tables import write_tables
from cartograph.frames.terminal import say
from cartograph.ingest.canonical import IngestedSet
from cartograph.page.audit import HARDLY, Audit
from cartograph.page.beyond_number import beyond_interval, outcomes
from cartograph.page.class_names import indistinct_sentence, whole_classes
from cartograph.page.gathered import catch_all_sentence, contradicting_sentence, gathered_sentence
from cartograph.page.headline import few_of_unknown, on_condition, sure_suspects
from cartograph.page.stretches import filled_sentence, shifted_sentence
from cartograph.page.unknown_number import NONE_SURE, not_estimated, why_unknown
from cartograph.wording import counted, labels_wrong

_NEXT = 50
"""Rows that are named where none is a suspect, or few are."""
_LISTED = "the suspects, most suspect first"
_ONLY_RANKS = "; without an estimate of how many labels are wrong, its `probability` only ranks"


def write_and_say(
    found: FrameAudit | LabelsAudit, folder: Path, ingested: IngestedSet, part: str, done: str, recipe: Recipe = "auto"
) -> None:
    """Write the results and say what was found and what became of the rows.

    Args:
        found: the audit.
        folder: where the results are written.
        ingested: its rows, and those that were set aside.
        part: how many suspects there are, as a clause.
        done: what was done to the rows, as a clause.
        recipe: how they are cleaned.
    """
    written = write_tables(found, folder, recipe)
    kept, aside = written.rows, len(ingested.quarantine)
    rows = f"{kept:,} of {ingested.rows_read:,} rows ({aside:,} set aside)" if aside else counted(kept, "row")
    wrong, page = found.wrong, replace(found._page, how_made=replace(found._page.how_made, cleaned=f"cleaned.csv: {rows}, {done}"))
    report = write_page(page, folder / "report.html")
    for sentence in (page.training["learning"]["sentence"], *page.impossible):
        if sentence:
            say(sentence)
    if wrong is not None:
        sure = f", {sure_suspects(page)}" if len(page.flagged) and not page.several else ""
        number = labels_wrong(wrong.expected, wrong.low, wrong.high, scattered=wrong.scattered)
        say(f"{part}{sure}; {on_condition(page)}{number}")
    elif not page.impossible:
        why = why_unknown(page.suspects.record, page.rows // page.labels_a_row) if page.suspects else ""
        what = "how many labels are wrong"
        unknown = not_estimated(what, page.suspects.record, why) if page.suspects and why else (what, f" cannot be estimated; {NONE_SURE}")
        say(f"{part}; {''.join(unknown)}")
    for line in () if page.impossible else (*beyond_interval(page), *outcomes(page)):
        say(line)
    rule = "" if page.telling.names else rule_sentence(page.rule, page.info.labels)
    stretches = (shifted_sentence(page), filled_sentence(page))
    where = (*stretches, contradicting_sentence(page), gathered_sentence(page), catch_all_sentence(page))
    for line in filter(None, (indistinct_sentence(page), *whole_classes(page), rule, *where)):
        say(line)
    say("")
    say(f"{report}: the map, the suspects and the reasons; open it in a browser")
    say(f"{written.suspects}: {_listed(page)}{'' if wrong is not None or not len(page.flagged) else _ONLY_RANKS}")
    say(f"{folder / 'cleaned.csv'}: {rows}, {done}")
    if guarded := written.guarded:
        why = f"{counted(guarded, 'cell')} that a spreadsheet would run as a formula got an apostrophe in front in cleaned.csv"
        say(f"{folder / 'cleaned.parquet'}: the same rows, every cell as it is; {why}")


def _listed(page: Audit) -> str:
    """Return what the list of suspects is; where none or few are known, also how to list those that are doubted most."""
    number = len(page.flagged)
    if number and not few_of_unknown(page):
        return _LISTED
    if page.suspects is None or page.impossible:
        return "no suspects, since none could be looked for"
    # At or above it stands what is no suspect since its class has two names.
    probabilities, threshold = page.suspects.rows["probability"].to_pylist(), page.suspects.record["threshold"]
    doubted = sorted((one for one in probabilities if HARDLY <= one < threshold), reverse=True)
    listed = _LISTED if number else "no suspects"
    if not doubted:
        return listed
    shown = math.floor(doubted[:_NEXT][-1] * 1000) / 1000
    what = counted(number + sum(one >= shown for one in doubted), "label" if page.several else "row")
    return f"{listed}; --threshold {shown} lists the {what} doubted most"
