"""The expectations about the names of classes: that no class has two, and that none stands for a missing label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tasks.checks.great_expectations_run import Check

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from cartograph.ingest.canonical import IngestedSet
    from cartograph.ingest.labels import Labelling


def class_name_frame(item: IngestedSet, labels: pd.Series, labelling: Labelling | None) -> dict[str, np.ndarray]:
    """Return, per check, a column that says which rows break it.

    Args:
        item: the set.
        labels: (n_rows,) class names of the rows as read, null where a label is not a class.
        labelling: how labels were read; a class that it names is one, whatever its name.
    """
    from cartograph.ingest.label_forms import ONE_FORM, other_forms
    from cartograph.ingest.placeholders import NO_PLACEHOLDER, placeholders

    names = {ONE_FORM: other_forms(item.class_counts), NO_PLACEHOLDER: placeholders(_unconfirmed(item, labelling))}
    return {_column(check): labels.isin(list(found)).to_numpy() for check, found in names.items()}


def class_name_checks() -> list[Check]:
    """Return the checks of ``class_name_frame``'s columns, which warn."""
    import great_expectations.expectations as gxe
    from great_expectations.expectations.metadata_types import FailureSeverity

    from cartograph.ingest.label_forms import ONE_FORM
    from cartograph.ingest.placeholders import NO_PLACEHOLDER

    expected = {
        ONE_FORM: "no two that differ only in case, spaces or Unicode form; no rare one a letter away from a frequent one",
        NO_PLACEHOLDER: "no placeholder such as ?, NA, null or unknown",
    }
    return [
        Check(check, words, gxe.ExpectColumnValuesToBeInSet(column=_column(check), value_set=[False], severity=FailureSeverity.WARNING))
        for check, words in expected.items()
    ]


def class_name_phrases(item: IngestedSet, labelling: Labelling | None) -> dict[str, str]:
    """Return, by failed check, what was found, and which key of params.yaml is the way out.

    Args:
        item: the train set.
        labelling: how labels were read.
    """
    from cartograph.ingest.label_forms import ONE_FORM, forms_phrase, other_forms
    from cartograph.ingest.placeholders import NO_PLACEHOLDER, placeholders, placeholders_phrase

    unconfirmed, unlabelled = _unconfirmed(item, labelling), () if labelling is None else labelling.unlabelled
    phrases = {}
    if forms := other_forms(item.class_counts):
        phrases[ONE_FORM] = forms_phrase(forms, item.class_counts)
    if placeholders(unconfirmed):
        phrases[NO_PLACEHOLDER] = placeholders_phrase(unconfirmed, unlabelled)
    return phrases


def _unconfirmed(item: IngestedSet, labelling: Labelling | None) -> dict[str, int]:
    """Return the rows of the classes that were found, not named by the user."""
    return {name: rows for name, rows in item.class_counts.items() if labelling is None or name not in labelling.order}


def _column(check: str) -> str:
    return f"[{check}]"
