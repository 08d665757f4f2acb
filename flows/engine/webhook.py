"""The webhook that alerts go to, where one is configured."""

from __future__ import annotations

import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any

WEBHOOK = "CARTOGRAPH_WEBHOOK"
"""The environment variable with the address that alerts are sent to; its value is a secret, as those of chat services are."""

_TIMEOUT_SECONDS = 10


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: what follows one goes to the other address without its content."""

    def redirect_request(self, *_: Any) -> None:
        return None


def send(address: str, body: bytes) -> None:
    """Send an alert; what a library says of an address that it cannot use is left out, since it quotes the address, which is secret."""
    try:
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"})  # noqa: S310 (the caller checks the scheme)
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=_TIMEOUT_SECONDS):
            pass
    except urllib.error.HTTPError as answer:
        answer.close()
        raise OSError(f"the server of {WEBHOOK} answered with {answer.code}") from None
    except (ValueError, HTTPException) as error:
        raise OSError(f"{WEBHOOK} has an address that cannot be used, or no web server is there ({type(error).__name__})") from None
