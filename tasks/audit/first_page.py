"""The step `first_page`: the page as it is once the map and the suspects are there, while the longer steps go on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

from cartograph.config import Section
from tasks.audit.page_content import LIBRARIES, STILL, map_inputs, read_audit
from tasks.audit.parameters.report import Report
from tasks.audit.plan import FIRST_PAGE, goes_on_after_suspects
from tasks.audit.report import PAGE as WHOLE
from tasks.engine.step import Hints, Inputs, Out, Step

PAGE = "reports/first-look.html"
MOST_POINTS = 2_000
"""Most points on the map of a first look; the whole page draws as many as `measure.max_points` says."""
_DECIDE = ("ingest", "embed", "tune", "train", "measure", "noise", "report")
"""The sections of params.yaml that it depends on, and shows."""


class FirstPage(Section):
    """The section ``first_page`` of params.yaml: there is nothing to set; the section ``report`` says how much the page shows."""


def run(params: FirstPage, inputs: Inputs, out: Out) -> str:
    """Write the page with the map and the suspects; return its name, and that of the page to come.

    Its map for print and for browsers without scripts has half the width of the whole page's.
    """
    from cartograph.figures.saving import half_size
    from cartograph.page.document import page
    from cartograph.page.encode import data_uri

    space = out.workspace
    audit = read_audit(space.settings.of(Report), inputs, space)
    parameters = {name: keys for name, keys in audit.how_made.parameters.items() if name in _DECIDE}
    limits = replace(audit.limits, max_points=min(audit.limits.max_points, MOST_POINTS))
    made = replace(audit.how_made, parameters=parameters)
    still = data_uri(half_size(inputs[STILL].read_bytes()), "image/png")
    first = replace(audit, whole_page=PurePosixPath(WHOLE).name, how_made=made, limits=limits, still=still)
    out[PAGE].write_bytes(page(first).encode("utf-8"))
    return f"open {PurePosixPath(space.relative, PAGE)} for the map and the suspects; the full page comes at the end"


STEP = Step(
    name=FIRST_PAGE,
    run=run,
    params=FirstPage,
    inputs=map_inputs,
    outputs=(PAGE,),
    reads=_DECIDE,
    libraries=("cartograph", *LIBRARIES),
    when=goes_on_after_suspects,
    hints=Hints(awaited=True),
)
