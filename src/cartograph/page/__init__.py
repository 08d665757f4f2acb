"""The report page: one self-contained HTML file made from the tables of an audit."""

from cartograph.page.audit import Aflite, Answer, Audit, Bias, Cleaned, Limits, Noise, Origin, Selections, Since, align
from cartograph.page.document import page

__all__ = ["Aflite", "Answer", "Audit", "Bias", "Cleaned", "Limits", "Noise", "Origin", "Selections", "Since", "align", "page"]
