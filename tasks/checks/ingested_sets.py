"""The expectations that every set of a dataset is checked for as it was read, and the pages that show them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cartograph.wording import percent
from tasks.checks import data_docs
from tasks.checks.class_names import class_name_checks, class_name_frame, class_name_phrases
from tasks.checks.class_shares import COLUMN as CLASS_SHARES
from tasks.checks.class_shares import class_share_checks, class_share_phrases, shifted_classes
from tasks.checks.feature_columns import feature_checks, feature_frame
from tasks.checks.great_expectations_run import MAX_EXAMPLES, Check, by_check, runner
from tasks.checks.linked_rows import linked_checks, linked_frame

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from cartograph.ingest.canonical import IngestedSet
    from cartograph.ingest.labels import Labelling

SMALLEST_SIDE = 8
"""Pixels: an image with fewer across or down raises a warning."""
DOUBTFUL = 0.01
"""Share of rows that may repeat, contradict each other, be over-long or overlap before a warning is raised; as in ``canonical``."""

_WHERE, _CLASS_ROWS = "[where]", "[rows in class]"
_SIDE, _ONE_COLOUR = "[pixels of the shorter side]", "[of one colour]"
_MERGED = "[may be several rows]"
_CONTRADICTS, _REPEATS, _IN_TRAIN = "[contradicts another row]", "[repeats an earlier row]", "[also in train]"


def validate(
    sets: Sequence[IngestedSet],
    *,
    limit: float,
    min_class_count: int,
    max_characters: int,
    docs: Path,
    several: Mapping[str, int] | None = None,
    labelling: Labelling | None = None,
) -> dict[str, Any]:
    """Check every set as it was read, before rows were set aside; write the pages and return the findings.

    Args:
        sets: the ingested sets, ``train`` first.
        limit: share of rows that may break an expectation about single rows.
        min_class_count: rows that each class of the train set should have.
        max_characters: length that a text should not exceed.
        docs: folder of the pages; replaced.
        several: where the rows of the one set have several labels, label -> rows that have it; ``raw`` then has their names as one label.
        labelling: how the one label of each row was read.

    Returns:
        the content of validation.json: ``passed`` (no critical check failed), ``sets`` with their ``checks``, and ``quarantine``.
    """
    import pandas as pd

    from cartograph.ingest.identity import normalised_keys
    from cartograph.ingest.set_record import ingested_record

    run = runner(_WHERE)
    train_keys = normalised_keys(sets[0].raw, sets[0].info.fields)
    entries, pages, train_values = [], {}, pd.DataFrame()
    for item in sets:
        shifted = shifted_classes(item, sets[0])
        frame = _frame(item, train_keys, labelling, several=several is not None)
        if item.info.domain == "id":
            frame = frame.assign(**{CLASS_SHARES: float(len(shifted))})
        if item.info.features:
            titles = _titles([feature.name for feature in item.info.features], (*frame.columns, *item.info.fields))
            values = feature_frame(item, titles)
            train_values = values if item.info.domain == "train" else train_values
            frame = pd.concat([frame, values], axis=1)
        checks = _checks(item, frame, limit, min_class_count, max_characters, several=several is not None)
        if item.info.features:
            checks += feature_checks(item, train_values, titles)
        result = run(item.info.name, frame, checks)
        names = class_name_phrases(item, labelling) if item.info.domain == "train" and several is None else class_share_phrases(shifted)
        findings = [_finding(check, one, item, names) for check, one in by_check(checks, result)]
        entries.append(ingested_record(item, findings, classes=several, in_train=_in_train(item, sets[0])))
        pages[item.info.name] = _page(result)
    data_docs.write(docs, pages, entries)
    passed = all(check["passed"] for entry in entries for check in entry["checks"] if check["severity"] == "critical")
    reasons: Counter[str] = Counter()
    for item in sets:
        reasons.update(item.reasons)
    return {"passed": passed, "sets": entries, "quarantine": dict(sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])))}


def _frame(item: IngestedSet, train_keys: pa.Array, labelling: Labelling | None, *, several: bool) -> pd.DataFrame:
    """Return the set as read, with what the checks need beside each row."""
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from cartograph.data.images import are_of_one_colour, sizes_of
    from cartograph.ingest.identity import JoinedTexts, contradicting, known_among, normalised_keys, repeated

    keys = train_keys if item.info.domain == "train" else normalised_keys(item.raw, item.info.fields)
    frame: pd.DataFrame = item.raw.select([*item.info.text, *item.info.options, "label", "uid"]).to_pandas()
    for name in item.info.images:
        frame[name] = pd.Series(list(JoinedTexts(item.raw, item.info.fields, normalised=True)), dtype="str")
        frame[_SIDE], frame[_ONE_COLOUR] = sizes_of(item.raw[name])[:, :2].min(axis=1), are_of_one_colour(item.raw[name])
    frame = frame.rename(columns=_titles(item.info.fields))
    labels = frame["label"] if several else frame["label"].where(frame["label"].isin(item.info.labels))
    frame[_WHERE] = frame["uid"]
    unused = item.raw.select(["source", "row"]).filter(pa.array(~item.used)).to_pandas()
    frame.loc[~item.used, _WHERE] = (unused["source"].astype("str") + " row " + unused["row"].astype("str")).to_numpy()
    frame[_CLASS_ROWS] = labels.map(labels.value_counts()).astype("float64")
    if item.info.domain == "train" and not several:
        frame = frame.assign(**class_name_frame(item, labels, labelling))
    frame[_CONTRADICTS] = contradicting(keys, labels)
    frame[_MERGED] = item.merged
    frame[_REPEATS] = repeated(keys, frame["label"])
    for column, broken in linked_frame(item).items():
        frame[column] = broken
    frame[_IN_TRAIN] = np.zeros(len(frame), dtype=bool) if item.info.domain == "train" else known_among(keys, train_keys) >= 0
    return frame


def _titles(fields: Sequence[str], taken: Sequence[str] = ("label", "uid")) -> dict[str, str]:
    """Return column -> a title for the pages, whose renderer does not escape the names of columns."""
    titles: dict[str, str] = {}
    for name in fields:
        title = re.sub(r"[<>&\"'$]", "_", name)
        titles[name] = title if title not in (*titles.values(), *taken) else f"{title} ({len(titles) + 1})"
    return titles


def _checks(
    item: IngestedSet, frame: pd.DataFrame, limit: float, min_class_count: int, max_characters: int, *, several: bool
) -> list[Check]:
    import great_expectations.expectations as gxe
    from great_expectations.expectations.metadata_types import FailureSeverity

    info = item.info
    titles = _titles(info.fields)
    columns = [*titles.values(), "label", "uid"]
    enough = math.ceil(item.rows_read * (1 - limit))
    checks = [
        Check(
            "the columns are present",
            ", ".join((*info.fields, "label", "uid")),
            gxe.ExpectTableColumnsToMatchSet(column_set=columns, exact_match=False),
        ),
        Check("records can be read", f"at least {enough:,} of {item.rows_read:,}", gxe.ExpectTableRowCountToBeBetween(min_value=enough)),
    ]
    for name in info.images:
        checks += _image_checks(name, titles[name], limit)
    for name in () if info.features else (*info.text, *info.options):
        checks += _text_checks(name, titles[name], limit, max_characters, words=name in info.text)
    usual, rare, warning = 1 - limit, 1 - DOUBTFUL, FailureSeverity.WARNING
    most, few = _at_most(limit), _at_most(DOUBTFUL)
    known = ", ".join(info.labels[:10]) + (", …" if len(info.labels) > 10 else "")
    held = "images" if info.images else "values" if info.features else "texts"
    flags = [(_REPEATS, "rows do not repeat others"), (_CONTRADICTS, f"equal {held} have equal labels")]
    flags += [(_MERGED, "quotes swallow no ends of rows")] if item.merged.any() else []
    flags += [(_IN_TRAIN, f"{held} are not in the train set too")] if info.domain != "train" else []
    found = [
        Check("labels are not null", most, gxe.ExpectColumnValuesToNotBeNull(column="label", mostly=usual)),
        Check(
            "labels are known",
            f"{known}; {most} others",
            gxe.ExpectColumnValuesToBeInSet(column="label", value_set=list(info.labels), mostly=usual),
        ),
    ]
    checks += [] if several else found
    checks += [
        Check("uids are not null", most, gxe.ExpectColumnValuesToNotBeNull(column="uid", mostly=usual)),
        Check("uids are unique", most, gxe.ExpectColumnValuesToBeUnique(column="uid", mostly=usual)),
    ]
    every = gxe.ExpectColumnDistinctValuesToContainSet(column="label", value_set=list(info.labels), severity=warning)
    checks += [] if several else [Check("every class occurs", known, every)]
    checks += [
        Check(words, "none", gxe.ExpectColumnValuesToBeInSet(column=name, value_set=[False], severity=warning))
        if name == _MERGED
        else Check(words, few, gxe.ExpectColumnValuesToBeInSet(column=name, value_set=[False], mostly=rare, severity=warning))
        for name, words in flags
    ]
    checks += class_share_checks() if info.domain == "id" else []
    checks += linked_checks(item)
    if info.domain == "train" and not several:
        smallest = gxe.ExpectColumnMinToBeBetween(column=_CLASS_ROWS, min_value=min_class_count, severity=warning)
        checks.append(Check("every class has enough rows", f"at least {min_class_count:,}", smallest))
        checks += class_name_checks()
    return checks


def _image_checks(name: str, title: str, limit: float) -> list[Check]:
    import great_expectations.expectations as gxe
    from great_expectations.expectations.metadata_types import FailureSeverity

    few, rare, warning = _at_most(DOUBTFUL), 1 - DOUBTFUL, FailureSeverity.WARNING
    side = gxe.ExpectColumnValuesToBeBetween(column=_SIDE, min_value=SMALLEST_SIDE, mostly=rare, severity=warning)
    colours = gxe.ExpectColumnValuesToBeInSet(column=_ONE_COLOUR, value_set=[False], mostly=rare, severity=warning)
    return [
        Check(f"`{name}` is not null", _at_most(limit), gxe.ExpectColumnValuesToNotBeNull(column=title, mostly=1 - limit)),
        Check(f"`{name}` has {SMALLEST_SIDE} pixels each way at least", f"{few} smaller", side),
        Check(f"`{name}` shows something", f"{few} of one colour", colours),
    ]


def _text_checks(name: str, title: str, limit: float, max_characters: int, *, words: bool) -> list[Check]:
    import great_expectations.expectations as gxe
    from great_expectations.expectations.metadata_types import FailureSeverity

    usual, warning = 1 - limit, FailureSeverity.WARNING
    most, few = _at_most(limit), _at_most(DOUBTFUL)
    shape = gxe.ExpectColumnValueLengthsToBeBetween(column=title, max_value=max_characters, mostly=1 - DOUBTFUL, severity=warning)
    checks = [
        Check(f"`{name}` is text", "text", gxe.ExpectColumnValuesToBeOfType(column=title, type_="str")),
        Check(f"`{name}` is not null", most, gxe.ExpectColumnValuesToNotBeNull(column=title, mostly=usual)),
        Check(f"`{name}` is not empty", most, gxe.ExpectColumnValuesToNotMatchRegex(column=title, regex=r"^\s*\Z", mostly=usual)),
        Check(f"`{name}` has at most {max_characters:,} characters", f"{few} longer", shape),
    ]
    if words:
        numbers = gxe.ExpectColumnValuesToNotMatchRegex(column=title, regex=r"^\s*[-+]?[\d.,]+\s*\Z", mostly=0.5, severity=warning)
        checks.append(Check(f"`{name}` holds words, not numbers", "fewer than half numbers", numbers))
    return checks


def _at_most(share: float) -> str:
    return f"at most {100 * share:g} %"


def _finding(check: Check, result: dict[str, Any], item: IngestedSet, names: Mapping[str, str]) -> dict[str, Any]:
    content = result["result"]
    rows = int(content.get("element_count", len(item.raw)) or 0)
    unexpected = int(content.get("unexpected_count") or 0)
    places = [entry[_WHERE] for entry in content.get("partial_unexpected_index_list") or []]
    return {
        "check": check.check,
        "severity": str(check.expectation.severity.value),
        "passed": bool(result["success"]),
        "expected": check.expected,
        "found": _found(check, content, item, unexpected, rows, names),
        "unexpected": unexpected,
        "share": unexpected / rows if rows else 0.0,
        "examples": places[:MAX_EXAMPLES],
    }


def _found(check: Check, content: dict[str, Any], item: IngestedSet, unexpected: int, rows: int, names: Mapping[str, str]) -> str:
    kind = check.expectation.expectation_type
    if check.check in names:
        return names[check.check]
    if item.linkage is not None and check.check in item.linkage.warnings:
        return item.linkage.warnings[check.check]
    if kind == "expect_column_min_to_be_between":
        name, count = min(item.class_counts.items(), key=lambda pair: pair[1])
        few = sum(rows < check.expectation.min_value for rows in item.class_counts.values())
        return f"`{name}` has {count:,}" + (f", and {few - 1:,} more have too few" if few > 1 else "")
    if kind == "expect_column_distinct_values_to_contain_set":
        missing = [name for name, count in item.class_counts.items() if not count]
        return f"none of {', '.join(f'`{name}`' for name in missing[:10])}" if missing else "all of them"
    if kind == "expect_table_columns_to_match_set":
        return "all of them" if content["observed_value"] else "none"
    if kind == "expect_table_row_count_to_be_between":
        return f"{len(item.raw):,} of {item.rows_read:,}"
    if "observed_value" in content:
        return "text" if content["observed_value"] in ("str", "string", "object") else str(content["observed_value"])
    return f"{unexpected:,} of {rows:,} ({percent(unexpected / max(rows, 1))})" if unexpected else "none"


def _in_train(item: IngestedSet, train: IngestedSet) -> dict[str, int] | None:
    """Return how many rows of an evaluation set are in the train set too, by kind, and how many of them under another label there."""
    found = item.leakage
    if found is None:
        return None
    here, there = item.examples["label"].to_numpy(), train.examples["label"].to_numpy()
    other = here[found.rows] != there[found.train_rows[found.rows]]
    return {**found.counts, "other label": int(other.sum())}


def _page(result: dict[str, Any]) -> str:
    """Return a validation result as Great Expectations renders it, for ``data_docs`` to make safe and self-contained.

    The renderer escapes the values of an expectation's own arguments and leaves what was observed in the data as it is, so
    that is escaped here.
    """
    from great_expectations.core.expectation_validation_result import ExpectationSuiteValidationResultSchema
    from great_expectations.render.renderer import ValidationResultsPageRenderer
    from great_expectations.render.view import DefaultJinjaPageView

    results = [{**one, "result": data_docs.escaped(one["result"])} for one in result["results"]]
    safe = ExpectationSuiteValidationResultSchema().load({**result, "results": results})
    return str(DefaultJinjaPageView().render(ValidationResultsPageRenderer().render(safe)))
