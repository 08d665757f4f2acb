"""The dataset card of a cleaned version: what it is, where it comes from, what was found and changed, what is not known of it.

It is Markdown under a head of YAML, as the Hugging Face Hub reads the README.md of a data set; anywhere else it is a page to read. Names
and texts of the data stand in it as text, whatever they hold, and nothing in it depends on when or where it was written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import yaml

from cartograph.clean.cleaning import RECIPE
from cartograph.features.unusual import held_values
from cartograph.page.audit import Audit
from cartograph.page.beyond_number import if_all_hard_rows
from cartograph.page.blind import blind_number
from cartograph.page.cleaning_effect import advice_of, cleaning_lines
from cartograph.page.headline import looked_at, on_condition, wrong_clause
from cartograph.page.step_results import Cleaning
from cartograph.page.unknown_number import between_left, why_unknown, within
from cartograph.schema import LABEL, SOURCE, UID, WEIGHT, Task
from cartograph.wording import count, counted, cut, labels_said_wrong, listing, markdown_table, percent, plain_markdown, share

FILE = "cleaned.parquet"
"""The rows that the card is of, in the same folder."""

MOST_LISTED = 50
"""Lines of a table; the others are counted."""

_TASKS: dict[Task, str] = {
    "single": "text-classification",
    "pair": "text-classification",
    "choice": "multiple-choice",
    "image": "image-classification",
    "table": "tabular-classification",
}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))
_LARGER = ((100_000_000, "10M<n<100M"), (1_000_000_000, "100M<n<1B"))
_KINDS = {"number": "numbers", "category": "categories", "date": "dates", "text": "texts"}
_LONGEST_NAME = 80


def dataset_card(audit: Audit, columns: pa.Schema, *, license_name: str | None = None, languages: Sequence[str] = ()) -> str:
    """Return the card of an audit's cleaned version, as Markdown.

    Args:
        audit: one that cleaned.
        columns: of the cleaned version's own file.
        license_name: the Hub's name of the data's licence; None: it is not known.
        languages: codes of the data's languages; empty: they are not known.

    Raises:
        ValueError: the audit cleaned nothing.
    """
    if audit.cleaning is None:
        raise ValueError("a card is of a cleaned version, and the audit has none")
    parts = (
        _head(audit, audit.cleaning, license_name, languages),
        _summary(audit, audit.cleaning),
        _content(audit, audit.cleaning, columns),
        _provenance(audit, audit.cleaning),
        _found(audit),
        _changed(audit.cleaning, several=bool(audit.several)),
        _worth(audit),
        _limits(audit, audit.cleaning, license_name, languages),
    )
    return "\n\n".join(part for part in parts if part) + "\n"


def size_category(rows: int) -> str:
    """Return what the Hub calls a data set of that many rows.

    >>> size_category(999), size_category(1000), size_category(6000)
    ('n<1K', '1K<n<10K', '1K<n<10K')
    """
    return next((name for limit, name in (*_SIZES, *_LARGER) if rows < limit), "n>1B")


def _head(audit: Audit, cleaning: Cleaning, license_name: str | None, languages: Sequence[str]) -> str:
    content: dict[str, Any] = {"pretty_name": f"{audit.how_made.name}, cleaned", "license": license_name or "unknown"}
    content |= {"language": list(languages)} if languages else {}
    content |= {
        "task_categories": [_TASKS[audit.info.task]],
        "size_categories": [size_category(cleaning.version["rows"])],
        "configs": [{"config_name": "default", "data_files": [{"split": "train", "path": FILE}]}],
    }
    return f"---\n{yaml.safe_dump(content, sort_keys=False, allow_unicode=False, width=1000)}---"


def _summary(audit: Audit, cleaning: Cleaning) -> str:
    version, name = cleaning.version, _text(audit.how_made.name)
    made = f"The cleaned version `{version['version']}` of {name}: {counted(version['rows'], 'row')} of {count(version['parent_rows'])}"
    kinds = Counter(feature.kind for feature in audit.info.features)
    features = listing([counted(number, kind, _KINDS[kind]) for kind, number in kinds.items()])
    described = f", each described by {features}" if kinds else ""
    classes = f"in {counted(len(audit.info.labels), 'class', 'classes')}"
    if audit.several:
        classes = f"each with {counted(audit.labels_a_row, 'label')}, yes or no"
    return f"# {name}, cleaned\n\n{made}, {classes}{described}."


def _content(audit: Audit, cleaning: Cleaning, columns: pa.Schema) -> str:
    before = Counter(audit.info.labels[label] for label in audit.gold.tolist())
    after = before.copy()
    for change in cleaning.changes.to_pylist():
        after[change["from"]] -= 1
        if change["to"] is not None:
            after[change["to"]] += 1
    kept = cleaning.version["rows"]
    classes = [[_text(name), count(before[name]), count(after[name]), share(after[name], kept)] for name in audit.info.labels]
    features = _features(audit)
    fields = [[_text(field.name), _text(str(field.type)), features.get(field.name, _meaning(audit, field.name))] for field in columns]
    return "\n\n".join(
        [
            "## What is in it",
            _table(["Class", "Rows before", "Rows", "Share"], classes, "lrrr"),
            f"Columns of `{FILE}`, which are those of the original:",
            _table(["Column", "Type", "What"], fields, "lll"),
            f'```python\nimport pandas as pd\n\nrows = pd.read_parquet("{FILE}")\n```',
        ]
    )


def _features(audit: Audit) -> dict[str, str]:
    """Return what each column of a table of features holds, in the original's rows, by its name; nothing of other data."""
    if not audit.info.features:
        return {}
    held = held_values(audit.examples)
    return {feature.name: f"feature, {_text(feature.kind)}: {values}" for feature, values in zip(audit.info.features, held, strict=True)}


def _meaning(audit: Audit, column: str) -> str:
    if column == UID:
        return "identifies the row"
    if column == WEIGHT:
        return "how much the row counts in training, 1 on average"
    ingest = audit.how_made.parameters.get("ingest", {})
    if column in ingest.get("label_columns", ()):
        return "the labels, after cleaning" if len(ingest["label_columns"]) == 1 else "a label, after cleaning"
    labels = ingest.get("label") or [LABEL]
    return "what the models are shown" if column in audit.info.fields else "the label, after cleaning" if column in labels else ""


def _provenance(audit: Audit, cleaning: Cleaning) -> str:
    version, made_by = cleaning.version, audit.how_made.versions.get("cartograph")
    sources = pc.value_counts(audit.examples[SOURCE].combine_chunks()).to_pylist()
    listed = [
        [_text(one["values"]), count(one["counts"] // audit.labels_a_row)] for one in sorted(sources, key=lambda one: str(one["values"]))
    ]
    facts = [
        f"- Made from version `{version['parent']}` of the train set (SHA-256 of its content: `{version['parent_digest']}`).",
        f"- This version is `{version['version']}` (`{version['digest']}`): the same rows with the same labels always give this version.",
        f"- Cleaned by the recipe `{version['recipe']}`, after people's decisions, which take precedence.",
        *([] if made_by is None else [f"- Audited and cleaned by Cartograph {_text(made_by)}."]),
    ]
    return "\n\n".join(["## Where it comes from", _table(["Source", "Usable rows"], listed, "lr"), "\n".join(facts)])


def _found(audit: Audit) -> str:
    held = f", each with {counted(audit.labels_a_row, 'label')}" if audit.several else ""
    lines = [f"- Of {counted(audit.rows // audit.labels_a_row, 'usable row')}{held}, {_suspects(audit)}."]
    lines += [f"- {_text(line, 300)}" for line in _wrong(audit)]
    unusable = audit.quarantine.num_rows
    left_out = f"{counted(unusable, 'row')} could not be used, and {'is' if unusable == 1 else 'are'} in no version{_reasons(audit)}"
    lines.append(f"- {left_out if unusable else 'Every row could be used'}.")
    lines += [f"- {_text(entry['linked'], 300)}" for entry in audit.validation.get("sets", []) if entry.get("linked")]
    failed = [
        f"- A check failed: {_text(check['check'], 120)}: {_text(str(check['found']), 200)}."
        for entry in audit.validation.get("sets", [])
        if entry["domain"] == "train"
        for check in entry["checks"]
        if not check["passed"]
    ]
    return "\n\n".join(["## What was found", "\n".join([*lines, *failed])])


def _suspects(audit: Audit) -> str:
    if audit.suspects is None:
        return "suspects were not looked for"
    number = len(audit.flagged)
    if audit.several:
        looks = "label that a row has or lacks looks" if number == 1 else "labels that rows have or lack look"
        return f"{count(number)} {looks} wrong ({share(number, audit.rows)})"
    if audit.suspects.record.get("unknown"):
        what = "has a label that is" if number == 1 else "have labels that are"
        return f"{count(number)} {what} worth a second look ({share(number, audit.rows)})"
    return f"{count(number)} {'has a label that looks' if number == 1 else 'have labels that look'} wrong ({share(number, audit.rows)})"


def _wrong(audit: Audit) -> list[str]:
    """Return how many labels are wrong by estimate, or why that is not known."""
    if audit.suspects is None:
        return []
    record = audit.suspects.record
    wrong = record.get("wrong")
    if wrong is not None and record["calibrated"] and (audit.reviewed is not None or blind_number(audit)):
        said = wrong_clause(audit, wrong)
        return [f"{said[0].upper()}{said[1:]}."]
    if wrong is not None and record["calibrated"]:
        number = labels_said_wrong(wrong, "labels of the original")
        most = if_all_hard_rows(wrong)
        said = f"{on_condition(audit)}{number}, by estimate{f'; {most}' if most else ''}."
        return [f"{said[0].upper()}{said[1:]}"]
    why = why_unknown(record, audit.rows)
    if not why:
        return []
    looked = looked_at(audit)
    ends = None if blind_number(audit) else between_left(record, audit.reviewed)
    which = "of the others" if looked else "labels of the original"
    said = f"{looked}{''.join(within(f'how many {which} are wrong', ends, record['rows']))}: {why}."
    return [f"{said[0].upper()}{said[1:]}"]


def _reasons(audit: Audit) -> str:
    if not audit.quarantine.num_rows:
        return ""
    reasons = Counter(audit.validation.get("quarantine", {}))
    shown = [f"{_text(str(reason), 120)} ({count(int(number))})" for reason, number in sorted(reasons.items(), key=lambda one: -one[1])[:5]]
    return f": {', '.join(shown)}" if shown else ""


def _changed(cleaning: Cleaning, *, several: bool) -> str:
    version = cleaning.version
    head = "## What was changed"
    weighted = "Every row has a weight: the probability that its label is right, divided by the mean." if version.get("weighted") else ""
    changes = cleaning.changes.to_pylist()
    if not changes:
        return "\n\n".join(filter(None, [head, "No row was dropped and no label changed.", weighted]))
    relabelled = (
        f"{counted(version['relabelled'], 'label')} changed between yes and no" if several else f"{count(version['relabelled'])} relabelled"
    )
    done = f"{counted(version['dropped'], 'row')} dropped, {relabelled}."
    kinds = Counter((change["from"], change["to"]) for change in changes)
    cells = [
        [_text(before), "dropped" if after is None else _text(after), count(number)]
        for (before, after), number in sorted(kinds.items(), key=lambda one: (-one[1], one[0][0], one[0][1] or ""))
    ]
    by = Counter(change["by"] for change in changes)
    deciders = ", ".join(f"{_text(name)} ({count(number)})" for name, number in sorted(by.items(), key=lambda one: (-one[1], one[0])))
    more = "Each change with its reason is a row of `changes.parquet`."
    return "\n\n".join(
        filter(None, [head, done, _table(["Label", "Became", "Rows"], cells, "llr"), f"Decided by: {deciders}. {more}", weighted])
    )


def _worth(audit: Audit) -> str:
    lines = cleaning_lines(audit)
    return "\n\n".join(["## What it is worth", *(_text(line, 1000) for line in lines)]) if lines else ""


def _limits(audit: Audit, cleaning: Cleaning, license_name: str | None, languages: Sequence[str]) -> str:
    changes = cleaning.changes.to_pylist()
    by_people = sum(not change["by"].startswith(RECIPE) for change in changes)
    changed = {change["uid"] for change in changes}
    left = [uid for uid in audit.measures[UID].take(pa.array(audit.flagged)).to_pylist() if uid not in changed]
    advice = advice_of(audit)
    lines = [
        "Suspects are found by models: some of the labels that look wrong are right, and wrong labels that models repeat are not found.",
        f"{counted(len(left), 'suspect')} {'is' if len(left) == 1 else 'are'} in this version with the label given." if left else "",
        f"Of {counted(len(changes), 'change')}, {count(by_people)} {'was' if by_people == 1 else 'were'} decided by people; the others by "
        "the recipe alone."
        if changes
        else "",
        "Training that ignores the weights is training on the original." if cleaning.version.get("weighted") and not changes else "",
        "Models trained on this version were measurably worse than on the original: use the original."
        if advice is not None and advice.outcome == "worse"
        else "",
        "No models were trained to compare this version with the original." if advice is None else "",
        "Only the train set is cleaned; evaluation sets are left as they are.",
        "" if license_name else "The licence of the data is not known.",
        "" if languages else "The language of the data was not stated.",
        "Not examined: how and by whom the data was collected, and whether it contains personal or offensive content.",
    ]
    largest = _largest_change(audit, changes)
    lines.insert(3, largest)
    return "\n\n".join(["## Known limits", "\n".join(f"- {line}" for line in lines if line)])


def _largest_change(audit: Audit, changes: Iterable[Mapping[str, Any]]) -> str:
    """Return which class lost or gained the largest share of its rows; empty where none did."""
    gained: Counter[str] = Counter()
    for change in changes:
        gained[change["from"]] -= 1
        if change["to"] is not None:
            gained[change["to"]] += 1
    before = Counter(audit.info.labels[label] for label in audit.gold.tolist())
    parts = {name: number / before[name] for name, number in gained.items() if before[name] and number}
    if not parts:
        return ""
    name = min(parts, key=lambda one: (-abs(parts[one]), one))
    verb = "lost" if parts[name] < 0 else "gained"
    most = f"The class {_text(name)} {verb} most: {percent(abs(parts[name]))} of its rows"
    return f"{most}. Class frequencies therefore differ from the original."


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> str:
    more = len(rows) - MOST_LISTED
    text = markdown_table(head, rows[:MOST_LISTED], align)
    return f"{text}\n\nand {count(more)} more." if more > 0 else text


def _text(text: str, limit: int = _LONGEST_NAME) -> str:
    return plain_markdown(cut(text, limit))
