"""The report page of a collection of pairs."""

from __future__ import annotations

from cartograph.page.collection.content import Collection
from cartograph.page.collection.sections import sections, top
from cartograph.page.document import plain_page

__all__ = ["Collection", "collection_page"]


def collection_page(collection: Collection) -> str:
    """Return the report of a collection as one HTML document; the same collection gives the same bytes."""
    return plain_page(collection.origin.name, "Pair collection", top(collection), sections(collection))
