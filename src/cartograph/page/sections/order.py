"""The sections of the page in their order; each is a function that returns a section, or None where the audit has nothing for it.

A new section is one module here and one line in ``SECTIONS``.
"""

from __future__ import annotations

from collections.abc import Callable

from cartograph.page.audit import Audit
from cartograph.page.blocks import Section
from cartograph.page.sections.aflite import aflite_section
from cartograph.page.sections.audit_changes import audit_changes_section
from cartograph.page.sections.bias import bias_section
from cartograph.page.sections.cleaning_changes import cleaning_changes_section
from cartograph.page.sections.cleaning_worth import cleaning_worth_section
from cartograph.page.sections.edges import edges_section
from cartograph.page.sections.evaluation_labels import evaluation_labels_section
from cartograph.page.sections.experiments import experiments_section
from cartograph.page.sections.gates import gates_section
from cartograph.page.sections.how_made import how_made_section
from cartograph.page.sections.map import map_section
from cartograph.page.sections.planted_truth import planted_truth_section
from cartograph.page.sections.regions import regions_section
from cartograph.page.sections.selections import selections_section
from cartograph.page.sections.several_labels import several_labels_section
from cartograph.page.sections.suspects import suspects_section
from cartograph.page.sections.training import training_section
from cartograph.page.sections.validation import validation_section

Builder = Callable[[Audit], Section | None]

SECTIONS: tuple[Builder, ...] = (
    map_section,
    several_labels_section,
    suspects_section,
    evaluation_labels_section,
    edges_section,
    regions_section,
    validation_section,
    cleaning_changes_section,
    cleaning_worth_section,
    selections_section,
    aflite_section,
    bias_section,
    experiments_section,
    audit_changes_section,
    gates_section,
    training_section,
    planted_truth_section,
    how_made_section,
)
