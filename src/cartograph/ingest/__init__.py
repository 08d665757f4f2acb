"""From raw rows to canonical tables: columns chosen, labels named, uids given, unusable rows set aside with a reason."""

from cartograph.ingest.canonical import IngestedSet, RawSet, described, ingest
from cartograph.ingest.columns import Columns, File
from cartograph.ingest.labels import Labelling

__all__ = ["Columns", "File", "IngestedSet", "Labelling", "RawSet", "described", "ingest"]
