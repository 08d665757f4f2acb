"""The page on which people answer questions one by one: a document that asks its own server, and nobody else."""

from __future__ import annotations

from html import escape

from cartograph.page.encode import script_hash
from cartograph.page.parts import asset, script

_SCRIPTS = ("dom", "chart", "review-keys", "review-card", "review")
_STYLES = ("page.css", "review.css")
_POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_DOCUMENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title}: review</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<div id="page" class="page review"><noscript><p>The review page needs scripts, which are served by this machine only.</p></noscript></div>
<script>{script}</script>
</body>
</html>
"""


def review_page(name: str) -> tuple[str, str]:
    """Return the document, and the Content-Security-Policy to send with it: its own script and style, its own server, nothing else.

    Args:
        name: the workspace's.
    """
    code, style = script(_SCRIPTS), "".join(asset(file) for file in _STYLES)
    policy = _POLICY.format(script=script_hash(code), style=script_hash(style))
    return _DOCUMENT.format(title=escape(name), style=style, script=code), policy
