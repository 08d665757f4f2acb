"""The document of the review page, and the policy that goes with it."""

from __future__ import annotations

import base64
import hashlib
import re

from cartograph.page.review import review_page


def test_the_policy_allows_this_script_and_style_and_nothing_else() -> None:
    document, policy = review_page("</title><script>window.pwned = 1</script>")
    assert document.count("<script") == document.count("</script>") == 1
    script, style = (re.search(rf"<{tag}>(.*?)</{tag}>", document, re.DOTALL) for tag in ("script", "style"))
    assert script is not None and style is not None
    for name, found in (("script", script), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert "http" not in policy and "*" not in policy
    assert policy.startswith("default-src 'none'")
