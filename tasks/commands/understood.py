"""What `init` says of the files that it has read: rows, classes, lengths, what is set aside, the first rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cartograph.wording import cut, percent
from tasks.audit.ingest import labelling_of
from tasks.audit.parameters.ingest import Ingest
from tasks.checks.class_names import class_name_phrases
from tasks.presentation.console import say

if TYPE_CHECKING:
    import pyarrow as pa

    from cartograph.ingest.canonical import IngestedSet
    from cartograph.schema import Feature

_MOST_CLASSES, _SAMPLE = 12, 500


def say_what_was_read(params: Ingest, sets: list[IngestedSet]) -> None:
    """Print what was understood of the sets, the train set first."""
    from cartograph.ingest.labeller_names import labeller_sentence
    from cartograph.ingest.near_copies import near_copies_sentence

    for item in sets:
        domain = {"train": "", "id": ", in distribution", "ood": ", out of distribution"}[item.info.domain]
        say(f"{item.info.name}: {len(item.examples):,} rows from {', '.join(item.files)}{domain}")
        say(f"  classes  {_classes(item.class_counts)}")
        say_class_names(params, item)
        say_fields(item)
        say_linked(item)
        say_what_is_set_aside(item.quarantine, item.rows_read, params.quarantine_limit, "audit")
    if copies := near_copies_sentence(sets[0].near_copies, {}):
        say(f"  {copies}")
    columns = [*(feature.name for feature in sets[0].info.features), *sets[0].left_out]
    if not params.labelled_by and (who := labeller_sentence(columns, "--labelled-by ")):
        say(f"  {who}")
    info = sets[0].info
    say("First rows of train:")
    for row in sets[0].examples.slice(0, 3).to_pylist():
        content = [row["uid"]] if info.images else [row[name] for name in info.fields]
        say(f"  {_short(info.labels[row['label']])}: {' | '.join(map(_short, content))}")


def say_class_names(params: Ingest, item: IngestedSet) -> None:
    """Print which classes of the train set may be one under two names, or none, and what would make them so."""
    from cartograph.ingest.joined_labels import joined_sentence
    from cartograph.ingest.label_forms import ONE_FORM, SAME
    from cartograph.ingest.measurements import measurements_sentence
    from cartograph.ingest.placeholders import MISSING_LABEL, NO_PLACEHOLDER

    begins = {ONE_FORM: SAME, NO_PLACEHOLDER: MISSING_LABEL}
    phrases = class_name_phrases(item, labelling_of(params)) if item.info.domain == "train" else {}
    for check, phrase in phrases.items():
        say(f"  classes  {begins[check]}: {phrase}.")
    for sentence in (joined_sentence(item.class_counts), measurements_sentence(item.class_counts)):
        if item.info.domain == "train" and sentence:
            say(f"  classes  {sentence}")


def say_fields(item: IngestedSet) -> None:
    """Print what the texts, images or features of a set are like."""
    for feature in item.info.features if item.info.domain == "train" else ():
        say(f"  {_short(feature.name)}  {_values(item, feature)}")
    if item.left_out and item.info.domain == "train":
        say(f"  left out  {', '.join(map(_short, item.left_out))}: no column for a model; name it with --feature if it is one")
    for name in () if item.info.features else item.info.fields:
        say(f"  {name}  {(_sizes if name in item.info.images else _lengths)(item, name)}")


def say_linked(item: IngestedSet) -> None:
    """Print which rows are held out together, and what about that is doubtful; nothing where no column links any."""
    if item.linkage is not None:
        say(f"  linked  {item.linkage.sentence}")
        for found in item.linkage.warnings.values():
            say(f"  linked  {found}")


def _classes(counts: Mapping[str, int]) -> str:
    """Return the classes with their rows; of many how many they are, the largest and the smallest."""
    named = [f"{_short(name)} {rows:,}" for name, rows in counts.items()]
    if len(named) <= _MOST_CLASSES:
        return ", ".join(named)
    ordered = sorted(counts, key=lambda name: -counts[name])
    first, last = ([f"{_short(name)} {counts[name]:,}" for name in part] for part in (ordered[:3], ordered[-3:]))
    return f"{len(counts):,}, from {', '.join(first)} to {', '.join(last)}"


def say_what_is_set_aside(quarantine: pa.Table, read: int, limit: float, what: str) -> None:
    """Print how many rows are in quarantine, and why; nothing where there are none.

    Args:
        quarantine: ``schema.QUARANTINE``.
        read: rows of the files.
        limit: share above which it stops.
        what: that stops.
    """
    from cartograph.ingest.canonical import reasons_phrase

    if len(quarantine):
        share = len(quarantine) / read
        beyond = f"; the {what} stops above {percent(limit)} (`quarantine_limit`)" if share > limit else ""
        say(f"  set aside  {len(quarantine):,} of {read:,} rows ({percent(share)}): {reasons_phrase(quarantine)}{beyond}")


def _lengths(item: IngestedSet, name: str) -> str:
    return _word_counts(item.examples[name])


def _word_counts(texts: pa.ChunkedArray) -> str:
    """Return how many words texts have; in a script without blanks between them, characters."""
    import numpy as np
    import pyarrow.compute as pc

    from cartograph.data.shared_words import is_unspaced

    there = texts.drop_null()
    some = there.slice(0, _SAMPLE).to_pylist()
    unspaced = 2 * sum(map(is_unspaced, some)) > len(some)
    numbers = np.asarray(pc.utf8_length(there) if unspaced else pc.count_substring_regex(there, r"\S+"))
    low, middle, high = np.percentile(numbers, [0, 50, 100])
    return f"{low:,.0f} to {high:,.0f} {'characters' if unspaced else 'words'}, median {middle:,.0f}"


def _values(item: IngestedSet, feature: Feature) -> str:
    import pyarrow.compute as pc

    from cartograph.schema import values_of

    column = values_of(item.examples, feature.name)
    missing = f", {column.null_count:,} missing" if column.null_count else ""
    if feature.kind == "category":
        return f"{pc.count_distinct(column).as_py():,} categories{missing}"
    if feature.kind == "text":
        return f"texts, {_word_counts(column)}{missing}"
    ends = pc.min_max(column).as_py()
    low, high = (f"{ends[end]:%Y-%m-%d}" if feature.kind == "date" else f"{ends[end]:,.6g}" for end in ("min", "max"))
    return f"{feature.kind}s, {low} to {high}{missing}"


def _sizes(item: IngestedSet, name: str) -> str:
    from cartograph.data.images import sizes_of

    sizes = sizes_of(item.examples[name])
    (low, tall, _), (high, taller, channels) = sizes.min(axis=0), sizes.max(axis=0)
    return f"{low:,} to {high:,} pixels wide, {tall:,} to {taller:,} high, {'colour' if channels > 1 else 'grey'}"


def _short(text: str) -> str:
    line = "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(text.split()))
    return cut(line, 100)
