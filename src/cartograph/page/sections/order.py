"""The page's sections, in their order: each is one function from the audit to a section, or to None where it has nothing to say.

A new section is one module here and one line in ``SECTIONS``.
"""

from __future__ import annotations

from collections.abc import Callable

from cartograph.page.audit import Audit
from cartograph.page.blocks import Section
from cartograph.page.sections.aflite import aflite_section
from cartograph.page.sections.audit_changes import since_section
from cartograph.page.sections.bias import bias_section
from cartograph.page.sections.cleaning_changes import changes_section
from cartograph.page.sections.cleaning_worth import worth_section
from cartograph.page.sections.edges import extremes_section
from cartograph.page.sections.experiments import experiments_section
from cartograph.page.sections.how_made import origin_section
from cartograph.page.sections.map import map_section
from cartograph.page.sections.planted_truth import planted_section
from cartograph.page.sections.regions import regions_section
from cartograph.page.sections.selections import selections_section
from cartograph.page.sections.suspects import suspects_section
from cartograph.page.sections.thresholds import thresholds_section
from cartograph.page.sections.training import training_section
from cartograph.page.sections.validation import validation_section

Builder = Callable[[Audit], Section | None]

SECTIONS: tuple[Builder, ...] = (
    map_section,
    suspects_section,
    extremes_section,
    regions_section,
    validation_section,
    changes_section,
    worth_section,
    selections_section,
    aflite_section,
    bias_section,
    experiments_section,
    since_section,
    thresholds_section,
    training_section,
    planted_section,
    origin_section,
)
