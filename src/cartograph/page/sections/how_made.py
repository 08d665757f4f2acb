"""How the audit was made, so that anybody can make it again."""

from __future__ import annotations

import json
from typing import Any

from cartograph.page.audit import Audit
from cartograph.page.blocks import Block, Column, Command, Section, Table
from cartograph.page.step_results import HowMade
from cartograph.wording import cut


def how_made_section(audit: Audit) -> Section:
    """Return how an audit was made."""
    return how_made(audit.how_made)


def how_made(origin: HowMade) -> Section:
    """Return the command, the parameters with their seeds, the versions and the data's digests."""
    blocks: list[Block] = [Command(origin.command)]
    for section, keys in origin.parameters.items():
        set_keys = [(key, cut(_written(value), 300)) for key, value in keys.items() if value not in (None, [], {})]
        if set_keys:
            blocks.append(Table(f"Parameters of {section}", (Column("Key", "code"), Column("Value", "code")), set_keys, folded=True))
    if origin.digests:
        digests = list(origin.digests.items())
        blocks.append(Table("Content digests (SHA-256)", (Column("What"), Column("Digest", "code")), digests, folded=True))
    if origin.versions:
        blocks.append(Table("Versions", (Column("Library"), Column("Version", "code")), list(origin.versions.items()), folded=True))
    lead = "The same parameters, data and versions give this page again, byte for byte. Keys that are not set are not listed."
    return Section("origin", "How this was made", lead, blocks, short="How made")


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
