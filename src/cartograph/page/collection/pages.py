"""The report page of a collection of pairs."""

from __future__ import annotations

from cartograph.page.collection.content import Collection
from cartograph.page.collection.sections import sections
from cartograph.page.collection.top import top
from cartograph.page.collection.waiting import Waiting, waiting_sections, waiting_top
from cartograph.page.document import plain_page

__all__ = ["Collection", "Waiting", "collection_page", "waiting_page"]


def collection_page(collection: Collection) -> str:
    """Return the report of a collection as one HTML document; the same collection gives the same bytes."""
    return plain_page(collection.how_made.name, "Pair collection", top(collection), sections(collection))


def waiting_page(waiting: Waiting) -> str:
    """Return the page of a collection that waits for people, as one HTML document."""
    return plain_page(waiting.how_made.name, "Pair collection", waiting_top(waiting), waiting_sections(waiting))
